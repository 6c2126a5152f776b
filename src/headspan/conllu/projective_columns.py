"""PHEAD and PDEPREL, the two columns of CoNLL-X that CoNLL-U lacks, stored as an entry of MISC."""

_HEAD, _RELATION = "PHEAD=", "|PDEPREL="


def to_misc(head: str, relation: str) -> str:
    """Return the two columns as a value of MISC."""
    return "_" if head == relation == "_" else f"{_HEAD}{head}{_RELATION}{relation}"


def from_misc(misc: str) -> tuple[str, str]:
    """Return the two columns that MISC holds, or `_` and `_` if it holds something else."""
    head, separator, relation = misc.partition(_RELATION)
    if not separator or not head.startswith(_HEAD):
        return "_", "_"
    return head.removeprefix(_HEAD), relation
