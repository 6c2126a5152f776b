"""The targets of fuzz/, on their seeds and on changes that Hypothesis makes to them.

REGRESSIONS are inputs that once had a wrong outcome.
"""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FUZZ = Path(__file__).parent.parent / "fuzz"
sys.path.insert(0, str(FUZZ))

from targets import NAMES, target  # noqa: E402

EXAMPLES = {"conllu": 150, "conllx": 150, "config": 100, "text": 25, "model": 25, "service": 40}
REGRESSIONS = [
    ("conllu", b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\r"),
    ("conllu", b"# a\r\r\n\r"),
    ("conllx", b"1\ta\t_\tN\tN\t_\t0\troot\t0|PDEPREL=x\troot\n"),
    ("config", b"x = " + b"[" * 10_000),
    ("config", b"[training]\nclip = " + b"9" * 400),
    ("config", b"[training]\nepochs = " + b"9" * 5000),
    ("config", b"[training]\nbetas = [0.9]\n"),
    ("config", b"9" * 5000 + b" = 1\n"),
    ("config", b"[" + b"9" * 5000 + b"]\n" + b"[" + b"9" * 5000 + b"]\n"),
    ("service", b'{"words": [["a"]], "constraints": [{"required": [' + b"[2, 1], " * 900 + b"[3, 2]]}]}"),
    ("service", b'{"conllu": "1\\ta\\t_\\t_\\t_\\t_\\t0\\troot\\t_\\tA\\r|Confidence=1\\n", "format": "conllu"}'),
    ("service", b'{"t\\u0000' + b"a" * 2500 + b'": "a", "text": "b"}'),
]  # fmt: skip


@pytest.fixture(scope="module", params=NAMES)
def fuzzed(request: pytest.FixtureRequest) -> ModuleType:
    module = target(request.param)
    module.name = request.param
    return module


def test_seeds(fuzzed: ModuleType) -> None:
    seeds = list(fuzzed.seeds())
    assert len(seeds) > 5
    for seed in seeds:
        fuzzed.check(seed)


@pytest.mark.parametrize(("name", "data"), REGRESSIONS, ids=[name for name, _ in REGRESSIONS])
def test_regressions(name: str, data: bytes) -> None:
    target(name).check(data)


@st.composite
def changed(draw: st.DrawFn, seeds: list[bytes], words: tuple[bytes, ...]) -> bytes:
    """A seed with some bytes removed, inserted, repeated or flipped."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        first, last = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        kind = draw(st.sampled_from(["cut", "word", "bytes", "repeat", "flip"]))
        if kind == "cut":
            data = data[:first] + data[last:]
        elif kind == "repeat":
            data = data[:last] + data[first : first + 200] + data[last:]
        elif kind == "flip":
            flipped = bytes(byte ^ draw(st.integers(1, 255)) for byte in data[first : first + 2])
            data = data[:first] + flipped + data[first + len(flipped) :]
        else:
            new = draw(st.sampled_from(words) if kind == "word" else st.binary(max_size=4))
            data = data[:first] + new + data[first:]
    return data


def test_changed_seeds(fuzzed: ModuleType) -> None:
    @settings(
        max_examples=EXAMPLES[fuzzed.name],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(changed(list(fuzzed.seeds()), fuzzed.WORDS))
    def check(data: bytes) -> None:
        fuzzed.check(data)

    check()


def test_a_target_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong answer is noticed."""
    conllu = target("conllu")
    monkeypatch.setattr(conllu, "_written", lambda _: f"{conllu.SEED}\n".encode())
    with pytest.raises(AssertionError):
        conllu.check(conllu.SEED.encode())


def test_the_runner_explains_itself(tmp_path: Path) -> None:
    def run(*options: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, FUZZ / "run.py", *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    assert "--inputs" in run("--help").stdout
    (tmp_path / "input").write_bytes(b"1\tno columns\n")
    assert run("conllu", "--only", tmp_path / "input").returncode == 0
