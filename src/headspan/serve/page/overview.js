// The sentences of a text, each with its least certain arc.

import { element, percentOf, share } from "./drawing.js";
import { inWords, isPunctuation } from "./relations.js";

const AT_ONCE = 100; // rows

let rows = AT_ONCE;

// The word whose arc is least certain, but not a full stop if there is another word; 0 if nothing is known.
function doubtful(sentence) {
  const { confidences, relations } = sentence;
  if (!confidences?.length) return 0;
  const words = confidences.map((_, at) => at);
  const telling = words.filter((at) => !isPunctuation(relations[at]));
  const candidates = telling.length ? telling : words;
  return 1 + candidates.reduce((worst, at) => (confidences[at] < confidences[worst] ? at : worst));
}

export function showOverview(place, sentences, current, doubtfulFirst, choose) {
  const list = place.querySelector("ol"), more = place.querySelector("#more");
  const words = sentences.reduce((sum, one) => sum + one.words.length, 0);
  place.querySelector("h2").textContent = `${sentences.length} sentences, ${words} words, and the least certain arc of each sentence`;
  const entries = sentences.map((one, at) => ({ one, number: at + 1, k: doubtful(one) }));
  const certainty = ({ one, k }) => (k ? one.confidences[k - 1] : 1);
  if (doubtfulFirst) entries.sort((a, b) => certainty(a) - certainty(b));
  rows = Math.max(rows, 1 + entries.findIndex(({ number }) => number === current));
  list.replaceChildren(...entries.slice(0, rows).map(({ one, number, k }) => {
    const button = element("button", { type: "button" },
      element("span", { className: "number", textContent: number }),
      element("span", { className: "sentence", dir: "auto", textContent: one.text }));
    if (k) {
      const sure = one.confidences[k - 1];
      button.append(element("span", { className: "doubt" },
        element("span", { textContent: inWords(one, one, k) }),
        share(sure), element("span", { className: "sure", textContent: percentOf(sure) })));
    }
    button.dataset.number = number;
    button.setAttribute("aria-current", String(number === current));
    button.addEventListener("click", () => choose(number));
    return element("li", {}, button);
  }));
  const hidden = entries.length - rows;
  more.hidden = hidden <= 0;
  more.textContent = `Show ${Math.min(hidden, AT_ONCE)} more of ${entries.length} sentences`;
  more.onclick = () => {
    rows += AT_ONCE;
    showOverview(place, sentences, current, doubtfulFirst, choose);
  };
}

export function resetOverview() {
  rows = AT_ONCE;
}
