"""Make the golden model of the present format: a tiny model with every part that a folder can have.

    python tests/golden/models/make.py

writes vN/ and vN.conllu beside this file, N being the format that this version of headspan writes.
It refuses to replace one that is there: an old format must stay as old versions wrote it.
"""

import random
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from headspan import conllu  # noqa: E402
from headspan.config import (  # noqa: E402
    Config,
    DataConfig,
    EmbeddingsConfig,
    EncoderConfig,
    ModelConfig,
    TaggerConfig,
    TrainingConfig,
)
from headspan.model import saving  # noqa: E402
from headspan.text import train_segmenter  # noqa: E402
from headspan.training.loop import train  # noqa: E402
from text.conftest import SETTINGS  # noqa: E402
from training.conftest import make_encoder, sentence  # noqa: E402

TEXT = "the dog sees a cat with every hearing . a cat likes the Arrow !"


def main() -> None:
    target = HERE / f"v{saving.FORMAT}"
    if target.exists():
        sys.exit(f"{target} is there already")
    rng = random.Random(7)
    treebank = [sentence(rng, k) for k in range(150)]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "train.conllu"
        conllu.write(treebank, data)
        config = Config(
            data=DataConfig(train=str(data), dev=str(data), punct="keep"),
            model=ModelConfig(
                lstm_layers=1, lstm_size=12, score_size=12, label_size=6, dropout=0.1,
                encoder=EncoderConfig(name=str(make_encoder(Path(folder) / "encoder")), layers="mix"),
                embeddings=EmbeddingsConfig(words=12, characters=6, tags=4, min_count=1),
                tagger=TaggerConfig(columns=("upos", "xpos"), size=12),
            ),
            training=TrainingConfig(epochs=12, batch_tokens=100, learning_rate=1e-2, seed=3),
        )  # fmt: skip
        parser = train(config, Path(folder) / "run")
    settings = replace(SETTINGS, epochs=16)
    parser.segmenter = train_segmenter(treebank, treebank[:20], settings=settings)
    encoder = EncoderConfig(name="tiny", layers="mix")  # it lay in a temporary folder
    parser.config = replace(config, model=replace(config.model, encoder=encoder))
    parser.card = (
        "# A golden model\n\nMade by make.py; what it says of TEXT there is in the .conllu.\n"
    )
    saving._LARGE_MATRIX = 200  # so that it has a table of int8, too
    parser.save(target, small=True)
    again = type(parser).load(target)
    conllu.write(again(TEXT), target.with_suffix(".conllu"))


if __name__ == "__main__":
    main()
