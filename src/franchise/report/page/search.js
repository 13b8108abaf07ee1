// A word finds the topics that use it, and the documents that contain it.

const MOST_TOPICS = 6;
const MOST_DOCUMENTS = 6;

const places = new Map(data.words.list.map((word, i) => [word.toLowerCase(), i]));

// How good an answer a topic is: by the share of the word's uses that are in it, by its name, by its words.
function score(topic, wanted) {
  const { words, p } = data.topics[topic];
  if (label(topic).toLowerCase().includes(wanted)) return 2;
  const at = words.findIndex((word) => word.toLowerCase().startsWith(wanted));
  return at < 0 ? 0 : p[at];
}

function findTopics(wanted) {
  const scores = new Map(data.topics.map((_, topic) => [topic, score(topic, wanted)]));
  const uses = data.words.topics[places.get(wanted)] ?? [];
  for (let i = 0; i < uses.length; i += 2) scores.set(uses[i], 3 + uses[i + 1]);
  const found = [...scores].filter(([, points]) => points > 0);
  return found.sort((a, b) => b[1] - a[1]).map(([topic, points]) => ({ topic, uses: points > 3 ? points - 3 : null }));
}

function answer(query) {
  const wanted = query.trim().toLowerCase();
  const panel = byId("answers");
  panel.hidden = wanted === "";
  byId("answered").textContent = "";
  if (panel.hidden) return;
  const topics = findTopics(wanted);
  const documents = documentsOf(-1, wanted);
  panel.replaceChildren(...topicAnswers(topics, wanted), ...documentAnswers(documents, query));
  const said = `${count(topics.length, "topic")}, ${count(documents.length, data.group)}`;
  byId("answered").textContent = said;
}

function topicAnswers(topics, wanted) {
  if (!topics.length) return [make("h3", {}, "No topic found")];
  const links = topics.slice(0, MOST_TOPICS).map(({ topic, uses }) => {
    const why = uses === null ? data.topics[topic].words.slice(0, 6).join(", ") : `contains ${uses}% of the uses of “${wanted}”`;
    return make("a", { href: `#topic-${topic}` }, dot(topicHue(topic)), label(topic), make("small", {}, why));
  });
  return [make("h3", {}, count(topics.length, "topic")), ...links];
}

function documentAnswers(documents, query) {
  if (!documents.length) return [make("h3", {}, `No ${data.group} found`)];
  const links = documents.slice(0, MOST_DOCUMENTS).map((index) => make("a", { href: `#document-${index}` }, data.documents.list[index].name));
  const all = make("button", { type: "button" }, `Browse ${count(documents.length, data.group)}`);
  all.addEventListener("click", () => {
    browse(-1, query.trim());
    closeAnswers();
    visit("documents", "document");
  });
  return [make("h3", {}, count(documents.length, data.group)), ...links, all];
}

function closeAnswers() {
  byId("answers").hidden = true;
}

// Up and down go through the field and the answers, Escape leaves them.
function moveInAnswers(event) {
  const all = [byId("query"), ...document.querySelectorAll("#answers a, #answers button")];
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") {
    byId("query").focus();
    closeAnswers();
  }
  if (by === undefined || byId("answers").hidden) return;
  event.preventDefault();
  all[Math.min(all.length - 1, Math.max(0, all.indexOf(document.activeElement) + by))].focus();
}

function startSearch() {
  const field = byId("query");
  const box = document.querySelector(".find");
  field.addEventListener("input", () => answer(field.value));
  field.addEventListener("focus", () => answer(field.value));
  box.addEventListener("keydown", moveInAnswers);
  byId("answers").addEventListener("click", (event) => (event.target.closest("a") ? closeAnswers() : null));
  document.addEventListener("click", (event) => (box.contains(event.target) ? null : closeAnswers()));
  box.addEventListener("focusout", (event) => (event.relatedTarget && !box.contains(event.relatedTarget) ? closeAnswers() : null));
}
