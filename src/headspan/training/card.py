"""The model card: a description of a model, in its folder."""

from __future__ import annotations

from pathlib import PurePath

import torch

from headspan import __version__
from headspan.config import Config
from headspan.training.events import EpochDone
from headspan.training.treebank import TrainingSet


def model_card(config: Config, epoch: EpochDone, training_set: TrainingSet) -> str:
    """A card in Markdown, with the header that the Hugging Face hub reads."""
    model, training = config.model, config.training
    words = sum(map(len, training_set.sentences))
    inputs = [f"the encoder `{model.encoder.name}`"] if model.encoder.name else []
    inputs += ["words"] * bool(model.embeddings.words)
    inputs += ["characters"] * bool(model.embeddings.characters)
    inputs += [column.upper() for column in model.embeddings.columns]
    names = {"lemmas": "LEMMA"}
    columns = (names.get(column, column.upper()) for column in model.tagger.columns)
    outputs = ["heads and relations", *columns]
    punctuation = "counted" if config.data.punct == "keep" else f"left out ({config.data.punct})"
    return f"""\
---
library_name: headspan
tags: [dependency-parsing]
---

# A dependency parser made with headspan

- Predicts: {", ".join(outputs)}
- Inputs: {", ".join(inputs)}
- Structure `{model.structure}`, loss `{model.loss}`, decoder `{model.decoder}`; non-projective \
trees: `{config.data.nonprojective}`
- Trained on {PurePath(config.data.train).name}: {len(training_set.sentences):,} sentences, \
{words:,} words
- Chosen on {PurePath(config.data.dev).name}, epoch {epoch.epoch} of {training.epochs}, \
punctuation {punctuation}: UAS {epoch.dev_uas:.2f}, LAS {epoch.dev_las:.2f}
- Seed {training.seed}; headspan {__version__}, torch {torch.__version__}; the whole configuration
  is in `config.json`

```python
from headspan import Parser

parser = Parser.load("this folder")
```

The licence of the model follows from those of the treebank and of the encoder.
"""
