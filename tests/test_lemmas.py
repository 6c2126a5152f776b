"""Scripts from forms to lemmas, how they are learned, and the dictionary."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headspan import conllu
from headspan.config import (
    Config,
    DataConfig,
    EmbeddingsConfig,
    ModelConfig,
    TaggerConfig,
    TrainingConfig,
)
from headspan.conllu import Sentence
from headspan.lemmas import Lemmatizer, apply, is_script, learn_scripts, script, scripts
from headspan.model.parser import Parser
from headspan.model.vocabularies import Vocabularies
from headspan.plumbing.errors import HeadspanError
from headspan.training.loop import Trainer, train

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
"""All of Unicode but surrogates."""
ALIKE = st.text("aAbBİıßẞΣςσée\u0301\u0307ǆǅ =+-:01_ ", max_size=8)
"""Words that share characters, and some whose case changes their length."""


@pytest.mark.parametrize(
    ("form", "lemma", "expected"),
    [
        ("dogs", "dog", "l0-1+0:"),
        ("Dogs", "dog", "l0-1+0:"),
        ("flies", "fly", "l0-3+0:y"),
        ("the", "the", "l0-0+0:"),
        ("The", "the", "l0-0+0:"),
        ("London", "London", "a0-0+0:"),
        ("LONDON", "London", "c0-0+0:"),
        ("usa", "USA", "u0-0+0:"),
        ("iphones", "iPhone", "l2-1+2:iP"),
        ("was", "be", "=be"),
        ("better", "good", "=good"),
        ("gegangen", "gehen", "l0-6+0:hen"),
        ("_", "_", "l0-0+0:"),
        ("", "x", "=x"),
        ("gonna", "go to", "l0-3+0: to"),
    ],
)
def test_the_script_of_a_pair(form: str, lemma: str, expected: str) -> None:
    assert script(form, lemma) == expected
    assert apply(expected, form) == lemma


@given(TEXT | ALIKE, (TEXT | ALIKE).filter(bool))
@example("İ", "i")
@example("İSTANBUL", "İstanbul")
@example("STRASSE", "straße")
@example("straße", "STRASSE")
@example("ΟΔΟΣ", "οδός")
@example("e\u0301te\u0301", "été")
@example("_", "_")
@example("_", "a b")
@example("", "_")
@example("x" * 2000, "x")
@example("x", "x" * 2000)
@example("y" * 2000 + "a", "y" * 2000 + "b")
def test_every_script_of_a_pair_makes_its_lemma(form: str, lemma: str) -> None:
    assert apply(script(form, lemma), form) == lemma
    for candidate in scripts(form, lemma):
        assert apply(candidate, form) == lemma
        assert is_script(candidate) == (len(candidate) <= 100)
    assert script(form, lemma) in scripts(form, lemma)
    assert len(set(scripts(form, lemma))) == len(scripts(form, lemma))


@given(TEXT, TEXT.filter(bool), TEXT)
def test_a_script_gives_any_other_form_a_lemma(form: str, lemma: str, other: str) -> None:
    for candidate in scripts(form, lemma):
        assert apply(candidate, other)


@given(TEXT | ALIKE | st.from_regex(r"\A[lacu][0-9]*-[0-9]*\+[0-9]*:.*\Z"), TEXT)
def test_applying_what_is_no_script_gives_a_lemma_too(text: str, form: str) -> None:
    assert apply(text, form)


@pytest.mark.parametrize(
    ("made_for", "other", "expected"),
    [
        (("dogs", "dog"), "a", "a"),
        (("dogs", "dog"), "", "_"),
        (("flies", "fly"), "Is", "is"),
        (("flies", "fly"), "İs", "i\u0307s"),
        (("was", "be"), "anything", "be"),
    ],
)
def test_a_form_that_a_script_does_not_fit_keeps_its_characters(
    made_for: tuple[str, str], other: str, expected: str
) -> None:
    assert apply(script(*made_for), other) == expected


@pytest.mark.parametrize(
    "text",
    ["", "=", "x", "l", "l0-1", "l0-1+1:", "l00-1+0:", "l-1-0+0:", "l0-1000+0:", "l٣-0+0:", "=" * 101,
     "x0-0+0:", " l0-0+0:", "l0-0+0" + "0" * 50 + ":"],
)  # fmt: skip
def test_what_is_no_script(text: str) -> None:
    assert not is_script(text)


def test_the_scripts_that_fit_most_pairs_are_learned_first() -> None:
    pairs = {("the", "the"): 900, ("The", "the"): 90, ("Rome", "Rome"): 50, ("dogs", "dog"): 5,
             ("cats", "cat"): 4, ("was", "be"): 70, ("is", "be"): 90, ("were", "be"): 9, ("be", "be"): 30,
             ("oxen", "ox"): 1, ("mice", "mouse"): 2, ("." * 200, "x"): 9}  # fmt: skip
    learned = learn_scripts(pairs)
    assert learned == ["l0-0+0:", "=be", "l0-1+0:", "a0-0+0:", "=x"]
    lemmatizer = Lemmatizer(learned, {})
    assert [lemmatizer.rank(*pair) for pair in pairs] == [0, 0, 3, 2, 2, 1, 1, 1, 0, -1, -1, 4]
    assert learn_scripts({("a", "b"): 1}) == ["=b"]
    assert learn_scripts({}) == []
    assert learn_scripts(dict(reversed(pairs.items()))) == learned


WORDS = [
    *[("dogs", "dog", "NOUN")] * 3, *[("Dogs", "dog", "NOUN")] * 3, *[("cats", "cat", "NOUN")] * 3,
    *[("mice", "mouse", "NOUN")], *[("left", "leave", "VERB")] * 3, *[("left", "left", "ADJ")] * 3,
    *[("found", "find", "VERB")] * 3, *[("found", "found", "VERB")] * 3,
    *[("Rome", "Rome", "PROPN")] * 3, *[("mumble", "_", "X")] * 9, ("a" * 200, "b", "NOUN"),
]  # fmt: skip


def test_the_dictionary_has_words_with_one_lemma() -> None:
    _, lemmatizer = Lemmatizer.learn(WORDS)
    assert lemmatizer.dictionary == {
        "ADJ": {"left": "left"},
        "NOUN": {"cats": "cat", "dogs": "dog", "mice": "mouse"},
        "PROPN": {"rome": "Rome"},
        "VERB": {"left": "leave"},
    }
    as_is = ["a0-0+0:"] * 6
    forms = ["MICE", "left", "left", "found", "dogs", ""]
    tags = ["NOUN", "ADJ", "VERB", "VERB", "_", "NOUN"]
    for _ in range(2):  # the second time from the cache
        found = lemmatizer.lemmas(forms, tags, as_is)
        assert found == ["mouse", "left", "leave", "found", "dogs", "_"]


def test_without_tags_the_dictionary_goes_by_form() -> None:
    _, lemmatizer = Lemmatizer.learn((form, lemma, "_") for form, lemma, _ in WORDS)
    assert lemmatizer.dictionary == {
        "_": {"cats": "cat", "dogs": "dog", "mice": "mouse", "rome": "Rome"}
    }
    assert lemmatizer.lemmas(["Mice"], ["NOUN"], ["a0-0+0:"]) == ["mouse"]


def test_certain_proper_nouns_are_in_the_dictionary() -> None:
    certain = [("Dec", "December"), ("dec", "December"), ("ROME", "Rome"), ("Rome", "Rome")]
    uncertain = [
        ("IT", "Italian"),
        ("IT", "Italian"),
        ("Alps", "Alp"),
        ("Ibm", "Ibm"),
        ("IBM", "IBM"),
    ]
    words = [(form, lemma, "PROPN") for form, lemma in (*certain, *uncertain)]
    _, lemmatizer = Lemmatizer.learn(words)
    assert lemmatizer.dictionary == {"PROPN": {"dec": "December", "rome": "Rome"}}


def test_a_proper_noun_in_lower_case_gets_the_capitals_that_it_always_has() -> None:
    names = [("Rome", "Rome", "PROPN"), ("Dec", "December", "PROPN"), ("iPhone", "iPhone", "PROPN")]
    _, lemmatizer = Lemmatizer.learn(names * 2)
    forms = ["rome", "ROME", "iphone", "dec", "DEC", "paris"]
    as_it_is = ["a0-0+0:"] * len(forms)
    lemmas = lemmatizer.lemmas(forms, ["PROPN"] * len(forms), as_it_is)
    assert lemmas == ["Rome", "ROME", "iPhone", "December", "December", "paris"]


@pytest.mark.parametrize(
    ("form", "lemma"),
    [
        ("https://Example.com/Some_Page.HTML", "https://Example.com/Some_Page.HTML"),
        ("WWW.Example.com", "WWW.Example.com"),
        ("Jane.Doe@Example.org", "Jane.Doe@Example.org"),
        ("Awww.", "awww."),
        ("@Jane", "@jane"),
    ],
)
def test_an_address_is_its_own_lemma(form: str, lemma: str) -> None:
    assert Lemmatizer.learn(WORDS)[1].lemmas([form], ["PROPN"], ["l0-0+0:"]) == [lemma]


LEXICON = {
    "VERB": {
        "changed": "change", "managed": "manage", "raged": "rage", "bagged": "bag", "stages": "stage",
        "spotted": "spot", "waited": "wait", "visited": "visit", "rioted": "riot", "fined": "fine",
    },
    "NOUN": {"wages": "wage", "speculation": "speculation", "alarms": "alarm"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("form", "tag", "script", "lemma"),
    [
        ("staged", "VERB", "l0-2+0:", "stage"),  # not stag: a known lemma of this tag
        ("Staged", "VERB", "a0-2+0:", "Stage"),  # that lemma is not known, but the change is usual
        ("waged", "VERB", "l0-2+0:", "wage"),  # a known lemma of another tag
        ("caged", "VERB", "l0-2+0:", "cage"),  # no known lemma: the change is usual
        ("gagged", "VERB", "l0-3+0:", "gag"),  # not known either, but words with this ending do so
        ("riveted", "VERB", "l0-1+0:", "rivet"),
        ("fined", "VERB", "l0-2+0:", "fine"),  # in the dictionary
        ("staged", "ADJ", "l0-2+0:", "stag"),  # nothing is known about adjectives
        ("sang", "VERB", "l0-3+0:ing", "sing"),  # nor about this ending
        ("be", "VERB", "=am", "am"),
        ("y'all", "DET", "=will", "y'all"),  # another word, and not a known determiner
        ("bats", "NOUN", "=bacon", "bacon"),  # it begins alike
        ("'ll", "AUX", "=will", "will"),  # a short form may be of any word
        ("'Ll", "PROPN", "=will", "'Ll"),  # but not a name
        ("1,100", "NUM", "=1000", "1,100"),  # digits are never changed
        ("alarm", "NOUN", "l0-0+0:", "alarm"),  # an end that stays is not doubted
    ],
)
def test_an_unknown_word_gets_a_lemma_that_exists(
    form: str, tag: str, script: str, lemma: str
) -> None:
    lemmatizer = Lemmatizer(["l0-1+0:", "l0-2+0:", "l0-3+0:", "l0-0+0:"], LEXICON)
    assert lemmatizer.lemmas([form], [tag], [script]) == [lemma]


@given(
    ALIKE,
    st.sampled_from([*LEXICON, "X"]),
    st.from_regex(r"[lacu]0-[0-3]\+0:[a-e]?", fullmatch=True),
)
def test_no_word_is_left_without_a_lemma(form: str, tag: str, script: str) -> None:
    [lemma] = Lemmatizer([script], LEXICON).lemmas([form or "_"], [tag], [script])
    assert lemma


def test_a_dictionary_and_a_cache_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headspan.lemmas._MOST_LEARNED", 2)
    monkeypatch.setattr("headspan.lemmas._CACHED", 3)
    _, lemmatizer = Lemmatizer.learn(WORDS)
    assert lemmatizer.dictionary == {"NOUN": {"dogs": "dog", "mice": "mouse"}}  # one needs it
    for k in range(20):
        assert lemmatizer.lemmas([f"A{k}"], ["X"], ["l0-0+0:"]) == [f"a{k}"]
        assert len(lemmatizer._cache) <= 3
    lemmatizer.lemmas(["A" * 101], ["X"], ["l0-0+0:"])
    assert max(len(form) for form, _, _ in lemmatizer._cache) <= 100


@given(st.dictionaries(TEXT, st.dictionaries(TEXT, TEXT)) | st.recursive(
    st.none() | st.integers() | TEXT, lambda s: st.lists(s) | st.dictionaries(TEXT, s)))  # fmt: skip
def test_any_json_is_a_dictionary_or_refused(data: Any) -> None:
    for whole in (data, {"dictionary": data}):
        with suppress(HeadspanError):
            lemmatizer = Lemmatizer.from_json(whole, ["l0-0+0:"])
            assert lemmatizer.to_json() == whole
            assert all(lemma for entries in data.values() for lemma in entries.values())


GOLD = [
    Sentence.from_words(
        words.split(), lemmas=lemmas.split(), upos=tags.split(), heads=heads,
        deprels=["root" if head == 0 else "dep" for head in heads],
    )
    for words, lemmas, tags, heads in (
        ("The mice saw dogs .", "the mouse see dog .", "DET NOUN VERB NOUN PUNCT", (2, 3, 0, 3, 3)),
        ("A cat leaves Rome", "a cat leave Rome", "DET NOUN VERB PROPN", (2, 3, 0, 3)),
    )
]  # fmt: skip


def save_unchecked(parser: Parser, folder: Path) -> None:
    """Save a model without checksums, which would notice every change."""
    parser.save(folder)
    (folder / "checksums.json").unlink()


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lemmas") / "two.conllu"
    conllu.write(GOLD * 3, path)
    return path


def settings(
    treebank: Path, columns: tuple[Any, ...] = ("upos", "lemmas"), epochs: int = 60
) -> Config:
    return Config(
        data=DataConfig(train=str(treebank), dev=str(treebank), punct="keep"),
        model=ModelConfig(
            lstm_layers=1, lstm_size=16, score_size=16, label_size=8, dropout=0.0,
            embeddings=EmbeddingsConfig(words=16, characters=8, tags=4, min_count=1),
            tagger=TaggerConfig(columns=columns, size=16, weight=1.0),
        ),
        training=TrainingConfig(epochs=epochs, batch_tokens=60, learning_rate=1e-2, seed=3),
    )  # fmt: skip


@pytest.fixture(scope="module")
def model(treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    train(settings(treebank), folder)
    return folder / "model"


def test_lemmas_are_learned_by_heart_and_the_same_after_loading(
    model: Path, tmp_path: Path
) -> None:
    parser = Parser.load(model)
    words = [Sentence.from_words(s.forms) for s in GOLD]
    assert [s.plain() for s in parser.parse(words)] == GOLD
    empty = Vocabularies.from_json(
        parser.vocabularies.to_json(), parser.config.model, lemmas={"dictionary": {}}
    )
    alone = Parser(parser.network, parser.config, empty)
    assert [s.lemmas for s in alone.parse(words)] == [s.lemmas for s in GOLD]  # by scripts alone
    parser.save(tmp_path / "again")
    again = Parser.load(tmp_path / "again")
    assert again.parse(words) == parser.parse(words)
    assert again.vocabularies.lemmatizer is not None
    assert again.vocabularies.lemmatizer.dictionary["NOUN"]["mice"] == "mouse"
    for file in ("vocabularies.json", "lemmas.json"):
        assert (tmp_path / "again" / file).read_bytes() == (model / file).read_bytes()


def test_lemmas_stay_unless_they_are_missing_or_unwanted(model: Path) -> None:
    parser = Parser.load(model)
    own = Sentence.from_words(GOLD[0].forms, lemmas="1 2 3 4 5".split())
    assert parser(own).lemmas == own.lemmas
    assert parser(own, retag=True).lemmas == GOLD[0].lemmas
    found = parser.parse_words(["Unseen", "\u200b", "İ", "x" * 10_000, "_"])
    assert all(found.lemmas)
    assert parser.parse_words(GOLD[0].forms).as_json()["lemmas"] == GOLD[0].lemmas


def test_lemmas_that_no_script_makes_are_not_learned(treebank: Path, tmp_path: Path) -> None:
    trainer = Trainer(settings(treebank), tmp_path)
    vocabularies = trainer.parser.vocabularies
    odd = Sentence.from_words(["dogs", "dogs", "dogs"], lemmas=["dog", "zebra", "_"])
    numbers = vocabularies.gold_tags("lemmas", odd)
    assert numbers[0] >= 2
    assert numbers[1:] == [-1, -1]
    assert vocabularies.tags["lemmas"].names_of(numbers[:1]) == ["l0-1+0:"]


def test_a_treebank_without_lemmas_is_refused_before_work_starts(tmp_path: Path) -> None:
    bare = [
        Sentence.from_words(s.forms, upos=s.upos, heads=s.heads, deprels=s.deprels) for s in GOLD
    ]
    conllu.write(bare, tmp_path / "bare.conllu")
    message = r"bare\.conllu: has no lemmas, but model\.tagger\.columns names them"
    with pytest.raises(HeadspanError, match=message):
        Trainer(settings(tmp_path / "bare.conllu"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def change(folder: Path, file: str, data: Any) -> None:
    (folder / file).write_text(json.dumps(data), encoding="utf-8")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "the lemmas are"),
        ({}, "the lemmas are"),
        ({"dictionary": {}, "more": 1}, "the lemmas are"),
        ({"dictionary": []}, "the lemmas are"),
        ({"dictionary": {"NOUN": ["x"]}}, "the lemmas are"),
        ({"dictionary": {"NOUN": {"x": 1}}}, "the lemma of 'x' is 1"),
        ({"dictionary": {"NOUN": {"x": ""}}}, "the lemma of 'x' is ''"),
        ({"dictionary": {"NOUN": {"": "x"}}}, "the lemma of '' is 'x'"),
        ({"dictionary": {"NOUN": {"x": "a\tb"}}}, "the lemma of 'x' is"),
        ({"dictionary": {"NOUN": {"x": "a\nb"}}}, "the lemma of 'x' is"),
        ({"dictionary": {"NOUN": {"x": "\ud800"}}}, "the lemma of 'x' is"),
        ({"dictionary": {"NOUN": {"x": "\0"}}}, "the lemma of 'x' is"),
        ({"dictionary": {"NOUN": {"x": "y" * 101}}}, "at most 100 characters"),
        ({"dictionary": {"NOUN": {"y" * 101: "x"}}}, "at most 100 characters"),
        ({"dictionary": {"NOUN": {f"{k}": "x" for k in range(13)}}}, "more than 12 entries"),
    ],
)  # fmt: skip
def test_hostile_dictionaries_are_refused(
    model: Path, tmp_path: Path, data: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headspan.lemmas._MOST_READ", 12)
    folder = tmp_path / "model"
    save_unchecked(Parser.load(model), folder)
    change(folder, "lemmas.json", data)
    with pytest.raises(HeadspanError, match=message) as caught:
        Parser.load(folder)
    assert str(caught.value).startswith(str(folder))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("text", ["zz", "=", "l0-1000+0:", "l0-0+5:abc", "=" + "x" * 100, "=a\tb"])
def test_scripts_that_cannot_have_been_learned_are_refused(
    model: Path, tmp_path: Path, text: str
) -> None:
    folder = tmp_path / "model"
    save_unchecked(Parser.load(model), folder)
    data = json.loads((folder / "vocabularies.json").read_text(encoding="utf-8"))
    data["tags"]["lemmas"][0] = text
    change(folder, "vocabularies.json", data)
    with pytest.raises(HeadspanError, match=r"which is not a script|which no file can hold"):
        Parser.load(folder)


def test_a_model_of_lemmas_needs_its_dictionary(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    save_unchecked(Parser.load(model), folder)
    (folder / "lemmas.json").unlink()
    with pytest.raises(HeadspanError, match=r"lemmas\.json: cannot be read"):
        Parser.load(folder)


def test_a_model_without_lemmas_leaves_them_empty(treebank: Path, tmp_path: Path) -> None:
    parser = train(settings(treebank, columns=("upos",), epochs=1), tmp_path)
    assert set(parser.parse_words(GOLD[0].forms).lemmas) == {"_"}
    assert "lemmas" not in parser.parse_words(GOLD[0].forms).as_json()
    assert not (tmp_path / "model" / "lemmas.json").exists()


def test_lemmas_without_tags_are_learned(treebank: Path, tmp_path: Path) -> None:
    parser = train(settings(treebank, columns=("lemmas",)), tmp_path)
    assert parser.vocabularies.lemmatizer is not None
    assert set(parser.vocabularies.lemmatizer.dictionary) == {"_"}
    parses = parser.parse([s.forms for s in GOLD])
    assert [p.lemmas for p in parses] == [s.lemmas for s in GOLD]
    assert {tag for p in parses for tag in p.upos} == {"_"}
