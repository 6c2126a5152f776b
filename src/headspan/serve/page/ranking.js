// The best trees of a sentence, as rows of a list.

export const BEST_TREE = -1; // the tree that the service returned as the best one

const percent = (probability) =>
  probability >= 0.001 ? `${(100 * probability).toFixed(1)}%` : "< 0.1%";

// bound: whether there are constraints. A tree's probability is its share of all trees.
export function ranking(sentence, bound) {
  const trees = sentence.best ?? [];
  const name = bound ? "the best tree under the constraints" : "the best tree";
  if (!trees.length) return [];
  const row = (k, rank, what, tree) => ({ k, rank, what, share: tree ? percent(tree.probability) : "" });
  // A model that minimises risk may return another tree than the one with the highest score.
  const others = trees.map((tree, k) => ({ tree, k })).filter(({ tree }) => !same(tree, sentence));
  return [
    row(BEST_TREE, 1, name, trees.find((tree) => same(tree, sentence))),
    ...others.map(({ tree, k }, at) => row(k, at + 2, differences(sentence, tree), tree)),
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
