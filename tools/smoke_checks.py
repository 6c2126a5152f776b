"""Small tasks that an installed headspan must do, run by smoke.py in each environment.

Each extra has one function. It must succeed if the extra is installed, and otherwise raise a
HeadspanError that says which extra to install. Files are left in the working folder.
"""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE
from urllib.request import Request, urlopen

import headspan
from headspan import conllu, scoring

ROOT = Path(__file__).resolve().parent.parent
GOLD, SYSTEM = ROOT / "examples" / "gold.conllu", ROOT / "examples" / "system.conllu"
COMMAND = [sys.executable, "-m", "headspan"]
DATA = [f"--data.{part}={GOLD}" for part in ("train", "dev", "test")]
TINY = [f"--model.{size}_size=8" for size in ("lstm", "score", "label")]


def run(*arguments: str) -> str:
    """Return the output of a command, or raise its error."""
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True)
    if done.returncode == 2:
        raise headspan.HeadspanError(done.stderr)
    assert done.returncode == 0, done.stderr
    return done.stdout


def core() -> None:
    """Draw, score, and parse with the embedded models, all without torch."""
    assert headspan.__version__ == metadata("headspan")["Version"]
    assert ROOT not in Path(headspan.__file__).parents, "this is the checkout, not the wheel"
    assert find_spec("torch") is None, "torch is installed without being asked for"
    assert "primitive" in run("draw", str(ROOT / "examples" / "figure1.conllu"))
    assert 0 < json.loads(run("score", str(GOLD), str(SYSTEM), "--json"))["las"] < 100
    run("parse", str(GOLD), "-o", "parsed.conllu", "--confidence")
    sentences = list(conllu.read("parsed.conllu"))
    assert [len(s) for s in sentences] == [len(s) for s in conllu.read(GOLD)]
    assert all(s.heads.count(0) == 1 for s in sentences)
    for name in ("en", "en-fast"):
        (parse,) = headspan.load(name)("She saw the man with the telescope.")
        assert parse.forms[parse.heads.index(0)] == "saw"
    examples = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert not examples.failed, "examples of the README"


def torch() -> None:
    """Compute the embedded model with torch."""
    (parse,) = headspan.load("en-fast", engine="torch")("She saw the man with the telescope.")
    assert parse.forms[parse.heads.index(0)] == "saw"


def eval_() -> None:
    """Check that the official scorer agrees with ours."""
    from udtools import udeval

    with GOLD.open(encoding="utf-8") as gold, SYSTEM.open(encoding="utf-8") as system:
        loaded = [udeval.load_conllu(file, "", {}) for file in (gold, system)]
    theirs = udeval.evaluate(*loaded)["LAS"]
    ours = scoring.score(conllu.read(GOLD), conllu.read(SYSTEM), subtypes="strip")["las"]
    assert (ours.correct, ours.gold) == (theirs.correct, theirs.gold_total)


def plot() -> None:
    """Draw a tree as PNG."""
    run("draw", str(GOLD), "--sentence", "1", "-o", "tree.png", "--force")
    assert Path("tree.png").read_bytes().startswith(b"\x89PNG")


def serve() -> None:
    """Ask the service for a parse and for its page."""
    command = [*COMMAND, "serve", "--model", "en-fast", "--port", "0"]
    with subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True) as service:
        try:
            line = service.stdout.readline()
            if not line:
                raise headspan.HeadspanError(service.stderr.read())
            address = line.split()[-1].rstrip("/")
            body = json.dumps({"words": [["Trees", "grow", "."]]}).encode()
            request = Request(f"{address}/parse", body, {"Content-Type": "application/json"})
            with urlopen(request) as answer:
                assert json.load(answer)["sentences"][0]["heads"].count(0) == 1
            with urlopen(f"{address}/") as page:
                assert b"headspan" in page.read()
        finally:
            service.terminate()


def spacy() -> None:
    """Parse with a spaCy pipeline that has the component."""
    import headspan.integrations.spacy  # noqa: F401, I001 (names the extra if spaCy is missing)
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("headspan", config={"model": "en-fast"})
    assert sum(token.head == token for token in nlp("Trees grow.")) == 1


def interchange() -> None:
    """Send a tree to every library and back."""
    from headspan import interchange

    sentences = list(conllu.read(GOLD))
    first = sentences[0]
    for library in ("conllu", "nltk", "networkx"):
        there, back = (getattr(interchange, f"{way}_{library}") for way in ("to", "from"))
        assert back(there(first)).heads == first.heads, library
    for library in ("stanza", "pandas"):
        there, back = (getattr(interchange, f"{way}_{library}") for way in ("to", "from"))
        assert [s.heads for s in back(there(sentences))] == [s.heads for s in sentences], library


def parquet(*, engine: str = "local") -> None:
    """Parse a corpus to a table."""
    arguments = ["--model", "en-fast", "--format", "parquet", "--engine", engine]
    run("corpus", str(GOLD), "-o", f"corpus-{engine}", *arguments)
    from pyarrow.parquet import read_table

    assert len(read_table(f"corpus-{engine}/part-00000.parquet")) == len(list(conllu.read(GOLD)))


def ray() -> None:
    """Parse a corpus to a table on a Ray cluster that is started for it."""
    parquet(engine="ray")


def train() -> None:
    """Train without an encoder, and with the one that comes with the extra."""
    lstm = str(ROOT / "configs" / "lstm.toml")
    run("train", lstm, "-o", "trained", *DATA, *TINY, "--training.epochs=2")
    run("parse", str(GOLD), "--model", "trained/model", "-o", "trained.conllu", "--confidence")
    preset = str(ROOT / "configs" / "en-minilm.toml")
    run("train", preset, "-o", "trained-encoder", *DATA, *TINY, "--training.epochs=1")
    run("parse", str(GOLD), "--model", "trained-encoder/model", "-o", "encoder.conllu")
    assert len(list(conllu.read("encoder.conllu"))) == len(list(conllu.read(GOLD)))


EXTRAS: dict[str, Callable[[], None]] = {
    "eval": eval_,
    "plot": plot,
    "serve": serve,
    "spacy": spacy,
    "interchange": interchange,
    "parquet": parquet,
    "ray": ray,
    "torch": torch,
    "train": train,
}
UNUSED = ("eval",)  # the package imports nothing from these, so no error can name them


def main(extra: str) -> None:
    """Check an extra; or the core, and that every other feature names the extra it lacks."""
    if extra:
        EXTRAS[extra]()
        return
    core()
    for name, feature in EXTRAS.items():
        if name in UNUSED:
            continue
        try:
            feature()
        except headspan.HeadspanError as error:
            if f"pip install 'headspan[{name}]'" not in str(error):
                raise AssertionError(f"{name}: error does not name it: {error}") from error
        else:
            raise AssertionError(f"{name}: works without its extra")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
