"""Plans, and running them: skipping, resuming, failing, stopping."""

import _thread
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from conftest import ROOT
from headspan.cli.progress import progress
from headspan.experiments.plan import Plan, plan_table, read_plan, runs_from_table, runs_of
from headspan.experiments.run_folder import (
    locked,
    read_folder,
    read_record,
    write_plan,
    write_record,
)
from headspan.experiments.runner import parse_test, run_all
from headspan.plumbing.errors import HeadspanError
from headspan.registries import STRUCTURES

PLANS = sorted((ROOT / "configs" / "experiments").glob("*.toml"))


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text(encoding="utf-8").split()


def test_a_grid_has_all_combinations(plan: Path, treebank: Path) -> None:
    runs = runs_of(read_plan(plan))
    assert [run.name for run in runs] == [
        "tiny-span-max-margin-1",
        "tiny-arc-max-margin-1",
        "tiny-span-max-margin-2",
        "tiny-arc-max-margin-2",
    ]
    config = runs[3].config()
    assert (config.model.structure, config.model.loss) == ("arc", "max-margin")
    assert (config.training.seed, config.training.epochs) == (2, 2)
    assert config.data.dev == str(treebank / "dev.conllu")
    moved = runs_of(read_plan(plan, data="else/where"))
    assert moved[0].settings["data.test"] == "else/where/tiny/test.conllu"


def test_a_variant_is_a_system_of_its_own(plan: Path, tmp_path: Path) -> None:
    read = read_plan(plan)
    text = plan.read_text(encoding="utf-8")
    again = text[text.index("[[grid]]") :].replace("['span', 'arc']", "['arc']")
    longer = again.replace("epochs=2", "epochs=9").replace("seeds =", "variant = 'long'\nseeds =")
    plan.write_text(text + longer, encoding="utf-8")
    runs = runs_of(read_plan(plan))
    assert runs[:4] == runs_of(read)
    assert [(run.name, run.config().training.epochs) for run in runs if run.variant] == [
        ("tiny-arc-long-max-margin-1", 9),
        ("tiny-arc-long-max-margin-2", 9),
    ]
    write_plan(tmp_path, read, runs)
    assert read_folder(tmp_path)[1] == runs
    rows = plan_table(runs)
    with pytest.raises(HeadspanError, match="is not the plan of an experiment"):
        runs_from_table([*rows[:-1], {**rows[-1], "variant": "../x"}], "here")
    for row in rows[:4]:  # a plan that was saved before there were variants
        del row["variant"]
    assert runs_from_table(rows, "here") == runs


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_the_plans_of_the_project_can_be_read(path: Path) -> None:
    for run in runs_of(read_plan(path)):
        assert run.config().training.seed == run.seed


