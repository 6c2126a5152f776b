"""headspan experiment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from headspan.cli.options import Json, show, terminal
from headspan.cli.progress import Watch
from headspan.plumbing.errors import HeadspanError
from headspan.treebank_conventions import Punct

app = typer.Typer(
    help="Run and report grids of trainings, analyse errors, measure speed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def run(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.toml", help="Plan file, in TOML.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Folder for the runs; by default runs/NAME of the plan.",
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of trainings to run at a time.")
    ] = 1,
    data: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Folder of the corpora, instead of the plan's `data`."),
    ] = None,
    dry: Annotated[
        bool, typer.Option("--dry", help="List the runs and missing files; start nothing.")
    ] = False,
) -> None:
    """Run the trainings of a plan, each in its own folder and process.

    Finished runs are left alone, interrupted ones resume from their checkpoint, and a run that
    fails is recorded and does not stop the rest. Ctrl-C lets the trainings write a checkpoint.
    """
    from headspan.experiments.plan import PARTS, read_plan, runs_of
    from headspan.experiments.run_folder import write_plan
    from headspan.experiments.runner import run_all

    read = read_plan(plan, data=data)
    runs = runs_of(read)
    for one in runs:
        try:
            one.config()  # mistakes in the plan are reported before any work
        except HeadspanError as error:
            raise HeadspanError(f"{plan}: {one.name}: {error}") from error
    folder = output or Path("runs") / read.name
    if dry:
        for one in runs:
            files = [one.settings[f"data.{part}"] for part in PARTS]
            missing = [file for file in files if not Path(file).exists()]
            print(one.name + (f": there is no {', '.join(missing)}" if missing else ""))
        return
    write_plan(folder, read, runs)
    with Watch() as watch:
        jobs = run_all(runs, folder, workers=workers, watch=watch)
    failed = [job for job in jobs if job.record.state == "failed"]
    elsewhere = sum(job.elsewhere for job in jobs)
    print(
        f"{sum(job.record.state == 'finished' for job in jobs)} of {len(jobs)} runs are finished, "
        f"{len(failed)} failed" + (f", {elsewhere} are running elsewhere" if elsewhere else "")
        + f": {folder}"
    )  # fmt: skip
    if failed:
        raise typer.Exit(1)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Output of `experiment run`.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="OUT", help="Folder for the report; by default FOLDER."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Folder of the corpora, if they have moved."),
    ] = None,
    against: Annotated[
        str,
        typer.Option(
            metavar="SYSTEM",
            help="Compare every other system with this one, such as split-max-margin.",
        ),
    ] = "",
) -> None:
    """Write report.md, report.tex and report.json of an experiment, finished or not.

    Each finished run parses its test treebank once. Scores are means and standard deviations over
    seeds, beside the paper's figures if the data is the same; structures and losses are compared
    on the seeds that they share.
    """
    from headspan.experiments.run_folder import read_folder
    from headspan.experiments.run_report import write_report
    from headspan.experiments.run_results import gather

    name, runs = read_folder(folder, data=data)
    for path in write_report(gather(name, runs, folder, against=against), output or folder):
        print(path)


@app.command()
def analyse(
    gold: Annotated[
        str, typer.Argument(metavar="GOLD", help="Gold treebank, in CoNLL-U or CoNLL-X.")
    ],
    systems: Annotated[
        list[str], typer.Argument(metavar="SYSTEM…", help="Parses of the words of GOLD.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for plots and tables.")
    ],
    names: Annotated[
        str, typer.Option(metavar="A,B…", help="Names of the systems; by default their file names.")
    ] = "",
    punct: Annotated[
        Punct,
        typer.Option(help="Punctuation to leave out of the scores, as in `headspan score`."),
    ] = "keep",
    bins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BY=N,N…",
            help="Lower bounds of the bins of a plot, such as sentence_length=1,10,20; can be "
            "repeated.",
        ),
    ] = None,
    sentences: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Number of sentences to show, where the systems differ most."
        ),
    ] = 20,
) -> None:
    """Plot where systems are right and wrong, as in the paper's figure 4.

    UAS by sentence length, F1 of arcs by distance to root and by dependency length, and F1 of
    headed spans by length, with 95% bootstrap intervals: PNG, SVG, and the data as CSV. For the
    first two systems, also the differences in LAS by relation and UPOS, and the sentences on which
    they differ most. Parses with the same name in `--names` are seeds of one system, counted
    together.
    """
    from headspan.experiments.analysis import analyse as run_analysis

    system_names = [name.strip() for name in names.split(",")] if names else []
    ends = dict(map(_bins, bins or []))
    for path in run_analysis(
        gold, systems, output, names=system_names, punct=punct, bins=ends, most=sentences
    ):
        print(path)


def _bins(text: str) -> tuple[str, list[int]]:
    by, _, numbers = text.partition("=")
    try:
        return by, [int(number) for number in numbers.split(",")]
    except ValueError:
        raise HeadspanError(
            f"--bins {text}: expected bins such as sentence_length=1,10,20"
        ) from None


@app.command()
def speed(
    models: Annotated[list[str], typer.Argument(metavar="MODEL…", help="Model folders.")],
    treebank: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Treebank to parse; by default, sentences are made up."),
    ] = None,
    threads: Annotated[int, typer.Option(metavar="N", min=1, help="Number of threads.")] = 1,
    repeat: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of measured runs; medians are shown.")
    ] = 3,
    json_: Json = False,
) -> None:
    """Measure sentences and words per second by sentence length, on CPU and, if present, CUDA.

    The last two columns leave out the encoder and the BiLSTM; scoring, decoding and relations
    remain. Models take turns, each after one warm-up run that is not counted.
    """
    if len(set(models)) < len(models):
        raise HeadspanError("a model is named twice; expected different models")
    from headspan import conllu
    from headspan.experiments.speed_by_length import made_up, speeds
    from headspan.model.parser import Parser

    sentences = [s for s in conllu.read(treebank) if len(s)] if treebank else made_up()
    if not sentences:
        raise HeadspanError(f"{treebank}: has no sentences")
    rows = speeds(
        {model: Parser.load(model) for model in models}, sentences, threads=threads, repeat=repeat
    )
    if json_:
        report = {"treebank": treebank, "speeds": [{**vars(row), **row.rates} for row in rows]}
        print(json.dumps(report, ensure_ascii=False, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("model", overflow="fold")
    for name in ("structure", "device", "length"):
        table.add_column(name)
    without = "no encoder"
    for name in (
        "sentences", "words", "sentences/s", "words/s",
        f"{without}\nsentences/s", f"{without}\nwords/s",
    ):  # fmt: skip
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            row.model, row.structure, row.device, row.bucket, f"{row.sentences:,}",
            f"{row.words:,}", *(f"{rate:,.0f}" for rate in row.rates.values()),
        )  # fmt: skip
    show(terminal(), table)
