// The table of convergence, and downloads of tables as CSV.

const FORMULA = /^[=+\-@\t\r]/;

// Numbers as they are; texts in quotes, and none that a spreadsheet would take for a formula.
function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = String(value);
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

const csv = (rows) => rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";

function topicRows() {
  const trends = data.trend ? data.trend.names.map((name) => `share ${name}`) : [];
  const classes = data.classes ? data.classes.names.map((name) => `share ${data.classes.by} ${name}`) : [];
  const head = ["topic", "label", "share", "low", "high", "draws", "chains", "words", ...trends, ...classes];
  const rows = data.topics.map((topic, i) => [
    i, topic.label, ...topic.share, topic.draws, topic.chains, topic.words.join(" "), ...(topic.trend ?? []), ...topic.classes.map(([mean]) => mean),
  ]);
  return [head, ...rows];
}

function documentRows() {
  const { fields, list } = data.documents;
  const head = ["document", "size", ...fields, "topic", "label", "share"];
  return [head, ...list.flatMap((each, i) => sharesOf(i).map(([topic, share]) => [each.name, each.words, ...each.about, topic, label(topic), share]))];
}

function wordRows() {
  const head = ["topic", "label", "word", "probability", "low", "high", "lift"];
  const of = (topic, i) => topic.words.map((word, w) => [i, topic.label, word, topic.p[w], topic.low[w], topic.high[w], topic.lift[w]]);
  return [head, ...data.topics.flatMap(of)];
}

function parameterRows() {
  const of = (topic, i) => topic.parameters.map(({ name, values }) => [i, topic.label, name, ...values]);
  return [["topic", "label", "parameter", "mean", "low", "high"], ...data.topics.flatMap(of)];
}

const convergenceRows = () => [["quantity", ...data.convergence.columns], ...data.convergence.rows];

function download(name, rows) {
  const address = URL.createObjectURL(new Blob(["\ufeff", csv(rows)], { type: "text/csv;charset=utf-8" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function startTables() {
  const tables = { topics: topicRows, [`${data.group}s`]: documentRows, words: wordRows, parameters: parameterRows, convergence: convergenceRows };
  if (data.levels.length) tables.exposures = levelRows;
  if (!data.topics.some((topic) => topic.words.length)) delete tables.words;
  if (!data.topics.some((topic) => topic.parameters.length)) delete tables.parameters;
  for (const [name, rows] of Object.entries(tables)) {
    const button = make("button", { type: "button" }, `↓ ${name}.csv`);
    button.addEventListener("click", () => download(`${name}.csv`, rows()));
    byId("downloads").append(button);
  }
}

function rangeOf(trace) {
  const [low, high] = extent(trace).map(figure);
  return low === high ? `always ${low}` : `${low} to ${high}`;
}

function startConvergence() {
  const { columns, rows, titles } = data.convergence;
  const head = make("tr", {}, ...["quantity", ...columns].map((name) => make("th", { scope: "col" }, name)));
  const body = rows.map(([, ...values], i) =>
    make("tr", {}, make("th", { scope: "row" }, titles[i]), ...values.map((value) => make("td", {}, typeof value === "string" ? value : figure(value)))),
  );
  byId("convergence-table").append(make("thead", {}, head), make("tbody", {}, ...body));
  if (data.chains > 1) byId("chains-key").append(...chainsKey());
  for (const trace of data.traces) {
    const place = make("figure");
    byId("traces").append(make("div", {}, make("h3", {}, trace.title, make("small", {}, rangeOf(trace))), place));
    fitted(place, (width) => traceChart(width, trace));
  }
}
