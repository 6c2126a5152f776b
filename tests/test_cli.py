"""The command as a user runs it: in its own process, with files, pipes and mistakes."""

import gzip
import json
import os
import pty
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from conftest import shared
from headspan import __version__, conllu
from headspan.cli.commands import app
from headspan.conllu import Sentence
from trees import random_projective_tree

HEADSPAN = str(Path(sys.executable).parent / "headspan")
GOLD = """\
# sent_id = a
1\tA\ta\tDET\tDT\t_\t2\tdet\t_\t_
2\thearing\thearing\tNOUN\tNN\t_\t4\tnsubj:pass\t_\t_
3\tis\tbe\tAUX\tVBZ\t_\t4\taux:pass\t_\t_
4\tscheduled\tschedule\tVERB\tVBN\t_\t0\troot\t_\t_
5\ton\ton\tADP\tIN\t_\t7\tcase\t_\t_
6\tthe\tthe\tDET\tDT\t_\t7\tdet\t_\t_
7\tissue\tissue\tNOUN\tNN\t_\t2\tnmod\t_\t_
8\ttoday\ttoday\tNOUN\tNN\t_\t4\tobl:tmod\t_\t_

"""


def run(
    *arguments: object, stdin: str | bytes = "", code: int = 0
) -> subprocess.CompletedProcess[str]:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [HEADSPAN, *map(str, arguments)], input=data, capture_output=True, check=False
    )
    result = subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    return result


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.conllu"
    path.write_text(GOLD, encoding="utf-8")
    return path


def test_every_command_has_help() -> None:
    assert run("--version").stdout == f"headspan {__version__}\n"
    for verb in ("score", "stats", "draw", "convert", "projectivize", "deprojectivize"):
        assert verb in run("--help").stdout
        assert "Usage: headspan" in run(verb, "-h").stdout


def test_deprojectivize_restores_what_projectivize_encoded(gold: Path, tmp_path: Path) -> None:
    projective, back = tmp_path / "p.conllu", tmp_path / "b.conllu"
    for scheme, label in (
        ("head", "nmod|nsubj:pass"),
        ("path", "nmod|"),
        ("head+path", "nmod|nsubj:pass"),
    ):
        run("projectivize", "--scheme", scheme, gold, "-o", projective, "--force")
        (sentence,) = conllu.read(projective)
        assert (sentence.heads[6], sentence.deprels[6]) == (4, label)
        run("deprojectivize", "--scheme", scheme, projective, "-o", back, "--force")
        assert back.read_text(encoding="utf-8") == GOLD


@pytest.mark.parametrize("scheme", ["head", "path", "head+path"])
def test_projectivizing_a_real_treebank_equals_maltparser(tmp_path: Path, scheme: str) -> None:
    oracle = shared("oracles/maltparser/nl_alpino-dev.tsv").read_text(encoding="utf-8")
    out = tmp_path / "out.conllu"
    run(
        "projectivize",
        shared("treebanks/ud-2.2/nl_alpino/nl_alpino-ud-dev.conllu"),
        "-o",
        out,
        "--scheme",
        scheme,
    )
    column = 1 + 4 * ["head", "path", "head+path"].index(scheme)
    theirs = [line.split("\t")[column : column + 2] for line in oracle.split("\n") if line]
    ours = [
        [str(head), label]
        for sentence in conllu.read(out)
        for head, label in zip(sentence.heads, sentence.deprels, strict=True)
    ]
    assert ours == theirs


def test_convert_between_formats_and_compressions(gold: Path, tmp_path: Path) -> None:
    assert run("convert", gold).stdout == GOLD
    assert run("convert", "-", stdin=GOLD).stdout == GOLD
    assert run("convert", "-", stdin=gzip.compress(GOLD.encode())).stdout == GOLD
    run("convert", gold, "-o", tmp_path / "a.conllx")
    text = (tmp_path / "a.conllx").read_text(encoding="utf-8")
    assert text == GOLD.removeprefix("# sent_id = a\n")
    assert run("convert", tmp_path / "a.conllx", "--to", "conllx").stdout == text
    spaced = text.replace("\t", "  ")
    assert run("convert", "-", "--from", "conllx", stdin=spaced).stdout == text
    run("convert", gold, "-o", tmp_path / "b.conllu.xz")
    assert run("convert", tmp_path / "b.conllu.xz").stdout == GOLD


