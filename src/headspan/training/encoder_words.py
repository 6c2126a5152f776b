"""The words that an encoder knows as wholes, as small vectors for a segmenter."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headspan.runtime.subwords import SubwordTokenizer


def words_of_encoder(
    encoder: nn.Module, tokenizer: SubwordTokenizer, size: int
) -> dict[str, NDArray[np.float32]]:
    """Vectors of this size for the words in lower case that are a single subword.

    They are the principal components of the rows of its table, with a variance of 1 on the whole.
    """
    table: Tensor = encoder.get_input_embeddings().weight.detach().cpu()  # type: ignore[operator]
    numbers = dict[str, int]()
    for number in sorted(tokenizer.tokenizer.get_vocab().values()):
        if number < len(table):
            word = tokenizer.tokenizer.decode([number]).strip().lower()
            if word.isalnum() and word not in numbers and tokenizer.word(word) == [number]:
                numbers[word] = number
    if len(numbers) <= size:
        return {}
    rows = table[list(numbers.values())].double()
    rows -= rows.mean(0)
    _, vectors = torch.linalg.eigh(rows.T @ rows)
    small = rows @ vectors[:, -size:]
    small /= small.std()
    return dict(zip(numbers, small.float().numpy(), strict=True))
