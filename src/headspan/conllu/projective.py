"""PHEAD and PDEPREL, the columns of CoNLL-X that CoNLL-U has no place for, as an entry of MISC."""

_HEAD, _RELATION = "PHEAD=", "|PDEPREL="


def to_misc(head: str, relation: str) -> str:
    """The two columns as MISC."""
    return "_" if head == relation == "_" else f"{_HEAD}{head}{_RELATION}{relation}"


def from_misc(misc: str) -> tuple[str, str]:
    """The two columns that MISC holds, `_` and `_` if it holds something else."""
    head, found, relation = misc.partition(_RELATION)
    if not found or not head.startswith(_HEAD):
        return "_", "_"
    return head.removeprefix(_HEAD), relation