def test_projectivize_keeps_the_format_of_its_input(gold: Path) -> None:
    spaced = GOLD.removeprefix("# sent_id = a\n").replace("\t", " ")
    out = run("projectivize", "-", stdin=spaced).stdout
    assert out.startswith("1\tA\ta\tDET\tDT\t_\t2\tdet\t_\t_\n")
    assert run("projectivize", "-", stdin="# no words\n\n" + GOLD).stdout.startswith(
        "# no words\n\n# "
    )


def test_projectivize_writes_the_format_of_its_output(gold: Path, tmp_path: Path) -> None:
    run("projectivize", gold, "-o", tmp_path / "out.conllx")
    assert (tmp_path / "out.conllx").read_text(encoding="utf-8").startswith("1\tA\t")


def test_score_prints_tables_or_json(gold: Path, tmp_path: Path) -> None:
    system = tmp_path / "system.conllu"
    system.write_text(
        GOLD.replace("2\tnmod", "4\tobl").replace("nsubj:pass", "nsubj"), encoding="utf-8"
    )
    table = run("score", gold, system).stdout
    assert "LAS" in table
    assert "75.00" in table
    assert "Distance to root" in run("score", gold, system, "--breakdowns").stdout
    data = json.loads(run("score", gold, system, "--json").stdout)
    assert (data["uas"], data["las"]) == (87.5, 75)
    data = json.loads(run("score", gold, system, "--json", "--subtypes", "strip").stdout)
    assert data["las"] == 87.5
    both = json.loads(run("score", gold, system, gold, "--json").stdout)
    assert both["comparison"]["las"]["difference"] == 25
    assert [s["las"] for s in both["systems"]] == [75, 100]
    assert "95% interval" in run("score", gold, system, gold).stdout


def test_only_one_file_can_be_standard_input(gold: Path) -> None:
    assert json.loads(run("score", "-", gold, gold, "--json", stdin=GOLD).stdout)["systems"]
    assert "can be only one of the files" in run("score", "-", "-", code=2).stderr


