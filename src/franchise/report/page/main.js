// What is shown is what the address says: #topic-3, #document-17, #documents-of-3. So links, "back" and bookmarks work.

function go(place) {
  if (location.hash === `#${place}`) follow();
  else location.hash = place;
}

function visit(section, part) {
  byId(section).scrollIntoView({ block: "start" });
  byId(part).focus({ preventScroll: true });
}

function follow() {
  const found = /^#(topic|document|documents-of)-(\d+)$/.exec(location.hash);
  if (!found) return;
  const [, what, number] = [...found].map((part, i) => (i === 2 ? Number(part) : part));
  if (what === "document" && number < data.documents.list.length) {
    openDocument(number);
    visit("documents", "document");
  } else if (what === "topic" && number < data.topics.length) {
    showTopic(number);
    visitTopic();
  } else if (what === "documents-of" && number < data.topics.length) {
    browse(number, "");
    visit("documents", "document");
  }
}

// Beside the list or the map, all stays where it is; on a narrow screen, or from elsewhere, the topic comes into view.
function visitTopic() {
  const from = document.activeElement?.closest("#topic-list, #topic-map, #topic");
  if (from && from.id === "topic-list" && !narrow.matches) return;
  if (from && from.id === "topic-map") return;
  visit(narrow.matches ? "topic" : "topics", "topic");
}

function startTheme() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const show = () => byId("theme").setAttribute("aria-pressed", String(dark()));
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    show();
  });
  system.addEventListener("change", show);
  show();
}

function start() {
  startTheme();
  if (data.topics.length) {
    startTopics();
    showTopic(0);
    startTree();
    startMap();
    startLevels();
  }
  startDocuments();
  startSearch();
  startConvergence();
  startTables();
  if (data.counts.names.length > 1) fitted(byId("counts"), (width) => make("div", {}, data.chains > 1 ? make("div", { class: "key" }, ...chainsKey()) : "", countChart(width)));
  addEventListener("hashchange", follow);
  follow();
}

start();
