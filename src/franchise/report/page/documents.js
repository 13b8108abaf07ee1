// One document at a time: its topics as a strip, its text with what was labelled in the colours of topics.

const reading = { topic: -1, query: "", list: [], at: 0 };

const sharesOf = (index) => {
  const flat = data.documents.list[index].shares;
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1] / 1000]);
};
const shareOf = (index, topic) => (sharesOf(index).find(([other]) => other === topic) ?? [topic, 0])[1];

const lowered = [];
function contains(index, query) {
  const { name, text } = data.documents.list[index];
  lowered[index] ??= `${name}\n${text}`.toLowerCase();
  return lowered[index].includes(query);
}

// Those with the topic, from the one that has most of it; or all, as they came.
function documentsOf(topic, query) {
  const wanted = query.trim().toLowerCase();
  const all = [...data.documents.list.keys()].filter((index) => !wanted || contains(index, wanted));
  if (topic < 0) return all;
  const with_share = all.map((index) => [index, shareOf(index, topic)]).filter(([, share]) => share >= 0.02);
  return with_share.sort((a, b) => b[1] - a[1]).map(([index]) => index);
}

function browse(topic, query, index = null) {
  Object.assign(reading, { topic, query, list: documentsOf(topic, query) });
  reading.at = index === null ? 0 : Math.max(0, reading.list.indexOf(index));
  byId("document-topic").value = String(topic);
  byId("document-query").value = query;
  showDocument();
}

function openDocument(index) {
  if (reading.list.includes(index)) {
    reading.at = reading.list.indexOf(index);
    showDocument();
  } else browse(-1, "", index);
}

function step(by) {
  reading.at = Math.min(reading.list.length - 1, Math.max(0, reading.at + by));
  showDocument();
}

function showDocument() {
  const total = reading.list.length;
  byId("position").textContent = total ? `${(reading.at + 1).toLocaleString("en")} of ${total.toLocaleString("en")}` : "none";
  byId("previous").disabled = reading.at === 0;
  byId("next").disabled = reading.at >= total - 1;
  byId("document").replaceChildren(...(total ? documentParts(reading.list[reading.at]) : [nothingFound()]));
}

const nothingFound = () => make("p", { id: "document-title", class: "note" }, `No ${data.group} in this page matches. Choose another topic or word.`);

function documentParts(index) {
  const { name, words, cut, text } = data.documents.list[index];
  const shares = sharesOf(index);
  const body = text ? coloured(index) : null;
  const size = count(words, data.unit === "observation" ? "observation" : "word");
  return [
    make("h3", { class: "title", id: "document-title" }, name),
    aboutDocument(index, size),
    strip(shares),
    chips(shares, body),
    body,
    cut ? make("p", { class: "note" }, "This page contains only the beginning of the text.") : null,
  ].filter(Boolean);
}

function aboutDocument(index, size) {
  const list = make("dl", { class: "about" }, fact("size", size));
  data.documents.fields.forEach((field, i) => {
    const value = data.documents.list[index].about[i];
    if (value !== "") list.append(fact(field, value));
  });
  return list;
}

const fact = (name, value) => make("div", {}, make("dt", {}, name), make("dd", {}, value));

function strip(shares) {
  const bar = make("div", { class: "strip", "aria-hidden": "true" });
  for (const [topic, share] of shares) {
    const part = make("span", { title: `${label(topic)} ${percent(share)}` });
    part.style.setProperty("--share", 100 * share);
    bar.append(tintTopic(part, topic));
  }
  return bar;
}

