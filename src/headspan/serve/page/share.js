// Copying, and the state of the page as the fragment of its address, which browsers do not send.

const LONGEST_LINK = 8_000; // characters

export const ZOOMS = [0.5, 0.65, 0.8, 1, 1.25, 1.5, 2, 3];

// Narrow screens show compact drawings, unless one asks otherwise.
export const isNarrow = () => window.innerWidth < 600;

const arcs = (constraints, kind) =>
  constraints.filter((c) => c.kind === kind).map((c) => `${c.sentence}.${c.head}.${c.dependent}`);

export function toLink(state) {
  const parameters = new URLSearchParams({ text: state.text });
  if (state.model) parameters.set("model", state.model);
  if (state.view !== "arcs") parameters.set("view", state.view);
  if (state.sentence > 1) parameters.set("sentence", state.sentence);
  if (state.tree) parameters.set("tree", state.tree);
  for (const name of ["compact", "onerow"]) if (state[name]) parameters.set(name, "1");
  if (state.zoom !== 1) parameters.set("zoom", state.zoom);
  for (const kind of ["require", "forbid"]) {
    const constrained = arcs(state.constraints, kind);
    if (constrained.length) parameters.set(kind, constrained.join(","));
  }
  const page = new URL(location.href);
  page.hash = parameters.toString();
  return page.href;
}

export function fromLink(hash) {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  if (!parameters.has("text")) return null;
  const constraints = [];
  for (const kind of ["require", "forbid"]) {
    for (const arc of (parameters.get(kind) ?? "").split(",")) {
      if (!/^[1-9]\d*\.\d+\.[1-9]\d*$/.test(arc)) continue;
      const [sentence, head, dependent] = arc.split(".").map(Number);
      constraints.push({ kind, sentence, head, dependent });
    }
  }
  const view = ["spans", "table"].find((name) => name === parameters.get("view")) ?? "arcs";
  const number = (name, least) => Math.max(least, Math.trunc(Number(parameters.get(name))) || 0);
  const compact = parameters.get("compact") === "1" || isNarrow();
  const onerow = parameters.get("onerow") === "1";
  const zoom = ZOOMS.find((one) => one === Number(parameters.get("zoom"))) ?? 1;
  return { text: parameters.get("text"), model: parameters.get("model") ?? "", view, sentence: number("sentence", 1), tree: number("tree", 0),
    constraints, compact, onerow, zoom };
}

// The address in the browser follows the state, unless the text is too long for an address.
export function remember(state) {
  const link = toLink(state);
  const bare = location.pathname + location.search;
  history.replaceState(null, "", state.text.trim() && link.length <= LONGEST_LINK ? link : bare);
}

// A drawing with its style sheet inside, which needs no page around it; the page's own policy
// forbids styles inside a document.
export async function standalone(svg) {
  const style = (await (await fetch("drawing.css")).text()).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return svg.replace(/^<svg[^>]*>/, (start) => `${start}<style>${style}</style>`);
}

// Returns whether it was copied; if the browser does not allow that, shows the text instead.
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const dialog = document.getElementById("copied");
    const place = document.getElementById("copy");
    place.value = text;
    dialog.showModal();
    place.select();
    return false;
  }
}
