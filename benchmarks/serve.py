"""The service under load: words per second and waiting times with 1, 8 and 64 clients.

    python benchmarks/serve.py [FILE] [--model MODEL] [--seconds S] [--clients N,N…] [--json FILE]

FILE is a treebank, by default the dev part of UD English EWT 2.16 in ../shared. Its sentences are
sent as raw text, one per request, by clients that send the next once they have an answer. The
service runs in a process of its own, on the loopback address. The last row but one is a service
with a short queue, which must refuse requests with 503 and no other error. `parser alone` parses
the same texts in one call without a service, the second time of two.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from headspan import conllu, load
from reporting import SHARED, arguments, needed, table, write_json

DEFAULT = SHARED / "treebanks/ud-2.16/en_ewt/en_ewt-ud-dev.conllu"
QUEUE = 200  # words that may wait in the overloaded service


@dataclass
class Load:
    """The answers to all clients together."""

    seconds: float = 0.0
    waited: list[float] = field(default_factory=list)
    """Seconds until each answer with status 200."""
    statuses: Counter[int] = field(default_factory=Counter)
    bodies: list[bytes] = field(default_factory=list)

    def row(self) -> dict[str, Any]:
        words = sum(len(s["words"]) for body in self.bodies for s in json.loads(body)["sentences"])
        p50, p95, p99 = np.percentile(self.waited or [np.nan], [50, 95, 99]) * 1000
        return {
            "answers": len(self.bodies),
            "words per second": round(words / self.seconds),
            "p50, ms": round(p50, 1),
            "p95, ms": round(p95, 1),
            "p99, ms": round(p99, 1),
            "refused (503)": self.statuses[503],
            "other": sum(self.statuses.values()) - self.statuses[200] - self.statuses[503],
        }


@contextmanager
def service(model: str, *options: str) -> Iterator[int]:
    """Run a service in a process of its own, and yield its port."""
    command = [sys.executable, "-m", "headspan", "serve", "--model", model, "--port", "0"]
    environment = {k: v for k, v in os.environ.items() if k != "HEADSPAN_TOKEN"}
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        if not line:
            sys.exit(f"{' '.join(command)} does not start")
        try:
            yield int(line.rstrip("/\n").rpartition(":")[2])
        finally:
            process.terminate()


def measure(port: int, bodies: list[bytes], clients: int, seconds: float) -> Load:
    """Let so many clients send requests for so long."""
    answers, lock = Load(), threading.Lock()
    end = time.perf_counter() + seconds

    def client(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        text = number
        while time.perf_counter() < end:
            start = time.perf_counter()
            headers = {"Content-Type": "application/json"}
            connection.request("POST", "/parse", bodies[text % len(bodies)], headers)
            answer = connection.getresponse()
            body = answer.read()
            waited = time.perf_counter() - start
            text += clients
            with lock:
                answers.statuses[answer.status] += 1
                if answer.status == 200:
                    answers.waited.append(waited)
                    answers.bodies.append(body)
            if answer.status == 503:
                time.sleep(0.05)  # less than it asks for, to keep the queue full
        connection.close()

    start = time.perf_counter()
    threads = [threading.Thread(target=client, args=(k,)) for k in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answers.seconds = time.perf_counter() - start
    return answers


def alone(model: str, texts: list[str]) -> int:
    """Words per second of the parser without a service, given all texts at once."""
    parser = load(model)
    for _ in range(2):
        start = time.perf_counter()
        parses = parser.parse(list(parser.sentences(f"{text}\n\n" for text in texts)))
        seconds = time.perf_counter() - start
    return round(sum(map(len, parses)) / seconds)


def main() -> None:
    parser = arguments(__doc__, repeats=1)
    parser.add_argument("file", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--model", default="en")
    parser.add_argument("--seconds", type=float, default=10, help="duration of each measurement")
    parser.add_argument("--clients", default="1,8,64", metavar="N,N…", help="numbers of clients")
    options = parser.parse_args()
    clients = [int(number) for number in options.clients.split(",")]
    texts = [s.text for s in conllu.read(needed(options.file)) if 0 < len(s) <= 100]
    bodies = [json.dumps({"text": text}).encode() for text in texts]
    rows: dict[str, dict[str, Any]] = {}
    with service(options.model) as port:
        for number in clients:
            best = max(
                (measure(port, bodies, number, options.seconds) for _ in range(options.repeats)),
                key=lambda answers: len(answers.bodies) / answers.seconds,
            )
            rows[f"{number} client{'s' * (number > 1)}"] = best.row()
    with service(options.model, "--max-words", str(QUEUE), "--max-waiting", str(QUEUE)) as port:
        overloaded = measure(port, bodies, max(clients), options.seconds)
        rows[f"{max(clients)}, {QUEUE} words may wait"] = overloaded.row()
    rows["parser alone"] = {"words per second": alone(options.model, texts[:500])}
    header = list(next(iter(rows.values())))
    title = f"Sentences of {options.file.name} as raw text, one per request"
    table(title, ["", *header], [[k, *(row.get(h) for h in header)] for k, row in rows.items()])
    write_json(options.json, {"rows": rows})


if __name__ == "__main__":
    main()