def test_scoring_a_treebank_of_only_punctuation(tmp_path: Path) -> None:
    path = tmp_path / "p.conllu"
    path.write_text("1\t!\t!\tPUNCT\t.\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    assert "Distance to root" in run("score", path, path, "--punct", "upos", "--breakdowns").stdout
    assert json.loads(run("score", path, path, path, "--punct", "upos", "--json").stdout)["systems"]


def test_markup_in_names_is_shown_literally(tmp_path: Path) -> None:
    path = tmp_path / "a:smile:[red].conllu"
    path.write_text(GOLD.replace("obl:tmod", "a:on:[b]"), encoding="utf-8")
    assert ":smile:[red]" in run("score", path, path).stdout
    assert "a:on:[b]" in run("score", path, path, "--breakdowns").stdout
    assert "a:on:[b]" in run("stats", path).stdout
    assert not any(line.endswith(" ") for line in run("stats", path).stdout.splitlines())


@pytest.mark.linux
@pytest.mark.parametrize("command", ["convert {0} -o /dev/full", "convert {0} > /dev/full",
                                     "stats {0} > /dev/full", "convert - <&-", "convert {0} >&-"])  # fmt: skip
def test_failure_to_read_or_write_is_one_line(gold: Path, command: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"'{HEADSPAN}' {command.format(gold)}"], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("headspan: ")
    assert done.stderr.count("\n") == 1


def test_an_ascii_terminal_is_not_an_error(gold: Path) -> None:
    done = subprocess.run(
        [HEADSPAN, "stats", gold], capture_output=True, check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )  # fmt: skip
    assert b"words" in done.stdout


def test_stats_prints_tables_or_json(gold: Path) -> None:
    out = run("stats", gold, gold).stdout
    assert out.count("non-projective arcs") == 2
    assert "12.50%" in out
    (figures,) = json.loads(run("stats", gold, "--json").stdout)["files"]
    assert (figures["words"], figures["nonprojective"]["arcs"]) == (8, 1)
    assert "No problems for training." in out


def test_draw_parses_text(tmp_path: Path) -> None:
    drawn = run("draw", "Dogs bark.", "--view", "arcs").stdout
    assert [line.split()[-1] for line in drawn.splitlines()] == ["nsubj", "root", "punct"]
    (tmp_path / "a.txt").write_text("Dogs bark. Cats sleep.", encoding="utf-8")
    out = tmp_path / "out.svg"
    run("draw", tmp_path / "a.txt", "--sentence", 2, "-o", out)
    assert "Cats" in out.read_text(encoding="utf-8")
    done = run("draw", "Dogs bark.", "--sentence", 3, code=2)
    assert done.stderr == "headspan: the text: there is no sentence 3; found 1 sentence\n"
    assert "no such file" in run("draw", "dogs.conllu", code=2).stderr
    assert "there is no such model" in run("draw", "Dogs bark.", "-m", "nothing", code=2).stderr


def test_draw_in_a_pipe_has_no_colour(gold: Path) -> None:
    drawn = run("draw", "-", stdin=run("projectivize", gold).stdout).stdout
    assert drawn.splitlines()[0] == " A  hearing  is  scheduled  on  the  issue  today"
    assert "\x1b" not in drawn


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "{gold}", "nowhere.conllu"], "nowhere.conllu: cannot be read: no such file or directory"),
        (["score", "{gold}", "{empty}"], "empty has no words"),
        (["score", "{gold}", "{bad}"], "bad:1: found 1 column in 'not a treebank'; expected 10 columns"),
        (["convert", "{bad}"], "bad:1: found 1 column"),
        (["convert", "{gold}", "-o", "{gold}"], "gold.conllu: exists already; --force overwrites it"),
        (["convert", "{gold}", "-o", "/nowhere/x"], "/nowhere/x: cannot be written: there is no folder /nowhere"),
        (["convert", "{gold}", "-o", "x.json"], "x.json: its ending means json, but the formats here are conllu, conllx"),
        (["convert", "{gold}", "--to", "conllx", "-o", "x.conllu"], "--to conllx contradicts -o x.conllu"),
        (["draw", "{gold}"], "sentence 1: the tree is not projective: the arc from word 2 to word 7"),
        (["projectivize", "{cycle}"], "cycle: sentence 1 (a): there is a cycle: word 2 under word 4 under word 2"),
        (["stats", "nowhere"], "nowhere: cannot be read"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_and_exit_code_2(
    gold: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    files = {
        "gold": gold,
        "bad": tmp_path / "bad",
        "empty": tmp_path / "empty",
        "cycle": tmp_path / "cycle",
    }
    files["bad"].write_text("not a treebank\n", encoding="utf-8")
    files["empty"].write_text("", encoding="utf-8")
    files["cycle"].write_text(GOLD.replace("0\troot", "2\troot"), encoding="utf-8")
    done = run(*(a.format(**files) for a in arguments), code=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("headspan: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score"], "missing argument 'GOLD'; `headspan score --help` shows the usage"),
        (["convert", "x", "--to", "xml"], "invalid value for '--to': 'xml' is not one of"),
        (["convert", "x", "--nothing"], "no such option: --nothing"),
        (["nothing"], "no such command 'nothing'; `headspan --help` shows the usage"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], message: str) -> None:
    done = run(*arguments, code=2)
    assert done.stderr.startswith(f"headspan: {message}")
    assert done.stderr.count("\n") == 1


def all_commands() -> Iterator[tuple[list[str], Any]]:
    top: Any = get_command(app)
    for name, command in top.commands.items():
        yield [name], command
        for inner, subcommand in getattr(command, "commands", {}).items():
            yield [name, inner], subcommand


def test_help_names_every_value_and_no_types() -> None:
    for _, command in all_commands():
        for parameter in command.params:
            if parameter.param_type_name == "option" and not parameter.is_flag:
                spelled = parameter.get_help_record(
                    command.make_context("x", ["-h"], resilient_parsing=True)
                )[0]
                assert parameter.metavar or "|" in spelled, spelled
    for path in (["parse"], ["data", "ud"]):
        shown = run(*path, "--help").stdout
        for typed in ("<", "bool", "list[", "...", "{"):
            assert typed not in shown
    assert run("parse", "--help").stdout.startswith("Usage: headspan parse [OPTIONS] [INPUT…]\n")
    assert "..." not in run("--help").stdout.partition("Commands:")[2]


def test_empty_input_gives_empty_output() -> None:
    assert run("convert", "-").stdout == ""
    assert run("projectivize", "-").stdout == ""
    assert run("draw", "-").stdout == ""
    assert json.loads(run("stats", "-", "--json").stdout)["files"][0]["words"] == 0


def test_skip_bad_reports_what_it_skipped(tmp_path: Path) -> None:
    cycle = GOLD.replace("0\troot", "2\troot")
    done = run("projectivize", "-", "--skip-bad", stdin=GOLD + "bad\n\n" + cycle + GOLD)
    assert done.stdout.count("# sent_id") == 2
    assert "skipped: standard input:11: found 1 column" in done.stderr
    assert done.stderr.endswith("skipped 2 sentences\n")
    assert "there is a cycle" in done.stderr


def test_commands_handle_a_sentence_of_two_thousand_words(tmp_path: Path) -> None:
    n = 2000
    heads = random_projective_tree(n, random.Random(1))
    words = Sentence.from_words([f"w{k}" for k in range(n)], heads=heads, deprels=["dep"] * n)
    path = tmp_path / "long.conllu"
    conllu.write([words], path)
    text = path.read_text(encoding="utf-8")
    assert run("deprojectivize", "-", stdin=run("projectivize", path).stdout).stdout == text
    assert json.loads(run("score", path, path, "--json").stdout)["las"] == 100
    assert "w1999" in run("draw", path).stdout


def test_a_closed_pipe_is_not_an_error(tmp_path: Path) -> None:
    path = tmp_path / "big.conllu"
    path.write_text(GOLD * 3000, encoding="utf-8")
    command = f"'{HEADSPAN}' convert '{path}' | head -n 1; echo ${{PIPESTATUS[0]}} >&2"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "# sent_id = a\n"
    assert done.stderr == "1\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_leaves_no_files_behind(tmp_path: Path, number: int) -> None:
    out = tmp_path / "out.conllu"
    with subprocess.Popen(
        [HEADSPAN, "convert", "-", "-o", str(out)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # a background process ignores it
    ) as process:
        assert process.stdin
        process.stdin.write((GOLD * 2000).encode())
        process.stdin.flush()
        for _ in range(200):
            if list(tmp_path.iterdir()):
                break
            time.sleep(0.05)
        assert list(tmp_path.iterdir())
        process.send_signal(number)
        stderr = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 128 + number
    assert "Traceback" not in stderr
    assert list(tmp_path.iterdir()) == []


INTERRUPTED = """
import os, signal, sys
from headspan.model.parser import Parser

def interrupted(self, *arguments):
    os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
Parser._parse = interrupted  # once the first thousand sentences are read
from headspan.cli import main
main()
"""


def test_an_interrupted_parser_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    path.write_text("Dogs bark.\n" * 9000, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, "parse", path, "--lines"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_draw_in_a_terminal_is_in_colour_and_fits_its_width(gold: Path) -> None:
    main, other = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "40"}
    environment.pop("NO_COLOR", None)
    text = run("projectivize", gold).stdout
    with subprocess.Popen(
        [HEADSPAN, "draw", "-"], stdin=subprocess.PIPE, stdout=other, stderr=other, env=environment
    ) as process:
        os.close(other)
        process.communicate(text.encode())
    drawn = b""
    try:
        while piece := os.read(main, 65536):
            drawn += piece
    except OSError:  # the terminal is gone
        assert drawn
    os.close(main)
    assert b"\x1b[" in drawn
    assert drawn.count(b"today") > 1
