import io
import json
import random
import warnings
from itertools import pairwise

import pytest

from conftest import shared
from headspan import HeadspanError, conllu
from headspan.conllu import Sentence
from headspan.scoring import (
    BREAKDOWNS,
    METRICS,
    Evaluation,
    Punct,
    as_json,
    breakdown,
    compare,
    compare_as_json,
    confusion,
    score,
)
from headspan.scoring.flat import ScoringError
from headspan.scoring.report import score_table
from other_words import retokenized

GOLD = """\
# sent_id = one
1\tShe\tshe\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2\tsaw\tsee\tVERB\tVBD\t_\t0\troot\t_\t_
3\tthe\tthe\tDET\tDT\t_\t4\tdet\t_\t_
4\tdog\tdog\tNOUN\tNN\t_\t2\tobj\t_\t_
5\twho\twho\tPRON\tWP\t_\t6\tnsubj\t_\t_
6\tbarked\tbark\tVERB\tVBD\t_\t4\tacl:relcl\t_\t_
7\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

# sent_id = two
1\tGood\tgood\tADJ\tJJ\t_\t0\troot\t_\t_
2\t$\t$\tSYM\t$\t_\t1\tdep\t_\t_
3\t!\t!\tPUNCT\t.\t_\t1\tpunct\t_\t_

"""


def evaluate(gold: str, system: str, **options: str) -> Evaluation:
    return score(conllu.parse(gold), conllu.parse(system), **options)  # type: ignore[arg-type]


def test_scores_equal_those_counted_by_hand() -> None:
    system = (
        GOLD.replace("6\tnsubj", "4\tnsubj")  # who: wrong head
        .replace("acl:relcl", "acl")  # barked: wrong subtype
        .replace("2\tpunct", "6\tpunct")  # the full stop: wrong head
        .replace("1\tdep", "1\tobj")  # $: wrong relation
    )
    result = evaluate(GOLD, system)
    assert (result["uas"].correct, result["uas"].gold) == (8, 10)
    assert result["uas"].f1 == pytest.approx(80)
    assert result["las"].f1 == pytest.approx(60)
    assert result["label_accuracy"].f1 == pytest.approx(80)
    assert result["ucm"].f1 == pytest.approx(50)
    assert result["lcm"].f1 == 0
    assert evaluate(GOLD, system, subtypes="strip")["las"].f1 == pytest.approx(70)
    without = evaluate(GOLD, system, punct="upos")
    assert (without["uas"].correct, without["uas"].gold) == (7, 8)
    assert without["upos"].gold == 10
    assert confusion(result) == [("acl:relcl", "acl", 1), ("dep", "obj", 1)]
    assert result["clas"].gold == 7
    assert result["clas"].correct == 4


@pytest.mark.parametrize(
    ("punct", "words"), [("keep", 10), ("upos", 8), ("chars", 8), ("ptb", 8), ("ctb", 10)]
)
def test_punctuation_is_left_out_as_asked(punct: Punct, words: int) -> None:
    assert evaluate(GOLD, GOLD, punct=punct)["uas"].gold == words


def test_the_definitions_of_punctuation_differ() -> None:
    words = ["...", "$", "``", "-LRB-", "。", "+"]
    tags = {"upos": ["PUNCT", "SYM", "X", "PUNCT", "PUNCT", "PUNCT"],
            "xpos": [":", "$", "``", "-LRB-", "PU", "SYM"]}  # fmt: skip
    sentence = Sentence.from_words(words, heads=[0, 1, 1, 1, 1, 1], deprels=["x"] * 6, **tags)
    counts = {
        punct: score([sentence], [sentence], punct=punct)["uas"].gold
        for punct in ("keep", "upos", "chars", "ptb", "ctb")
    }
    assert counts == {"keep": 6, "upos": 2, "chars": 4, "ptb": 4, "ctb": 5}
    # chars: $ and + are symbols, `` too (Sk); -LRB- has letters


