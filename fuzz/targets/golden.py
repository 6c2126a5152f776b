"""The model that targets use: the golden one of the current format, with every part."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import torch

from headspan.lemmas import Lemmatizer
from headspan.model.parse_result import Parse
from headspan.model.parser import Parser
from headspan.model.saving import FORMAT
from headspan.nn.network import Network
from headspan.vocabulary import Vocabulary

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "golden" / "models" / f"v{FORMAT}"


@cache
def parser() -> Parser:
    torch.set_num_threads(1)
    return Parser.load(FOLDER)


def write_whole_model(folder: Path) -> None:
    """Write a model with all files that a folder can have: the golden one, but with lemmas.

    Its weights are random but for those of the encoder.
    """
    golden = Parser.load(FOLDER)
    old, pretrained = golden.config.model, golden.network.inputs.encoder
    assert pretrained is not None
    model = replace(old, tagger=replace(old.tagger, columns=(*old.tagger.columns, "lemmas")))
    scripts = ["l0-0+0:", "l0-1+0:", "=be"]
    vocabularies = replace(
        golden.vocabularies,
        tags={**golden.vocabularies.tags, "lemmas": Vocabulary(scripts)},
        lemmatizer=Lemmatizer(scripts, {"NOUN": {"dogs": "dog"}}),
    )
    torch.manual_seed(0)
    whole = Parser(
        Network(model, vocabularies.sizes(), pretrained.encoder),
        replace(golden.config, model=model),
        vocabularies,
        golden.tokenizer,
        golden.encoder_config,
        segmenter=golden.segmenter,
        card=golden.card,
    )
    whole.save(folder, small=True)


def check_tree(parse: Parse) -> None:
    """Check that a parse is a tree over all words with a single root."""
    n = len(parse)
    assert len(parse.heads) == len(parse.deprels) == len(parse.spans) == n
    assert not n or parse.heads.count(0) == 1
    for word in range(1, n + 1):
        steps = 0
        while word:
            word, steps = parse.heads[word - 1], steps + 1
            assert steps <= n
