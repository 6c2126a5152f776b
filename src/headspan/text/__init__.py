"""From raw text to sentences of words.

    segmenter = train_segmenter(train, dev)
    for sentence in segmenter.segment("It can't be. Is it?"):
        ...

Text that is split already needs no segmenter: `sentences_from_lines`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from headspan.text.assembly import sentences_from_lines
from headspan.text.raw import Noise, raw_text

if TYPE_CHECKING:
    from headspan.text.encoded_text import SegmenterSizes as SegmenterSizes
    from headspan.text.learning import SegmenterEpoch as SegmenterEpoch
    from headspan.text.learning import SegmenterSettings as SegmenterSettings
    from headspan.text.learning import score_segmenter as score_segmenter
    from headspan.text.learning import train_segmenter as train_segmenter
    from headspan.text.segmenter import Segmenter as Segmenter

__all__ = [
    "Noise",
    "Segmenter",
    "SegmenterEpoch",
    "SegmenterSettings",
    "SegmenterSizes",
    "raw_text",
    "score_segmenter",
    "sentences_from_lines",
    "train_segmenter",
]

_HOME = {
    "SegmenterEpoch": "learning",
    "SegmenterSettings": "learning",
    "Segmenter": "segmenter",
    "SegmenterSizes": "encoded_text",
    "score_segmenter": "learning",
    "train_segmenter": "learning",
}


def __getattr__(name: str) -> Any:
    """Import the names whose modules take long to load when they are first used."""
    if name in _HOME:
        return getattr(import_module(f"headspan.text.{_HOME[name]}"), name)
    raise AttributeError(f"module 'headspan.text' has no attribute {name!r}")