def test_breakdowns_equal_those_counted_by_hand() -> None:
    system = GOLD.replace("6\tnsubj", "2\tnsubj").replace("4\tacl:relcl", "2\tadvcl")
    result = evaluate(GOLD, system)
    lengths = breakdown(result, "sentence_length")
    assert list(lengths) == ["1-9", "10-19", "20-29", "30-39", "≥40"]
    assert (lengths["1-9"]["uas"].recalled, lengths["1-9"]["uas"].gold) == (8, 10)
    arcs = breakdown(result, "dependency_length")
    assert list(arcs) == ["1", "2", "3", "4", "5", "6", "7", "≥8"]
    assert {k: r["uas"].gold for k, r in arcs.items()} == {
        "1": 4, "2": 3, "3": 0, "4": 0, "5": 1, "6": 0, "7": 0, "≥8": 0
    }  # fmt: skip
    assert arcs["1"]["uas"].recall == pytest.approx(75)
    assert arcs["1"]["uas"].precision == pytest.approx(100)
    assert arcs["4"]["uas"].system == 1
    assert arcs["3"]["uas"].f1 == 0
    roots = breakdown(result, "root_distance")
    assert list(roots) == ["ROOT", "1", "2", "3", "4", "5", "6", "≥7"]
    assert roots["ROOT"]["las"].f1 == 100
    assert (roots["3"]["uas"].gold, roots["3"]["uas"].system) == (1, 0)
    spans = breakdown(result, "span_length")
    assert list(spans) == ["1-10", "11-20", "21-30", "31-40", "≥41"]
    # saw 1-7 and Good 1-3 stay; dog loses "who barked", barked loses "who"
    assert (spans["1-10"]["spans"].recalled, spans["1-10"]["spans"].gold) == (8, 10)
    relations = breakdown(result, "relation")
    assert relations["nsubj"]["las"].recall == pytest.approx(50)
    assert (relations["advcl"]["las"].gold, relations["advcl"]["las"].system) == (0, 1)
    assert breakdown(result, "upos")["VERB"]["uas"].recall == pytest.approx(50)
    assert breakdown(result, "dependency_length", bins=(1, 3))["1-2"]["uas"].gold == 7


def brute_force_f1(gold: list[Sentence], system: list[Sentence], low: int, high: int) -> float:
    """F1 of arcs of some lengths, counted from sets of arcs."""

    def arcs(sentences: list[Sentence]) -> set[tuple[int, int, int]]:
        return {
            (n, head, k)
            for n, sentence in enumerate(sentences)
            for k, head in enumerate(sentence.heads, 1)
            if head and low <= abs(head - k) <= high
        }

    ours, theirs = arcs(gold), arcs(system)
    return 200 * len(ours & theirs) / (len(ours) + len(theirs))


def test_dependency_length_equals_counting_sets_of_arcs() -> None:
    gold = list(conllu.read(shared("treebanks/ud-2.2/de_gsd/de_gsd-ud-dev.conllu")))[:200]
    rng = random.Random(4)
    system = [
        s.with_parse([h if rng.random() < 0.9 or h == 0 else s.heads.index(0) + 1 for h in s.heads],
                     s.deprels) for s in gold
    ]  # fmt: skip
    system = [s.with_parse([0 if g.heads[k] == 0 else h for k, h in enumerate(s.heads)], s.deprels)
              for g, s in zip(gold, system, strict=True)]  # fmt: skip
    rows = breakdown(score(gold, system), "dependency_length")
    for name, low, high in [("1", 1, 1), ("4", 4, 4), ("≥8", 8, 10_000)]:
        assert rows[name]["uas"].f1 == pytest.approx(brute_force_f1(gold, system, low, high))


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("", "the system's output has no words; the gold treebank has 10"),
        (GOLD.split("\n\n")[0] + "\n\n",
         r"the system's output ends after 7 words, but the gold treebank continues with 'Good\$!' \(the gold treebank, sentence 2 \(two\), word 1\)"),
        (GOLD + GOLD, r"the gold treebank ends after 10 words.* continues with 'Shesawthedogwhobarke' \(the system's output, sentence 3"),
        (GOLD.replace("dog\tdog", "cat\tdog"),
         r"differ, starting at the gold treebank, sentence 1 \(one\), word 4: .* has 'dogwho.* has 'catwho"),
        (GOLD.replace("0\troot", "_\t_", 1), r"the system's output, sentence 1 \(one\): word 2 has no head"),
        (GOLD.replace("0\troot", "4\troot", 1), r"sentence 1 \(one\): there is a cycle: word 2 under"),
    ],
)  # fmt: skip
def test_the_error_for_treebanks_that_differ_says_where(system: str, message: str) -> None:
    with pytest.raises(ScoringError, match=message):
        evaluate(GOLD, system)


def test_an_empty_gold_treebank_is_an_error() -> None:
    with pytest.raises(ScoringError, match="the gold treebank has no words"):
        evaluate("", "")


def test_words_are_aligned_if_sentences_and_tokens_differ() -> None:
    """The dog's sentence cut in two, a token cut in two: the rest is still aligned."""
    words = ["She", "saw"], ["the", "dog", "who", "bark", "ed", "."], ["Good", "$", "!"]
    heads = [2, 0], [2, 0, 4, 2, 4, 2], [0, 1, 1]
    system = [
        Sentence.from_words(w, heads=h, deprels=["dep"] * len(w))
        for w, h in zip(words, heads, strict=True)
    ]
    result = score(conllu.parse(GOLD), system)
    assert (result["words"].correct, result["words"].gold, result["words"].system) == (9, 10, 11)
    assert (result["sentences"].correct, result["sentences"].system) == (1, 3)
    assert result["uas"].correct == 6  # She, saw, the, Good, $, !
    assert result["uas"].f1 == pytest.approx(200 * 6 / 21)
    assert result["ucm"].correct == 1
    assert sum(r["uas"].gold for r in breakdown(result, "sentence_length").values()) == 10
    assert sum(r["uas"].system for r in breakdown(result, "sentence_length").values()) == 11


