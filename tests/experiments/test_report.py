"""The report's figures against hand-made ones, and everything through the command line."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import ROOT, SHARED
from headspan import conllu, scoring
from headspan.experiments.plan import Run, read_plan, runs_of
from headspan.experiments.published import FIGURES, UD_AVERAGE, published
from headspan.experiments.run_folder import read_folder, write_plan
from headspan.experiments.run_report import as_json, as_latex, as_markdown, write_report
from headspan.experiments.run_results import gather
from headspan.experiments.runner import run_all
from headspan.plumbing.errors import HeadspanError


def wrong(run: Run, folder: Path) -> Path:
    """A parse of test with `seed` wrong relations, and one wrong head more for arcs."""
    sentences = list(conllu.read(run.settings["data.test"]))
    for k in range(run.seed):
        labels = list(sentences[k].deprels)
        labels[0] = "dep"
        sentences[k] = sentences[k].with_parse(sentences[k].heads, labels)
    if run.structure == "arc":
        heads = list(sentences[10].heads)
        heads[0] = 3
        sentences[10] = sentences[10].with_parse(heads, sentences[10].deprels)
    conllu.write(sentences, folder / "test.conllu")
    return folder / "test.conllu"


def test_means_deviations_and_differences(plan: Path, stub: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    read = read_plan(plan)
    runs = runs_of(read)
    write_plan(out, read, runs)
    run_all(runs, out, command=stub)
    name, again = read_folder(out)
    assert again == runs
    results = gather(name, again, out, parse=wrong, samples=200)
    report = as_json(results)
    words = sum(
        tag != "PUNCT" for s in conllu.read(runs[0].settings["data.test"]) for tag in s.upos
    )
    span, arc = report["cells"]
    assert span["dev_las"] == {"mean": 91.5, "deviation": pytest.approx(0.5**0.5)}
    assert span["dev_uas"]["mean"] == 93.5
    assert arc["dev_las"]["mean"] == 89.5
    assert span["test_uas"] == {"mean": 100.0, "deviation": 0.0}
    las = [100 * (words - 1) / words, 100 * (words - 2) / words]
    assert span["test_las"]["mean"] == pytest.approx(sum(las) / 2)
    assert span["test_las"]["deviation"] == pytest.approx((las[0] - las[1]) / 2**0.5)
    assert arc["test_uas"]["mean"] == pytest.approx(100 * (words - 1) / words)
    assert span["best"] == {"model": str(out / "tiny-span-max-margin-2/model"), "dev_las": 92.0}
    (pair,) = report["comparisons"]
    assert (pair["first"]["structure"], pair["seeds"]) == ("arc", (1, 2))
    assert pair["uas"]["difference"] == pytest.approx(100 / words)
    assert pair["las"]["difference"] == pytest.approx(100 / words)
    assert pair["las"]["second"] == pytest.approx(sum(las) / 2)
    assert pair["las"]["p"] > 0.05  # one word
    assert [r["best_epoch"] for r in report["runs"]] == [2] * 4
    text = as_markdown(results)
    assert "| tiny | span | max-margin | 2 | 93.50 ± 0.71 | 91.50 ± 0.71 | 100.00 ± 0.00 |" in text
    assert "4 of 4 runs are finished" in text
    assert r"tiny & arc & max-margin & 91.50$\,\pm\,$0.71" in as_latex(results)
    paths = write_report(results, tmp_path / "report")
    assert [path.name for path in paths] == ["report.md", "report.tex", "report.json"]
    assert json.loads(paths[2].read_text(encoding="utf-8"))["cells"][0]["seeds"] == [1, 2]


def test_each_failed_or_missing_run_has_a_line(
    plan: Path, stub: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    runs = runs_of(read_plan(plan))
    monkeypatch.setenv("STUB", "fail1")
    run_all(runs[:3], out, command=stub)
    results = gather("small", runs, out, parse=lambda *_: None)
    text = as_markdown(results)
    assert "- tiny-span-max-margin-1 failed: the loss is not finite in epoch 1\n" in text
    assert "| tiny-arc-max-margin-2 | waiting | 0 | – | – | – | 0.00 |" in text
    assert "tiny-span-max-margin-2: no test scores" in text
    assert "| 94.00 | 92.00 | – | – | – | – |" in text  # one seed has no deviation


def test_damaged_or_mixed_runs_are_named_and_left_out(
    plan: Path, stub: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    runs = runs_of(read_plan(plan))
    run_all(runs, out, command=stub)
    first, second = out / runs[0].name, out / runs[1].name
    deep = b"[" * 100_000
    (first / "log.jsonl").write_bytes(b'null\n{"epoch": 2}\n\xff\n[1]\n' + deep)
    record = json.loads((second / "run.json").read_text(encoding="utf-8"))
    record["config"]["training"]["epochs"] = 40
    (second / "run.json").write_text(json.dumps(record), encoding="utf-8")
    results = gather("small", runs, out, parse=wrong, samples=20)
    text = as_markdown(results)
    assert "| tiny | span | max-margin | 2 | 94.00 | 92.00 | " in text  # of the second seed
    assert f"- {runs[0].name}: no dev scores; {first / 'log.jsonl'} has none\n" in text
    assert "| tiny | arc |" not in text
    assert (
        "- tiny-arc-max-margin-1, tiny-arc-max-margin-2: not averaged; their settings "
        "differ: training.epochs is 40 and 2\n"
    ) in text
    assert "4 of 4 runs are finished" in text  # averaged or not
    json.dumps(as_json(results))

    def broken(run: Run, folder: Path) -> Path:
        (folder / "half.conllu").write_text("1\tx\n", encoding="utf-8")
        return folder / "half.conllu"

    notes = gather("small", runs[:1], out, parse=broken).notes
    assert len([note for note in notes if "no test scores" in note]) == 1
    assert "half.conllu" in notes[0]
    for file, content in (
        (first / "run.json", '{"seconds": "a"}'),
        (first / "run.json", '{"state": "asleep"}'),
        (first / "run.json", "[]"),
    ):
        file.write_text(content, encoding="utf-8")
        results = gather("small", runs, out, parse=wrong, samples=2)
        text = as_markdown(results)
        assert f"- {runs[0].name} failed: its record cannot be used: {file}: " in text
        assert "3 of 4 runs are finished" in text
        assert [len(cell.results) for cell in results.cells] == [1]  # the second seed
    record["config"]["training"]["unheard_of"] = 1
    (second / "run.json").write_text(json.dumps(record), encoding="utf-8")
    (note,) = (n for n in gather("x", runs, out, parse=wrong).notes if "not averaged" in n)
    assert "unknown key training.unheard_of" in note


def test_comparisons_with_other_differences_are_named(
    plan: Path, stub: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    spans = [run for run in runs_of(read_plan(plan)) if run.structure == "span"]
    run_all(spans, out, command=stub)
    plan.write_text(plan.read_text(encoding="utf-8").replace("epochs=2", "epochs=9"), "utf-8")
    arcs = [run for run in runs_of(read_plan(plan)) if run.structure == "arc"]
    run_all(arcs, out, command=stub)
    results = gather("small", [*spans, *arcs], out, parse=wrong, samples=20)
    said = "compared, but other settings differ: training.epochs is 9 and 2"
    assert f"- tiny-arc-max-margin and tiny-span-max-margin: {said}\n" in as_markdown(results)
    (pair,) = as_json(results)["comparisons"]
    assert pair["also_differ"] == {"training.epochs": [9, 2]}
    # scored in another way they cannot be compared at all
    for run in arcs:
        path = out / run.name / "run.json"
        record = json.loads(path.read_text(encoding="utf-8"))
        record["config"]["data"]["punct"] = "keep"
        path.write_text(json.dumps(record), encoding="utf-8")
    results = gather("small", [*spans, *arcs], out, parse=wrong, samples=20)
    assert not results.pairs
    assert "tiny-arc-max-margin and tiny-span-max-margin: not compared; " in results.notes[0]


def test_all_systems_are_compared_with_one(plan: Path, stub: list[str], tmp_path: Path) -> None:
    text = plan.read_text(encoding="utf-8")
    grid = text[text.index("[[grid]]") :]
    longer = grid.replace("epochs=2", "epochs=9").replace("seeds =", "variant = 'long'\nseeds =")
    local = grid.replace("['span', 'arc']", "['joint']\nlosses = ['local']")
    plan.write_text(text + longer + local, encoding="utf-8")
    read = read_plan(plan)
    runs = runs_of(read)
    write_plan(tmp_path, read, runs)
    run_all(runs, tmp_path, command=stub)
    results = gather("small", runs, tmp_path, parse=wrong, samples=20, against="arc-max-margin")
    assert [(pair.first.system, pair.second.system) for pair in results.pairs] == [
        ("arc-max-margin", "span-max-margin"),
        ("arc-max-margin", "span-long-max-margin"),
        ("arc-max-margin", "arc-long-max-margin"),
        ("arc-max-margin", "joint-local"),
    ]
    assert "| tiny | arc max-margin | joint local | 2 | LAS |" in as_markdown(results)
    # without it, what differs in both structure and loss is not compared
    pairs = gather("small", runs, tmp_path, parse=wrong, samples=20).pairs
    assert len(pairs) == 6
    assert not [pair for pair in pairs if pair.second.system == "joint-local"]
    with pytest.raises(HeadspanError, match="--against arc: the plan has no such system; expected"):
        gather("small", runs, tmp_path, parse=wrong, against="arc")


def test_runs_of_another_plan_in_the_folder_are_named(
    plan: Path, stub: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    runs = runs_of(read_plan(plan))
    run_all(runs, out, command=stub)
    results = gather("small", runs[:2], out, parse=wrong, samples=20)
    assert results.notes == (
        "tiny-arc-max-margin-2, tiny-span-max-margin-2: not runs of this plan; left out",
    )


def test_a_saved_plan_is_checked_and_can_move(plan: Path, treebank: Path, tmp_path: Path) -> None:
    read = read_plan(plan, data="gone")
    write_plan(tmp_path, read, runs_of(read))
    assert read_folder(tmp_path)[1][0].settings["data.test"] == "gone/tiny/test.conllu"
    run = read_folder(tmp_path, data=str(treebank.parent))[1][0]
    assert run.settings["data.test"] == str(treebank / "test.conllu")
    whole = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))

    def changed(**values: object) -> dict[str, object]:
        first, *rest = whole["runs"]
        return {**whole, "runs": [{**first, **values}, *rest]}

    settings = whole["runs"][0]["settings"]
    for content in (
        [],
        {"data": "x", "runs": 3},
        {"data": "x", "runs": []},
        {"data": "x", "runs": [{"seed": "1"}]},
        changed(settings={key: value for key, value in settings.items() if key != "data.test"}),
        changed(settings={**settings, "data.test": 3}),
        changed(treebank="../../elsewhere"),
        changed(structure="tree"),
        changed(loss="none"),
        changed(seed=2),  # there twice
    ):
        (tmp_path / "plan.json").write_text(json.dumps(content), encoding="utf-8")
        for data in (None, "else"):
            with pytest.raises(
                HeadspanError, match=r"plan\.json: is not the plan of an experiment"
            ):
                read_folder(tmp_path, data=data)
    (tmp_path / "plan.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(HeadspanError, match=r"plan\.json: is not JSON"):
        read_folder(tmp_path)


@pytest.mark.skipif(not SHARED.exists(), reason="needs real treebanks")
@pytest.mark.parametrize("name", ["cpu-en", "cpu-en-mpnet", "cpu-fr", "cpu-nl-mst"])
def test_the_documented_results_are_those_of_the_runs(name: str) -> None:
    folder = ROOT / "docs" / "runs" / name
    results = gather(*read_folder(folder, data=str(SHARED / "treebanks")), folder, samples=2)
    assert results.cells
    differ = [
        f"other settings differ: {key}"
        for key in ("model.decoder", "model.refinements", "data.nonprojective")
    ]
    assert all(any(known in note for known in differ) for note in results.notes)
    lines = (ROOT / "docs" / "results.md").read_text(encoding="utf-8").splitlines()
    start = f"| {results.cells[0].treebank} | "
    cells = [line.split(" | ") for line in as_markdown(results).splitlines() if start in line]
    rows = [cell[1:8] for cell in cells if len(cell) == 10]
    assert len(rows) == len(results.cells)
    for structure, loss, *figures in rows:
        assert f"| `{structure}` | `{loss}` | {' | '.join(figures)} |" in lines
    for pair in results.pairs:
        first, second = pair.first, pair.second
        what = f"`{second.structure}` − `{first.structure}`"
        if first.structure == second.structure:
            what = f"`{second.loss}` − `{first.loss}`, `{first.structure}`"
        rows_of_pair = [line.split(" | ") for line in lines if line.startswith(f"| {what} | ")]
        differences = [
            f"{pair.comparison[metric].difference:+.2f}".replace("-", "−")
            for metric in ("uas", "las")
        ]
        documented = [[cell[1], cell[2], cell[5]] for cell in rows_of_pair]
        assert [str(len(pair.seeds)), *differences] in documented


def test_the_papers_figures_are_beside_ours(plan: Path, stub: list[str], tmp_path: Path) -> None:
    runs = [
        replace(run, corpus="ud-2.2", treebank="en_ewt") for run in runs_of(read_plan(plan))[:2]
    ]
    run_all(runs, tmp_path, command=stub)
    text = as_markdown(gather("en", runs, tmp_path, parse=wrong, samples=20))
    assert "| – | 91.32 |" in text
    assert "| – | 91.13 |" in text
    assert "its table 2, for the same test data: ud-2.2 with multilingual BERT cased" in text


def test_the_papers_figures_agree_with_its_averages() -> None:
    for structure, average in UD_AVERAGE.items():
        las = [
            f.las
            for (corpus, _, s, _), f in FIGURES.items()
            if (corpus, s) == ("ud-2.2", structure)
        ]
        assert len(las) == 12
        assert sum(las) / 12 == pytest.approx(average, abs=0.005)
    assert published("ptb", "ptb", "joint", "max-margin") is None


def test_runs_are_compared_sentence_by_sentence(treebank: Path) -> None:
    gold = list(conllu.read(treebank / "test.conllu"))
    worse = [s.with_parse(s.heads, ["dep", *s.deprels[1:]]) for s in gold]
    good, bad = scoring.score(gold, gold), scoring.score(gold, worse)
    one = scoring.compare(good, bad, samples=500)
    two = scoring.compare_runs([good, good], [bad, bad], samples=500)
    assert one["las"] == two["las"]  # the same runs twice are no more evidence
    with pytest.raises(HeadspanError, match="cannot pair 1 runs with 2"):
        scoring.compare_runs([good], [bad, bad])


def headspan(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "headspan", *map(str, arguments)], text=True, capture_output=True,
        check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_a_real_run_from_plan_to_report(plan: Path, tmp_path: Path) -> None:
    text = plan.read_text(encoding="utf-8").replace("seeds = [1, 2]", "seeds = [1]")
    text = text.replace("'span', 'arc'", "'span'").replace("epochs=2", "epochs=1")
    plan.write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    assert "tiny-span-max-margin-1" in headspan("experiment", "run", plan, "--dry").stdout
    assert not out.exists()
    done = headspan("experiment", "run", plan, "-o", out)
    assert done.stdout == f"1 of 1 runs are finished, 0 failed: {out}\n"
    assert "tiny-span-max-margin-1: running\n" in done.stderr
    assert "tiny-span-max-margin-1: finished, epoch 1, best dev LAS" in done.stderr
    headspan("experiment", "report", out)
    run = json.loads((out / "report.json").read_text(encoding="utf-8"))["runs"][0]
    parsed = conllu.read(out / "tiny-span-max-margin-1" / "test.conllu.xz")
    gold = conllu.read(read_folder(out)[1][0].settings["data.test"])
    assert run["test_las"] == scoring.score(gold, parsed, punct="upos")["las"].f1
    log = (out / "tiny-span-max-margin-1" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert run["dev_las"] == max(json.loads(line)["dev_las"] for line in log)


def test_mistakes_at_the_command_line_are_one_line(plan: Path, tmp_path: Path) -> None:
    assert "has no plan.json" in headspan("experiment", "report", tmp_path, code=2).stderr
    assert (
        "no.toml: cannot be read"
        in headspan("experiment", "run", tmp_path / "no.toml", code=2).stderr
    )
    text = plan.read_text(encoding="utf-8").replace("training.epochs", "training.epoch")
    plan.write_text(text, encoding="utf-8")
    done = headspan("experiment", "run", plan, "-o", tmp_path / "out", code=2)
    assert f"{plan}: tiny-span-max-margin-1: " in done.stderr
    assert "unknown key training.epoch" in done.stderr
    assert not (tmp_path / "out").exists()
