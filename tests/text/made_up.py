"""A treebank that a small segmenter learns in seconds."""

import random

from headspan.conllu import MultiwordToken, Sentence

_NAMES = "Ann Bob Carla Dan Eve Frank Gina Hugo".split()
_VERBS = "sees likes finds hears knows".split()
_THINGS = "tree house garden river cloud stone".split()
_SPLIT = {"isn't": ("is", "n't"), "doesn't": ("does", "n't"), "can't": ("ca", "n't")}
_TABLE = {"du": ("de", "le"), "au": ("à", "le")}


def made_up_sentence(draw: random.Random) -> Sentence:
    """A sentence with tokens split off, multiword tokens of two kinds, and numbers with a space."""
    tokens: list[tuple[str, tuple[str, ...], bool]] = []

    def add(form: str, words: tuple[str, ...] = (), *, space: bool = True) -> None:
        tokens.append((form, words or (form,), space))

    add(draw.choice(_NAMES))
    if draw.random() < 0.5:
        form = draw.choice(list(_SPLIT))
        add(form, _SPLIT[form])
    add(draw.choice(_VERBS))
    if draw.random() < 0.5:
        form = draw.choice(list(_TABLE))
        add(form, _TABLE[form])
    if draw.random() < 0.3:
        add(f"{draw.randint(1, 9)} 000")
    add(draw.choice(_THINGS), space=draw.random() < 0.3)
    if draw.random() < 0.3:
        tokens[-1] = (*tokens[-1][:2], False)
        add(",")
        add(draw.choice(_THINGS))
    tokens[-1] = (*tokens[-1][:2], False)
    add(draw.choice(".!?"), space=draw.random() < 0.9)
    forms, misc, multiwords = [], [], []
    for form, words, space in tokens:
        place = "_" if space else "SpaceAfter=No"
        if len(words) > 1:
            multiwords.append(
                MultiwordToken(len(forms) + 1, len(forms) + len(words), (form, *"_______", place))
            )
        forms += words
        misc += [place] if len(words) == 1 else ["_"] * len(words)
    bare = Sentence.from_words(forms, comments=["# newpar"] if draw.random() < 0.2 else [])
    return Sentence(
        bare.forms, bare.lemmas, bare.upos, bare.xpos, bare.feats, bare.heads, bare.deprels,
        bare.deps, misc, bare.comments, multiwords,
    )  # fmt: skip


def made_up_treebank(size: int, seed: int) -> list[Sentence]:
    draw = random.Random(seed)
    return [made_up_sentence(draw) for _ in range(size)]
