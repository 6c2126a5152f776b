// The page: sends the text to the service and shows the answer.

import { described, drawSvg, drawTable, element, light, markRequired, press, rove, spanOf }
  from "./drawing.js";
import { BEST_TREE, ranking } from "./ranking.js";
import { ask, introduce, isColumns, request, useToken } from "./service.js";
import { copy, fromLink, standalone, toLink } from "./share.js";

const EXAMPLE = "I saw the man with the telescope.";
const PAUSE = 400; // milliseconds after the last key
const HINT = "Point at a word to see its headed span. Choose two words, the head first, to require "
  + "or forbid their arc.";

const at = (id) => document.getElementById(id);
const place = at("drawing");

const state = { text: EXAMPLE, view: "arcs", sentence: 1, constraints: [] };
// The text, its sentences as the service returned them, and the number of the one shown.
let answer = null;
let rank = BEST_TREE; // which of the best trees is shown
let chosen = []; // a head, or a head and a dependent
let asking = null;
let typed = 0;

const sentence = () => answer.sentences[answer.number - 1];
const tree = () => (rank === BEST_TREE ? sentence() : sentence().best[rank]);
const word = (k) => (k ? sentence().words[k - 1] : "root");
const here = () => state.constraints.filter((c) => c.sentence === state.sentence);

function say(message, wrong = false) {
  at("status").textContent = message;
  at("status").classList.toggle("problem", wrong);
}

// Returns whether there is something new to show.
async function parse() {
  clearTimeout(typed);
  asking?.abort();
  const mine = (asking = new AbortController());
  at("text").classList.toggle("columns", isColumns(state.text));
  if (!state.text.trim()) {
    answer = null;
    show();
    say("");
    return true;
  }
  at("result").classList.add("stale");
  const asked = JSON.stringify(request(state));
  const { text, sentence: number } = state;
  try {
    const got = await ask("parse", { method: "POST", body: asked, signal: mine.signal });
    if (got.status === 503) return await later(Number(got.headers.get("Retry-After")) || 1, mine);
    const body = await got.json();
    at("token").hidden = got.status !== 401;
    if (!got.ok) return fail(withWords(body.detail));
    answer = body.sentences.length ? { text, number, sentences: body.sentences } : null;
    rank = BEST_TREE;
    chosen = [];
    say("");
    show();
    return true;
  } catch {
    return mine.signal.aborted ? false : fail("The service is not answering.");
  } finally {
    if (mine === asking) fresh();
  }
}

// The tree of an older text must not be taken for that of the current one.
function fail(message) {
  if (answer?.text === state.text) state.sentence = answer.number;
  else {
    answer = null;
    show();
  }
  say(message, true);
  return false;
}

function fresh() {
  at("result").classList.remove("stale");
  at("result").inert = false;
}

// Errors of the service have the numbers of words; the page shows the words.
function withWords(detail) {
  if (answer?.text !== state.text || !detail.includes("→")) return detail;
  return detail.replace(/\d+(?= →)|(?<=→ )\d+/g, (k) => word(Number(k)) ?? k);
}

async function later(seconds, mine) {
  say(`The service is busy; trying again in ${seconds} s.`);
  await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  return mine.signal.aborted ? false : parse();
}

function show() {
  at("result").hidden = !answer;
  showSentences();
  if (!answer) return;
  draw();
  showConstraints();
  showBest();
}

