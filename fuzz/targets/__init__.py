"""The fuzzing targets, one file each.

A target has `seeds()`, inputs to start from; `check(data)`, which raises unless the outcome is a
right answer or a refusal; and `WORDS`, strings that are worth inserting.
"""

from importlib import import_module
from types import ModuleType

NAMES = ("conllu", "conllx", "text", "config", "model", "service")


def target(name: str) -> ModuleType:
    """The module of a target; importing it imports the code that it tests."""
    return import_module(f"targets.{name}_target")
