"""Writes everything, and lets it die or fail at every point where that could do harm.

crash.py write WORK NAME…    each writer is killed before every step that changes the disk and in the
                             middle of files, meets a full disk, and a folder that it may not write
crash.py train WORK          a training is killed before every few steps, and resumed
crash.py corpus WORK         a corpus meets a disk that is full at various bytes, and is resumed

Prints how many points there were. All of it happens in children, which are forked; a signal of the
kernel ends them at a byte of a file, whoever is writing, if they let it.
"""

import json
import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from corpus.conftest import inline, paragraphs
from corpus.fake import load
from faults.writers import Writer, settings, writers
from headspan import HeadspanError
from headspan.corpus import parse_corpus
from headspan.training.loop import LOG, MODEL, train

CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate"}
DIED, FAILED = -signal.SIGKILL, 3
NOBODY = 65534
PLACES = (0.0, 0.6)  # of the largest file, where a disk is full


def child(prepare: Callable[[], object], call: Callable[[], object]) -> int:
    """How a call ends in a process that was prepared for it: 0, by a signal, or FAILED if it said
    in one line what could not be written.
    """
    if (process := os.fork()) == 0:
        try:
            prepare()
            call()
        except HeadspanError as error:
            os._exit(FAILED if "cannot be written" in str(error) else 1)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def dying_at_step(step: int, folder: Path) -> None:
    """From now on the step-th change of the folder is not made, and nothing after it."""
    left, inside, sync = step, os.fsencode(folder), os.fsync

    def change() -> None:
        nonlocal left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        opened = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        what = arguments[0] if opened or event in CHANGES else 0
        if not isinstance(what, int) and os.fsencode(what).startswith(inside):
            change()

    def synced(handle: int) -> None:
        change()
        sync(handle)

    os.fsync = synced
    sys.addaudithook(watch)


def full_at(byte: int, *, deadly: bool = False) -> None:
    """From now on no file gets longer; or whoever tries is killed."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL if deadly else signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (byte, byte))


def content(folder: Path) -> dict[str, Any]:
    """What has a name that somebody would look for; a folder below counts as one thing."""
    return {
        path.name: content(path) if path.is_dir() else path.read_bytes()
        for path in folder.iterdir()
        if not path.name.startswith(".")
    }


def largest(found: dict[str, Any]) -> int:
    return max(largest(part) if isinstance(part, dict) else len(part) for part in found.values())


def at_every_point(name: str, write: Writer, work: Path) -> int:
    """How many points a writer was tried at."""
    old, new, target = (work / part for part in ("old", "new", "target"))
    for folder in (old, new, target):
        shutil.rmtree(folder, ignore_errors=True)
    old.mkdir()
    write(old, 0)
    shutil.copytree(old, new)
    write(new, 1)
    before, after = content(old), content(new)
    assert before != after, name
    points = 0

    def attempt(prepare: Callable[[], object], expected: tuple[int, ...], where: str) -> int:
        nonlocal points
        points += 1
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(old, target)
        code = child(prepare, partial(write, target, 1))
        assert code in expected, (name, where, code)
        found = content(target)
        for part in before.keys() | after.keys() | found.keys():
            assert found.get(part) in (before.get(part), after.get(part)), (name, where, part)
        if code == FAILED:
            assert not list(target.rglob(".*")), (name, where)
        elif code:
            write(target, 1)
        if code != FAILED:
            assert content(target) == after, (name, where)
        return code

    step = 0
    while attempt(partial(dying_at_step, step, target), (0, DIED), f"step {step}"):
        step += 1
    for place in PLACES:
        byte = int(place * largest(after))
        where = f"byte {byte}"
        attempt(partial(full_at, byte, deadly=True), (-signal.SIGXFSZ,), where)
        attempt(partial(full_at, byte), (FAILED,), where)
    attempt(partial(forbidden, target), (FAILED,), "read-only")
    return points


def forbidden(folder: Path) -> None:
    """From now on nothing in the folder can be written, even for a process that may do all."""
    for below in (folder, *folder.rglob("*")):
        if below.is_dir():
            below.chmod(0o555)
    if os.getuid() == 0:
        os.setuid(NOBODY)


def training(work: Path) -> int:
    """Die at every few steps, resume each time, and make the model of an undisturbed run."""
    config = settings(work)
    train(config, work / "whole")
    target = work / "cut"
    step = 0
    while True:
        code = child(partial(dying_at_step, step, target), partial(train, config, target))
        if code == 0:
            break
        assert code == DIED, (step, code)
        train(config, target, resume=True)
        assert content(target / MODEL) == content(work / "whole" / MODEL), step
        assert timeless(target / LOG) == timeless(work / "whole" / LOG), step
        shutil.rmtree(target)
        step += 4
    return step // 4


def timeless(log: Path) -> list[dict[str, float]]:
    """The epochs of a run without how long they took."""
    lines = log.read_text(encoding="utf-8").splitlines()
    return [{**json.loads(line), "seconds": 0.0} for line in lines]


def corpus(work: Path) -> int:
    """Run out of disk at various bytes, lose no finished shard, and resume."""
    text, model = work / "text.txt", work / "no_model"
    text.write_text(paragraphs(12), encoding="utf-8")
    model.mkdir()
    (model / "config.json").write_text("{}", encoding="utf-8")
    points = 0

    def parse(folder: Path, **options: Any) -> None:
        parse_corpus([text], folder, model=model, load=load, engine=inline, shard_size=1, **options)

    for format in ("conllu", "parquet"):
        whole, target = work / f"whole-{format}", work / f"cut-{format}"
        parse(whole, format=format)
        everything = content(whole)
        for place in (0.0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.98):
            byte = int(place * largest(everything))
            code = child(partial(full_at, byte), partial(parse, target, format=format))
            assert code == FAILED, (format, byte, code)
            points += 1
            found = content(target)
            assert not list(target.glob(".*")), (format, byte)
            assert "manifest.json" not in found
            shards = {name: data for name, data in found.items() if name.startswith("part-")}
            assert shards.items() <= everything.items(), (format, byte)
            parse(target, format=format)
            assert content(target) == everything, (format, byte)
            shutil.rmtree(target)
    return points


def main() -> None:
    torch.set_num_threads(1)
    mode, folder, *names = sys.argv[1:]
    work = Path(folder)
    if mode == "train":
        print(training(work))
    elif mode == "corpus":
        print(corpus(work))
    else:
        known = writers(work)
        for name in names or known:
            print(name, at_every_point(name, known[name], work), flush=True)


if __name__ == "__main__":
    main()
