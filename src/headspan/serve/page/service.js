// Requests to the service.

const BEST = 5;

let token = "";
let model = null;

export function useToken(secret) {
  token = secret;
}

export async function ask(path, options = {}) {
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  return fetch(path, { headers, ...options });
}

// The model behind the service, or null if it does not say.
export async function introduce() {
  const got = await ask("models").catch(() => null);
  model = got?.ok ? (await got.json()).models[0] : null;
  return model;
}

// Whether a text is CoNLL-U: its first line that is not a comment has columns.
export function isColumns(text) {
  const line = text.split("\n").find((one) => one.trim() && !one.startsWith("#")) ?? "";
  return /^\d+([-.]\d+)?\t(.*\t){2}/.test(line);
}

export function request(state) {
  const constraints = state.constraints.map(({ kind, sentence, head, dependent }) => ({
    sentence, [kind === "require" ? "required" : "forbidden"]: [[head, dependent]],
  }));
  const input = isColumns(state.text) ? { conllu: state.text.trim() + "\n\n" } : { text: state.text };
  return { ...input, confidence: true, best: BEST, draw: state.sentence, constraints };
}
