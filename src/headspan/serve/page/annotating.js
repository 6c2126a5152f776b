// The page of an annotator: a file, its sentences one by one, and changes that are saved at once.

import { COMMANDS, commandOf, keyName } from "./commands.js";
import { described, dragToPan, drawSvg, element, light, parsedSvg, percentOf, press, rove, share } from "./drawing.js";
import { percent, ranking } from "./ranking.js";
import { ask, useToken } from "./service.js";
import { isNarrow } from "./share.js";
import { drawTable } from "./table.js";

const STATE = 4_000; // milliseconds between signs of life
const DOUBTFUL = 0.9;
const ROWS = 100;
const COLUMNS = { upos: "UPOS", xpos: "XPOS", feats: "Features", lemmas: "Lemma" };
const VIEWS = ["arcs", "spans", "table"];
const COUNTED = ["confirm-sentence", "split-sentence", "join-sentences", "undo", "redo"]; // these change the progress

const at = (id) => document.getElementById(id);
const place = at("tree");
const me = Array.from(crypto.getRandomValues(new Uint32Array(2))).join("-");

const state = { number: 1, view: "arcs", compared: "nothing", rows: ROWS };
let sentence = null; // as the service returned it
let current = 1; // the word
let head = 0; // a word that was chosen as a head, and waits for its dependent
let list = { numbers: [], rows: [] };
let known = { lists: {} }; // the state of the file
let asked = null; // what happens with the answer that is being typed
let busy = Promise.resolve();

const word = (k) => (k ? sentence.words[k - 1] : "root");
const isolated = (text) => element("bdi", { textContent: text }); // whatever its direction, what is around it keeps its own
const named = (k) => (k ? `${k} ${word(k)}` : "0 root");

function say(message, problem = false) {
  at("said").textContent = message && message[0].toUpperCase() + message.slice(1);
  at("said").classList.toggle("problem", problem);
}

// The answer to a request, or null if it was refused; then the reason is shown.
async function request(path, body) {
  const got = await ask(`annotate/${path}`, { method: "POST", body: JSON.stringify(body) }).catch(() => null);
  if (got === null) {
    notice("headspan is not answering: nothing that you do now is saved. Start it again and open the address that it "
      + "prints; what was saved is there.");
    at("saved").textContent = "";
    say("Not saved: headspan is not answering.", true); // the notice may be out of sight
    return null;
  }
  if (got.ok) return got.json();
  const { detail } = await got.json().catch(() => ({ detail: `The service answered ${got.status}.` }));
  if (got.status === 401) notice("The address of this page lacks its token: open the one that headspan printed.");
  else say(String(detail), true);
  if (got.status === 409) await show(state.number);
  return null;
}

const notice = (message) => { at("notice").textContent = message; };

function shownAs() {
  const width = Math.min(Math.max(Math.floor(place.clientWidth || 800), 200), 100_000);
  return { width, compact: isNarrow(), compared: state.compared, spans: state.view === "spans" };
}

// One after the other, so that each change knows the revision that the one before has made.
function inTurn(action) {
  busy = busy.then(action, action);
  return busy;
}

async function show(number) {
  const got = await request("sentence", { number, ...shownAs() });
  if (got) take(got);
}

function take(got) {
  const outdated = asked && (sentence.number !== got.number || sentence.revision !== got.revision);
  if (sentence?.number !== got.number) [current, head] = [1, 0];
  sentence = got;
  state.number = got.number;
  current = Math.min(Math.max(current, 1), got.words.length || 1);
  draw();
  if (outdated) endAsking(); // what is being typed was about another sentence
  const page = new URLSearchParams(location.hash.slice(1));
  page.set("sentence", got.number);
  history.replaceState(null, "", `#${page}`);
}

// Make a change and show the sentence as it is then. Returns whether it was made.
async function change(operation, message, revision = sentence.revision) {
  const redrawn = [place, at("word"), at("trees")];
  const focused = document.activeElement === document.body || redrawn.some((one) => one.contains(document.activeElement));
  const body = { change: { sentence: state.number, ...operation }, revision, ...shownAs() };
  if (["undo", "redo"].includes(operation.do)) body.change = { do: operation.do };
  const got = await request("change", body);
  if (!got) return false;
  say(message ?? "");
  take(got);
  at("saved").textContent = "Saved";
  if (focused) rove(place, current, true);
  showList();
  if (COUNTED.includes(operation.do)) live();
  return true;
}

