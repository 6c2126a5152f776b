"""Take an equal amount of text from each of many files, for silver trees of many kinds of text.

    python tools/sample_text.py FOLDER -o OUT [--words 40000] [--segmenter MODEL]

Every file FOLDER/*.txt or *.txt.xz has one paragraph per line and a blank line between documents.
Of a file with more words, paragraphs are left out at equal distances; of each paragraph that stays,
all is kept. OUT gets a plain text file for every file, or with a model one in CoNLL-U, with the
sentences and words that the model finds in it.
"""

from __future__ import annotations

import argparse
import lzma
from pathlib import Path

from headspan import Parser, conllu


def sample(paragraphs: list[str], words: int) -> list[str]:
    """About so many words, evenly from all paragraphs."""
    total = sum(len(paragraph.split()) for paragraph in paragraphs)
    kept: list[str] = []
    seen = taken = 0
    for paragraph in paragraphs:
        size = len(paragraph.split())
        seen += size
        if taken < seen * min(1.0, words / total):
            taken += size
            kept.append(paragraph)
    return kept


def read_paragraphs(path: Path) -> list[str]:
    """The lines of a file that are not blank."""
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
    return [line for line in text.splitlines() if line.strip()]


def main() -> None:
    """Run the command."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("folder", type=Path, metavar="FOLDER")
    options.add_argument("-o", "--output", type=Path, required=True, metavar="OUT")
    options.add_argument("--words", type=int, default=40_000, help="words per file")
    options.add_argument("--segmenter", metavar="MODEL", help="divides the text, into CoNLL-U")
    chosen = options.parse_args()
    parser = Parser.load(chosen.segmenter) if chosen.segmenter else None
    files = sorted([*chosen.folder.glob("*.txt"), *chosen.folder.glob("*.txt.xz")])
    if not files:
        options.error(f"{chosen.folder}: has no files *.txt or *.txt.xz")
    chosen.output.mkdir(parents=True, exist_ok=True)
    for path in files:
        kept = sample(read_paragraphs(path), chosen.words)
        text = "".join(f"{paragraph}\n\n" for paragraph in kept)
        name = path.name.removesuffix(".xz")
        plain = chosen.output / name
        divided = plain.with_suffix(".conllu")
        if parser is None:
            plain.write_text(text, encoding="utf-8")
            divided.unlink(missing_ok=True)  # nobody should read the same text twice
        else:
            conllu.write(parser.sentences([text]), divided)
            plain.unlink(missing_ok=True)
        print(f"{name}: {len(text.split()):,} words")


if __name__ == "__main__":
    main()