def test_the_papers_plans_have_its_systems() -> None:
    def systems(name: str) -> list[tuple[str, str, str]]:
        runs = runs_of(read_plan(ROOT / "configs" / "experiments" / f"{name}.toml"))
        unique = list(dict.fromkeys((r.treebank, r.kind, r.loss) for r in runs))
        assert len(runs) == 3 * len(unique)
        return unique

    rows = [("span", "max-margin"), ("arc", "max-margin"), ("sibling", "crf")]
    rows.append(("mean-field", "local"))
    assert len(systems("table2-ud")) == 12 * len(rows)
    rows += [("pointer", "local"), ("arc-refined", "max-margin")]
    assert systems("table1-ptb") == [("ptb", *row) for row in rows]
    assert systems("table1-ctb") == [("ctb", *row) for row in rows]
    assert systems("table3-loss") == [
        (corpus, "span", loss) for corpus in ("ptb", "ctb") for loss in ("max-margin", "local")
    ]
    assert len(runs_of(read_plan(ROOT / "configs" / "experiments" / "cpu-en.toml"))) == 33


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("seeds = [1, 2]", "seeds = []"), "grid 1: seeds is missing or empty"),
        (("seeds = [1, 2]", "seeds = [1, 1]"), "has the run tiny-span-max-margin-1 2 times"),
        (("'span'", "'tree'"), "structures has 'tree'; expected one of span, arc, joint"),
        (("{part}", "{half}"), "it can name {data}, {treebank} and {part}"),
        (("epochs=2", "epochs 2"), "expected KEY=VALUE"),
        (("'tiny'", "'../tiny'"), "'../tiny' cannot be the name of a treebank"),
        (("[[grid]]", "[[grids]]"), "unknown key grids"),
        (("{part}", "{part.x}"), "it can name {data}, {treebank} and {part}"),
        (("{part}", "train"), "expected {part} in it"),
        (
            ("['tiny']", "['a', 'b']\ncorpus = 'ud2.2'"),
            "corpus is 'ud2.2'; expected one of '', ptb",
        ),
        (("{treebank}/{part}.conllu'", "{part}'\nlosses = ['crf']"), ""),
        (("epochs=2", "seed = 7"), "set has training.seed; expected it in the grid's"),
        (("training.epochs=2", "data.test=x"), "set has data.test; expected it in the grid's"),
        (("base =", "base ="), ""),
        (("seeds =", "variant = '../x'\nseeds ="), "'../x' cannot be the name of a variant"),
        (
            ("['span', 'arc']", "['split']\nvariant = 'sibling'"),
            "would have the name of another structure, split-sibling",
        ),
    ],
)
def test_mistakes_in_a_plan_are_named(plan: Path, change: tuple[str, str], message: str) -> None:
    plan.write_text(plan.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    if not message:
        assert isinstance(read_plan(plan), Plan)
        return
    with pytest.raises(HeadspanError) as error:
        runs_of(read_plan(plan))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_registered_structure_works_in_a_plan(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STRUCTURES._entries, "toy", object())
    change(plan, "'arc'", "'toy'")
    assert {run.structure for run in runs_of(read_plan(plan))} == {"span", "toy"}


def test_seeds_of_one_system_have_the_same_settings(plan: Path) -> None:
    text = plan.read_text(encoding="utf-8")
    again = text[text.index("[[grid]]") :].replace("seeds = [1, 2]", "seeds = [3]")
    plan.write_text(text + again, encoding="utf-8")
    assert len(runs_of(read_plan(plan))) == 6
    plan.write_text(text + again.replace("epochs=2", "epochs=9"), encoding="utf-8")
    with pytest.raises(HeadspanError, match="small: has tiny-span-max-margin with different set"):
        runs_of(read_plan(plan))


def test_failed_runs_do_not_stop_the_rest_and_are_tried_again(
    plan: Path, stub: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, out = runs_of(read_plan(plan)), tmp_path / "out"
    monkeypatch.setenv("STUB", "fail1")
    jobs = run_all(runs, out, workers=2, command=stub)
    states = {job.run.name: job.record.state for job in jobs}
    assert list(states.values()) == ["failed", "failed", "finished", "finished"]
    assert jobs[0].record.error == "the loss is not finite in epoch 1"
    assert "something before" in (out / jobs[0].run.name / "train.log").read_text(encoding="utf-8")
    monkeypatch.setenv("STUB", "killed1")
    jobs = run_all(runs, out, command=stub)
    assert jobs[0].record.error == "was ended by SIGKILL"
    monkeypatch.delenv("STUB")
    seen: list[list[str]] = []
    jobs = run_all(
        runs, out, command=stub, watch=lambda js: seen.append([j.record.state for j in js])
    )
    assert {job.record.state for job in jobs} == {"finished"}
    assert seen[-1] == ["finished"] * 4
    assert calls(out / runs[0].name) == ["new"] * 3
    assert calls(out / runs[2].name) == ["new"]  # finished the first time, left alone since
    assert read_record(out / runs[0].name).seconds == 1800  # as the log has it, if that is more


def test_an_interrupted_run_is_resumed(
    plan: Path, stub: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, out = runs_of(read_plan(plan))[:2], tmp_path / "out"
    monkeypatch.setenv("STUB", "slow")

    def interrupt() -> None:
        while not (out / runs[0].name / "ready").exists():
            time.sleep(0.02)
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run_all(runs, out, command=stub)
    thread.join()
    assert read_record(out / runs[0].name).state == "stopped"
    assert (out / runs[0].name / "checkpoint.safetensors").read_text(encoding="utf-8") == "half"
    assert not (out / runs[1].name).exists()
    monkeypatch.delenv("STUB")
    jobs = run_all(runs, out, command=stub)
    assert [job.record.state for job in jobs] == ["finished"] * 2
    assert calls(out / runs[0].name) == ["new", "resume"]


def change(plan: Path, old: str, new: str) -> None:
    text = plan.read_text(encoding="utf-8")
    assert old in text
    plan.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("state", ["stopped", "finished"])
def test_other_settings_are_not_mixed_in(
    plan: Path, stub: list[str], tmp_path: Path, state: str
) -> None:
    out = tmp_path / "out"
    folder = out / "tiny-span-max-margin-1"
    run_all(runs_of(read_plan(plan))[:1], out, command=stub)
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    record["state"] = state
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    change(plan, "=2'", "=3'")
    (job,) = run_all(runs_of(read_plan(plan))[:1], out, command=stub)
    assert job.record.error == (
        "was started with other settings: training.epochs was 2 and is 3; "
        f"expected the same settings, another folder, or {folder} removed"
    )
    assert job.record.state == "failed"
    assert calls(folder) == ["new"]
    assert read_record(folder).state == state  # the old settings may come back
    change(plan, "=3'", "=2'")
    (job,) = run_all(runs_of(read_plan(plan))[:1], out, command=stub)
    assert job.record.state == "finished"


def test_a_run_whose_settings_are_lost_is_not_resumed(
    plan: Path, stub: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    runs = runs_of(read_plan(plan))[:1]
    run_all(runs, out, command=stub)
    (out / runs[0].name / "run.json").unlink()
    (job,) = run_all(runs, out, command=stub)
    assert job.record.state == "failed"
    assert "was started with other settings: run.json does not have them" in job.record.error
    assert calls(job.folder) == ["new"]


def test_a_resumed_run_loses_its_parse_of_test(plan: Path, stub: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    runs = runs_of(read_plan(plan))[:1]
    (job,) = run_all(runs, out, command=stub)
    parsed = parse_test(runs[0], job.folder, command=stub)
    assert parsed
    run_all(runs, out, command=stub)
    assert parsed.exists()  # it is finished
    write_record(job.folder, replace(job.record, state="stopped"))
    run_all(runs, out, command=stub)
    assert not parsed.exists()


def test_a_training_holds_its_run_after_its_runner_was_killed(
    plan: Path, stub: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    runs = runs_of(read_plan(plan))[:1]
    monkeypatch.setenv("STUB", "slow")
    code = (
        "import sys; from pathlib import Path\n"
        "from headspan.experiments.plan import read_plan, runs_of\n"
        "from headspan.experiments.runner import run_all\n"
        "run_all(runs_of(read_plan(sys.argv[1]))[:1], Path(sys.argv[2]), command=sys.argv[3:])"
    )
    runner = subprocess.Popen([sys.executable, "-c", code, plan, out, *stub])
    folder = out / runs[0].name
    try:
        while not (folder / "ready").exists():
            assert runner.poll() is None
            time.sleep(0.02)
        training = int((folder / "ready").read_text(encoding="utf-8"))
    finally:
        runner.kill()
        runner.wait()
    try:
        (job,) = run_all(runs, out, command=stub)
        assert job.elsewhere
        assert calls(folder) == ["new"]
    finally:
        os.kill(training, signal.SIGTERM)


def test_the_same_files_by_another_name_are_the_same(
    plan: Path, stub: list[str], tmp_path: Path, treebank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    run_all(runs_of(read_plan(plan))[:1], out, command=stub)
    path = out / "tiny-span-max-margin-1" / "run.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    del record["config"]["training"]["batch_by"]  # a key that did not exist when it was begun
    path.write_text(json.dumps(record), encoding="utf-8")
    monkeypatch.chdir(treebank.parent.parent)
    runs = runs_of(read_plan(plan, data=treebank.parent.name))[:1]
    assert not Path(runs[0].settings["data.train"]).is_absolute()
    (job,) = run_all(runs, out, command=stub)
    assert job.record.state == "finished"


def test_a_plan_can_be_mended_after_a_run_that_failed_at_once(
    plan: Path, stub: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    monkeypatch.setenv("STUB", "fail1")
    (job,) = run_all(runs_of(read_plan(plan))[:1], out, command=stub)
    assert job.record.state == "failed"
    monkeypatch.delenv("STUB")
    change(plan, "=2'", "=3'")
    (job,) = run_all(runs_of(read_plan(plan))[:1], out, command=stub)
    assert job.record.state == "finished"
    assert job.record.config
    assert job.record.config["training"]["epochs"] == 3


def test_a_run_that_another_process_holds_is_left_alone(
    plan: Path, stub: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    runs = runs_of(read_plan(plan))[:2]
    (out / runs[0].name).mkdir(parents=True)
    with locked(out / runs[0].name) as lock:
        assert lock is not None
        jobs = run_all(runs, out, command=stub)
    assert [job.elsewhere for job in jobs] == [True, False]
    assert [job.record.state for job in jobs] == ["waiting", "finished"]
    with pytest.raises(HeadspanError, match="workers is 0"):
        run_all(runs, out, workers=0)


def test_a_run_without_its_treebank_is_not_even_started(
    plan: Path, stub: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (job,) = run_all(runs_of(read_plan(plan, data="nowhere"))[:1], out, command=stub)
    assert job.record.error == (
        "there is no nowhere/tiny/train.conllu and no nowhere/tiny/dev.conllu"
    )
    assert not (job.folder / "calls").exists()


def test_the_progress_table_shows_every_run(
    plan: Path, stub: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB", "fail2")
    jobs = run_all(runs_of(read_plan(plan)), tmp_path / "out", command=stub)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(progress(jobs))
    lines = [line.split() for line in console.export_text().splitlines()]
    assert lines[1] == ["tiny-span-max-margin-1", "finished", "3/2", "91.00", "30"]
    assert lines[3][:2] == ["tiny-span-max-margin-2", "failed"]
    assert lines[3][-4:] == ["finite", "in", "epoch", "1"]
    jobs[2].record = replace(jobs[2].record, error="there is no data[old]/x [/INST]")
    console.print(progress(jobs))
    assert "data[old]/x [/INST]" in console.export_text()


def test_names_are_those_of_training() -> None:
    from headspan.experiments import run_folder
    from headspan.training import loop

    names = run_folder.CHECKPOINT, run_folder.MODEL, run_folder.LOG
    assert names == (loop.CHECKPOINT, loop.MODEL, loop.LOG)