function draw() {
  const focused = place.contains(document.activeElement);
  place.classList.toggle("table", state.view === "table");
  if (state.view === "table") drawTable(place, sentence, sentence);
  else if (sentence.drawing[state.view]) drawSvg(place, sentence.drawing[state.view], sentence, sentence, 1);
  else place.replaceChildren(element("p", { textContent: "These arcs are not a tree; the other views show them." }));
  markConfirmed();
  rove(place, current, focused);
  const id = sentence.id && sentence.id !== String(sentence.number) ? ` · ${sentence.id}` : "";
  at("which").textContent = `Sentence ${sentence.number} of ${known.count ?? "…"}${id}`;
  at("sentence-text").textContent = sentence.text;
  at("confirm").textContent = sentence.confirmed ? "Confirmed ✓" : "Confirm";
  at("confirm").setAttribute("aria-pressed", String(Boolean(sentence.confirmed)));
  for (const name of ["undo", "redo"]) document.querySelector(`[data-command="${name}"]`).disabled = !sentence[name];
  for (const option of at("compared").options) {
    option.disabled = option.value !== "nothing" && !sentence.comparable[option.value];
  }
  at("compared").value = sentence.compared;
  showWord();
  showProblems();
  showTrees();
}

function markConfirmed() {
  const { HeadBy, RelationBy, SpanBy } = sentence.marks;
  for (const arc of place.querySelectorAll("[data-dependent]:not(.other)")) {
    const k = Number(arc.dataset.dependent) - 1;
    arc.classList.toggle("confirmed", Boolean(sentence.confirmed || (HeadBy[k] && RelationBy[k])));
  }
  for (const one of place.querySelectorAll(".word")) {
    one.classList.toggle("span-confirmed", Boolean(SpanBy[Number(one.dataset.word) - 1]));
  }
  press(place, head ? [head] : []);
}

// The word that has the focus: its columns as buttons, and what is known about it.
function showWord() {
  light(place, sentence, current);
  const k = current - 1;
  const values = { head: sentence.heads[k] === null ? "" : named(sentence.heads[k]), relation: sentence.relations[k],
    ...Object.fromEntries(Object.keys(COLUMNS).map((name) => [name, sentence[name]?.[k] ?? "_"])) };
  const by = { head: "HeadBy", relation: "RelationBy", upos: "UposBy", xpos: "XposBy", feats: "FeatsBy", lemmas: "LemmaBy" };
  const buttons = COMMANDS.filter(({ label }) => label).map(({ key, name, label }) => {
    const button = element("button", { type: "button" }, element("span", { className: "kind", textContent: label }));
    if (values[name] !== undefined) button.append(values[name]);
    button.append(element("kbd", { textContent: keyName(key) }));
    button.dataset.command = name;
    const who = sentence.marks[by[name]]?.[k] ?? (name === "span" ? sentence.marks.SpanBy[k] : null)
      ?? (name === "arc" && sentence.marks.HeadBy[k] && sentence.marks.RelationBy[k]);
    if (who) button.title = `by ${who}`;
    button.setAttribute("aria-pressed", String(Boolean(who)));
    return button;
  });
  at("word").replaceChildren(element("b", {}, `${current} `, isolated(word(current) ?? "")), ...buttons);
  if (sentence.words.length) at("word").setAttribute("aria-label", `${word(current)}, ${described(sentence, sentence, current)}`);
}

function showProblems() {
  at("problems").replaceChildren(...sentence.problems.map(({ word: k, message, certain }) =>
    element("li", { className: certain ? "certain" : "", textContent: k ? `${named(k)}: ${message}` : message })));
}

