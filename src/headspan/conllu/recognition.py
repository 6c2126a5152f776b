"""Tell from its first lines whether a file is CoNLL at all."""

import re

_WORD = re.compile(rb"[0-9]+([-.][0-9]+)?[\t ]")
_COMMENT = re.compile(rb"# *(sent_id|text|newdoc|newpar|global\.columns)\b")


def looks_like_conll(start: bytes) -> bool:
    """Tell whether a file that begins like this is CoNLL: comments, then the columns of a word."""
    lines = start.removeprefix(b"\xef\xbb\xbf").splitlines()
    for line in lines:
        if line.strip() and not line.startswith(b"#"):
            tabs, blanks = line.count(b"\t"), len(line.split())
            return bool(_WORD.match(line)) and (tabs >= 3 or blanks == 10)
    return any(_COMMENT.match(line) for line in lines)
