// What an annotator can do, under which key; the buttons and the list of keys are made from this.

// Each has a key, a name, and perhaps a label for its button at a word.
export const COMMANDS = [
  { key: "h", name: "head", label: "Head", what: "Head of the word: a number or a word, 0 for the root" },
  { key: "r", name: "relation", label: "Relation", what: "Relation of the word" },
  { key: "u", name: "upos", label: "UPOS", what: "UPOS of the word" },
  { key: "x", name: "xpos", label: "XPOS", what: "XPOS of the word" },
  { key: "f", name: "feats", label: "Feats", what: "Features of the word" },
  { key: "l", name: "lemmas", label: "Lemma", what: "Lemma of the word" },
  { key: " ", name: "arc", label: "Confirm arc", what: "Confirm the arc of the word, or take it back" },
  { key: "s", name: "span", label: "Confirm span", what: "Confirm the headed span of the word, or take it back" },
  { key: "Enter", name: "sentence", what: "Confirm the sentence and go to the next unconfirmed one" },
  { key: "d", name: "doubtful", what: "Go to the next arc that is less than 90% sure" },
  { key: "n", name: "next", what: "Next sentence" },
  { key: "b", name: "back", what: "Previous sentence" },
  { key: "g", name: "go", what: "Go to a sentence by its number" },
  { key: "z", name: "undo", what: "Undo" },
  { key: "y", name: "redo", what: "Redo" },
  { key: "p", name: "reparse", what: "Parse again all that is not confirmed" },
  { key: "v", name: "view", what: "Arcs, headed spans or a table" },
  { key: "c", name: "compare", what: "Compare with the tree before, the other annotator’s or the best tree" },
  { key: "t", name: "split-word", label: "Split", what: "Split the word: type its parts with spaces between them" },
  { key: "j", name: "join-words", what: "Join the word with the next one" },
  { key: "m", name: "split-token", what: "Make the word a multiword token: type its words" },
  { key: "M", name: "join-token", what: "Make the multiword token a single word" },
  { key: "S", name: "split-sentence", what: "Split the sentence after the word" },
  { key: "J", name: "join-sentences", what: "Join the sentence with the next one" },
  { key: "V", name: "validate", what: "Validate the sentence with udtools" },
  { key: "/", name: "filter", what: "Filters" },
  { key: "?", name: "keys", what: "Show these keys" },
];

export const keyName = (key) => ({ " ": "Space" })[key] ?? key;

// The command of a key press; none while somebody is typing, or for the keys of the browser.
export function commandOf(event) {
  const typing = event.target.closest("input, textarea, select, dialog");
  if (typing || event.altKey) return null;
  if (event.ctrlKey || event.metaKey) {
    const key = event.key.toLowerCase();
    if (key === "z") return event.shiftKey ? "redo" : "undo";
    return key === "y" ? "redo" : null;
  }
  const pressed = event.key === "Enter" || event.key === " ";
  if (pressed && event.target.closest("button:not(.word), summary")) return null;
  return COMMANDS.find(({ key }) => key === event.key)?.name ?? null;
}
