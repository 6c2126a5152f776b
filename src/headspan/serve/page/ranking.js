// The best trees of a sentence, as rows of a list.

export const BEST_TREE = -1; // the tree that the service returned as the best one

const signed = (number) => number.toFixed(2).replace("-", "−");

// bound: whether there are constraints. free: the score of the best tree without them, if known.
export function ranking(sentence, bound, free) {
  const trees = sentence.best ?? [];
  const name = bound ? "the best tree under the constraints" : "the best tree";
  const score = bound && free !== undefined ? sentence.score - free : sentence.score;
  if (!trees.length) return [];
  // A model that minimises risk may return another tree than the one with the highest score.
  const others = trees.map((tree, k) => ({ tree, k })).filter(({ tree }) => !same(tree, sentence));
  return [
    { k: BEST_TREE, rank: 1, what: name, score: signed(score) },
    ...others.map(({ tree, k }, at) => ({
      k,
      rank: at + 2,
      what: differences(sentence, tree),
      score: signed(tree.score - sentence.score),
    })),
  ];
}

function same(tree, other) {
  return tree.heads.every((head, at) => head === other.heads[at] && tree.relations[at] === other.relations[at]);
}

function differences(sentence, tree) {
  const changes = [];
  tree.heads.forEach((head, at) => {
    if (head === sentence.heads[at] && tree.relations[at] === sentence.relations[at]) return;
    const above = head ? `${tree.relations[at]} of ${sentence.words[head - 1]}` : "root";
    changes.push(`${sentence.words[at]}: ${above}`);
  });
  return changes.join(", ") || "the same arcs";
}
