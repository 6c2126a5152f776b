"""Texts that a model takes for foreign: in its own language, where none should be, and in others.

    python benchmarks/language.py

The model is the English one. English treebanks are taken sentence by sentence and other texts
document by document; treebanks of other languages sentence by sentence, if a sentence has at least
ten words, and ten sentences at a time. The time is that of the check on 64 sentences, as a share of
the time that they take to parse.
"""

from __future__ import annotations

import lzma
import time
from collections.abc import Sequence

from headspan import Parser, conllu
from headspan.text.language import KnownLanguage
from reporting import SHARED, arguments, needed, table, write_json

ENGLISH = ("ud-2.16/en_ewt/en_ewt", "open/en_gum_open/en_gum_open")
OTHERS = {
    "Bulgarian": "ud-2.2/bg_btb/bg_btb",
    "Czech": "ud-2.2/cs_cltt/cs_cltt",
    "Dutch": "ud-2.2/nl_alpino/nl_alpino",
    "French": "open/fr_sequoia/fr_sequoia",
    "German": "ud-2.2/de_gsd/de_gsd",
    "Portuguese": "open/pt_bosque/pt_bosque",
    "Turkish": "open/tr_boun/tr_boun",
}


def main() -> None:
    chosen = arguments(__doc__, repeats=20).parse_args()
    parser = Parser.load("en")
    assert parser.segmenter is not None
    known = KnownLanguage(parser.segmenter.finder.words.names)
    texts = {path.rpartition("/")[2]: sentences(path) for path in ENGLISH}
    for path in sorted(needed(SHARED / "text" / "en").glob("*.txt.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            documents = [text[:4000] for text in file.read().split("\n\n") if text.strip()]
        texts.setdefault("documents", []).extend(documents)
        texts.setdefault("documents, in capitals", []).extend(map(str.upper, documents))
    english = {name: share(known, some) for name, some in texts.items()}
    rows: list[list[object]] = [[name, *counts] for name, counts in english.items()]
    table("English texts", ["", "foreign", "of"], rows)
    others = {language: detected(known, language, path) for language, path in OTHERS.items()}
    header = ["", "sentences", "ten sentences", "named rightly"]
    rows = [[name, *(f"{part:.1%}" for part in parts)] for name, parts in others.items()]
    table("Foreign texts that are recognised", header, rows)
    cost = check_share(parser, chosen.repeats)
    print(f"the check takes {cost:.2%} of the time of parsing")
    write_json(chosen.json, {"english": english, "others": others, "cost": cost})


def sentences(path: str) -> list[str]:
    """The texts of the sentences of a treebank's dev part."""
    file = needed(SHARED / "treebanks" / f"{path}-ud-dev.conllu")
    return [sentence.comment("text") or " ".join(sentence.forms) for sentence in conllu.read(file)]


def share(known: KnownLanguage, texts: Sequence[str]) -> tuple[int, int]:
    """The number of foreign texts, and of all."""
    return sum(known.foreign(text) is not None for text in texts), len(texts)


def detected(known: KnownLanguage, language: str, path: str) -> tuple[float, float, float]:
    """The shares of sentences and of tens that are foreign, and of tens with the right name."""
    texts = sentences(path)
    tens = [" ".join(texts[k : k + 10]) for k in range(0, len(texts), 10)]
    long, count = share(known, [text for text in texts if len(text.split()) >= 10])
    right = sum(known.foreign(text) == language for text in tens)
    return long / count, share(known, tens)[0] / len(tens), right / len(tens)


def check_share(parser: Parser, repeats: int) -> float:
    """The time of the check as a share of the time of parsing."""
    file = SHARED / "treebanks" / f"{ENGLISH[0]}-ud-dev.conllu"
    batch = list(conllu.read(file))[:64]
    parser.parse(batch)
    started = time.process_time()
    parser.parse(batch)
    parsed = time.process_time()
    for _ in range(repeats):
        parser._check_language(batch)
    return (time.process_time() - parsed) / repeats / (parsed - started)


if __name__ == "__main__":
    main()
