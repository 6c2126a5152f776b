// A tree as a table: the columns of its CoNLL-U that have values, confidences and headed spans.

import { described, element, percentOf, rove, share, spanOf, sure } from "./drawing.js";

const COLUMNS = ["ID", "Form", "Lemma", "UPOS", "XPOS", "Feats", "Head", "Relation", "Deps", "Misc"];
const [ID, FORM, HEAD, RELATION] = [0, 1, 6, 7];
const ALWAYS = [ID, FORM, HEAD, RELATION];
const BEFORE = [ID, FORM, 2, 3, 4, HEAD, RELATION]; // confidence and span; the wide columns come after them
const AFTER = [5, 8, 9];

export function drawTable(place, sentence, tree) {
  const lines = tree.conllu.split("\n").filter((line) => line && !line.startsWith("#")).map((line) => line.split("\t"));
  const filled = (c) => ALWAYS.includes(c) || lines.some((cells) => cells[c] !== "_");
  const [before, after] = [BEFORE.filter(filled), AFTER.filter(filled)];
  const confident = tree === sentence && Boolean(sentence.confidences);
  const names = [...before.map((c) => COLUMNS[c]), ...(confident ? ["Confidence"] : []), "Headed span",
    ...after.map((c) => COLUMNS[c])];
  const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col", textContent: name })));
  const body = element("tbody", {}, ...lines.map((cells) => row(sentence, tree, cells, before, after, confident)));
  place.replaceChildren(element("table", {}, element("thead", {}, head), body));
  rove(place, 1);
}

// A line that is not a word, such as a multiword token, has only its columns.
function row(sentence, tree, cells, before, after, confident) {
  const k = /^\d+$/.test(cells[ID]) ? Number(cells[ID]) : 0;
  const made = (columns) => columns.map((c) => cell(sentence, tree, cells, c, k));
  if (!k) {
    const nothing = element("td", { colSpan: confident ? 2 : 1 });
    return element("tr", { className: "token" }, ...made(before), nothing, ...made(after));
  }
  const line = element("tr", {}, ...made(before));
  line.dataset.row = k;
  if (confident) {
    const confidence = sentence.confidences[k - 1];
    line.append(element("td", { title: sure(sentence, k) }, share(confidence), percentOf(confidence)));
  }
  const span = spanOf(tree, k);
  const contiguous = span.at(-1) - span[0] + 1 === span.length;
  const words = span.length > 8
    ? [...span.slice(0, 4).map((j) => sentence.words[j - 1]), "…", ...span.slice(-2).map((j) => sentence.words[j - 1])]
    : span.map((j) => sentence.words[j - 1]);
  line.append(element("td", { className: "span" },
    element("span", { className: "quiet", textContent: `${span[0] - 1}–${span.at(-1)}` }),
    ` ${words.join(" ")}${contiguous ? "" : " (with gaps)"}`), ...made(after));
  return line;
}

function cell(sentence, tree, cells, c, k) {
  const value = cells[c] === "_" && c !== FORM ? "" : cells[c];
  if (c === ID) return element("td", { className: "number", textContent: value });
  if (c === FORM && k) {
    const word = element("button", { type: "button", className: "word", textContent: value });
    word.dataset.word = k;
    word.setAttribute("aria-label", `${value}, ${described(sentence, tree, k)}`);
    return element("td", {}, word);
  }
  if (c === HEAD && k) {
    const head = tree.heads[k - 1];
    return element("td", { textContent: head ? `${head} ${sentence.words[head - 1]}` : "root" });
  }
  return element("td", { textContent: value.replaceAll("|", " | ") });
}
