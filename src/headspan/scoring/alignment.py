"""Align a system's words with gold words, as the CoNLL 2018 shared task defines it.

Both files must have the same characters. A word that is a token is aligned with the gold word that
has the same characters. Words of multiword tokens have no characters of their own; they are matched
by a longest common subsequence of forms, within the smallest stretch of text whose boundaries no
multiword token of either side crosses.
"""

from __future__ import annotations

from headspan.scoring.flat import Flat, ScoringError, without_spaces

UNALIGNED = -2
"""The value for a system word that is aligned with no gold word."""


def align(gold: Flat, system: Flat) -> list[int]:
    """Return for each system word the position of its gold word, or UNALIGNED.

    Raises ScoringError, which says where the texts first differ, unless they are the same.
    """
    _check_texts(gold, system)
    gold_of = [UNALIGNED] * len(system)
    g = s = 0
    while g < len(gold) and s < len(system):
        if gold.in_multiword[g] or system.in_multiword[s]:
            (g, g_end), (s, s_end) = _stretch(gold, system, g, s)
            for g_match, s_match in _common_forms(gold, system, range(g, g_end), range(s, s_end)):
                gold_of[s_match] = g_match
            g, s = g_end, s_end
        elif gold.ranges[g] == system.ranges[s]:
            gold_of[s] = g
            g, s = g + 1, s + 1
        elif gold.ranges[g][0] <= system.ranges[s][0]:
            g += 1
        else:
            s += 1
    return gold_of


def _stretch(gold: Flat, system: Flat, g: int, s: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the gold and system words of the stretch around a multiword token at g or s."""
    if gold.in_multiword[g]:
        end = gold.ranges[g][1]
        if not system.in_multiword[s] and system.ranges[s][0] < gold.ranges[g][0]:
            s += 1
    else:
        end = system.ranges[s][1]
        if not gold.in_multiword[g] and gold.ranges[g][0] < system.ranges[s][0]:
            g += 1
    g_start, s_start = g, s
    while not (_beyond(gold, g, end) and _beyond(system, s, end)):
        takes_gold = g < len(gold) and (
            s >= len(system) or gold.ranges[g][0] <= system.ranges[s][0]
        )
        side, word = (gold, g) if takes_gold else (system, s)
        if side.in_multiword[word]:
            end = max(end, side.ranges[word][1])
        g, s = (g + 1, s) if takes_gold else (g, s + 1)
    return (g_start, g), (s_start, s)


def _beyond(side: Flat, word: int, end: int) -> bool:
    if word >= len(side):
        return True
    start, stop = side.ranges[word]
    return start >= end if side.in_multiword[word] else stop > end


def _common_forms(
    gold: Flat, system: Flat, g_words: range, s_words: range
) -> list[tuple[int, int]]:
    """Return a longest common subsequence of the forms, ignoring case, as pairs of positions."""
    g_forms = [_key(gold, word) for word in g_words]
    s_forms = [_key(system, word) for word in s_words]
    rows, columns = len(g_forms), len(s_forms)
    longest = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            longest[i][j] = max(
                longest[i + 1][j + 1] + 1 if g_forms[i] == s_forms[j] else 0,
                longest[i + 1][j],
                longest[i][j + 1],
            )
    pairs = []
    i = j = 0
    while i < rows and j < columns:
        if g_forms[i] == s_forms[j]:
            pairs.append((g_words[i], s_words[j]))
            i, j = i + 1, j + 1
        elif longest[i][j] == longest[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _key(side: Flat, word: int) -> str:
    form = side.forms[word]
    return (form if side.in_multiword[word] else without_spaces(form)).lower()


def _check_texts(gold: Flat, system: Flat) -> None:
    if gold.characters == system.characters:
        return
    if not system.characters:
        raise ScoringError(f"{system.name} has no words; {gold.name} has {len(gold)}")
    if not gold.characters:
        raise ScoringError(f"{gold.name} has no words; {system.name} has {len(system)}")
    same = _common_start(gold.characters, system.characters)
    for shorter, longer in ((gold, system), (system, gold)):
        if same == len(shorter.characters):
            raise ScoringError(
                f"{shorter.name} ends after {len(shorter)} words, but {longer.name} continues "
                f"with {_excerpt(longer, same)} ({_place(longer, same)})"
            )
    raise ScoringError(
        f"the texts differ, starting at {_place(gold, same)}: "
        f"{gold.name} has {_excerpt(gold, same)}, "
        f"{system.name} has {_excerpt(system, same)} ({_place(system, same)})"
    )


def _common_start(one: str, other: str) -> int:
    """Return how many characters two texts share at the start, by bisection."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _place(side: Flat, position: int) -> str:
    token = next(k for k, (_, end) in enumerate(side.token_ranges) if end > position)
    start = side.token_ranges[token][0]
    sentence = next(k for k, (_, end) in enumerate(side.sentence_ranges) if end > position)
    word = next(k for k, (first, _) in enumerate(side.ranges) if first == start)
    return f"{side.place(sentence)}, word {word - side.first_word[sentence] + 1}"


def _excerpt(side: Flat, position: int) -> str:
    start = next(start for start, end in side.token_ranges if end > position)
    return repr(side.characters[start : start + 20])
