"""Without its extra, a feature says which one to install."""

import io
import sys
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

import pytest

from headspan import interchange
from headspan.conllu import Sentence
from headspan.corpus import parse_corpus
from headspan.nn.pretrained import load_pretrained
from headspan.plumbing.errors import HeadspanError
from headspan.plumbing.extras import needed_for
from headspan.plumbing.files import decompressed
from headspan.render.pictures import picture, save

SENTENCE = Sentence.from_words(["Trees", "grow"], heads=[2, 0], deprels=["nsubj", "root"])


def zstd() -> None:
    with ExitStack() as opened:
        decompressed(io.BytesIO(b"\x28\xb5\x2f\xfd rest"), opened)


CASES: dict[str, tuple[str, str, Callable[[], object]]] = {
    "plot": ("matplotlib", "drawing PNG and PDF", lambda: save([picture(SENTENCE)], "trees.png")),
    "serve": ("fastapi", "serving", lambda: import_module("headspan.serve")),
    "spacy": (
        "spacy",
        "the component for spaCy",
        lambda: import_module("headspan.integrations.spacy"),
    ),
    "interchange": ("nltk", "interchange with nltk", lambda: interchange.to_nltk(SENTENCE)),
    "parquet": (
        "pyarrow",
        "Parquet",
        lambda: parse_corpus(["no.txt"], "parsed", format="parquet"),
    ),
    "ray": ("ray", "Ray Data as the engine", lambda: import_module("headspan.integrations.ray")),
}


@pytest.mark.parametrize("extra", CASES)
def test_a_feature_names_its_extra(
    extra: str,
    tmp_path: Path,
    uninstall: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library, doing, feature = CASES[extra]
    monkeypatch.chdir(tmp_path)
    uninstall(library)
    for module in ("headspan.serve", "headspan.integrations.spacy", "headspan.integrations.ray"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(HeadspanError) as caught:
        feature()
    assert str(caught.value) == (
        f"{doing} needs {library}, which is not installed: pip install 'headspan[{extra}]'"
    )
    assert not list(tmp_path.iterdir())


def test_zstd_names_its_extra(uninstall: Callable[[str], None]) -> None:
    uninstall("pyarrow")
    with pytest.raises(
        HeadspanError, match=r"decompressing zstd needs pyarrow.*'headspan\[parquet\]'"
    ):
        zstd()


def test_the_encoder_of_the_presets_names_its_extra() -> None:
    with pytest.raises(HeadspanError, match=r"nothing_of_the_kind.*'headspan\[train\]'"):
        load_pretrained("python:nothing_of_the_kind/model")


def test_a_library_that_is_too_old_is_not_called_missing() -> None:
    with (
        pytest.raises(HeadspanError, match=r"json, which cannot be imported \(cannot import name"),
        needed_for("this test", extra="plot"),
    ):
        from json import nothing_of_the_kind  # type: ignore[attr-defined]  # noqa: F401
    with (
        pytest.raises(HeadspanError, match=r"json, which cannot be imported \(No module named"),
        needed_for("this test", extra="plot"),
    ):
        import json.nothing  # type: ignore[import-not-found]  # noqa: F401


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), needed_for("this test", extra="plot"):
        1 / 0  # noqa: B018