// The best trees with all that is confirmed; one key or click takes one of them. They come after the sentence.
async function showTrees() {
  const { number: shown, revision } = sentence;
  const got = await request("trees", { number: shown });
  if (!got || sentence.number !== shown || sentence.revision !== revision || got.revision !== revision) return;
  const rows = ranking({ ...sentence, best: got.best }).filter(({ number }) => number);
  at("trees").hidden = !rows.length;
  at("trees").querySelector("ol").replaceChildren(...rows.map(({ number, what, share: probability }) => {
    const button = element("button", { type: "button" }, share(probability),
      element("span", { className: "percent", textContent: percent(probability) }),
      element("span", { className: "what" }, element("kbd", { textContent: number }), ` ${what}`));
    button.addEventListener("click", () => inTurn(() => choose(number)));
    return element("li", {}, button);
  }));
}

const choose = (rank) => change({ do: "choose", rank }, `Tree ${rank} was taken.`);

// The list of sentences in the chosen order.
async function showList() {
  const form = new FormData(at("filters"));
  const filters = { order: form.get("order"), relation: form.get("relation"), tag: form.get("tag"),
    word: form.get("word"), unconfirmed: form.get("unconfirmed") !== null };
  const got = await request("sentences", { ...filters, count: state.rows });
  if (!got) return;
  list = got;
  at("overview").querySelector("h2").textContent = list.numbers.length === 1 ? "1 sentence" : `${list.numbers.length} sentences`;
  at("sentences").replaceChildren(...list.rows.map(row));
  at("more").hidden = list.numbers.length <= list.rows.length;
  at("more").textContent = `Show more of ${list.numbers.length} sentences`;
}

function row(one) {
  const button = element("button", { type: "button" },
    element("span", { className: "number", textContent: one.number }),
    element("span", { className: "sentence", dir: "auto", textContent: one.text }));
  const doubt = element("span", { className: "doubt" });
  if (one.confirmed) doubt.append(element("span", { className: "tick", textContent: "confirmed ✓" }));
  else if (one.confidence !== undefined) {
    doubt.append(element("span", {}, isolated(one.word), ...(one.head ? [`: ${one.relation} of `, isolated(one.head)] : [": root"])),
      share(one.confidence), element("span", { className: "sure", textContent: percentOf(one.confidence) }));
  }
  button.append(doubt);
  button.dataset.number = one.number;
  button.setAttribute("aria-current", String(one.number === state.number));
  button.addEventListener("click", () => inTurn(() => go(one.number)));
  return element("li", {}, button);
}

async function go(number) {
  say("");
  await show(number);
  for (const button of at("sentences").querySelectorAll("button")) {
    button.setAttribute("aria-current", String(Number(button.dataset.number) === state.number));
  }
  rove(place, current, true);
}

// Go on with the list: with the sentence that is shown if it is there, or with the first one.
async function takeList() {
  await showList();
  if (!list.numbers.length) say("No sentence has all of this.");
  else if (list.numbers.includes(state.number)) rove(place, current, true);
  else await go(list.numbers[0]);
}

// The next or previous sentence of the list.
function neighbour(step) {
  const here = list.numbers.indexOf(state.number);
  return list.numbers[here < 0 ? 0 : here + step];
}

async function confirmSentence() {
  const before = Boolean(sentence.confirmed);
  if (!(await change({ do: "confirm-sentence" }, before ? "No longer confirmed." : "Confirmed.")) || before) return;
  const order = new FormData(at("filters")).get("order");
  const got = await request("sentences", { ...Object.fromEntries([...new FormData(at("filters"))].filter(([name]) => name !== "unconfirmed")),
    unconfirmed: true, count: 0 });
  const rest = got?.numbers ?? [];
  const next = (order === "file" ? rest.find((number) => number > state.number) : undefined) ?? rest[0];
  if (next === undefined) say("All of these sentences are confirmed.");
  else await go(next);
}

// Ask for something to be typed; `then` gets it.
function askFor(label, value, offers, then) {
  asked = then;
  say("");
  at("ask").hidden = false;
  at("ask").querySelector("label").textContent = label;
  at("offers").replaceChildren(...offers.slice(0, 2000).map((one) => element("option", { value: one })));
  at("answer").value = value;
  at("answer").focus();
  at("answer").select();
}

// Ask for something about the current word. `operation` makes a change of what is typed; it is for this word of this
// sentence, whatever is shown by then.
function askAboutWord(label, value, offers, operation) {
  const here = { sentence: state.number, word: current };
  const { revision } = sentence;
  askFor(label, value, offers, (typed) => change({ ...here, ...operation(typed) }, undefined, revision));
}