// The topics of the document; pressed, one of them stands out in the text.
function chips(shares, body) {
  const row = make("div", { class: "chips", role: "group", "aria-label": "Topics of this text" });
  const named = shares.slice(0, 8);
  for (const [topic, share] of named) {
    const chip = make("button", { type: "button", "aria-pressed": "false", "data-topic": topic });
    chip.append(dot(topicHue(topic)), make("span", {}, label(topic)), make("small", {}, percent(share)));
    chip.addEventListener("click", () => (body ? choose(body, topic) : go(`topic-${topic}`)));
    row.append(chip);
  }
  const rest = named.reduce((left, [, share]) => left - share, 1);
  if (rest >= 0.01) row.append(make("small", {}, `${percent(rest)} in other topics`));
  return row;
}

function choose(body, topic) {
  const now = body.dataset.chosen === String(topic) ? "" : String(topic);
  body.dataset.chosen = now;
  body.classList.toggle("choosing", now !== "");
  for (const piece of body.children) piece.classList.toggle("chosen", piece.dataset.topic === now);
  for (const chip of document.querySelectorAll("#document .chips button")) {
    chip.setAttribute("aria-pressed", String(chip.dataset.topic === now));
  }
}

// `pieces` has four numbers for each: characters since the last, length, topic (or -1), probability in percent.
function coloured(index) {
  const { text, pieces } = data.documents.list[index];
  const body = make("div", { class: "text", role: "group", "aria-label": "Text; arrow keys move between coloured pieces" });
  let end = 0;
  for (let i = 0; i < pieces.length; i += 4) {
    const begin = end + pieces[i];
    body.append(text.slice(end, begin));
    end = begin + pieces[i + 1];
    body.append(colouredPiece(text.slice(begin, end), pieces[i + 2], pieces[i + 3]));
  }
  body.append(text.slice(end));
  startText(body);
  return body;
}

function colouredPiece(text, topic, sure) {
  const piece = make("span", { tabindex: "-1", "data-topic": topic, "data-sure": sure, class: topic < 0 ? "nobody" : null }, text);
  if (topic < 0) return piece;
  piece.style.setProperty("--sure", sure);
  return tintTopic(piece, topic);
}

function startText(body) {
  const pieces = [...body.children];
  if (!pieces.length) return;
  pieces[0].setAttribute("tabindex", "0");
  rove(body, () => pieces, along);
  const say = (event) => {
    const piece = event.target.closest(".text > span");
    if (piece) showTip(piece, pieceInWords(piece));
  };
  body.addEventListener("mouseover", say);
  body.addEventListener("focusin", say);
  body.addEventListener("mouseout", hideTip);
  body.addEventListener("focusout", hideTip);
  body.addEventListener("click", (event) => choosePiece(body, event));
  body.addEventListener("keydown", (event) => (event.key === "Enter" ? choosePiece(body, event) : null));
}

function choosePiece(body, event) {
  const piece = event.target.closest(".text > span");
  if (piece && piece.dataset.topic !== "-1") choose(body, Number(piece.dataset.topic));
}

const pieceInWords = ({ dataset }) => {
  const topic = Number(dataset.topic);
  return topic < 0 ? "No consensus topic" : `${label(topic)} · probability ${dataset.sure}%`;
};

function showTip(node, text) {
  const tip = byId("tip");
  tip.textContent = text;
  tip.hidden = false;
  const box = node.getBoundingClientRect();
  const left = Math.min(innerWidth - tip.offsetWidth - 8, Math.max(8, box.left + box.width / 2 - tip.offsetWidth / 2));
  const above = box.top - tip.offsetHeight - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 0 ? above : box.bottom + 8}px`;
}

function hideTip() {
  byId("tip").hidden = true;
}

function startDocuments() {
  const everyone = make("option", { value: "-1" }, `all ${data.group}s`);
  const options = data.topics.map((_, topic) => make("option", { value: topic }, label(topic)));
  byId("document-topic").append(everyone, ...options);
  byId("document-topic").addEventListener("change", (event) => browse(Number(event.target.value), reading.query));
  byId("document-query").addEventListener("input", (event) => browse(reading.topic, event.target.value));
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  addEventListener("scroll", hideTip, { passive: true });
  browse(-1, "");
}
