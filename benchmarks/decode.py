"""The speed of exact inference: one thread, medians, everything in one process.

    python benchmarks/decode.py [--repeats N] [--json FILE] [--plot FILE]

Compares the compiled best tree over headed spans with the same loops in C++ and with width-by-width
tensors whose backpointers come from autograd; Eisner's algorithm and sums over all trees with the
best tree; two threads with one; and measures memory beyond the scores.
"""

import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import torch
from numba import njit

from autograd_yardstick import best_spans
from headspan.inference import arc, headed_span, joint
from headspan.registries import STRUCTURES
from reporting import arguments, medians, table, write_json

HERE = Path(__file__).parent
FACTORED = {name: structure for name, structure in STRUCTURES.items() if structure.factored}


def compile_reference() -> Any:
    """The C++ loops as a function, or None where there is no compiler."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        print("no C++ compiler was found; the comparison with C++ is left out", file=sys.stderr)
        return None
    library = Path(tempfile.mkdtemp()) / "decode_reference.so"
    flags = ["-O3", "-march=native", "-ffast-math", "-std=c++17", "-shared", "-fPIC"]
    source = str(HERE / "decode_reference.cpp")
    subprocess.run([compiler, *flags, source, "-o", str(library)], check=True)
    function = ctypes.CDLL(str(library)).decode_batch
    floats = np.ctypeslib.ndpointer(np.float32, flags="C")
    heads = np.ctypeslib.ndpointer(np.int64, flags="C")
    function.argtypes = [floats, ctypes.c_int64, ctypes.c_int64, heads]
    return function


def batch_of(n: int) -> int:
    """Enough sentences that a call is long against its overhead, in some ten megabytes."""
    return max(2, min(16, 4_000_000 // (n + 1) ** 3))


def best_trees(lengths: list[int], repeat: int) -> list[dict[str, Any]]:
    """Microseconds per sentence for the best tree, ours and others."""
    reference = compile_reference()
    results = []
    for n in lengths:
        size = batch_of(n)
        rng = np.random.default_rng(n)
        spans = rng.standard_normal((size, n + 1, n + 1, n + 1), dtype=np.float32)
        turned = np.ascontiguousarray(spans.swapaxes(2, 3))
        heads = np.zeros((size, n), np.int64)
        arcs = rng.standard_normal((size, n + 1, n + 1), dtype=np.float32)
        ours = headed_span.best_tree(spans, threads=1)
        view = turned.swapaxes(2, 3)
        candidates = {
            "ours": partial(headed_span.best_tree, spans, threads=1),
            "ours, j contiguous": partial(headed_span.best_tree, view, threads=1),
            "ours, alone": partial(headed_span.best_tree, spans[0], threads=1),
            "eisner": partial(arc.best_tree, arcs, threads=1),
        }
        if reference is not None:
            reference(turned, size, n, heads)
            np.testing.assert_array_equal(heads, ours.heads)
            candidates["c++"] = partial(reference, turned, size, n, heads)
        times = medians(candidates, repeat)
        tensor = torch.from_numpy(spans)
        ends = torch.full((size,), n)
        chosen = best_spans(tensor, ends).numpy() > 0.5
        for b, tree in enumerate(ours.spans):
            assert all(chosen[b, i, j, k] for k, (i, j) in enumerate(tree, 1))
        slow = medians(
            {
                "autograd": partial(best_spans, tensor, ends),
                "autograd, alone": partial(best_spans, tensor[:1], ends[:1]),
            },
            max(3, repeat // 10),
        )
        micro = {name: 1e6 * t / size for name, t in times.items()}
        micro["ours, alone"] = 1e6 * times["ours, alone"]
        micro["autograd"] = 1e6 * slow["autograd"] / size
        micro["autograd, alone"] = 1e6 * slow["autograd, alone"]
        results.append({"n": n, "sentences": size, "microseconds": micro})
    return results


def sums(lengths: list[int], repeat: int) -> list[dict[str, Any]]:
    """Sums over all trees, as multiples of the best tree."""
    results = []
    for n in lengths:
        size = max(2, batch_of(n) // 2)
        rng = np.random.default_rng(n)
        spans = rng.standard_normal((size, n + 1, n + 1, n + 1), dtype=np.float32)
        arcs = rng.standard_normal((size, n + 1, n + 1), dtype=np.float32)
        times = medians(
            {
                "span best": partial(headed_span.best_tree, spans, threads=1),
                "span log Z": partial(headed_span.log_partition, spans, threads=1),
                "span marginals": partial(headed_span.marginals, spans, threads=1, arcs=False),
                "span + arc marginals": partial(headed_span.marginals, spans, threads=1),
                "arc best": partial(arc.best_tree, arcs, threads=1),
                "arc log Z": partial(arc.log_partition, arcs, threads=1),
                "arc marginals": partial(arc.marginals, arcs, threads=1),
                "joint best": partial(joint.best_tree, spans, arcs, threads=1),
            },
            max(3, repeat // 3),
        )
        micro = {name: 1e6 * t / size for name, t in times.items()}
        results.append({"n": n, "sentences": size, "microseconds": micro})
    return results


def structures(lengths: list[int], repeat: int) -> list[dict[str, Any]]:
    """Best tree and marginals of every structure, in turn."""
    results = []
    for n in lengths:
        size = batch_of(n)
        rng = np.random.default_rng(n)
        candidates = {}
        for name, structure in FACTORED.items():
            if structure.exponent > 3 and n > 80:
                continue  # takes too long to be of interest
            shapes = [(size, *piece.shape(n)) for piece in structure.pieces]
            scores = [rng.standard_normal(shape, dtype=np.float32) for shape in shapes]
            candidates[f"{name} best"] = partial(structure.best_tree, *scores, threads=1)
            candidates[f"{name} marginals"] = partial(structure.marginals, *scores, threads=1)
        times = medians(candidates, max(3, repeat // 6))
        micro = {name: 1e6 * t / size for name, t in times.items()}
        results.append({"n": n, "sentences": size, "microseconds": micro})
    return results


@njit(nogil=True)
def _spin(rounds: int) -> float:
    """Work for one core that touches no memory."""
    x = 0.5
    for _ in range(rounds):
        x = 3.7 * x * (1.0 - x)
    return x


def _spin_twice() -> None:
    both = [Thread(target=_spin, args=(3_000_000,)) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()


def threads(repeat: int) -> dict[str, Any]:
    """One thread and two on 256 sentences of mixed lengths."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 61, size=256)
    spans = rng.standard_normal((256, 61, 61, 61), dtype=np.float32)
    # How much a second thread can bring at all just now: other processes may hold the cores.
    free = medians({"one": partial(_spin, 6_000_000), "two": _spin_twice}, max(5, repeat // 4))
    times = medians(
        {
            "best, one": partial(headed_span.best_tree, spans, lengths=lengths, threads=1),
            "best, two": partial(headed_span.best_tree, spans, lengths=lengths, threads=2),
            "log Z, one": partial(headed_span.log_partition, spans, lengths=lengths, threads=1),
            "log Z, two": partial(headed_span.log_partition, spans, lengths=lengths, threads=2),
        },
        max(5, repeat // 2),
    )
    # Processor time hardly depends on who else runs: if two threads use no more of it than one,
    # they are done in half the time wherever two cores are free.
    used = []
    for count in (1, 2):
        start = time.process_time()
        for _ in range(max(5, repeat // 2)):
            headed_span.best_tree(spans, lengths=lengths, threads=count)
        used.append(time.process_time() - start)
    return {
        "milliseconds": {name: 1e3 * t for name, t in times.items()},
        "processor time, two threads / one": used[1] / used[0],
        "possible speedup": free["one"] / free["two"],
        "best speedup": times["best, one"] / times["best, two"],
        "log Z speedup": times["log Z, one"] / times["log Z, two"],
    }


_MEMORY = """
import sys, numpy as np
from headspan.inference import arc, headed_span
name, n = sys.argv[1], int(sys.argv[2])
def status(key):
    for line in open("/proc/self/status"):
        if line.startswith(key):
            return int(line.split()[1])
module = headed_span if name == "span" else arc
shape = (n + 1,) * (3 if name == "span" else 2)
scores = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
module.best_tree(scores[:4, :4, :4] if name == "span" else scores[:4, :4])
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
module.best_tree(scores, threads=1)
print(status("VmHWM") - before)
"""


def memory(lengths: list[int]) -> list[dict[str, Any]]:
    """Kilobytes that the best tree takes beyond its scores, each in a process of its own."""
    if not Path("/proc/self/clear_refs").exists():
        return []
    results = []
    for n in lengths:
        found = {"n": n}
        for name in ("span", "arc"):
            command = [sys.executable, "-c", _MEMORY, name, str(n)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found[name] = int(done.stdout)
        results.append(found)
    return results


def plot(path: Path, trees: list[dict[str, Any]]) -> None:
    """Time against length for everything that finds the best tree."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    n = [row["n"] for row in trees]
    for name in ("autograd", "ours", "eisner", "c++"):
        if all(name in row["microseconds"] for row in trees):
            label = {"ours": "headed spans", "eisner": "Eisner", "c++": "C++ loops"}.get(name, name)
            axes.loglog(n, [row["microseconds"][name] for row in trees], marker="o", label=label)
    axes.set_xlabel("words")
    axes.set_ylabel("microseconds per sentence, one thread")
    axes.set_xticks(n, [str(x) for x in n])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    print(f"wrote {path}")


def main() -> None:
    parser = arguments(__doc__, repeats=60)
    parser.add_argument("--plot", type=Path, help="draw time against length here")
    options = parser.parse_args()
    torch.set_num_threads(1)
    repeat = options.repeats
    trees = best_trees([20, 40, 80, 160], repeat)
    rows = []
    for row in trees:
        t = row["microseconds"]
        cpp = t.get("c++")
        ours = [t["ours"], t["ours, j contiguous"]]
        eisner = [t["eisner"], t["eisner"] / t["ours"]]
        rows.append([row["n"], *ours, cpp, cpp and t["ours"] / cpp, *eisner])
    header = ["n", "ours", "ours (j)", "C++", "ours/C++", "Eisner", "Eisner/ours"]
    table("Best tree, µs per sentence in a batch", header, rows)
    rows = []
    for row in trees:
        t = row["microseconds"]
        batch = [t["ours"], t["autograd"], t["autograd"] / t["ours"]]
        alone = [t["ours, alone"], t["autograd, alone"], t["autograd, alone"] / t["ours, alone"]]
        rows.append([row["n"], *batch, *alone])
    header = ["n", "ours", "autograd", "x", "ours, alone", "autograd, alone", "x"]
    table("Against backpointers from autograd, µs per sentence", header, rows)
    every = structures([20, 40, 80, 160], repeat)
    for what in ("best", "marginals"):
        names = [f"{name} {what}" for name in FACTORED]
        rows = [[row["n"], *(row["microseconds"].get(name) for name in names)] for row in every]
        title = "Best tree" if what == "best" else "Log Z with marginals of all pieces and arcs"
        table(f"{title} of every structure, µs per sentence", ["n", *FACTORED], rows)
    summed = sums([20, 40, 80], repeat)
    rows = []
    for row in summed:
        t = row["microseconds"]
        for name in ("span log Z", "span marginals", "span + arc marginals", "joint best"):
            rows.append([row["n"], name, t[name], t[name] / t["span best"]])
        for name in ("arc log Z", "arc marginals"):
            rows.append([row["n"], name, t[name], t[name] / t["arc best"]])
    table("Sums, µs per sentence and multiples of the best tree", ["n", "what", "µs", "x"], rows)
    pair = threads(repeat)
    rows = [[name, value] for name, value in pair["milliseconds"].items()]
    rows += [[name, value] for name, value in pair.items() if name != "milliseconds"]
    table("256 sentences of 5 to 60 words, ms", ["what", "ms"], rows)
    kilobytes = memory([100, 200, 400])
    rows = [[r["n"], r["span"], r["arc"], 1024 * r["span"] / r["n"] ** 2] for r in kilobytes]
    table("Memory beyond the scores, KB", ["n", "spans", "arcs", "bytes per cell (spans)"], rows)
    if options.plot:
        plot(options.plot, trees)
    results = {
        "best tree": trees,
        "structures": every,
        "sums": summed,
        "threads": pair,
        "memory": kilobytes,
    }
    write_json(options.json, results)


if __name__ == "__main__":
    main()
