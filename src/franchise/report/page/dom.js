// Making elements. Text of the corpus goes into the page as text nodes and attribute values only, never as HTML.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function picture(width, height, label, ...children) {
  const said = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, ...said }, ...children);
}

function tint(node, hue) {
  node.classList.add("tinted");
  node.style.setProperty("--hue", hue);
  return node;
}

// Neighbours in size get hues far apart: each is a golden angle on.
const topicHue = (topic) => ((topic * 137.508 + 250) % 360).toFixed(1);
const chainHue = (chain) => ((250 + (chain * 360) / Math.max(2, data.chains)) % 360).toFixed(1);
const tintTopic = (node, topic) => tint(node, topicHue(topic));
const dot = (hue) => tint(make("span", { class: "dot", "aria-hidden": "true" }), hue);

const label = (topic) => (topic < 0 ? "no consensus topic" : data.topics[topic].label);
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

function percent(share) {
  const hundred = 100 * share;
  if (hundred > 0 && hundred < 0.1) return "< 0.1%";
  return `${hundred.toFixed(hundred < 10 ? 1 : 0)}%`;
}

function figure(number) {
  if (number === null || number === undefined) return "–";
  if (Number.isInteger(number)) return number.toLocaleString("en");
  return number.toLocaleString("en", Math.abs(number) < 1000 ? { maximumSignificantDigits: 4 } : { maximumFractionDigits: 0 });
}

// Draw something for the width that it has, and again whenever that changes.
function fitted(place, drawing) {
  let width = 0;
  new ResizeObserver(() => {
    const now = Math.floor(place.clientWidth);
    if (now > 0 && now !== width) {
      width = now;
      place.replaceChildren(drawing(width));
    }
  }).observe(place);
}

// Of some things, one can be reached by Tab, and the arrow keys go from one to another.
function rove(place, items, next) {
  const reach = (item) => {
    for (const other of items()) other.setAttribute("tabindex", other === item ? "0" : "-1");
  };
  place.addEventListener("focusin", (event) => {
    const item = items().find((each) => each.contains(event.target));
    if (item) reach(item);
  });
  place.addEventListener("keydown", (event) => {
    const all = items();
    const at = all.findIndex((each) => each === document.activeElement);
    const to = at < 0 ? undefined : next(all, at, event.key);
    if (to === undefined) return;
    event.preventDefault();
    to.focus();
  });
}

function along(all, at, key) {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  if (key === "Home") return all[0];
  if (key === "End") return all[all.length - 1];
  return key in steps ? all[Math.min(all.length - 1, Math.max(0, at + steps[key]))] : undefined;
}
