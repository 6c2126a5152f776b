"""headspan: dependency parsing with headed spans."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headspan.conllu import Sentence as Sentence
    from headspan.conllu import Token as Token
    from headspan.model.document import Document as Document
    from headspan.model.parse_result import Parse as Parse
    from headspan.model.parser import Parser as Parser
    from headspan.model.parser import load as load
    from headspan.plumbing.errors import HeadspanError as HeadspanError
    from headspan.plumbing.errors import HeadspanWarning as HeadspanWarning

__version__ = "0.1.0.dev0"

_HOME = {
    "Document": "headspan.model.document",
    "HeadspanError": "headspan.plumbing.errors",
    "HeadspanWarning": "headspan.plumbing.errors",
    "Parse": "headspan.model.parse_result",
    "Parser": "headspan.model.parser",
    "Sentence": "headspan.conllu",
    "Token": "headspan.conllu",
    "load": "headspan.model.parser",
}

__all__ = [
    "Document", "HeadspanError", "HeadspanWarning", "Parse", "Parser", "Sentence", "Token",
    "__version__", "load",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import headspan` stays quick."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'headspan' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *_HOME]
