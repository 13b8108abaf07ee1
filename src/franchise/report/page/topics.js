// The list of topics, with the details of one beside it (on a narrow screen: below its row).

const PAGE = 25;
const FIRST_WORDS = 10;
const narrow = matchMedia("(max-width: 60rem)");
const mostShare = Math.max(...data.topics.map((topic) => topic.share[2]));
const chosen = { topic: 0, shown: PAGE, order: "share" };

const rise = (topic) => {
  const { trend } = data.topics[topic];
  const third = Math.max(1, Math.floor(trend.length / 3));
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  return mean(trend.slice(-third)) - mean(trend.slice(0, third));
};
const ORDERS = {
  share: (a, b) => a - b,
  draws: (a, b) => data.topics[b].draws - data.topics[a].draws || a - b,
  label: (a, b) => label(a).localeCompare(label(b)),
  rise: (a, b) => rise(b) - rise(a),
  fall: (a, b) => rise(a) - rise(b),
};
const topicsInOrder = () => [...data.topics.keys()].sort(ORDERS[chosen.order]);

function seen(topic) {
  const { draws, chains } = data.topics[topic];
  const where = data.chains > 1 ? `, ${chains} of ${data.chains} chains` : "";
  return `in ${percent(draws)} of draws${where}`;
}

function seenInShort(topic) {
  const { draws, chains } = data.topics[topic];
  if (chains < data.chains) return `in ${chains} of ${data.chains} chains`;
  return draws < 0.995 ? `in ${percent(draws)} of draws` : "in all draws";
}

// Parameters of a topic, such as rates: a row a name, with mean and interval.
const interval = ([mean, low, high]) => `${figure(mean)} (95% interval ${figure(low)} to ${figure(high)})`;

function parametersInShort(topic) {
  const { parameters } = data.topics[topic];
  return parameters.slice(0, 4).map(({ name, values }) => `${name} ${figure(values[0])}`).join(", ") || seen(topic);
}

function parameterList(topic) {
  const rows = data.topics[topic].parameters.map(({ name, values }) => [make("dt", {}, name), make("dd", {}, interval(values))]);
  return make("dl", { class: "parameters" }, ...rows.flat());
}

function topicRow(topic) {
  const { words, share, trend } = data.topics[topic];
  const name = make("span", { class: "topic-name" }, dot(topicHue(topic)), make("span", {}, label(topic)));
  const under = make("span", { class: "topic-words" }, words.slice(0, 8).join(", ") || parametersInShort(topic));
  const amount = make("span", { class: "topic-share" }, percent(share[0]), intervalBar(120, 10, ...share, mostShare, topic));
  amount.append(make("small", {}, seenInShort(topic)));
  const line = trend ? make("span", { class: "topic-trend" }, spark(104, 32, trend, topic)) : null;
  return make("li", {}, tintTopic(make("a", { href: `#topic-${topic}` }, name, line, amount, under), topic));
}

function listTopics() {
  const order = topicsInOrder();
  byId("topic-list").replaceChildren(...order.slice(0, chosen.shown).map(topicRow));
  const left = order.length - chosen.shown;
  byId("more-topics").hidden = left <= 0;
  byId("more-topics").textContent = `Show ${Math.min(left, 4 * PAGE)} more of ${count(order.length, "topic")}`;
  markTopic();
}

function markTopic() {
  const place = `#topic-${chosen.topic}`;
  for (const link of document.querySelectorAll("#topic-list > li > a, #topic-map a")) {
    link.setAttribute("aria-current", String(link.getAttribute("href") === place));
  }
  const row = document.querySelector(`#topic-list > li > a[aria-current="true"]`);
  const home = narrow.matches && row ? row.parentElement : byId("topic-place");
  home.append(byId("topic"));
}

