// Copying, and a page's state as the fragment of its address, which browsers keep to themselves.

const arcs = (constraints, kind) =>
  constraints.filter((c) => c.kind === kind).map((c) => `${c.sentence}.${c.head}.${c.dependent}`);

export function toLink(state) {
  const said = new URLSearchParams({ text: state.text });
  if (state.view !== "arcs") said.set("view", state.view);
  if (state.sentence > 1) said.set("sentence", state.sentence);
  for (const kind of ["require", "forbid"]) {
    const found = arcs(state.constraints, kind);
    if (found.length) said.set(kind, found.join(","));
  }
  const page = new URL(location.href);
  page.hash = said.toString();
  return page.href;
}

export function fromLink(hash) {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  if (!said.has("text")) return null;
  const constraints = [];
  for (const kind of ["require", "forbid"]) {
    for (const arc of (said.get(kind) ?? "").split(",")) {
      if (!/^[1-9]\d*\.\d+\.[1-9]\d*$/.test(arc)) continue;
      const [sentence, head, dependent] = arc.split(".").map(Number);
      constraints.push({ kind, sentence, head, dependent });
    }
  }
  const view = ["spans", "table"].find((name) => name === said.get("view")) ?? "arcs";
  const sentence = Math.max(1, Math.trunc(Number(said.get("sentence"))) || 1);
  return { text: said.get("text"), view, sentence, constraints };
}

// A drawing that needs no page around it: with its style sheet, which the page's policy would not
// let into a document.
export async function standalone(svg) {
  const style = (await (await fetch("drawing.css")).text()).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return svg.replace(/^<svg[^>]*>/, (start) => `${start}<style>${style}</style>`);
}

// Gives whether it was copied; where a browser does not allow that, it is shown to be copied.
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
