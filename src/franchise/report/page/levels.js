// The nodes of a level of groups, each with a bar of its largest topics.

function levelBar(topics) {
  const parts = topics.map(([topic, mean, low, high]) => {
    const said = `${label(topic)}: ${percent(mean)} (${percent(low)} to ${percent(high)})`;
    const part = tintTopic(make("a", { class: "part", href: `#topic-${topic}`, title: said, "aria-label": said }), topic);
    part.style.setProperty("width", `${(100 * mean).toFixed(2)}%`);
    return part;
  });
  return make("div", { class: "level-bar" }, ...parts);
}

function levelRow({ name, size, topics }) {
  const [first] = topics;
  const said = first ? `${label(first[0])}, ${percent(first[1])} (${percent(first[2])} to ${percent(first[3])})` : "–";
  return make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, figure(size)), make("td", {}, levelBar(topics)), make("td", {}, said));
}

function showLevel(level) {
  const head = make("tr", {}, ...[level.name, "observations", "topics", "largest topic (95% interval)"].map((name) => make("th", { scope: "col" }, name)));
  byId("level-table").replaceChildren(make("thead", {}, head), make("tbody", {}, ...level.nodes.map(levelRow)));
  const shown = level.nodes.length;
  byId("level-count").textContent = shown < level.total ? `Showing the ${figure(shown)} of ${figure(level.total)} with most observations.` : "";
}

function startLevels() {
  if (!byId("level-table")) return;
  const choice = byId("level");
  choice.append(...data.levels.map(({ name }, i) => make("option", { value: i }, name)));
  choice.addEventListener("change", () => showLevel(data.levels[choice.value]));
  showLevel(data.levels[0]);
}

function levelRows() {
  const head = ["level", "node", "observations", "topic", "label", "share", "low", "high"];
  const of = ({ name, nodes }) => nodes.flatMap((node) => node.topics.map(([topic, ...shares]) => [name, node.name, node.size, topic, label(topic), ...shares]));
  return [head, ...data.levels.flatMap(of)];
}
