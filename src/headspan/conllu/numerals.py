"""The one spelling of each number in an ID or HEAD column, looked up instead of converted.

A table is quicker than int() and str(), and it refuses by itself what they would forgive and
writing could not give back: `01`, `+1`, `1_0`, `１`.
"""

from headspan.conllu.sentence import NO_HEAD

_ids: tuple[str, ...] = ()
head_of: dict[str, int] = {"_": NO_HEAD, "0": 0}
"""The head that a HEAD column spells, for every head within a sentence that was seen so far."""
spelled: dict[int, str] = {NO_HEAD: "_", 0: "0"}
"""How a HEAD column spells a head."""


def word_ids(n: int) -> tuple[str, ...]:
    """The IDs "1" to "n"; makes sure that the tables know all heads of n words."""
    global _ids
    ids = _ids  # another thread may put a shorter table in its place meanwhile
    if n > len(ids):
        ids = tuple(str(k) for k in range(1, max(2 * n, 512) + 1))
        head_of.update((name, k) for k, name in enumerate(ids, 1))
        spelled.update(enumerate(ids, 1))
        _ids = ids
    return ids[:n]
