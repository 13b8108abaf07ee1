// Topics as circles: near each other if they use the same words, the larger the more there is of them.

const TALLEST = 640;
const COVERED = 0.1; // share of the map that circles would cover if none lay over another

function mapChart(width) {
  const [across, down] = [0, 1].map((axis) => Math.max(0.01, ...data.topics.map(({ place }) => place[axis])));
  const edge = Math.min(60, width * 0.09);
  const unit = Math.min((width - 2 * edge) / across, (TALLEST - 2 * edge) / down);
  const height = Math.max(4 * edge, unit * down + 2 * edge);
  const total = data.topics.reduce((sum, topic) => sum + topic.share[0], 0);
  const area = (COVERED * width * height) / Math.PI / Math.max(total, 1e-9);
  const circles = data.topics.map(({ place, share }) => ({
    x: width / 2 + (place[0] - across / 2) * unit,
    y: height / 2 + (place[1] - down / 2) * unit,
    r: Math.min(edge * 0.8, Math.max(3, Math.sqrt(area * share[0]))),
  }));
  const chart = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-labelledby": "map-title" });
  chart.append(...circles.map(mapLink), draw("g", { id: "map-labels", "aria-hidden": "true" }));
  const links = [...chart.querySelectorAll("a")];
  links.forEach((link, topic) => link.setAttribute("tabindex", topic === chosen.topic ? "0" : "-1"));
  rove(chart, () => links, (all, at, key) => nearest(circles, all, at, key));
  labelMap(chart, circles, width);
  for (const event of ["mouseover", "focusin"]) chart.addEventListener(event, (happened) => sayCircle(happened, links));
  for (const event of ["mouseout", "focusout"]) chart.addEventListener(event, hideTip);
  return chart;
}

function mapLink({ x, y, r }, topic) {
  const said = `${label(topic)}, ${percent(data.topics[topic].share[0])}`;
  const circle = draw("circle", { cx: x, cy: y, r });
  return tintTopic(draw("a", { href: `#topic-${topic}`, "aria-label": said }, circle), topic);
}

function sayCircle(event, links) {
  const topic = links.findIndex((link) => link.contains(event.target));
  if (topic >= 0) showTip(links[topic], `${label(topic)} · ${percent(data.topics[topic].share[0])}`);
}

// Names of the largest topics, below, above or beside their circles, as far as there is room for them.
function labelMap(chart, circles, width) {
  const taken = [];
  const names = chart.querySelector("#map-labels");
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = `13px ${getComputedStyle(document.body).fontFamily}`; // as the style sheet has it
  circles.slice(0, 60).forEach((circle, topic) => {
    const text = label(topic).length > 28 ? `${label(topic).slice(0, 27)}…` : label(topic);
    const boxes = around(circle, ruler.measureText(text).width + 8, 17).filter((box) => box[0] >= 0 && box[2] <= width);
    const box = boxes.find((each) => !taken.some((other) => overlap(each, other)) && !covered(each, circles, topic));
    if (!box) return;
    taken.push(box);
    names.append(draw("text", { x: (box[0] + box[2]) / 2, y: box[3] - 4, "text-anchor": "middle" }, text));
  });
}

function around({ x, y, r }, wide, high) {
  const places = [[x - wide / 2, y + r + 1], [x - wide / 2, y - r - high - 1], [x + r + 1, y - high / 2], [x - r - wide - 1, y - high / 2]];
  return places.map(([left, top]) => [left, top, left + wide, top + high]);
}

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
const covered = (box, circles, topic) =>
  circles.some(({ x, y, r }, other) => other !== topic && overlap(box, [x - r, y - r, x + r, y + r]));

// The circle that is nearest in the direction of an arrow key.
function nearest(circles, all, at, key) {
  const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
  if (!way) return undefined;
  const from = circles[at];
  let [best, distance] = [at, Infinity];
  circles.forEach(({ x, y }, other) => {
    const ahead = (x - from.x) * way[0] + (y - from.y) * way[1];
    const aside = Math.abs((x - from.x) * way[1]) + Math.abs((y - from.y) * way[0]);
    if (other !== at && ahead > 0 && ahead + 2 * aside < distance) [best, distance] = [other, ahead + 2 * aside];
  });
  return all[best];
}

function startMap() {
  if (!byId("topic-map")) return;
  fitted(byId("topic-map"), mapChart);
  new MutationObserver(markTopic).observe(byId("topic-map"), { childList: true });
}
