// Groups of topics as a tree that opens: a group shows its smaller groups, and in the end its topics.

const supported = (support) => (support === null ? "" : ` · support ${percent(support)}`);

function leafRow({ topic, share }) {
  const link = make("a", { href: `#topic-${topic}` }, dot(topicHue(topic)), make("span", {}, label(topic)));
  return make("li", { class: "leaf" }, link, make("small", {}, percent(share)));
}

function memberRow({ member, label: name, share, support, words }) {
  const said = make("span", {}, `${member}: ${name}`, words ? make("small", { class: "member-words" }, words) : null);
  return make("li", { class: "leaf" }, said, make("small", {}, `${percent(share)}${supported(support)}`));
}

function groupRow(group) {
  const { label: name, share, count: topics, support, parts, topic } = group;
  const title = make("summary", {}, make("b", {}, name), make("small", {}, `${count(topics, "topic")} · ${percent(share)}${supported(support)}`));
  const inside = make("ul", { class: "plain" }, ...parts.map(treeRow));
  const box = make("details", {}, title, inside);
  if (topic !== undefined) box.append(make("p", {}, make("a", { href: `#topic-${topic}` }, "Words and documents of this group")));
  return make("li", {}, box);
}

const treeRow = (row) => (row.parts ? groupRow(row) : row.member === undefined ? leafRow(row) : memberRow(row));

function startTree() {
  if (!byId("topic-tree")) return;
  byId("topic-tree").replaceChildren(...data.tree.map(treeRow));
  const boxes = () => [...document.querySelectorAll("#topic-tree details")];
  const button = byId("open-tree");
  button.addEventListener("click", () => {
    const open = boxes().some((box) => !box.open);
    for (const box of boxes()) box.open = open;
  });
  byId("topic-tree").addEventListener("toggle", () => {
    button.textContent = boxes().some((box) => !box.open) ? "Open all" : "Close all";
  }, true);
}
