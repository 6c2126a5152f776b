// The best trees of a sentence as rows of a list.

export const OWN = -1; // stands for the tree that the service gave as the best one

const signed = (number) => number.toFixed(2).replace("-", "−");

// bound: whether the trees keep to constraints. free: the score of the best tree without them, if it
// is known.
export function ranking(sentence, bound, free) {
  const trees = sentence.best ?? [];
  const name = bound ? "the best tree under the constraints" : "the best tree";
  const score = bound && free !== undefined ? sentence.score - free : sentence.score;
  return trees.map((tree, k) => ({
    k: k || OWN,
    rank: k + 1,
    what: k ? differences(sentence, tree, trees[0]) : name,
    score: signed(k ? tree.score - trees[0].score : score),
  }));
}

function differences(sentence, tree, best) {
  const found = [];
  tree.heads.forEach((head, at) => {
    if (head === best.heads[at] && tree.relations[at] === best.relations[at]) return;
    const above = head ? `${tree.relations[at]} of ${sentence.words[head - 1]}` : "root";
    found.push(`${sentence.words[at]}: ${above}`);
  });
  return found.join(", ") || "the same arcs";
}
