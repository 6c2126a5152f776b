"""Fuzz a target: inputs that libFuzzer makes of its seeds, kept if they reach something new.

    python fuzz/run.py conllu --inputs 100000 --seed 1

Stops at the first outcome that is neither a right answer nor a refusal, and writes that input to
the corpus folder as crash-…; `--only FILE` runs one input again. Needs headspan[fuzz].
"""

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from targets import NAMES, target  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", choices=NAMES)
    parser.add_argument("--inputs", type=int, default=100_000, metavar="N", help="how many")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers")
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="where inputs are kept; default: fuzz/corpus"
    )
    parser.add_argument("--only", type=Path, metavar="FILE", help="run this input, and no other")
    asked = parser.parse_args()
    if asked.only is not None:
        target(asked.target).check(asked.only.read_bytes())
        return
    try:
        import atheris
    except ImportError:
        sys.exit("fuzzing needs atheris: pip install 'headspan[fuzz]'")
    # Compiled loops are imported when they are first used, which is later: Numba cannot read
    # functions that are traced.
    with atheris.instrument_imports(include=["headspan", "tomllib"]):
        chosen = target(asked.target)
    corpus = (asked.corpus or HERE / "corpus") / asked.target
    corpus.mkdir(parents=True, exist_ok=True)
    longest = max(4096, *(2 * len(word) for word in chosen.WORDS))
    for number, seed in enumerate(chosen.seeds()):
        (corpus / f"seed-{number:02}").write_bytes(seed)
        longest = max(longest, 2 * len(seed))
    words = corpus.with_suffix(".words")
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in chosen.WORDS), encoding="ascii")
    options = {
        "runs": asked.inputs, "seed": asked.seed, "max_len": longest, "timeout": 3600,
        "rss_limit_mb": 4096, "print_final_stats": 1, "dict": words, "keep_seed": 1,
        "len_control": 0,
        "artifact_prefix": f"{corpus}/",
    }  # fmt: skip
    atheris.Setup(
        [sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), str(corpus)],
        chosen.check,
    )
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main()
