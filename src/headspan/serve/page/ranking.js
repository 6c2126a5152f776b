// The best trees of a sentence as rows of a list.

export const OWN = -1; // stands for the tree that the service gave as the best one

const signed = (number) => number.toFixed(2).replace("-", "−");

// bound: whether the best one had to keep to constraints, which the ranked ones need not.
export function ranking(sentence, bound) {
  const trees = sentence.best ?? [];
  const rows = trees.map((tree, k) => ({
    k: k || bound ? k : OWN,
    rank: k + 1,
    what: k ? differences(sentence, tree, trees[0]) : "the best tree",
    score: signed(k ? tree.score - trees[0].score : tree.score),
  }));
  if (!bound || !rows.length) return rows;
  const less = signed(sentence.score - trees[0].score);
  return [{ k: OWN, rank: "•", what: "the best tree under the constraints", score: less }, ...rows];
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
