// The page: sends the text to the service and shows the answer.

import { described, dragToPan, drawSvg, element, inRows, light, markRequired, press, rove, scrollToRoot, share, spanOf }
  from "./drawing.js";
import { EXAMPLES } from "./examples.js";
import { save, toPng } from "./files.js";
import { resetOverview, showOverview } from "./overview.js";
import { BEST_TREE, numberOf, percent, ranking, remaining } from "./ranking.js";
import { meanings } from "./relations.js";
import { ask, introduce, isColumns, refusal, refusedFile, request, requestAll, useToken } from "./service.js";
import { ZOOMS, copy, fromLink, isNarrow, remember, standalone, toLink } from "./share.js";
import { drawTable } from "./table.js";

const PAUSE = 400; // milliseconds after the last key
const PATIENCE = 150; // milliseconds after which an answer is said to take time
const TYPED = 4_000; // characters; longer texts wait for the button
const HINT = "Point at a word to see its headed span. Choose two words, the head first, to require "
  + "or forbid their arc.";

const at = (id) => document.getElementById(id);
const place = at("drawing");

const state = { text: "", model: "", view: "arcs", sentence: 1, tree: BEST_TREE, constraints: [], compact: isNarrow(), onerow: false,
  zoom: 1 };
// The text, the model, its sentences as the service returned them, the number of the one shown and the width of its drawing.
let answer = null;
let chosen = []; // a head, or a head and a dependent
let asking = null;
let typed = 0;
let resized = 0;

const sentence = () => answer.sentences[answer.number - 1];
const tree = () => sentence().best?.[state.tree - 1] ?? sentence();
const word = (k) => (k ? sentence().words[k - 1] : "root");
const here = () => state.constraints.filter((c) => c.sentence === state.sentence);

function say(message, kind = "") {
  at("status").textContent = message;
  at("status").className = kind;
}

// The width for a drawing, also while nothing is shown.
function room() {
  const style = getComputedStyle(at("result"));
  const around = ["paddingLeft", "paddingRight", "borderLeftWidth", "borderRightWidth"];
  return document.querySelector("main").clientWidth - around.reduce((sum, side) => sum + parseFloat(style[side]), 0);
}

// Returns whether there is something new to show.
async function parse() {
  clearTimeout(typed);
  asking?.abort();
  const mine = (asking = new AbortController());
  at("text").classList.toggle("columns", isColumns(state.text));
  if (!state.text.trim()) {
    answer = null;
    say("");
    fresh();
    show();
    return true;
  }
  const { text, model, sentence: number } = state;
  const width = room();
  const body = JSON.stringify(request(state, width));
  const refused = refusal(text, body);
  if (refused) {
    fresh();
    return fail(refused);
  }
  at("empty").hidden = true;
  at("result").classList.add("stale");
  document.querySelector("main").setAttribute("aria-busy", "true");
  const waiting = setTimeout(() => say("Parsing …", "pending"), PATIENCE);
  try {
    const got = await ask("parse", { method: "POST", body, signal: mine.signal });
    clearTimeout(waiting);
    if (got.status === 503) return await later(Number(got.headers.get("Retry-After")) || 1, mine);
    const said = await got.json();
    at("token").hidden = got.status !== 401;
    if (!got.ok) return fail(withWords(said.detail));
    answer = said.sentences.length ? { text, model, number, width, sentences: said.sentences } : null;
    if (answer) state.tree = numberOf(sentence(), state.tree);
    chosen = [];
    say(answer ? "" : "There are no words in this text.");
    show();
    return true;
  } catch {
    return mine.signal.aborted ? false : fail("The service is not answering.");
  } finally {
    clearTimeout(waiting);
    if (mine === asking) fresh();
  }
}

// The tree of an older text must not be taken for that of the current one.
function fail(message) {
  if (answer?.text === state.text) {
    Object.assign(state, { sentence: answer.number, model: answer.model });
    showModel();
  } else {
    answer = null;
    show();
  }
  say(message[0].toUpperCase() + message.slice(1), "problem");
  return false;
}

function fresh() {
  const older = Boolean(answer) && answer.text !== state.text; // a new text is not asked for yet
  at("result").classList.remove("stale");
  at("result").inert = at("overview").inert = older;
  document.querySelector("main").removeAttribute("aria-busy");
}

// Errors of the service have the numbers of words; the page shows the words.
function withWords(detail) {
  if (answer?.text !== state.text || !detail.includes("→")) return detail;
  return detail.replace(/\d+(?= →)|(?<=→ )\d+/g, (k) => word(Number(k)) ?? k);
}

async function later(seconds, mine) {
  say(`The service is busy; trying again in ${seconds} s.`, "pending");
  await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  return mine.signal.aborted ? false : parse();
}

