"""The first few trees of a process, for which compiled loops are not worth loading.

Loading Numba and a compiled loop takes as long as the recurrence on NumPy arrays takes for a
hundred sentences of 40 words, and a program that parses one sentence needs neither.
"""

import numpy as np
from numpy.typing import NDArray

_BUDGET = 0.25  # seconds, about half of the time that loading takes
_PER_SENTENCE, _PER_WORD, _PER_CUBE = 3e-4, 6e-5, 6e-9  # seconds, on one core of a server

_spent = 0.0


def are_few(lengths: NDArray[np.int64]) -> bool:
    """Whether the recurrence may find the trees of these sentences; if so, its time is counted."""
    global _spent
    words = lengths.astype(np.float64)
    cost = float(np.sum(_PER_SENTENCE + _PER_WORD * words + _PER_CUBE * words**3))
    if _spent + cost > _BUDGET:
        return False
    _spent += cost
    return True
