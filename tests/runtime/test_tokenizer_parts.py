"""A tokenizer.json from a stranger: known parts only, and none that does too much."""

import base64
import copy
import json
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from headspan import HeadspanError
from headspan.plumbing.limits import LONGEST_FORM
from headspan.runtime.subwords import SubwordTokenizer
from headspan.runtime.tokenizer_parts import _NORMALIZERS, checked_growth

SPECIAL = {"start": 0, "end": 1, "unknown": 2, "mask": 3, "pad": 4, "window": 1 << 30}
GROWING = "\ufdfa\u1f82\u0390\u0130\uac01\u4e00\u1d160"
"""Characters that normalization makes longest: Arabic, Greek, Turkish, Hangul, Chinese, a note."""


def unigram() -> Tokenizer:
    return Tokenizer(models.Unigram([("<unk>", 0.0), ("▁", -2.0), ("a", -1.0)], 0))


def bpe() -> Tokenizer:
    return Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))


def precompiled(replacement: str) -> normalizers.Precompiled:
    """A table of sentencepiece whose trie is empty."""
    trie = bytes(4 << 10)
    data = len(trie).to_bytes(4, "little") + trie + b"\0" + replacement.encode() + b"\0"
    return normalizers.Precompiled(data)


def made(tokenizer: Tokenizer, **parts: Any) -> str:
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    return tokenizer.to_str()


def encoder_tokenizers() -> dict[str, str]:
    """The tokenizers of well-known encoders, as transformers builds them."""
    from transformers import (
        AlbertTokenizer,
        BertTokenizer,
        DebertaTokenizer,
        DebertaV2Tokenizer,
        MPNetTokenizer,
        RobertaTokenizer,
        T5Tokenizer,
        XLMRobertaTokenizer,
    )

    # transformers gives sentencepiece's table only to those that are read from its files
    table = precompiled("\ufdfa" * 18)
    template = processors.TemplateProcessing(single="a $A a", special_tokens=[("a", 0)])
    words = {"[UNK]": 0, "<unk>": 1, "[CLS]": 2, "<s>": 3, "[SEP]": 4, "</s>": 5}
    more = {"[PAD]": 6, "<pad>": 7, "[MASK]": 8, "<mask>": 9}
    built = {
        "bert and electra": BertTokenizer(),
        "mpnet": MPNetTokenizer(vocab=words | more),
        "roberta": RobertaTokenizer(add_prefix_space=True),
        "deberta": DebertaTokenizer(add_prefix_space=True),
        "deberta-v2": DebertaV2Tokenizer(do_lower_case=True, split_by_punct=True),
        "xlm-roberta": XLMRobertaTokenizer(),
        "t5": T5Tokenizer(),
        "albert": AlbertTokenizer(),
    }
    texts = {name: tokenizer.backend_tokenizer.to_str() for name, tokenizer in built.items()}
    texts["modernbert"] = made(
        bpe(), normalizer=normalizers.NFC(), pre_tokenizer=pre_tokenizers.ByteLevel(),
        decoder=decoders.ByteLevel(), post_processor=template,
    )  # fmt: skip
    metaspace = pre_tokenizers.Metaspace()
    texts["xlm-roberta from sentencepiece"] = made(
        unigram(), normalizer=table, post_processor=template, decoder=decoders.Metaspace(),
        pre_tokenizer=pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace]),
    )  # fmt: skip
    steps = [normalizers.Strip(), table, normalizers.Replace(Regex(" {2,}"), "▁")]
    texts["deberta-v3 from sentencepiece"] = made(
        unigram(), normalizer=normalizers.Sequence(steps), pre_tokenizer=metaspace
    )
    return texts


def test_the_tokenizers_of_well_known_encoders_are_accepted() -> None:
    for name, text in encoder_tokenizers().items():
        tokenizer = SubwordTokenizer.from_json(text, SPECIAL)
        assert tokenizer.to_json()[0] == text, name
        if name != "albert":
            assert tokenizer._longest == LONGEST_FORM, name


REPLACE = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 1000}
KEYED = {"type": "BPE", "vocab": {"a": 0}, "merges": []}


def changed(**parts: Any) -> str:
    return json.dumps({**json.loads(unigram().to_str()), **copy.deepcopy(parts)})


def sequence(*parts: Any, key: str = "normalizers") -> dict[str, Any]:
    return {"type": "Sequence", key: list(parts)}