function show() {
  at("result").hidden = !answer;
  at("empty").hidden = Boolean(answer || state.text.trim());
  at("clear").hidden = !state.text;
  showSentences();
  if (answer) {
    showConstraints();
    showTree();
  }
  remember(state);
}

function showSentences() {
  const several = answer && answer.sentences.length > 1;
  at("overview").hidden = !several;
  if (several) showOverview(at("overview"), answer.sentences, answer.number, at("doubtful").checked, chooseSentence);
}

async function chooseSentence(number) {
  Object.assign(state, { sentence: number, tree: BEST_TREE });
  await parse();
  at("sentences").querySelector(`[data-number="${number}"]`)?.focus();
}

// Show the chosen tree in the chosen view.
function showTree() {
  draw();
  showBest();
  at("labels").querySelector("dl").replaceChildren(...meanings(sentence(), tree()).map(([label, meaning]) =>
    element("div", {}, element("dt", { textContent: label }), element("dd", { textContent: meaning }))));
}

function draw() {
  const shown = tree();
  at("layout").hidden = state.view === "table";
  at("compact").disabled = state.view !== "arcs";
  if (state.view === "table") drawTable(place, sentence(), shown);
  else {
    drawSvg(place, shown.drawing[state.view], sentence(), shown, state.zoom);
    const wide = place.scrollWidth > place.clientWidth;
    if (wide) scrollToRoot(place);
    at("toroot").hidden = !wide && place.clientHeight < window.innerHeight;
    at("onerow").parentElement.hidden = !state.onerow && !inRows(place);
  }
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
  state.tree = BEST_TREE;
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
      state.tree = BEST_TREE;
      if (await parse()) say(`Removed: ${arc}.`);
      rove(place, c.dependent, true);
    });
    return element("li", {}, button);
  }));
}

// Trees that differ in nothing but punctuation are folded.
function showBest() {
  const rows = ranking(sentence());
  at("best").hidden = rows.length < 2;
  at("best").querySelector("h2").textContent = here().length ? "The best trees under the constraints" : "The best trees";
  const folded = rows.filter(({ punctuation }) => punctuation);
  at("best").querySelector("ol").replaceChildren(...rows.filter((row) => !row.punctuation).map(treeRow));
  at("punctuation").hidden = !folded.length;
  if (folded.some(({ number }) => number === state.tree)) at("punctuation").open = true;
  at("punctuation").querySelector("summary").textContent = folded.length === 1
    ? "1 tree that differs only in punctuation" : `${folded.length} trees that differ only in punctuation`;
  at("punctuation").querySelector("ol").replaceChildren(...folded.map(treeRow));
  at("rest").textContent = `All other trees together: ${percent(remaining(sentence()))}`;
}

function treeRow({ number, what, share: probability }) {
  const button = element("button", { type: "button" });
  if (probability !== undefined) {
    button.append(share(probability), element("span", { className: "percent", textContent: percent(probability) }));
  }
  button.append(element("span", { className: "what", textContent: what }));
  button.dataset.tree = number;
  button.setAttribute("aria-current", String(number === state.tree));
  button.addEventListener("click", () => {
    state.tree = number;
    chosen = [];
    showTree();
    remember(state);
    at("best").querySelector("[aria-current=true]").focus();
  });
  return element("li", {}, button);
}

function adopt(link) {
  Object.assign(state, link);
  at("text").value = state.text;
  document.querySelector(`#views input[value="${state.view}"]`).checked = true;
  for (const name of ["compact", "onerow"]) at(name).checked = state[name];
  at("zoom").textContent = `${Math.round(100 * state.zoom)}%`;
}

// Take another text; it has no constraints yet.
function takeText(text) {
  Object.assign(state, { text, sentence: 1, tree: BEST_TREE, constraints: [] });
  resetOverview();
  say("");
  at("clear").hidden = !text;
  at("result").inert = at("overview").inert = true; // they belong to another text
}

function begin(text) {
  at("text").value = text;
  takeText(text);
  return parse();
}

async function openFile(file) {
  const refused = refusedFile(file);
  if (refused) say(refused, "problem");
  else await begin((await file.text()).replaceAll("\r\n", "\n"));
}

function showExamples() {
  at("examples").replaceChildren(...EXAMPLES.map(({ name, text }) => {
    const button = element("button", { type: "button" }, element("b", { textContent: name }),
      element("span", { textContent: isColumns(text) ? text.replaceAll("\t", " ") : text }));
    button.addEventListener("click", () => begin(text));
    return element("li", {}, button);
  }));
}

