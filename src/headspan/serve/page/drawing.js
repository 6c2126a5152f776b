// The drawing: putting it in place, pointer and keyboard, highlights.
// Anything from a text reaches the page as text or as a parsed XML document, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

export function element(name, properties = {}, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

export function parsedSvg(text) {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (svg.namespaceURI !== SVG || svg.localName !== "svg") throw new Error("not a drawing");
  return svg;
}

function shape(name, attributes) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

export const percentOf = (probability) => `${Math.round(100 * probability)}%`;

// A bar for a probability.
export function share(probability) {
  const filled = element("span", { className: probability < 0.5 ? "low" : probability < 0.9 ? "middling" : "" });
  filled.style.width = `${100 * probability}%`;
  const bar = element("span", { className: "share" }, filled);
  bar.setAttribute("aria-hidden", "true");
  return bar;
}

// The confidence of an arc, and what it consists of.
export function sure(sentence, k) {
  const of = (name) => percentOf(sentence[name][k - 1]);
  return `${of("confidences")} sure (head ${of("head_confidences")}, relation ${of("relation_confidences")})`;
}

// Describe a word and its arc. tree: heads and relations, not always those of the best tree.
export function described(sentence, tree, k) {
  const head = tree.heads[k - 1];
  const parts = [sentence.upos?.[k - 1]];
  parts.push(head ? `${tree.relations[k - 1]} of ${sentence.words[head - 1]}` : "the root");
  if (tree === sentence && sentence.confidences) parts.push(sure(sentence, k));
  return parts.filter(Boolean).join(", ");
}

// The words of a headed span: a word and all its descendants in a tree.
export function spanOf(tree, k) {
  const below = new Set([k]);
  for (let grown = true; grown; ) {
    grown = false;
    tree.heads.forEach((head, at) => {
      if (below.has(head) && !below.has(at + 1)) grown = Boolean(below.add(at + 1));
    });
  }
  return [...below].sort((a, b) => a - b);
}

// zoom: how large; 1 is the size in the SVG.
export function drawSvg(place, text, sentence, tree, zoom) {
  const svg = document.importNode(parsedSvg(text), true);
  for (const side of ["width", "height"]) svg.setAttribute(side, Number(svg.getAttribute(side)) * zoom);
  svg.setAttribute("role", "group");
  svg.querySelector("title")?.remove(); // it would pop up as a tooltip
  svg.setAttribute("aria-label", "Words; choose a head and then a dependent");
  place.replaceChildren(svg);
  for (const word of svg.querySelectorAll(".word")) {
    const k = Number(word.dataset.word);
    const box = word.getBBox();
    word.prepend(shape("rect", { class: "hit", x: box.x - 6, y: box.y - 3, rx: 5,
      width: box.width + 12, height: box.height + 6 }));
    word.classList.toggle("top", tree.heads[k - 1] === 0);
    word.setAttribute("role", "button");
    word.setAttribute("aria-label", `${sentence.words[k - 1]}, ${described(sentence, tree, k)}`);
  }
  rove(place, 1);
}

// The Tab key reaches one word; arrow keys move on from there.
export function rove(place, k, focus = false) {
  for (const word of place.querySelectorAll(".word")) {
    const here = Number(word.dataset.word) === k;
    word.setAttribute("tabindex", here ? "0" : "-1");
    if (here && focus) word.focus();
  }
}

export function press(place, chosen) {
  for (const word of place.querySelectorAll(".word")) {
    word.setAttribute("aria-pressed", String(chosen.includes(Number(word.dataset.word))));
  }
}

export function markRequired(place, arcs) {
  for (const arc of place.querySelectorAll("[data-dependent]:not(.other)")) {
    const [head, dependent] = [Number(arc.dataset.head), Number(arc.dataset.dependent)];
    const required = arcs.some(([h, d]) => h === head && d === dependent);
    arc.classList.toggle("required", required);
  }
}

// Highlight the headed span of word k; clear the highlight if k is 0.
export function light(place, tree, k) {
  for (const lit of place.querySelectorAll(".lit")) lit.classList.remove("lit");
  for (const band of place.querySelectorAll(".light")) band.remove();
  if (!k) return;
  const span = spanOf(tree, k);
  for (const part of place.querySelectorAll(`.span[data-word="${k}"], [data-dependent="${k}"]:not(.other)`)) {
    part.classList.add("lit");
  }
  for (const row of place.querySelectorAll("[data-row]")) {
    row.classList.toggle("lit", span.includes(Number(row.dataset.row)));
  }
  if (!place.querySelector("[data-dependent]")) return;
  for (const words of contiguous(place, span)) band(place, words);
}

const rowOf = (place, k) => place.querySelector(`.word[data-word="${k}"] text`).getAttribute("y");

// Whether a drawing continues in another row.
export const inRows = (place) =>
  new Set([...place.querySelectorAll(".word text:first-of-type")].map((text) => text.getAttribute("y"))).size > 1;

// Highlight words that are next to each other in a row, in the full height of that row.
function band(place, words) {
  const row = rowOf(place, words[0]);
  const boxes = words.map((k) => place.querySelector(`.word[data-word="${k}"] .hit`).getBBox());
  const all = [...place.querySelectorAll(".word")].filter((word) => rowOf(place, word.dataset.word) === row)
    .map((word) => word.querySelector(".hit").getBBox());
  const left = Math.min(...boxes.map((box) => box.x));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const top = Math.min(...all.map((box) => box.y));
  const bottom = Math.max(...all.map((box) => box.y + box.height));
  place.querySelector(".paper").after(shape("rect", { class: "light", x: left, y: top, rx: 6,
    width: right - left, height: bottom - top }));
}

// Words in groups of those next to each other in a row.
function contiguous(place, words) {
  const groups = [];
  for (const k of words) {
    const before = groups.at(-1)?.at(-1);
    if (before === k - 1 && rowOf(place, before) === rowOf(place, k)) groups.at(-1).push(k);
    else groups.push([k]);
  }
  return groups;
}

// Scroll to the root: in the drawing, and the page only as far as necessary.
export function scrollToRoot(place, behavior = "auto") {
  const root = place.querySelector(".word.top");
  if (!root) return;
  root.scrollIntoView({ behavior, block: "nearest", inline: "center" });
}

// Dragging the ground of a drawing that is wider than its place moves it.
export function dragToPan(place) {
  place.addEventListener("pointerdown", (down) => {
    if (down.pointerType !== "mouse" || down.button || down.target.closest(".word, text, button, td")) return;
    if (place.scrollWidth <= place.clientWidth) return;
    const start = place.scrollLeft;
    const move = (event) => { place.scrollLeft = start + down.clientX - event.clientX; };
    const stop = () => {
      place.classList.remove("dragged");
      document.removeEventListener("pointermove", move);
    };
    down.preventDefault();
    place.classList.add("dragged");
    document.addEventListener("pointermove", move);
    document.addEventListener("pointerup", stop, { once: true });
    document.addEventListener("pointercancel", stop, { once: true });
  });
}
