"""Fuzz a target: libFuzzer mutates its seeds and keeps inputs that reach new code.

    python fuzz/run.py conllu --inputs 100000 --seed 1

The run stops at the first outcome that is neither a right answer nor a refusal, and writes that
input to the corpus folder as crash-…; `--only FILE` runs one input again. Needs headspan[fuzz].
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
    parser.add_argument("--inputs", type=int, default=100_000, metavar="N", help="number of inputs")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random numbers")
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="folder for the inputs; default: fuzz/corpus"
    )
    parser.add_argument("--only", type=Path, metavar="FILE", help="run only this input")
    options = parser.parse_args()
    if options.only is not None:
        target(options.target).check(options.only.read_bytes())
        return
    try:
        import atheris
    except ImportError:
        sys.exit("fuzzing needs atheris: pip install 'headspan[fuzz]'")
    # The kernels are imported later, when they are first used: Numba cannot compile functions that
    # are instrumented.
    with atheris.instrument_imports(include=["headspan", "tomllib"]):
        chosen = target(options.target)
    corpus = (options.corpus or HERE / "corpus") / options.target
    corpus.mkdir(parents=True, exist_ok=True)
    longest = max(4096, *(2 * len(word) for word in chosen.WORDS))
    for number, seed in enumerate(chosen.seeds()):
        (corpus / f"seed-{number:02}").write_bytes(seed)
        longest = max(longest, 2 * len(seed))
    words = corpus.with_suffix(".words")
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in chosen.WORDS), encoding="ascii")
    flags = {
        "runs": options.inputs, "seed": options.seed, "max_len": longest, "timeout": 3600,
        "rss_limit_mb": 4096, "print_final_stats": 1, "dict": words, "keep_seed": 1,
        "len_control": 0,
        "artifact_prefix": f"{corpus}/",
    }  # fmt: skip
    atheris.Setup(
        [sys.argv[0], *(f"-{name}={value}" for name, value in flags.items()), str(corpus)],
        chosen.check,
    )
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main()