// Text typed before the service has answered is kept.
async function meet() {
  const names = (await introduce()).map(({ name }) => name);
  at("models").hidden = names.length < 2;
  at("model").textContent = names.length === 1 ? `Model: ${names[0]}.` : "";
  at("models").querySelector("select").replaceChildren(...names.map((name) => element("option", { textContent: name })));
  showModel();
  await parse();
}

// A link can name a model that this service does not have; the first is the default.
function showModel() {
  const select = at("models").querySelector("select");
  if (![...select.options].some(({ value }) => value === state.model)) state.model = "";
  select.value = state.model || (select.options[0]?.value ?? "");
}

function wordOf(event) {
  const data = event.target.closest("[data-word], [data-dependent]:not(.other)")?.dataset;
  return Number(data?.word ?? data?.dependent ?? 0);
}

async function content(kind) {
  const shown = tree();
  if (kind === "conllu") return shown.conllu;
  return standalone(shown.drawing[state.view === "spans" ? "spans" : "arcs"]);
}

const fileName = () => `headspan-${(sentence().id ?? String(answer.number)).replace(/[^\w.-]+/g, "-").slice(0, 60)}`;

async function download(kind) {
  if (kind === "conllu") save(`${fileName()}.conllu`, await content(kind), "text/plain;charset=utf-8");
  if (kind === "svg") save(`${fileName()}.svg`, await content(kind), "image/svg+xml");
  if (kind === "png") save(`${fileName()}.png`, await toPng(await content("svg")), "image/png");
}

async function downloadAll(format) {
  say("Parsing …", "pending");
  const got = await ask("parse", { method: "POST", body: JSON.stringify(requestAll(state, format)) }).catch(() => null);
  if (!got?.ok) return say(got ? (await got.json()).detail : "The service is not answering.", "problem");
  save(`headspan.${format}`, await got.text(), "text/plain;charset=utf-8");
  say("");
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
  takeText(at("text").value);
  clearTimeout(typed);
  asking?.abort();
  if (state.text.length <= TYPED) typed = setTimeout(parse, PAUSE);
  else say("Press Enter or Parse.");
});
at("open").addEventListener("click", () => at("file").click());
at("file").addEventListener("change", async () => {
  const [file] = at("file").files;
  at("file").value = "";
  if (file) await openFile(file);
});
at("asked").addEventListener("dragover", (event) => {
  if (event.dataTransfer.types.includes("Files")) event.preventDefault();
});
at("asked").addEventListener("drop", (event) => {
  const [file] = event.dataTransfer.files;
  if (!file) return;
  event.preventDefault();
  openFile(file);
});
at("clear").addEventListener("click", () => {
  begin("");
  at("text").focus();
});
at("token").addEventListener("submit", (event) => {
  event.preventDefault();
  useToken(at("secret").value);
  meet();
});
at("doubtful").addEventListener("change", showSentences);
at("overview").addEventListener("click", (event) => {
  if (event.target.dataset.all) downloadAll(event.target.dataset.all);
});
at("models").addEventListener("change", (event) => {
  Object.assign(state, { model: event.target.value, sentence: 1, tree: BEST_TREE, constraints: [] });
  resetOverview();
  parse();
});
at("views").addEventListener("change", (event) => {
  state.view = event.target.value;
  if (answer) draw();
  remember(state);
});
for (const name of ["compact", "onerow"]) {
  at(name).addEventListener("change", () => {
    state[name] = at(name).checked;
    parse();
  });
}
at("layout").addEventListener("click", (event) => {
  if (event.target.id === "toroot") scrollToRoot(place, "smooth");
  const step = event.target.dataset.zoom;
  if (step === undefined) return;
  const next = step === "0" ? 1 : ZOOMS[ZOOMS.indexOf(state.zoom) + Number(step)] ?? state.zoom;
  if (next === state.zoom) return;
  state.zoom = next;
  at("zoom").textContent = `${Math.round(100 * next)}%`;
  parse();
});
document.querySelector(".exports").addEventListener("click", async (event) => {
  const { save: saved, copy: copied } = event.target.dataset;
  if (saved) await download(saved);
  if (!copied) return;
  const text = copied === "link" ? toLink(state) : await content(copied);
  const names = { link: "The link is", conllu: "CoNLL-U is", svg: "The SVG is" };
  if (await copy(text)) say(`${names[copied]} in the clipboard.`);
});
window.addEventListener("hashchange", () => {
  const link = fromLink(location.hash);
  if (!link) return;
  adopt(link);
  showModel();
  parse();
});
// A drawing for another width is another drawing.
window.addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => {
    if (answer && !state.onerow && Math.abs(room() - answer.width) > 8) parse();
  }, PAUSE);
});

dragToPan(place);
if ("annotates" in document.body.dataset) (await import("./annotating.js")).start();
else {
  showExamples();
  adopt(fromLink(location.hash) ?? state);
  meet();
}
