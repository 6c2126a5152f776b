from pathlib import Path

import numpy as np

from headspan.nn.pretrained import load_pretrained
from headspan.training.encoder_words import words_of_encoder


def test_words_are_those_that_are_one_subword_and_vectors_are_principal(tiny_encoder: Path) -> None:
    encoder, tokenizer = load_pretrained(str(tiny_encoder))
    vectors = words_of_encoder(encoder, tokenizer, 5)
    assert set(vectors) == set("abcdefghijklmnopqrstuvwxyz"), "no marks, no inner pieces"
    rows = np.stack(list(vectors.values()))
    assert rows.shape == (26, 5)
    assert abs(rows.std() - 1) < 0.05
    table = encoder.get_input_embeddings().weight.detach().numpy()
    full = table[[tokenizer.word(word)[0] for word in vectors]]
    full = full - full.mean(0)
    variances = np.linalg.svd(full, compute_uv=False) ** 2
    kept = np.linalg.svd(rows - rows.mean(0), compute_uv=False) ** 2
    np.testing.assert_allclose(kept / kept.sum(), variances[:5] / variances[:5].sum(), rtol=1e-3)


def test_fewer_words_than_dimensions_give_nothing(tiny_encoder: Path) -> None:
    encoder, tokenizer = load_pretrained(str(tiny_encoder))
    assert words_of_encoder(encoder, tokenizer, 26) == {}
