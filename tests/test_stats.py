from headspan import conllu
from headspan.conllu import Sentence
from headspan.treebank_stats import stats


def tree(*heads: int) -> Sentence:
    return Sentence.from_words(
        [f"w{k}" for k in range(len(heads))], heads=heads, deprels=["dep"] * len(heads)
    )


def test_statistics_equal_those_counted_by_hand() -> None:
    figures = stats([tree(0), tree(0, 4, 1, 3), tree(*range(12)), tree(2, 0)])
    assert (figures.sentences, figures.words, figures.mean_length) == (4, 19, 4.75)
    assert (figures.nonprojective_arcs, figures.nonprojective_sentences) == (1, 1)
    assert (figures.longest, figures.longest_place) == (12, "sentence 3")
    data = figures.as_json()
    assert data["lengths"]["1-5"] == 3
    assert data["lengths"]["11-15"] == 1
    assert sum(data["lengths"].values()) == 4
    assert data["nonprojective"]["sentences_percent"] == 25
    assert data["relations"] == {"dep": 19}
    assert data["problems"] == {}


def test_problems_that_would_break_training_are_counted() -> None:
    figures = stats([tree(0, 0), tree(2, 1), tree(0, 3, 2), tree(-1), tree(0), tree(0, 0)])
    problems = {name: (p.count, p.first) for name, p in figures.problems.items()}
    assert problems == {
        "several_roots": (2, "sentence 1"),
        "no_root": (1, "sentence 2"),
        "cycle": (2, "sentence 2: there is a cycle: word 1 under word 2 under word 1"),
        "no_heads": (1, "sentence 4, word 1"),
    }


def test_unreadable_sentences_are_counted() -> None:
    text = conllu.to_text([tree(0)])
    reader = conllu.parse("# c\n\n" + text + "bad\n\n# d\n\n" + text, skip_bad=True)
    figures = stats(reader)
    figures.add_unreadable(reader)
    assert figures.sentences == 2
    assert figures.problems["unreadable"].count == 1
    assert figures.problems["unreadable"].first.startswith("text:5: found 1 column")
    assert figures.problems["no_words"].count == 2


def test_an_empty_treebank() -> None:
    assert stats([]).as_json()["mean_length"] == 0
