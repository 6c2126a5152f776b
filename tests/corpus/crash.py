"""A run of parse_corpus in a process of its own, which may have to die.

crash.py INPUT OUT MODEL N      die before the N-th step that changes the disk
crash.py INPUT OUT MODEL all    die at each of them in turn, and resume each time
crash.py INPUT OUT MODEL run    two processes, until they finish or are killed
"""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpus.conftest import files, inline
from corpus.fake import load
from headspan.corpus import parse_corpus


def call(source: str, folder: Path, model: str, **options: Any) -> None:
    parse_corpus([source], folder, model=model, shard_size=1, load=load, **options)


def dying(step: int) -> None:
    """From now on, die instead of making the step-th change of the disk."""
    left = step

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def change(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            if left == 0:
                os._exit(9)
            left -= 1
            return real(*arguments, **options)

        return change

    for owner, name in ((os, "fsync"), (os, "ftruncate"), (Path, "replace"), (Path, "unlink")):
        setattr(owner, name, counted(getattr(owner, name)))


def at_every_step(source: str, folder: Path, model: str) -> None:
    whole = folder / "whole"
    call(source, whole, model, engine=inline)
    step = 0
    while True:
        target = folder / "crashed"
        if (child := os.fork()) == 0:
            dying(step)
            call(source, target, model, engine=inline)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            break
        assert code == 9, code
        call(source, target, model, engine=inline)
        assert files(target) == files(whole), step
        shutil.rmtree(target)
        step += 1
    print(step)


def main() -> None:
    source, folder, model, how = sys.argv[1:]
    if how == "all":
        at_every_step(source, Path(folder), model)
    elif how == "run":
        call(source, Path(folder), model, processes=2)
    else:
        dying(int(how))
        call(source, Path(folder), model, engine=inline)


if __name__ == "__main__":
    main()
