"""Made-up treebanks in scripts without spaces and from right to left, with many multiword tokens."""

import random
from collections.abc import Callable

from headspan.conllu import MultiwordToken, Sentence

Token = tuple[str, tuple[str, ...]]
"""A token and its words."""


def plain(*forms: str) -> list[Token]:
    return [(form, (form,)) for form in forms]


def chinese(draw: random.Random) -> list[Token]:
    who = draw.choice(["他", "她", "我们", "老师", "北京大学"])
    what = draw.choice(["音乐", "中文", "苹果", "历史书"])
    middle = draw.choice([[], ["非常"], ["不"], ["昨天"]])
    verb = draw.choice(["喜欢", "看", "学习", "买"])
    return plain(who, *middle, verb, *draw.choice([[], ["了"]]), what, draw.choice("。！？"))


def japanese(draw: random.Random) -> list[Token]:
    who = draw.choice(["猫", "先生", "わたし", "東京大学"])
    what = draw.choice(["本", "音楽", "リンゴ", "コーヒー"])
    verb = draw.choice([["読み", "ます"], ["好き", "です"], ["食べ", "まし", "た"]])
    return plain(who, draw.choice(["は", "が"]), what, "を", *verb, "。")


def thai(draw: random.Random) -> list[Token]:
    """Spaces stand between sentences, which have no final mark."""
    who = draw.choice(["เขา", "ฉัน", "ครู", "นักเรียน"])
    verb = draw.choice(["อ่าน", "ซื้อ", "ชอบ", "กิน"])
    what = draw.choice(["หนังสือ", "ข้าว", "ดนตรี", "ผลไม้"])
    middle = draw.choice([[], ["ไม่"], ["กำลัง"]])
    return plain(who, *middle, verb, what, *draw.choice([[], ["มาก"]]))


def arabic(draw: random.Random) -> list[Token]:
    """Conjunctions, prepositions and pronouns are written as one token with the next word."""
    verb = draw.choice(["كتب", "قرأ", "رأى", "سمع"])
    who = draw.choice(["الولد", "المعلم", "الطالب"])
    what = draw.choice(["كتاب", "درس", "بيت"])
    first: Token = (f"و{verb}", ("و", verb)) if draw.random() < 0.5 else (verb, (verb,))
    object_: Token = (f"{what}ه", (what, "ه")) if draw.random() < 0.5 else (what, (what,))
    tokens = [first, *plain(who), object_]
    if draw.random() < 0.6:
        noun = draw.choice(["المدرسة", "السوق", "الحديقة"])
        tokens.append((f"ب{noun}", ("ب", noun)))
    return [*tokens, *plain(draw.choice(["،", "."]) if len(tokens) > 4 else ".")]


def hebrew(draw: random.Random) -> list[Token]:
    """ב + ה is written ב: the words of a token are not its pieces."""
    who = draw.choice(["ילד", "מורה", "חתול"])
    verb = draw.choice(["קורא", "רואה", "אוהב"])
    what = draw.choice(["ספר", "בית", "גן"])
    tokens: list[Token] = [(f"ה{who}", ("ה", who)), *plain(verb), *plain(what)]
    if draw.random() < 0.7:
        place = draw.choice(["כיתה", "עיר", "חצר"])
        tokens.append((f"ב{place}", ("ב", "ה", place)))
    return [*tokens, *plain(draw.choice(".?"))]


SCRIPTS: dict[str, tuple[Callable[[random.Random], list[Token]], bool]] = {
    "zh": (chinese, False), "ja": (japanese, False), "th": (thai, False),
    "ar": (arabic, True), "he": (hebrew, True),
}  # fmt: skip
"""The sentences of a language, and whether it has spaces between words."""


def sentence_in(script: str, draw: random.Random) -> Sentence:
    make, spaced = SCRIPTS[script]
    tokens = make(draw)
    forms: list[str] = []
    misc: list[str] = []
    multiwords: list[MultiwordToken] = []
    for k, (form, words) in enumerate(tokens):
        before_mark = k + 1 < len(tokens) and not tokens[k + 1][0].isalnum()
        last = k + 1 == len(tokens)
        space = (spaced and not before_mark) or (last and script not in ("zh", "ja"))
        place = "_" if space or (last and spaced) else "SpaceAfter=No"
        if len(words) > 1:
            first = len(forms) + 1
            multiwords.append(
                MultiwordToken(first, first + len(words) - 1, (form, *"_______", place))
            )
        forms += words
        misc += [place] if len(words) == 1 else ["_"] * len(words)
    n = len(forms)
    bare = Sentence.from_words(
        forms, upos=["X"] * n, heads=range(n), deprels=["root", *["dep"] * (n - 1)]
    )
    return Sentence(
        bare.forms, bare.lemmas, bare.upos, bare.xpos, bare.feats, bare.heads, bare.deprels,
        bare.deps, misc, ["# newpar"] if draw.random() < 0.2 else [], multiwords,
    )  # fmt: skip


def treebank_in(script: str, size: int, seed: int) -> list[Sentence]:
    draw = random.Random(f"{script} {seed}")
    return [sentence_in(script, draw) for _ in range(size)]
