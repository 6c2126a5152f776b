// The best trees of a sentence, and what each says differently, in words.

import { inWords, isFunctionWord, isPunctuation, named } from "./relations.js";

const SHOWN = 2; // differences that are spelt out

export const BEST_TREE = 0; // the tree that the service returned as the best one; others count from 1

export function percent(probability) {
  if (probability >= 0.001) return `${(100 * probability).toFixed(1)}%`;
  return probability >= 0.00001 ? `${(100 * probability).toFixed(3)}%` : "< 0.001%";
}

// Rows of a list: the number of the tree, what to say about it, its share of all trees, and
// whether it differs in nothing but punctuation.
export function ranking(sentence) {
  const trees = sentence.best ?? [];
  if (!trees.length) return [];
  // A model that minimises risk may return another tree than the one with the highest score.
  const shown = trees.find((tree) => same(tree, sentence));
  const others = trees.map((tree, k) => ({ tree, number: k + 1 })).filter(({ tree }) => tree !== shown).map(row);
  const first = others.find(({ punctuation, changes }) => !punctuation && changes.length);
  const here = first ? `: ${inWords(sentence, sentence, first.changes[0])}` : "";
  return [{ number: BEST_TREE, what: `The best tree${here}`, share: shown?.probability, punctuation: false }, ...others];

  function row({ tree, number }) {
    const changes = changed(sentence, tree);
    const punctuation = changes.length > 0
      && changes.every((k) => isPunctuation(tree.relations[k - 1]) && isPunctuation(sentence.relations[k - 1]));
    return { number, changes, what: differences(sentence, tree, changes), share: tree.probability, punctuation };
  }
}

// The number of a tree in the list: the one that is shown as the best one has no other number.
export function numberOf(sentence, number) {
  const tree = sentence.best?.[number - 1];
  return tree && !same(tree, sentence) ? number : BEST_TREE;
}

// The share of the trees that are not listed.
export function remaining(sentence) {
  return Math.max(0, 1 - (sentence.best ?? []).reduce((sum, tree) => sum + tree.probability, 0));
}

function same(tree, other) {
  return tree.heads.every((head, at) => head === other.heads[at] && tree.relations[at] === other.relations[at]);
}

// The words whose arcs differ, those that matter most first: a new root, then words with a meaning of their own.
function changed(sentence, tree) {
  const weight = (k) => {
    if (!tree.heads[k - 1]) return 0;
    if (isPunctuation(tree.relations[k - 1])) return 4;
    if (isFunctionWord(tree.relations[k - 1])) return 3;
    return tree.heads[k - 1] !== sentence.heads[k - 1] ? 1 : 2;
  };
  return sentence.words.map((_, at) => at + 1)
    .filter((k) => tree.heads[k - 1] !== sentence.heads[k - 1] || tree.relations[k - 1] !== sentence.relations[k - 1])
    .sort((a, b) => weight(a) - weight(b) || a - b);
}

function differences(sentence, tree, changes) {
  const spelt = changes.slice(0, SHOWN).map((k) => {
    const head = tree.heads[k - 1], before = sentence.heads[k - 1];
    const what = inWords(sentence, tree, k);
    if (head === before) return `${what} as ${tree.relations[k - 1]}, not ${sentence.relations[k - 1]}`;
    return head && before ? `${what}, not ${named(sentence, before)}` : what;
  });
  const more = changes.length - spelt.length;
  if (more) spelt.push(`${more} more ${more === 1 ? "change" : "changes"}`);
  return spelt.join("; ") || "The same arcs";
}
