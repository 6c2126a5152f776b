// Relations and tags of Universal Dependencies in words. A subtype such as nsubj:pass has the words of nsubj.

const RELATIONS = {
  acl: ["clause that modifies a noun", "modifies"],
  advcl: ["adverbial clause", "modifies"],
  advmod: ["adverb", "modifies"],
  amod: ["adjective that modifies a noun", "modifies"],
  appos: ["apposition", "is an apposition of"],
  aux: ["auxiliary verb", "is an auxiliary of"],
  case: ["preposition or case marker", "marks"],
  cc: ["coordinating conjunction", "introduces"],
  ccomp: ["clausal complement", "is a complement of"],
  clf: ["classifier", "classifies"],
  compound: ["part of a compound", "forms a compound with"],
  conj: ["coordinated with its head", "is coordinated with"],
  cop: ["copula", "is the copula of"],
  csubj: ["clause as subject", "is the subject of"],
  dep: ["other dependent", "depends on"],
  det: ["determiner", "determines"],
  discourse: ["discourse element", "is a discourse element of"],
  dislocated: ["dislocated element", "is dislocated from"],
  expl: ["expletive", "is an expletive of"],
  fixed: ["part of a fixed expression", "forms a fixed expression with"],
  flat: ["part of a name or flat expression", "forms an expression with"],
  goeswith: ["rest of a word written apart", "is the rest of"],
  iobj: ["indirect object", "is the indirect object of"],
  list: ["item of a list", "is listed with"],
  mark: ["word that introduces a clause", "introduces"],
  nmod: ["noun that modifies a noun", "modifies"],
  nsubj: ["subject", "is the subject of"],
  nummod: ["number that modifies a noun", "modifies"],
  obj: ["object", "is the object of"],
  obl: ["oblique: noun that modifies a verb", "modifies"],
  orphan: ["dependent of an omitted word", "stands beside"],
  parataxis: ["clause placed beside another", "is placed beside"],
  punct: ["punctuation", "belongs to"],
  reparandum: ["corrected slip", "is corrected by"],
  root: ["top of the tree", "is the root"],
  vocative: ["form of address", "is addressed in"],
  xcomp: ["complement without its own subject", "is a complement of"],
};

const TAGS = {
  ADJ: "adjective", ADP: "preposition or postposition", ADV: "adverb", AUX: "auxiliary verb",
  CCONJ: "coordinating conjunction", DET: "determiner", INTJ: "interjection", NOUN: "noun", NUM: "number",
  PART: "particle", PRON: "pronoun", PROPN: "proper noun", PUNCT: "punctuation", SCONJ: "subordinating conjunction",
  SYM: "symbol", VERB: "verb", X: "other",
};

const FUNCTION_WORDS = new Set(["aux", "case", "cc", "cop", "det", "mark", "punct"]);

const base = (relation) => relation.split(":")[0];

export const isPunctuation = (relation) => base(relation) === "punct";
export const isFunctionWord = (relation) => FUNCTION_WORDS.has(base(relation));

// A word, with its number if another word has the same form.
export function named(sentence, k) {
  const form = sentence.words[k - 1];
  return sentence.words.indexOf(form) === sentence.words.lastIndexOf(form) ? form : `${form} (${k})`;
}

// What an arc says: "telescope modifies man".
export function inWords(sentence, tree, k) {
  const relation = tree.relations[k - 1], head = tree.heads[k - 1];
  if (!head) return `${named(sentence, k)} is the root`;
  const [, verb] = RELATIONS[base(relation)] ?? ["", `is ${relation} of`];
  return `${named(sentence, k)} ${verb} ${named(sentence, head)}`;
}

// The labels of a tree that have a meaning we know: pairs of a label and its meaning, in order of appearance.
export function meanings(sentence, tree) {
  const relations = tree.relations.map((relation) => [relation, RELATIONS[base(relation)]?.[0]]);
  const tags = (sentence.upos ?? []).map((tag) => [tag, TAGS[tag]]);
  return [...new Map([...relations, ...tags].filter(([, meaning]) => meaning))];
}
