import copy
import json

import numpy as np
import pytest
from safetensors.numpy import load, save

from headspan.plumbing.errors import HeadspanError
from headspan.text import Segmenter, raw_text

from .made_up import made_up_treebank


def test_saved_and_loaded_is_the_same(segmenter: Segmenter) -> None:
    tensors, about = segmenter.state()
    again = Segmenter.from_state(load(save(tensors)), json.loads(json.dumps(about)))
    text = raw_text(made_up_treebank(50, 7)) + "Ünseen ’tèxt«!»"
    assert list(again.segment(text)) == list(segmenter.segment(text))
    assert again.state()[1] == about


def test_wrong_tensors_are_refused(segmenter: Segmenter) -> None:
    tensors, about = segmenter.state()
    name = "token.weight"
    for wrong in (
        {k: t for k, t in tensors.items() if k != name},
        {**tensors, "other": np.zeros(1, np.float32)},
        {**tensors, name: np.zeros((2, 2), np.float32)},
        {**tensors, name: tensors[name].astype(np.float64)},
    ):
        with pytest.raises(HeadspanError, match="tensor"):
            Segmenter.from_state(wrong, about)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("sizes", {}),
        ("sizes", {"characters": True, "convolution": 1, "width": 1, "words": 1, "lstm": 1}),
        ("sizes", {"characters": 1, "convolution": 1, "width": 2, "words": 1, "lstm": 1}),
        ("sizes", [1]),
        ("characters", "abc"),
        ("characters", ["a", "a"]),
        ("words", [1]),
        ("spaced", [["Nd"]]),
        ("spaced", [["Nd", "XX"]]),
        ("spaced", {"Nd": "Nd"}),
        ("multiwords", None),
        ("multiwords", {"seen": {}, "rules": [], "more": 1}),
        ("multiwords", {"seen": {"du": "de le"}, "rules": []}),
        ("multiwords", {"seen": [], "rules": []}),
        ("multiwords", {"seen": {}, "rules": [["", "x", ["a", "b"]]]}),
        ("multiwords", {"seen": {}, "rules": [["", "", ["\0", "x", ""]]]}),
        ("more", 1),
    ],
)
def test_wrong_json_is_refused(segmenter: Segmenter, key: str, value: object) -> None:
    tensors, about = segmenter.state()
    with pytest.raises(HeadspanError):
        Segmenter.from_state(tensors, {**copy.deepcopy(about), key: value})
    with pytest.raises(HeadspanError):
        Segmenter.from_state(tensors, {k: v for k, v in about.items() if k != "sizes"})