def table(data: bytes) -> dict[str, str]:
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(data).decode()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed(normalizer=sequence(REPLACE, REPLACE, REPLACE)), "times as long; expected at most"),
        (changed(normalizer=sequence(*[{"type": "NFKD"}] * 4)), "104976 times as long"),
        (changed(normalizer={"type": "Prepend", "prepend": "a" * 10_000}), "10001 times as long"),
        (changed(normalizer=table(bytes(4) + b"a" * 10_001)), "10001 times as long"),
        (changed(normalizer=table(b"\xff" * 4)), "a table that is cut off"),
        (changed(normalizer=table(b"\0\0\0\0\xff")), "a table that cannot be read: 'utf-8'"),
        (changed(normalizer={**REPLACE, "pattern": {"String": ""}}), "a string that is not empty"),
        (changed(normalizer={**REPLACE, "pattern": {"Regex": "(a+)+$"}}), "of a known tokenizer"),
        (changed(normalizer={**REPLACE, "pattern": {}}), "normalizer .* has the pattern {}"),
        (changed(normalizer={**REPLACE, "content": 1}), "has 1; expected a string"),
        (changed(normalizer={"pattern": {"String": "a"}, "content": "b"}), "has the type None"),
        (changed(normalizer={"type": "Unheard"}), "normalizer .* has the type 'Unheard'; expected"),
        (changed(normalizer={"type": ["NFC"]}), r"has the type \['NFC'\]"),
        (changed(normalizer=["NFC"]), r"is \['NFC'\]; expected a table"),
        (changed(normalizer={"type": "Sequence"}), "is a sequence of None; expected a list"),
        (changed(normalizer=sequence(*[{"type": "Nmt"}] * 20)), "has more than 20 parts"),
        (changed(pre_tokenizer=sequence(*[{"type": "ByteLevel"}] * 9, key="pretokenizers")),
         "times as long"),
        (changed(pre_tokenizer={"type": "Split", "pattern": {"Regex": "((a{9}){999}){999}"}}),
         "pre_tokenizer .* of a known tokenizer"),
        (changed(pre_tokenizer={"type": "Custom"}), "pre_tokenizer .* has the type 'Custom'"),
        (changed(decoder={**REPLACE, "pattern": {"Regex": "((a{9}){999}){999}"}}), "decoder .* known"),
        (changed(decoder={"type": "?"}), "decoder .* has the type '?'"),
        (changed(post_processor={"type": "?"}), "post_processor .* has the type '?'"),
        (changed(model={"vocab": {}}), "model .* has the type None; expected one of BPE, Unigram"),
        (changed(model=None), "model .* is None; expected a table"),
        (changed(model={**KEYED, "dropout": 0.5}), "drops merges at random"),
        (changed(model={**KEYED, "end_of_word_suffix": "a" * 17}), "end_of_word_suffix of more than 16"),
        (changed(model={**KEYED, "type": "WordPiece", "max_input_chars_per_word": 10**9}),
         "takes words of 1000000000 characters; expected at most 1,000"),
        ('{"model": {"type": "BPE", "type": "Unigram"}}', "is not JSON: a key occurs twice"),
        ("[]", r"is \[\]; expected a table"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
    ],
)  # fmt: skip
def test_parts_that_are_unknown_or_do_too_much_are_refused(text: str, message: str) -> None:
    with pytest.raises(HeadspanError, match=message) as raised:
        SubwordTokenizer.from_json(text, SPECIAL)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 300


def test_no_normalizer_makes_more_of_a_character_than_is_assumed() -> None:
    for name, growth in _NORMALIZERS.items():
        normalize = getattr(normalizers, name)().normalize_str
        longest = max(len(normalize(f"x{character}x")) - 2 for character in GROWING)
        assert 1 <= longest <= growth


def test_a_word_is_cut_before_it_can_grow_beyond_a_million_characters() -> None:
    text = changed(normalizer=REPLACE)
    assert checked_growth(text) == 1000
    assert len(SubwordTokenizer.from_json(text, SPECIAL).word("a" * LONGEST_FORM)) == 1_000_000


def test_a_library_that_panics_raises_a_headspan_error(capfd: pytest.CaptureFixture[str]) -> None:
    broken = changed(normalizer=table(b"\x08\0\0\0" + b"\xff" * 8 + b"\0"))
    tokenizer = SubwordTokenizer.from_json(broken, SPECIAL)
    with pytest.raises(HeadspanError, match="cannot read the word 'abc': index out of bounds"):
        tokenizer.word("abc")
    merged = {**KEYED, "merges": [["a", "a"]], "continuing_subword_prefix": "##"}
    with pytest.raises(HeadspanError, match="is not a tokenizer: slice index"):
        SubwordTokenizer.from_json(changed(model=merged), SPECIAL)
    without = changed(model={"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "?"})
    with pytest.raises(HeadspanError, match=r"cannot read the word 'b': .*Missing \[UNK\]"):
        SubwordTokenizer.from_json(without, SPECIAL).word("b")
    assert "panicked" in capfd.readouterr().err  # by tokenizers, which cannot be told not to
