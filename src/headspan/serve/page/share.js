// Copying, and the state of the page as the fragment of its address, which browsers do not send.

const arcs = (constraints, kind) =>
  constraints.filter((c) => c.kind === kind).map((c) => `${c.sentence}.${c.head}.${c.dependent}`);

export function toLink(state) {
  const parameters = new URLSearchParams({ text: state.text });
  if (state.view !== "arcs") parameters.set("view", state.view);
  if (state.sentence > 1) parameters.set("sentence", state.sentence);
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
  const sentence = Math.max(1, Math.trunc(Number(parameters.get("sentence"))) || 1);
  return { text: parameters.get("text"), view, sentence, constraints };
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
