"""Random sentences, for Hypothesis."""

from hypothesis import strategies as st

from headspan import conllu
from headspan.conllu import Sentence

field = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\0"), min_size=1, max_size=4
)
comment = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\0"), max_size=6)


@st.composite
def blocks(draw: st.DrawFn) -> list[str]:
    """The lines of a well-formed sentence."""
    n = draw(st.integers(0, 5))
    lines = ["#" + draw(comment) for _ in range(draw(st.integers(0 if n else 1, 3)))]
    covered = 0
    for k in range(n + 1):
        if k:
            cells = [draw(field) for _ in range(9)]
            cells[5] = str(draw(st.one_of(st.just("_"), st.integers(0, n))))
            lines.append("\t".join([str(k), *cells]))
        if n:
            lines.extend(
                "\t".join([f"{k}.{number}", *(draw(field) for _ in range(9))])
                for number in range(1, draw(st.integers(0, 2)) + 1)
            )
        if covered <= k < n and draw(st.booleans()):
            covered = draw(st.integers(k + 1, n))
            lines.append("\t".join([f"{k + 1}-{covered}", *(draw(field) for _ in range(9))]))
    return lines


def parsed(lines: list[str]) -> Sentence:
    (sentence,) = conllu.parse("\n".join(lines), format="conllu")
    return sentence


sentences = blocks().map(parsed)
"""Sentences with anything that CoNLL-U allows."""

_word = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=4)
_form = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=4)
_pairs = st.dictionaries(st.sampled_from(["Case", "Gender", "Number"]), _word, max_size=3).map(
    lambda pairs: "|".join(f"{k}={v}" for k, v in sorted(pairs.items())) or "_"
)


@st.composite
def tidy_blocks(draw: st.DrawFn) -> list[str]:
    """The lines of a sentence as in a treebank: keys and values where they are expected."""
    n = draw(st.integers(1, 5))
    lines = [f"# sent_id = {draw(_word)}", f"# text = {draw(_word)}"]
    lines += ["# newpar"] * draw(st.integers(0, 1))
    if covered := draw(st.integers(0, n)):
        lines.append("\t".join([f"1-{covered}", draw(_form), *"_______", draw(_pairs)]))
    for k in range(1, n + 1):
        head, relation = draw(st.integers(0, n)), draw(_word)
        cells = [draw(_form), draw(_form), draw(_word), draw(_word), draw(_pairs)]
        cells += [str(head), relation, f"{head}:{relation}", draw(_pairs)]
        lines.append("\t".join([str(k), *cells]))
        if draw(st.booleans()):
            lines.append("\t".join([f"{k}.1", draw(_form), *"______", f"{k}:x", "_"]))
    return lines


tidy_sentences = tidy_blocks().map(parsed)
"""Sentences as in treebanks."""
