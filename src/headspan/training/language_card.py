"""The card of a model that was trained on treebanks of Universal Dependencies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headspan import __version__
from headspan.config import Config
from headspan.model.model_package import ModelPackage
from headspan.training.ud_folders import UdTreebank

if TYPE_CHECKING:
    from headspan.training.loop import Trainer

ALL = "all"
"""The row of all treebanks together."""
NAMES = {
    **{name: name.capitalize() for name in ("tokens", "words", "sentences", "lemmas")},
    **{name: name.upper() for name in ("upos", "xpos", "uas", "las", "clas")},
    "ufeats": "UFeats",
}
"""How metrics are written."""


@dataclass(frozen=True)
class Measured:
    """What was measured of a model; scores are F1 in percent, by treebank and metric."""

    part: str
    """The part of the treebanks that was scored: test or dev."""
    from_words: dict[str, dict[str, float]]
    from_text: dict[str, dict[str, float]]
    """Empty if the model has no segmenter."""
    words_per_second: int
    """From words, on one thread."""
    size: int
    """Bytes of the model."""
    memory: int
    """Most bytes of memory in training; 0 if that is not known."""

    @property
    def header(self) -> str:
        """The figures that `headspan info` shows, as one line of the card's header."""
        rows = {"las": self.from_words, "raw_las": self.from_text}
        figures = {name: round(list(of.values())[-1]["las"], 2) for name, of in rows.items() if of}
        return "headspan: " + json.dumps({**figures, "words_per_second": self.words_per_second})


def language_card(
    config: Config,
    trainer: Trainer,
    treebanks: Sequence[UdTreebank],
    about: ModelPackage,
    measured: Measured,
) -> str:
    """The card in Markdown, with the header that the Hugging Face hub reads."""
    model, training = config.model, config.training
    done = trainer.state.history[trainer.state.best_epoch]
    minutes = trainer.state.history[-1].seconds / 60
    memory = f", {measured.memory / 1e9:.1f} GB of memory" if measured.memory else ""
    licence = about.licence.lower() if " " not in about.licence else "other"
    columns = [{"lemmas": "LEMMA"}.get(c, c.upper()) for c in model.tagger.columns]
    inputs = [f"the encoder {model.encoder.name}"] if model.encoder.name else []
    inputs += ["words"] * bool(model.embeddings.words)
    inputs += ["characters"] * bool(model.embeddings.characters)
    inputs += [column.upper() for column in model.embeddings.columns]
    sources = "".join(f"- {source}\n" for source in about.sources)
    gold = trainer.training_set.gold
    silver = trainer.training_set.silver
    return f"""\
---
library_name: headspan
language: {treebanks[0].language}
license: {licence or "unknown"}
{measured.header}
datasets: [universal_dependencies]
pipeline_tag: token-classification
tags: [dependency-parsing, part-of-speech, universal-dependencies]
---

# `{about.name}`, a model of {about.language} for headspan

This model turns {"raw text" if measured.from_text else "words"} into \
{"sentences, tokens, multiword tokens, " if measured.from_text else ""}\
{"".join(f"{column}, " for column in columns)}heads and relations of Universal Dependencies, with
calibrated confidences. It reads {", ".join(inputs)}, and has {measured.size / 1e6:.1f} MB: large \
matrices in int8, other weights in float16.

```python
import headspan

parser = headspan.load("{about.name}")
```

## Data and licence

{sources}
{f"Licence: {about.licence}." if about.licence else "The licence follows from the treebanks'."}

## Training

{len(gold):,} sentences, {sum(map(len, gold)):,} words\
{f"; and {silver:,} silver sentences, whose trees are a parser's" if silver else ""}.
Structure `{model.structure}`, loss `{model.loss}`, non-projective trees `\
{config.data.nonprojective}`; seed {training.seed}; headspan {__version__}.
Chosen on dev: epoch {done.epoch} of {training.epochs}, UAS {done.dev_uas:.2f}, LAS \
{done.dev_las:.2f} with subtypes, from the treebank's words.
{minutes:.0f} minutes for tags and trees{memory}. `config.json` has the configuration.

## Scores

The {measured.part} parts, as in the CoNLL 2018 evaluation, F1. From the treebank's words:

{_table(measured.from_words)}
{_raw(measured)}
It parses {measured.words_per_second:,} words per second with one thread, from words.
"""


def _raw(measured: Measured) -> str:
    if not measured.from_text:
        return "\nThe model has no segmenter: it does not read raw text.\n"
    return f"\nFrom raw text:\n\n{_table(measured.from_text)}\n"


def _table(rows: Mapping[str, Mapping[str, float]]) -> str:
    metrics = list(next(iter(rows.values())))
    lines = [["", *(NAMES[metric] for metric in metrics)], ["---"] * (len(metrics) + 1)]
    lines += [[name, *(f"{of[metric]:.2f}" for metric in metrics)] for name, of in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
