"""Retraining: after every so many confirmed sentences, a better model in the background."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from headspan import conllu
from headspan.annotate.annotation import Session
from headspan.annotate.fine_tuning import NOT_BETTER, check_torch
from headspan.model.parser import Parser
from headspan.plumbing.errors import HeadspanError

_LOOKED = 0.5  # seconds between two looks at a process


class Retraining:
    """Trains a session's model on its confirmed sentences, in a process of its own.

    It always starts from the model that the session began with, so that the result depends only on
    what is confirmed. A fifth of the sentences is held out; a model that is not better on them is
    not used. every: after so many sentences. Raises HeadspanError if torch is missing.
    """

    def __init__(self, session: Session, model: str | os.PathLike[str], every: int) -> None:
        check_torch()
        self.session = session
        self.model = model
        self.every = every
        self.message = ""
        """What is going on, for a person."""
        self._learned = len(session.confirmed_sentences()) // every * every

    def step(self, stopping: threading.Event) -> bool:
        """Train if there are enough new sentences; returns whether the session has a new model.

        stopping: ends the training early.
        """
        confirmed = self.session.confirmed_sentences()
        if len(confirmed) < self._learned + self.every:
            return False
        self._learned = len(confirmed) // self.every * self.every
        self.message = f"Training on {len(confirmed)} sentences …"
        with tempfile.TemporaryDirectory(prefix="headspan-") as folder:
            treebank, new = Path(folder) / "confirmed.conllu", Path(folder) / "model"
            conllu.write(confirmed, treebank)
            try:
                if not self._train(treebank, new, stopping):
                    self.message = f"Training on {len(confirmed)} sentences has not helped."
                    return False
                parser = Parser.load(new)
            except HeadspanError as error:
                self.message = f"Training failed: {error}"
                return False
        self.session.learn(parser)
        self.message = f"The model has learned from {len(confirmed)} sentences."
        return True

    def _train(self, treebank: Path, new: Path, stopping: threading.Event) -> bool:
        """Run the training; returns whether there is a better model."""
        program = [sys.executable, "-m", "headspan.annotate.fine_tuning"]
        with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
            process = subprocess.Popen(  # noqa: S603 (our own program)
                [*program, str(self.model), str(treebank), str(new)],
                stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
            )  # fmt: skip
            try:
                while process.poll() is None:
                    if stopping.wait(_LOOKED):
                        return False
            finally:
                process.kill()
                process.wait()
            if process.returncode == NOT_BETTER:
                return False
            if process.returncode:
                errors.seek(0)
                lines = errors.read().strip().splitlines() or ["it was killed"]
                raise HeadspanError(lines[-1])
        return True