def udtools_scores(gold: str, system: str) -> dict[str, tuple[int, int, int]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from udtools import udeval
    loaded = [
        udeval.load_conllu(io.StringIO(text), name, {})
        for text, name in ((gold, "g"), (system, "s"))
    ]
    return {
        name.lower(): (s.correct, s.gold_total, s.system_total)
        for name, s in udeval.evaluate(*loaded).items()
    }


FILES = [
    "ud-2.16/en_ewt/en_ewt-ud-dev",
    "ud-2.2/fr_sequoia/fr_sequoia-ud-dev",
    "ud-2.2/de_gsd/de_gsd-ud-dev",
    "ud-2.2/cs_cltt/cs_cltt-ud-dev",
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", FILES)
def test_every_metric_equals_that_of_udtools(name: str, seed: int) -> None:
    pytest.importorskip("udtools")
    path = shared(f"treebanks/{name}.conllu")
    rng = random.Random(seed)
    gold = list(conllu.read(path))[: 2000 if seed == 0 else 300]
    if seed:  # other tokens, words and sentences
        system = retokenized(gold, rng)
    else:  # the gold ones
        system = [
            s.with_parse(
                _shaken(s.heads, rng), [r if rng.random() < 0.9 else "obj" for r in s.deprels]
            ).with_tags(upos=[t if rng.random() < 0.9 else "X" for t in s.upos])
            for s in gold
        ]
    theirs = udtools_scores(conllu.to_text(gold), conllu.to_text(system))
    ours = score(gold, system, subtypes="strip")
    for metric in METRICS.keys() - {"label_accuracy", "ucm", "lcm"}:
        s = ours[metric]
        assert (s.correct, s.gold, s.system) == theirs[metric], metric
    assert 5 < ours["las"].f1 < 95


def _shaken(heads: tuple[int, ...], rng: random.Random) -> list[int]:
    """Some words moved to the root word, which never makes a cycle."""
    root = heads.index(0) + 1
    return [head if head == 0 or rng.random() < 0.9 else root for head in heads]


def test_random_characters_align_as_udtools_aligns_them() -> None:
    """Tiny texts over two letters, every token possibly multiword: the odd corners of alignment."""
    pytest.importorskip("udtools")
    rng = random.Random(0)
    for _ in range(300):
        text = "".join(rng.choice("ab") for _ in range(rng.randint(2, 14)))
        gold, system = _random_cut(text, rng), _random_cut(text, rng)
        theirs = udtools_scores(conllu.to_text(gold), conllu.to_text(system))
        ours = score(gold, system, subtypes="strip")
        for metric in ("tokens", "sentences", "words", "uas", "las", "clas", "mlas", "blex"):
            s = ours[metric]
            assert (s.correct, s.gold, s.system) == theirs[metric], (metric, gold, system)


def _random_cut(text: str, rng: random.Random) -> list[Sentence]:
    cuts = [0, *sorted(rng.sample(range(1, len(text)), rng.randint(0, len(text) - 1))), len(text)]
    sentences, rows = [], ""
    n = 0
    for start, end in pairwise(cuts):
        form = text[start:end]
        words = (
            [form]
            if rng.random() < 0.6
            else [rng.choice(["a", "b", "ab", "A"]) for _ in range(rng.randint(1, 3))]
        )
        if len(words) > 1:
            rows += f"{n + 1}-{n + len(words)}\t{form}" + "\t_" * 8 + "\n"
        for word in words if len(words) > 1 else [form]:
            n += 1
            rows += f"{n}\t{word}\t_\t_\t_\t_\t{rng.randrange(n) if n > 1 else 0}\tdet\t_\t_\n"
        if rng.random() < 0.2:
            sentences, rows, n = [*sentences, rows], "", 0
    text = "\n".join([*sentences, rows]) if rows else "\n".join(sentences)
    built = [s for s in conllu.parse(text + "\n") if len(s)]
    return [s.with_parse([0, *(h or 1 for h in s.heads[1:])], s.deprels) for s in built]


def test_the_difference_of_two_systems_has_an_interval_and_a_p_value() -> None:
    rng = random.Random(5)
    gold = [
        Sentence.from_words(
            [f"w{n}{k}" for k in range(8)], heads=[0, *range(1, 8)], deprels=["x"] * 8
        )
        for n in range(200)
    ]

    def worse(share: float) -> Evaluation:
        return score(gold, [s.with_parse(
            [h if rng.random() > share or not h else 1 for h in s.heads], s.deprels) for s in gold])  # fmt: skip

    bad, good, as_good = worse(0.3), worse(0.1), worse(0.1)
    d = compare(bad, good)["uas"]
    assert d.difference == pytest.approx(good["uas"].f1 - bad["uas"].f1)
    assert d.low < d.difference < d.high
    assert d.low > 0
    assert d.p < 0.001
    back = compare(good, bad)["uas"]
    assert back.difference == pytest.approx(-d.difference)
    even = compare(good, as_good)["las"]
    assert even.low < 0 < even.high
    assert even.p > 0.05
    same = compare(good, good)["uas"]
    assert (same.difference, same.low, same.high, same.p) == (0, 0, 0, 1)
    assert compare(bad, good, seed=1) == compare(bad, good, seed=1)
    assert compare(bad, good, seed=1) != compare(bad, good, seed=2)
    with pytest.raises(ScoringError, match="same words"):
        compare(good, evaluate(GOLD, GOLD))
    with pytest.raises(ScoringError, match="same words"):
        compare(evaluate(GOLD, GOLD, punct="upos"), evaluate(GOLD, GOLD))
    with pytest.raises(ScoringError, match="subtypes"):
        compare(evaluate(GOLD, GOLD, subtypes="strip"), evaluate(GOLD, GOLD))
    with pytest.raises(ScoringError, match="0 samples"):
        compare(good, good, samples=0)


def test_unknown_options_are_errors() -> None:
    for options in ({"punct": "PTB"}, {"subtypes": "none"}):
        with pytest.raises(HeadspanError, match="expected one of keep"):
            evaluate(GOLD, GOLD, **options)
    with pytest.raises(HeadspanError, match="by is 'word'; expected one of sentence_length"):
        breakdown(evaluate(GOLD, GOLD), "word")


def test_words_of_only_spaces_are_errors() -> None:
    blank = [Sentence.from_words(["a", "\u00a0"], heads=[0, 1], deprels=["x", "y"])]
    with pytest.raises(ScoringError, match="sentence 1: word 2 has only spaces"):
        score(blank, blank)


def test_the_p_value_agrees_with_all_exchanges() -> None:
    """With few sentences all 2^n exchanges can be tried."""
    gold = [
        Sentence.from_words([f"{n}a", f"{n}b", f"{n}c"], heads=[0, 1, 2], deprels=["x"] * 3)
        for n in range(8)
    ]
    wrong_first, wrong_second = {0, 1, 2, 3, 4}, {5}
    first, second = (
        score(
            gold,
            [
                s.with_parse([0, 1, 1] if n in wrong else s.heads, s.deprels)
                for n, s in enumerate(gold)
            ],
        )
        for wrong in (wrong_first, wrong_second)
    )
    observed = abs(len(wrong_first) - len(wrong_second))
    shuffles = [0]
    for n in range(8):
        d = (n in wrong_first) - (n in wrong_second)
        shuffles = [total + sign * d for total in shuffles for sign in (1, -1)]
    exact = sum(abs(total) >= observed for total in shuffles) / len(shuffles)
    assert compare(first, second, samples=40_000)["uas"].p == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize(
    ("predicted", "unscored"),
    [
        (None, set()),
        (["upos", "xpos", "feats", "lemmas"], set()),
        (["upos", "xpos", "feats"], {"lemmas", "blex"}),
        (["upos", "lemmas"], {"xpos", "ufeats", "alltags", "mlas"}),
        ([], {"lemmas", "blex", "upos", "xpos", "ufeats", "alltags", "mlas"}),
    ],
)
def test_what_was_not_predicted_has_no_score(
    predicted: list[str] | None, unscored: set[str]
) -> None:
    gold = list(conllu.parse(GOLD))
    result = score(gold, gold, predicted=predicted)
    data = as_json(result)
    assert {metric for metric in METRICS if data[metric] is None} == unscored
    assert {metric for metric in METRICS if data["counts"][metric] is None} == unscored
    table = score_table(result)
    rows = zip(METRICS, table.columns[1].cells, table.columns[4].cells, strict=True)
    assert {metric for metric, *cells in rows if "–" in cells} == unscored


def test_json_has_all_results_and_can_be_serialized() -> None:
    result = evaluate(GOLD, GOLD.replace("4\tobj", "2\tobl"))
    data = json.loads(json.dumps(as_json(result)))
    assert set(METRICS) <= data.keys()
    assert data["uas"] == result["uas"].f1
    assert data["breakdowns"].keys() == BREAKDOWNS.keys()
    assert data["breakdowns"]["upos"]["DET"]["uas"]["gold"] == 1
    both = compare_as_json(result, result, compare(result, result))
    assert both["comparison"]["las"]["p"] == 1
    assert len(both["systems"]) == 2
