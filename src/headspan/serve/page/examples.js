// Examples to begin with.

const COLUMNS = [
  ["1", "Time", "time", "NOUN"], ["2", "flies", "fly", "VERB"], ["3", "like", "like", "ADP"], ["4", "an", "a", "DET"],
  ["5", "arrow", "arrow", "NOUN"], ["6", ".", ".", "PUNCT"],
].map((cells) => [...cells, ..."______"].join("\t")).join("\n");

export const EXAMPLES = [
  { name: "Two readings", text: "I saw the man with the telescope." },
  { name: "A garden path", text: "The horse raced past the barn fell." },
  {
    name: "A long sentence",
    text: "When in the Course of human events, it becomes necessary for one people to dissolve the political bands "
      + "which have connected them with another, and to assume among the powers of the earth, the separate and equal "
      + "station to which the Laws of Nature and of Nature's God entitle them, a decent respect to the opinions of "
      + "mankind requires that they should declare the causes which impel them to the separation.",
  },
  {
    name: "A whole text",
    text: "The storm closed the harbour on Monday. Nobody had expected it so early in the year. Fishermen who had "
      + "left before dawn were told to wait behind the island until the wind dropped. Was the old lighthouse keeper "
      + "right after all? She had watched the gulls with a smile, and tied her boat twice.",
  },
  { name: "CoNLL-U, with tags", text: COLUMNS },
];
