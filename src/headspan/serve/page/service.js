// Requests to the service, and what it would refuse.

const BEST = 5;
const ONE_ROW = 100_000; // pixels

let token = "";
let limits = {};

export function useToken(secret) {
  token = secret;
}

export async function ask(path, options = {}) {
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  return fetch(path, { headers, ...options });
}

// The models of the service, or none if it does not say; its limits are remembered.
export async function introduce() {
  const got = await ask("models").catch(() => null);
  const about = got?.ok ? await got.json() : null;
  limits = about?.limits ?? {};
  return about?.models ?? [];
}

// Whether a text is CoNLL-U: its first line that is not a comment has columns.
export function isColumns(text) {
  const line = text.split("\n").find((one) => one.trim() && !one.startsWith("#")) ?? "";
  return /^\d+([-.]\d+)?\t(.*\t){2}/.test(line);
}

const input = (text) => (isColumns(text) ? { conllu: text.trim() + "\n\n" } : { text });

const model = (state) => (state.model ? { model: state.model } : {});

function constraints(state) {
  return state.constraints.map(({ kind, sentence, head, dependent }) => ({
    sentence, [kind === "require" ? "required" : "forbidden"]: [[head, dependent]],
  }));
}

// width: that of the place for the drawing, in pixels.
export function request(state, width) {
  const fitting = Math.min(Math.max(Math.floor(width / state.zoom), 200), ONE_ROW);
  return { ...input(state.text), ...model(state), confidence: true, best: BEST, draw: state.sentence, constraints: constraints(state),
    width: state.onerow ? ONE_ROW : fitting, compact: state.compact };
}

// All sentences, for a file.
export function requestAll(state, format) {
  return { ...input(state.text), ...model(state), confidence: true, format, constraints: constraints(state) };
}

const number = (value) => value.toLocaleString("en");

// Why the service would refuse a request, or "": so that nobody waits for that.
export function refusal(text, body) {
  const bytes = new Blob([body]).size;
  if (bytes > limits.body) {
    return `This text is too large: ${number(bytes)} bytes, and the service takes ${number(limits.body)}.`;
  }
  const sentences = isColumns(text)
    ? text.split(/\n[ \t\r]*\n/).map((block) => (block.match(/^\d+\t/gm) ?? []).length)
    : [];
  const words = isColumns(text) ? sentences.reduce((sum, n) => sum + n, 0) : (text.match(/\S+/g) ?? []).length;
  if (words > limits.words) {
    return `This text is too long: ${number(words)} words, and the service takes ${number(limits.words)} at a time.`;
  }
  const long = sentences.findIndex((n) => n > limits.sentence);
  if (long >= 0) {
    return `Sentence ${long + 1} is too long: ${number(sentences[long])} words, and the service takes `
      + `${number(limits.sentence)}.`;
  }
  return "";
}

// Why a file is not worth reading, or "".
export function refusedFile(file) {
  if (!(file.size > limits.body)) return "";
  return `${file.name} is too large: ${number(file.size)} bytes, and the service takes ${number(limits.body)}.`;
}
