"""The one valid spelling of each number in an ID or HEAD column, looked up instead of converted.

A table is faster than int() and str(). It also rejects spellings that int() would accept but that
could not be written back unchanged: `01`, `+1`, `1_0`, `１`.
"""

from headspan.conllu.sentence import NO_HEAD

_ids: tuple[str, ...] = ()
head_of: dict[str, int] = {"_": NO_HEAD, "0": 0}
"""The head for each spelling in a HEAD column, up to the longest sentence seen so far."""
spelled: dict[int, str] = {NO_HEAD: "_", 0: "0"}
"""The spelling of each head in a HEAD column."""


def word_ids(n: int) -> tuple[str, ...]:
    """Return the IDs "1" to "n"; also extend the tables to all heads of a sentence of n words."""
    global _ids
    ids = _ids  # another thread may replace it with a shorter table
    if n > len(ids):
        ids = tuple(str(k) for k in range(1, max(2 * n, 512) + 1))
        head_of.update((name, k) for k, name in enumerate(ids, 1))
        spelled.update(enumerate(ids, 1))
        _ids = ids
    return ids[:n]