function endAsking() {
  asked = null;
  at("ask").hidden = true;
  rove(place, current, true);
}

// A typed head: the number of a word, or a word; of several, the one that is nearest.
function headOf(typed, dependent, words) {
  const text = typed.trim();
  const number = text.match(/^\d+(?=\s|$)/);
  if (number && Number(number[0]) <= words.length) return Number(number[0]);
  if (text.toLowerCase() === "root") return 0;
  const same = words.map((form, k) => [form, k + 1])
    .filter(([form, k]) => k !== dependent && form.toLowerCase().startsWith(text.toLowerCase())).map(([, k]) => k);
  return same.sort((a, b) => Math.abs(a - dependent) - Math.abs(b - dependent))[0];
}

// Give a word of the sentence that is shown now another head, when it is its turn.
function setHead(dependent, above) {
  const { number, words } = sentence;
  return inTurn(() => changeHead(dependent, above, { number, words }));
}

function changeHead(dependent, above, { number, words, revision }) {
  if (above === undefined) return say("There is no such word.", true);
  head = 0;
  if (number === state.number) current = dependent;
  const message = `“${words[dependent - 1]}” is now below ${above ? `“${words[above - 1]}”` : "the root"}.`;
  return change({ do: "head", sentence: number, word: dependent, head: above }, message, revision);
}

function askForHead() {
  const [k, shown] = [current, sentence];
  askFor(`Head of ${named(k)}`, "", ["0 root", ...shown.words.map((_, other) => named(other + 1))],
    (typed) => (typed.trim() ? changeHead(k, headOf(typed, k, shown.words), shown)
      : say("Nothing was typed; nothing has changed.")));
}

// A value as it is in a list, if that has it in other capitals only.
function asListed(typed, offers) {
  const text = typed.trim();
  if (offers.includes(text)) return text;
  const same = offers.filter((one) => one.toLowerCase() === text.toLowerCase());
  return same.length === 1 ? same[0] : text;
}

function setRelation() {
  const offers = known.lists.deprels ?? [];
  askAboutWord(`Relation of ${named(current)}`, sentence.relations[current - 1], offers,
    (typed) => ({ do: "relation", relation: asListed(typed, offers) }));
}

function setColumn(name) {
  const value = sentence[name]?.[current - 1] ?? "_";
  const offers = name === "lemmas" ? [...new Set([word(current), word(current).toLowerCase()])] : known.lists[name] ?? [];
  askAboutWord(`${COLUMNS[name]} of ${named(current)}`, value === "_" ? "" : value, offers,
    (typed) => ({ do: "column", column: name, value: name === "lemmas" ? typed : asListed(typed, offers) }));
}

const splitAt = (typed) => typed.trim().split(/\s+/);

