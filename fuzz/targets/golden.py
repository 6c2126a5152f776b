"""The model that targets use: the golden one of the current format, which has every part."""

from functools import cache
from pathlib import Path

import torch

from headspan.model.parse_result import Parse
from headspan.model.parser import Parser
from headspan.model.saving import FORMAT

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "golden" / "models" / f"v{FORMAT}"


@cache
def parser() -> Parser:
    torch.set_num_threads(1)
    return Parser.load(FOLDER)


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