function showSentences() {
  const several = answer && answer.sentences.length > 1;
  at("sentences").hidden = !several;
  if (!several) return;
  at("sentences").replaceChildren(...answer.sentences.map((one, k) => {
    const button = element("button", { type: "button", textContent: `${k + 1}  ${one.text}` });
    button.setAttribute("aria-current", String(k + 1 === answer.number));
    button.addEventListener("click", async () => {
      state.sentence = k + 1;
      await parse();
      at("sentences").children[k]?.focus();
    });
    return button;
  }));
  at("sentences").children[answer.number - 1]?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function draw() {
  const shown = tree();
  if (state.view === "table") drawTable(place, sentence(), shown);
  else drawSvg(place, shown.drawing[state.view], sentence(), shown);
  markRequired(place, here().filter((c) => c.kind === "require").map((c) => [c.head, c.dependent]));
  choose(chosen);
}

function about(k) {
  light(place, tree(), k);
  if (!k) {
    if (!chosen.length) at("about").textContent = HINT;
    return;
  }
  if (chosen.length) return;
  const span = spanOf(tree(), k);
  at("about").replaceChildren(element("b", { textContent: word(k) }), `: ${described(sentence(), tree(), k)}. `
    + `Its span: ${span.map(word).join(" ")}`);
}

// Take words as the head and dependent of an arc, and offer what can be done with it.
function choose(words) {
  chosen = words;
  press(place, chosen);
  const [head, dependent] = chosen;
  at("choice").hidden = !chosen.length;
  if (!chosen.length) {
    about(0);
    return;
  }
  const offers = [];
  if (dependent === undefined) {
    at("about").replaceChildren("Head: ", element("b", { textContent: word(head) }),
      ". Now choose its dependent, or:");
    offers.push(["Make it the root", () => constrain("require", 0, head)]);
    offers.push(["Not the root", () => constrain("forbid", 0, head)]);
  } else {
    at("about").replaceChildren("Arc: ", element("b", { textContent: `${word(head)} → ${word(dependent)}` }));
    offers.push(["Require", () => constrain("require", head, dependent)]);
    offers.push(["Forbid", () => constrain("forbid", head, dependent)]);
    if (tree().heads[dependent - 1] === head) offers.reverse();
    offers.push(["Swap", () => offer([dependent, head])]);
  }
  offers.push(["Cancel", () => cancel()]);
  at("choice").replaceChildren(...offers.map(([name, action]) => {
    const button = element("button", { type: "button", textContent: name });
    button.addEventListener("click", action);
    return button;
  }));
}

function offer(words) {
  choose(words);
  if (words.length === 2) at("choice").firstChild.focus();
}

function cancel() {
  const [head] = chosen;
  choose([]);
  rove(place, head, true);
}

function pick(k) {
  if (!chosen.length || chosen.length === 2) offer([k]);
  else if (chosen[0] === k) choose([]);
  else offer([chosen[0], k]);
}

async function constrain(kind, head, dependent) {
  const before = state.constraints;
  const others = before.filter((c) => c.sentence !== state.sentence || c.head !== head || c.dependent !== dependent);
  state.constraints = [...others, { kind, sentence: state.sentence, head, dependent }];
  choose([]);
  if (!(await parse())) {
    state.constraints = before;
    rove(place, dependent, true);
    return;
  }
  rove(place, dependent, true);
  say(`${kind === "require" ? "Required" : "Forbidden"}: ${word(head)} → ${word(dependent)}.`);
}

function showConstraints() {
  at("constraints").hidden = !here().length;
  at("constraints").querySelector("ul").replaceChildren(...here().map((c) => {
    const kind = c.kind === "require" ? "required" : "forbidden";
    const arc = `${word(c.head)} → ${word(c.dependent)}`;
    const button = element("button", { type: "button" }, `${arc} `,
      element("span", { className: "kind", textContent: `${kind} ×` }));
    button.setAttribute("aria-label", `Remove: ${arc}, ${kind}`);
    button.addEventListener("click", async () => {
      state.constraints = state.constraints.filter((other) => other !== c);
      if (await parse()) say(`Removed: ${arc}.`);
      rove(place, c.dependent, true);
    });
    return element("li", {}, button);
  }));
}

function showBest() {
  const bound = here().length > 0;
  const rows = ranking(sentence(), bound);
  at("best").hidden = rows.length < 2;
  at("best").querySelector("h2").textContent = bound ? "The best trees under the constraints" : "The best trees";
  at("best").querySelector("ol").replaceChildren(...rows.map(({ k, rank: name, what, share }) => {
    const button = element("button", { type: "button" },
      element("span", { className: "rank", textContent: name }),
      element("span", { textContent: what }),
      element("span", { className: "share", textContent: share }));
    button.setAttribute("aria-current", String(k === rank));
    button.addEventListener("click", () => {
      rank = k;
      chosen = [];
      draw();
      showBest();
      at("best").querySelector("[aria-current=true]").focus();
    });
    return element("li", {}, button);
  }));
}

function adopt(link) {
  Object.assign(state, link);
  at("text").value = state.text;
  document.querySelector(`#views input[value="${state.view}"]`).checked = true;
}

// Text typed before the service has answered is kept.
async function begin() {
  const model = await introduce();
  at("model").textContent = model ? `Model: ${model.name}.` : "";
  await parse();
}

function wordOf(event) {
  const data = event.target.closest("[data-word], [data-dependent]:not(.other)")?.dataset;
  return Number(data?.word ?? data?.dependent ?? 0);
}

place.addEventListener("pointerover", (event) => about(wordOf(event)));
place.addEventListener("pointerleave", () => about(0));
place.addEventListener("focusin", (event) => about(wordOf(event)));
place.addEventListener("focusout", () => about(0));
place.addEventListener("click", (event) => {
  if (event.target.closest(".word")) pick(wordOf(event));
});
place.addEventListener("keydown", (event) => {
  const k = wordOf(event), last = sentence().words.length;
  const next = { ArrowLeft: k - 1, ArrowUp: k - 1, ArrowRight: k + 1, ArrowDown: k + 1, Home: 1, End: last }[event.key];
  if (next !== undefined) {
    rove(place, Math.min(Math.max(next, 1), last), true);
    event.preventDefault();
  } else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    pick(k);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && chosen.length) cancel();
});
at("asked").addEventListener("submit", (event) => {
  event.preventDefault();
  parse();
});
at("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    at("asked").requestSubmit();
  }
});
at("text").addEventListener("input", () => {
  Object.assign(state, { text: at("text").value, sentence: 1, constraints: [] });
  clearTimeout(typed);
  at("result").inert = true; // it belongs to another text
  typed = setTimeout(parse, PAUSE);
});
at("token").addEventListener("submit", (event) => {
  event.preventDefault();
  useToken(at("secret").value);
  begin();
});
at("views").addEventListener("change", (event) => {
  state.view = event.target.value;
  if (answer) draw();
});
document.querySelector(".copies").addEventListener("click", async (event) => {
  const what = event.target.dataset.copy;
  if (!what) return;
  const drawn = tree().drawing[state.view === "spans" ? "spans" : "arcs"];
  const text = what === "link" ? toLink(state) : what === "conllu" ? tree().conllu : await standalone(drawn);
  const names = { link: "The link is", conllu: "CoNLL-U is", svg: "The SVG is" };
  if (await copy(text)) say(`${names[what]} in the clipboard.`);
});
window.addEventListener("hashchange", () => {
  const link = fromLink(location.hash);
  if (!link) return;
  adopt(link);
  parse();
});

adopt(fromLink(location.hash) ?? state);
begin();