const RUN = {
  head: askForHead,
  relation: setRelation,
  upos: () => setColumn("upos"),
  xpos: () => setColumn("xpos"),
  feats: () => setColumn("feats"),
  lemmas: () => setColumn("lemmas"),
  arc: () => change({ do: "confirm-arc", word: current }),
  span: () => change({ do: "confirm-span", word: current }),
  sentence: confirmSentence,
  doubtful: () => {
    const { HeadBy, RelationBy } = sentence.marks;
    const doubtful = sentence.words.map((_, k) => k + 1).filter((k) => (sentence.confidences?.[k - 1] ?? 1) < DOUBTFUL
      && !sentence.confirmed && !(HeadBy[k - 1] && RelationBy[k - 1]));
    const next = doubtful.find((k) => k > current) ?? doubtful[0];
    if (next) rove(place, next, true);
    else say("All arcs are confirmed or at least 90% sure.");
  },
  next: () => (neighbour(1) ? go(neighbour(1)) : say("No sentence of the list comes after this one.")),
  back: () => (neighbour(-1) ? go(neighbour(-1)) : say("No sentence of the list comes before this one.")),
  go: () => askFor("Sentence number", "", [], (typed) => (/^\d+$/.test(typed.trim()) ? go(Number(typed))
    : say("Expected the number of a sentence.", true))),
  undo: () => change({ do: "undo" }, "Undone."),
  redo: () => change({ do: "redo" }, "Done again."),
  reparse: () => change({ do: "reparse" }, "All that is not confirmed was parsed again."),
  view: () => look(VIEWS[(VIEWS.indexOf(state.view) + 1) % VIEWS.length]),
  compare: () => {
    const possible = [...at("compared").options].filter((option) => !option.disabled).map((option) => option.value);
    state.compared = possible[(possible.indexOf(at("compared").value) + 1) % possible.length];
    return show(state.number);
  },
  "split-word": () => askAboutWord(`Parts of ${named(current)}, with spaces between them`, word(current), [],
    (typed) => ({ do: "split-word", forms: splitAt(typed) })),
  "join-words": () => change({ do: "join-words", word: current }),
  "split-token": () => askAboutWord(`Words of the multiword token ${word(current)}`, word(current), [],
    (typed) => ({ do: "split-token", forms: splitAt(typed) })),
  "join-token": () => change({ do: "join-token", word: current }),
  "split-sentence": () => change({ do: "split-sentence", word: current }, "The sentence was split."),
  "join-sentences": () => change({ do: "join-sentences" }, "The sentences were joined."),
  validate: async () => {
    say("Validating …");
    const got = await request("validate", { number: state.number });
    if (got) say(`udtools: ${got.lines.join(" · ")}`);
  },
  filter: () => at("filters").elements.relation.focus(),
  keys: () => { at("keys").open = !at("keys").open; },
};

async function look(view) {
  state.view = view;
  document.querySelector(`#looks input[value="${view}"]`).checked = true;
  await show(state.number);
  rove(place, current, true);
}

const run = (name) => inTurn(RUN[name]);

// The state of the file; other windows are noticed by it.
async function live() {
  const got = await request("state", { window: me });
  if (!got) return;
  const before = known;
  known = got;
  const { progress, agreement } = got;
  at("about-file").replaceChildren(element("b", { textContent: got.output ?? "" }), ` · ${got.annotator} · model ${got.model}`);
  at("progress").max = Math.max(progress.sentences, 1);
  at("progress").value = progress.confirmed;
  at("done").textContent = `${progress.confirmed} of ${progress.sentences} sentences confirmed`
    + (progress.looked_at < progress.sentences ? ` · the parser has looked at ${progress.looked_at}` : "")
    + (got.training ? ` · ${got.training}` : "");
  at("agreement").textContent = agreement?.words
    ? `Agreement with ${got.against}: UAS ${percent(agreement.uas)}, LAS ${percent(agreement.las)}`
      + `, κ ${agreement.kappa === null ? "–" : agreement.kappa.toFixed(2)}` : "";
  at("saved").textContent = got.saved ? "Saved in the file" : "Saved";
  notice(got.problem || (got.windows > 1 ? `This file is open in ${got.windows} windows.` : ""));
  at("curve").hidden = !got.curve;
  if (got.curve) at("curve").replaceChildren(document.importNode(parsedSvg(got.curve), true));
  for (const [id, names] of [["relations", got.lists.deprels], ["tags", [...got.lists.upos, ...got.lists.xpos]]]) {
    at(id).replaceChildren(...names.slice(0, 500).map((value) => element("option", { value })));
  }
  if (sentence) at("which").textContent = at("which").textContent.replace(/of \S+/, `of ${got.count}`);
  if (sentence && got.revision !== sentence.revision && before.revision !== got.revision && !asked) {
    await inTurn(async () => {
      if (got.revision <= sentence.revision) return;
      await show(Math.min(state.number, got.count));
      say("Another window has changed the file.", true);
    });
  }
  if (before.progress?.looked_at !== progress.looked_at) showList();
}

const wordOf = (event) => Number(event.target.closest("[data-word]")?.dataset.word ?? 0);

// Choose the head, then its dependent.
function pick(k) {
  if (!head) {
    head = k;
    press(place, [k]);
    say(`Head: “${word(k)}”. Now choose its dependent.`);
  } else if (head === k) {
    head = 0;
    press(place, []);
    say("");
  } else {
    const above = head;
    head = 0;
    setHead(k, above);
  }
}

