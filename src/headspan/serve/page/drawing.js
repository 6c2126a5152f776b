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

const percent = (probability) => `${Math.round(100 * probability)}%`;

// The confidence of an arc, and what it consists of.
function sure(sentence, k) {
  const of = (name) => percent(sentence[name][k - 1]);
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

export function drawSvg(place, text, sentence, tree) {
  const svg = document.importNode(parsedSvg(text), true);
  svg.setAttribute("role", "group");
  svg.querySelector("title")?.remove(); // it would pop up as a tooltip
  svg.setAttribute("aria-label", "Words; choose a head and then a dependent");
  place.replaceChildren(svg);
  for (const word of svg.querySelectorAll(".word")) {
    const k = Number(word.dataset.word);
    const box = word.getBBox();
    word.prepend(shape("rect", { class: "hit", x: box.x - 6, y: box.y - 3, rx: 5,
      width: box.width + 12, height: box.height + 6 }));
    word.setAttribute("role", "button");
    word.setAttribute("aria-label", `${sentence.words[k - 1]}, ${described(sentence, tree, k)}`);
  }
  rove(place, 1);
}

export function drawTable(place, sentence, tree) {
  const row = (name, cells) => element("tr", {}, ...cells.map((cell) => element(name, {}, cell)));
  const hasConfidences = tree === sentence && sentence.confidences;
  const lemmas = sentence.lemmas;
  const names = ["", "Word", ...(lemmas ? ["Lemma"] : []), "Tag", "Relation", "Head", ...(hasConfidences ? ["Confidence"] : []), "Span"];
  const body = element("tbody");
  sentence.words.forEach((form, at) => {
    const k = at + 1, head = tree.heads[at], span = spanOf(tree, k);
    const word = element("button", { type: "button", className: "word", textContent: form });
    word.dataset.word = k;
    word.setAttribute("aria-label", `${form}, ${described(sentence, tree, k)}`);
    const cells = [String(k), word, ...(lemmas ? [lemmas[at]] : []), sentence.upos?.[at] ?? "", tree.relations[at],
      head ? `${head} ${sentence.words[head - 1]}` : "root"];
    if (hasConfidences) {
      const confidence = sentence.confidences[at];
      const meter = element("meter", { value: confidence, low: 0.5, high: 0.9, optimum: 1 });
      cells.push(element("span", { title: sure(sentence, k) }, meter, percent(confidence)));
    }
    const contiguous = span.at(-1) - span[0] + 1 === span.length;
    cells.push(`${span[0] - 1}–${span.at(-1)}${contiguous ? "" : " (with gaps)"}`);
    const line = row("td", cells);
    line.firstChild.className = "number";
    line.dataset.row = k;
    body.append(line);
  });
  place.replaceChildren(element("table", {}, element("thead", {}, row("th", names)), body));
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
  for (const [first, last] of contiguousRanges(span)) band(place, first, last);
}

function band(place, first, last) {
  const boxes = [first, last].map((k) => place.querySelector(`.word[data-word="${k}"] .hit`).getBBox());
  const all = [...place.querySelectorAll(".word .hit")].map((hit) => hit.getBBox());
  const left = Math.min(...boxes.map((box) => box.x));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const top = Math.min(...all.map((box) => box.y));
  const bottom = Math.max(...all.map((box) => box.y + box.height));
  place.querySelector(".paper").after(shape("rect", { class: "light", x: left, y: top, rx: 6,
    width: right - left, height: bottom - top }));
}

function contiguousRanges(words) {
  const ranges = [];
  for (const k of words) {
    if (ranges.length && ranges.at(-1)[1] === k - 1) ranges.at(-1)[1] = k;
    else ranges.push([k, k]);
  }
  return ranges;
}
