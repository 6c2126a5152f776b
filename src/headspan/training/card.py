"""The model card: a description of a model, in its folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

import torch

from headspan import __version__
from headspan.config import Config, Files, file_list
from headspan.conllu import Sentence
from headspan.training.events import EpochDone
from headspan.training.treebank import TrainingSet


def model_card(config: Config, epoch: EpochDone, training_set: TrainingSet) -> str:
    """A card in Markdown, with the header that the Hugging Face hub reads."""
    model, training = config.model, config.training
    silver = ""
    if training_set.silver:
        size = _size(training_set.sentences[-training_set.silver :])
        silver = f"; and on trees of another parser, {_names(config.data.silver)}: {size}"
    inputs = [f"the encoder `{model.encoder.name}`"] if model.encoder.name else []
    inputs += ["words"] * bool(model.embeddings.words)
    inputs += ["characters"] * bool(model.embeddings.characters)
    inputs += [column.upper() for column in model.embeddings.columns]
    names = {"lemmas": "LEMMA"}
    columns = (names.get(column, column.upper()) for column in model.tagger.columns)
    outputs = ["heads and relations", *columns]
    name = re.match(r"([a-z]{2,3})_[a-z]+-ud-", _names(config.data.train))
    language = f"language: {name[1]}\n" if name else ""
    punctuation = "counted" if config.data.punct == "keep" else f"left out ({config.data.punct})"
    return f"""\
---
library_name: headspan
{language}tags: [dependency-parsing]
---

# A dependency parser made with headspan

- Predicts: {", ".join(outputs)}
- Inputs: {", ".join(inputs)}
- Structure `{model.structure}`, loss `{model.loss}`, decoder `{model.decoder}`; non-projective \
trees: `{config.data.nonprojective}`
- Trained on {_names(config.data.train)}: {_size(training_set.gold)}{silver}
- Chosen on {_names(config.data.dev)}, epoch {epoch.epoch} of {training.epochs}, \
punctuation {punctuation}: UAS {epoch.dev_uas:.2f}, LAS {epoch.dev_las:.2f}
- Seed {training.seed}; headspan {__version__}, torch {torch.__version__}; the whole configuration
  is in `config.json`

```python
from headspan import Parser

parser = Parser.load("this folder")
```

The licence of the model follows from those of the treebank and of the encoder.
"""


def _size(sentences: Sequence[Sentence]) -> str:
    return f"{len(sentences):,} sentences, {sum(map(len, sentences)):,} words"


def _names(files: Files) -> str:
    return " and ".join(PurePath(path).name for path in file_list(files))