// A row a name: a bar up to its amount with a whisker over the interval, and the amount; `amounts` are [mean, low, high].
function bars(names, amounts, most, topic) {
  const list = make("dl", { class: "words" });
  names.forEach((name, i) => {
    const [mean, low, high] = amounts[i];
    const bar = make("dd", { title: `${percent(low)} to ${percent(high)}` }, intervalBar(150, 12, mean, low, high, most, topic));
    list.append(make("dt", {}, name), bar, make("dd", { class: "amount" }, percent(mean)));
  });
  return list;
}

function wordBars(topic, from, to) {
  const { words, p, low, high } = data.topics[topic];
  const amounts = p.map((mean, i) => [mean, low[i], high[i]]);
  return bars(words.slice(from, to), amounts.slice(from, to), Math.max(...high), topic);
}

function classBars(topic) {
  const { classes } = data.topics[topic];
  return bars(data.classes.names, classes, Math.max(...classes.map(([, , high]) => high)), topic);
}

function moreWords(topic) {
  const more = make("summary", {}, `${data.topics[topic].words.length - FIRST_WORDS} more words`);
  return make("details", {}, more, wordBars(topic, FIRST_WORDS));
}

function typical(topic) {
  const { documents, excerpts } = data.topics[topic];
  const item = (index, place) => {
    const link = make("a", { href: `#document-${index}` }, data.documents.list[index].name);
    return make("li", {}, link, excerpts[place] ? make("q", {}, excerpts[place]) : null);
  };
  return make("ol", { class: "plain excerpts" }, ...documents.map(item));
}

function topicFacts(topic) {
  const [share, low, high] = data.topics[topic].share;
  const unit = { sentence: "words", word: "words", observation: "observations" }[data.unit];
  return `${percent(share)} of all ${unit} (95% interval ${percent(low)} to ${percent(high)}); found ${seen(topic)}.`;
}

function similarLinks(topic) {
  const link = (other) => make("a", { href: `#topic-${other}` }, label(other));
  return make("p", { class: "links" }, ...data.topics[topic].similar.map(link));
}

function showTopic(topic) {
  chosen.topic = topic;
  const { words, trend, documents, similar, parameters } = data.topics[topic];
  const parts = [
    make("h3", { class: "title", id: "topic-title" }, dot(topicHue(topic)), make("span", {}, label(topic))),
    make("p", { class: "note" }, topicFacts(topic)),
  ];
  if (parameters.length) parts.push(make("h3", {}, "Parameters"), parameterList(topic));
  if (words.length) parts.push(make("h3", {}, "Words"), wordBars(topic, 0, FIRST_WORDS));
  if (words.length > FIRST_WORDS) parts.push(moreWords(topic));
  if (trend) parts.push(make("h3", {}, `Share by ${data.trend.by}`), trendPlace(topic));
  if (data.classes) parts.push(make("h3", {}, `Share by ${data.classes.by}`), classBars(topic));
  if (documents.length) {
    parts.push(make("h3", {}, `Typical ${data.group}s`), typical(topic));
    parts.push(make("p", {}, make("a", { href: `#documents-of-${topic}` }, `Browse all ${data.group}s with this topic`)));
  }
  if (similar.length) parts.push(make("h3", {}, "Similar topics"), similarLinks(topic));
  byId("topic").replaceChildren(...parts);
  byId("topic").scrollTop = 0;
  showInList(topic);
}

function trendPlace(topic) {
  const place = make("figure");
  fitted(place, (width) => trendChart(width, topic));
  return place;
}

// A topic that was chosen elsewhere is listed, too, however far down it is.
function showInList(topic) {
  const place = topicsInOrder().indexOf(topic);
  if (place >= chosen.shown) {
    chosen.shown = place + 1;
    listTopics();
  } else markTopic();
}

function startTopics() {
  byId("order").addEventListener("change", (event) => {
    chosen.order = event.target.value;
    listTopics();
  });
  byId("more-topics").addEventListener("click", () => {
    const first = chosen.shown;
    chosen.shown += 4 * PAGE;
    listTopics();
    byId("topic-list").children[first].firstElementChild.focus();
  });
  narrow.addEventListener("change", markTopic);
  listTopics();
}
