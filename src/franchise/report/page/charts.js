// Small pictures: bars with intervals, lines over time, chains.

const line = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
const scale = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);

// A bar up to a value, and a whisker over its interval.
function intervalBar(width, height, value, low, high, most, topic) {
  const x = scale(0, most, 0, width - 2);
  const middle = height / 2;
  return picture(
    width,
    height,
    null,
    tintTopic(draw("rect", { class: "fill", x: 0, y: 1, width: Math.max(1, x(value)), height: height - 2, rx: 2 }), topic),
    draw("line", { class: "whisker", x1: x(low), x2: Math.max(x(high), x(low) + 1), y1: middle, y2: middle }),
  );
}

function spark(width, height, values, topic) {
  const shape = curve(width, height, values, topic, Math.max(...values), 3);
  return picture(width, height, null, ...shape);
}

function curve(width, height, values, topic, most, top) {
  const x = scale(0, values.length - 1, 1, width - 1);
  const y = scale(0, most, height - 2, top);
  const points = values.map((value, i) => [x(i), y(value)]);
  const area = `${line(points)}L${width - 1} ${height}L1 ${height}Z`;
  return [
    tintTopic(draw("path", { class: "area", d: area }), topic),
    tintTopic(draw("path", { class: "stroke", d: line(points) }), topic),
  ];
}

function trendChart(width, topic) {
  const [values, names] = [data.topics[topic].trend, data.trend.names];
  const height = 110;
  const most = Math.max(...values);
  const peak = names[values.indexOf(most)];
  const said = `Share of ${label(topic)} over ${data.trend.by}, ${names[0]} to ${names.at(-1)}; highest ${percent(most)} at ${peak}`;
  return picture(
    width,
    height + 22,
    said,
    ...curve(width, height, values, topic, most, 18), // below the number
    draw("line", { class: "axis", x1: 0, x2: width, y1: height, y2: height }),
    draw("text", { x: 0, y: height + 16 }, names[0]),
    draw("text", { x: width, y: height + 16, "text-anchor": "end" }, names.at(-1)),
    draw("text", { x: 0, y: 10 }, percent(most)),
  );
}

// How probable each number of topics is; bars are stacked by chain.
function countChart(width) {
  const { names, chains } = data.counts;
  const height = 210;
  const totals = names.map((_, i) => chains.reduce((sum, chain) => sum + chain[i], 0) / chains.length);
  const slot = Math.min(56, (width - 50) / names.length);
  const y = scale(0, Math.max(...totals), height, 14);
  const chart = picture(width, height + 40, `Probability of each number of topics: ${countsInWords(totals)}`);
  const every = Math.ceil(names.length / Math.max(1, Math.floor(width / 46)));
  names.forEach((name, i) => {
    let under = 0;
    chains.forEach((chain, c) => {
      const share = chain[i] / chains.length;
      if (share === 0) return;
      const top = y(under + share);
      const bar = { class: "chain", x: 44 + i * slot + slot * 0.1, y: top, width: slot * 0.8, height: y(under) - top };
      chart.append(tint(draw("rect", bar, draw("title", {}, `chain ${c}: ${percent(chain[i])} of its draws have ${names[i]}`)), chainHue(c)));
      under += share;
    });
    if (i % every === 0) chart.append(draw("text", { x: 44 + (i + 0.5) * slot, y: height + 17, "text-anchor": "middle" }, name));
  });
  chart.append(
    draw("line", { class: "axis", x1: 40, x2: 48 + slot * names.length, y1: height, y2: height }),
    draw("text", { x: 0, y: 20 }, percent(Math.max(...totals))),
    draw("text", { x: 0, y: height }, "0"),
    draw("text", { x: 44, y: height + 36 }, "number of topics"),
  );
  return chart;
}

function countsInWords(totals) {
  const most = totals.map((total, i) => [total, data.counts.names[i]]).sort((a, b) => b[0] - a[0]);
  return most.slice(0, 3).map(([total, value]) => `${value} with ${percent(total)}`).join(", ");
}

function extent(trace) {
  const known = trace.chains.flat().filter((value) => value !== null);
  return [Math.min(...known), Math.max(...known)];
}

function traceChart(width, trace) {
  const height = 120;
  const [low, high] = extent(trace);
  const y = scale(low, high, low === high ? height / 2 : height - 4, low === high ? height / 2 : 4);
  const lines = trace.chains.map((chain, c) => {
    const x = scale(0, chain.length - 1, 0, width);
    const points = chain.map((value, i) => [x(i), y(value)]).filter((_, i) => chain[i] !== null);
    return tint(draw("path", { class: "chain-line", d: line(points) }), chainHue(c));
  });
  const said = `${trace.title}, ${count(trace.chains.length, "chain")}, from ${figure(low)} to ${figure(high)}`;
  const floor = draw("line", { class: "axis", x1: 0, x2: width, y1: height, y2: height });
  return picture(width, height + 4, said, floor, ...lines);
}

function chainsKey() {
  return Array.from({ length: data.chains }, (_, c) => make("span", {}, dot(chainHue(c)), `chain ${c}`));
}
