"""What is fuzzed: a file a target.

A target has `seeds()`, inputs to start from; `check(data)`, which raises unless the outcome is a
right answer or a refusal; and `WORDS`, strings that are worth trying.
"""

from importlib import import_module
from types import ModuleType

TRACED = {
    "conllu": ("headspan.conllu", "headspan.files"),
    "conllx": ("headspan.conllu", "headspan.files"),
    "text": ("headspan.text", "headspan.parser", "headspan.parse", "headspan.pseudoprojective"),
    "config": ("headspan.config", "tomllib"),
    "model": (
        "headspan.model_folder",
        "headspan.loading",
        "headspan.config",
        "headspan.vocabulary",
        "headspan.nn.inputs",
        "headspan.nn.pretrained",
        "headspan.nn.bert",
        "headspan.nn.subwords",
        "headspan.text.segmenter",
        "headspan.text.multiwords",
        "headspan.parser",
    ),
    "service": ("headspan.serve", "headspan.render", "headspan.conllu"),
}
"""The targets, each with the modules whose branches say whether an input is a new one."""


def target(name: str) -> ModuleType:
    """The module of a target; imports what it tests."""
    return import_module(f"targets.{name}_target")