function listen() {
  let dragged = 0;
  place.addEventListener("focusin", (event) => {
    current = wordOf(event) || current;
    showWord();
  });
  place.addEventListener("pointerdown", (event) => { dragged = wordOf(event); });
  place.addEventListener("pointerover", (event) => {
    if (!dragged || wordOf(event) === dragged) return;
    place.classList.add("dragging");
    press(place, [dragged]);
  });
  const drop = (to) => {
    const from = dragged;
    dragged = 0;
    if (!from) return;
    place.classList.remove("dragging");
    press(place, head ? [head] : []);
    if (to && from !== to) setHead(to, from);
  };
  document.addEventListener("pointerup", (event) => drop(place.contains(event.target) ? wordOf(event) : 0));
  document.addEventListener("pointercancel", () => drop(0));
  place.addEventListener("click", (event) => {
    if (!event.target.closest(".word")) return;
    current = wordOf(event);
    showWord();
    pick(current);
  });
  document.addEventListener("keydown", (event) => {
    const sideways = event.target === document.body && /^Arrow(Left|Right)$/.test(event.key); // the others scroll the page
    if (!sentence || event.altKey || event.ctrlKey || event.metaKey || !(sideways || place.contains(event.target))) return;
    const last = sentence.words.length;
    const next = { ArrowLeft: current - 1, ArrowUp: current - 1, ArrowRight: current + 1, ArrowDown: current + 1, Home: 1,
      End: last }[event.key];
    if (next === undefined) return;
    rove(place, Math.min(Math.max(next, 1), last), true);
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && asked) return endAsking();
    if (event.key === "Escape" && head) return pick(head);
    const name = commandOf(event);
    const rank = /^[1-9]$/.test(event.key) && !event.ctrlKey && !event.altKey && !event.metaKey
      && !event.target.closest("input, textarea, select") ? Number(event.key) : 0;
    const again = event.repeat && event.key === "Enter" && event.target.closest("[data-command]"); // a button held down
    if (!sentence || (!name && !rank && !again)) return;
    event.preventDefault();
    if (event.repeat) return; // nothing is confirmed or undone unseen
    if (name) run(name);
    else inTurn(() => choose(rank));
  });
  document.addEventListener("click", (event) => {
    const name = event.target.closest("[data-command]")?.dataset.command;
    if (name && sentence) run(name);
  });
  at("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const [then, typed] = [asked, at("answer").value];
    endAsking();
    if (then) inTurn(() => then(typed));
  });
  at("looks").addEventListener("change", (event) => inTurn(() => look(event.target.value)));
  at("compared").addEventListener("change", () => {
    state.compared = at("compared").value;
    inTurn(() => show(state.number));
  });
  at("filters").addEventListener("input", () => showList());
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("filters").addEventListener("keydown", (event) => {
    if (event.key === "Escape") rove(place, current, true);
    else if (event.key === "Enter" && event.target.matches("input") && !event.repeat && !event.isComposing) inTurn(takeList);
  });
  at("more").addEventListener("click", () => {
    state.rows += ROWS;
    showList();
  });
  let resized = 0;
  window.addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(() => sentence && inTurn(() => show(state.number)), 400);
  });
}

export async function start() {
  for (const id of ["asked", "empty", "result"]) at(id).hidden = true;
  at("overview").querySelector(".tools").hidden = true;
  for (const id of ["work", "editor", "overview"]) at(id).hidden = false;
  document.querySelector("header p").textContent = "Annotating";
  at("keys").querySelector("dl").replaceChildren(...COMMANDS.map(({ key, name, what }) => {
    const button = element("button", { type: "button", ariaLabel: what }, element("kbd", { textContent: keyName(key) }));
    button.dataset.command = name;
    return element("div", {}, element("dt", {}, button), element("dd", { textContent: what }));
  }),
  element("div", {}, element("dt", {}, element("kbd", { textContent: "1–5" })), element("dd", { textContent: "Take one of the best trees" })));
  const page = new URLSearchParams(location.hash.slice(1));
  useToken(page.get("token") ?? "");
  listen();
  dragToPan(place);
  await live();
  await showList();
  const first = Number(page.get("sentence")) || list.numbers[0] || 1;
  await inTurn(() => go(Math.min(first, known.count ?? first)));
  setInterval(live, STATE);
}
