"""The error that describes a mistake in a CoNLL file."""

from headspan.plumbing.errors import HeadspanError


class ConlluError(HeadspanError):
    """A mistake in a CoNLL file: its file and line, what was found and what was expected."""

    def __init__(self, file: str, line: int, found: str, expected: str) -> None:
        super().__init__(f"{file}:{line}: found {found}; expected {expected}")
        self.file = file
        self.line = line
        self.found = found
        self.expected = expected

    def __reduce__(self) -> tuple[type["ConlluError"], tuple[str, int, str, str]]:
        return type(self), (self.file, self.line, self.found, self.expected)
