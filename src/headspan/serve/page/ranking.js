// The best trees of a sentence, as rows of a list.

export const BEST_TREE = -1; // the tree that the service returned as the best one

const signed = (number) => number.toFixed(2).replace("-", "−");

// bound: whether there are constraints. free: the score of the best tree without them, if known.
export function ranking(sentence, bound, free) {
  const trees = sentence.best ?? [];
  const name = bound ? "the best tree under the constraints" : "the best tree";
  const score = bound && free !== undefined ? sentence.score - free : sentence.score;
  return trees.map((tree, k) => ({
    k: k || BEST_TREE,
    rank: k + 1,
    what: k ? differences(sentence, tree, trees[0]) : name,
    score: signed(k ? tree.score - trees[0].score : score),
  }));
}

function differences(sentence, tree, best) {
  const changes = [];
  tree.heads.forEach((head, at) => {
    if (head === best.heads[at] && tree.relations[at] === best.relations[at]) return;
    const above = head ? `${tree.relations[at]} of ${sentence.words[head - 1]}` : "root";
    changes.push(`${sentence.words[at]}: ${above}`);
  });
  return changes.join(", ") || "the same arcs";
}
