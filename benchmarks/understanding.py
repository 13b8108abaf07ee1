"""What it costs to understand a run: processor seconds and memory of the tables and the report.

    python benchmarks/understanding.py [--data FOLDER] [--corpus newsgroups|abstracts|addresses] [--run FOLDER]
                                       [--topics K] [--warmup N] [--draws N] [--markdown]

A short run of two chains is fitted once, by the sampler "finite" with 110 topics: about 190 consensus topics, as
the chains do not agree.  `--topics 0` takes the default sampler, with more topics.  With --run it stays
in that folder and is used again.  A copy without stored numbers of topics is then read by new processes, one after
another:

first         load the run, `topics()`, `topic_info()` and `report()`; topics are matched here
again         the same in a second process, which finds the matching in the run directory
report only   load a fresh copy and write the report, as `franchise report RUN` does

Seconds are processor seconds of a step, on all cores; "import" is the start of the process.  Memory is the largest
resident set.  Kernels are compiled before, by another process.

FOLDER (or FRANCHISE_DATA) has 20newsgroups and arxiv_cs_abstracts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from choi import NEWSGROUPS
from corpora import find_file

import franchise as fr
from franchise.posterior.stored_numbers import SETTING
from franchise.storage.run_directory import RunDirectory

ABSTRACTS = "arxiv_cs_abstracts/arxiv_cs.jsonl.gz"
CORPORA: dict[str, Callable[[str | None], fr.Corpus]] = {
    "newsgroups": lambda data: fr.read_corpus(find_file(data, NEWSGROUPS), text="text"),
    "abstracts": lambda data: fr.read_corpus(find_file(data, ABSTRACTS), text="abstract"),
    "addresses": lambda _: fr.datasets.load("sotu"),
}
STEPS = ("import", "load", "topics", "topic_info", "report")


def fit(folder: Path, asked: argparse.Namespace) -> None:
    """Write a short run into a folder, unless there is one."""
    if (folder / "run.json").is_file():
        return
    sampler = {"sampler": "finite", "finite_topics": asked.topics} if asked.topics else {}
    corpus = CORPORA[asked.corpus](asked.data)
    sweeps = {"warmup": asked.warmup, "draws": asked.draws}
    fr.sample(corpus, chains=2, progress=False, run_dir=folder, **sweeps, **sampler)


@contextmanager
def copied(folder: Path) -> Iterator[Path]:
    """Yield a copy of a run without stored numbers of topics."""
    with tempfile.TemporaryDirectory() as place:
        run = RunDirectory.open(shutil.copytree(folder, Path(place, "run")))
        if SETTING in run.settings:
            raise SystemExit(f"{folder} has numbers of topics already: give another folder with --run")
        yield run.path


# --- one process --------------------------------------------------------------------------------------------


def measure(folder: Path, steps: list[str]) -> Iterator[dict[str, Any]]:
    """Yield processor seconds and peak memory of each step, in this process."""
    posterior: Any = None
    report = folder.with_suffix(".html")
    work: dict[str, Callable[[], Any]] = {
        "topics": lambda: posterior.topics(),
        "topic_info": lambda: posterior.topic_info(),
        "report": lambda: posterior.report(report),
    }
    yield used("import", 0.0)
    for step in steps:
        before = time.process_time()
        if step == "load":
            posterior = fr.load(folder)
        else:
            work[step]()
        yield used(step, before)


def used(step: str, before: float) -> dict[str, Any]:
    """Return what a step used, given the processor seconds before it."""
    return {"step": step, "seconds": time.process_time() - before, "bytes": peak_memory()}


def peak_memory() -> int:
    """Return the largest resident set in bytes; where there is /proc, without that of the process that forked."""
    if Path("/proc/self/status").exists():
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def in_new_process(folder: Path, steps: list[str]) -> dict[str, dict[str, Any]]:
    """Return the figures of each step in a process of its own."""
    command = [sys.executable, __file__, "--measure", str(folder), *steps]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=os.environ)
    return {row["step"]: row for row in map(json.loads, done.stdout.splitlines())}


# --- the table ----------------------------------------------------------------------------------------------

HEADER = ["process", *STEPS, "total, s", "peak, GB"]


def cells(name: str, found: dict[str, dict[str, Any]]) -> list[str]:
    """Return the row of a process."""
    seconds = [f"{found[step]['seconds']:.1f}" if step in found else "" for step in STEPS]
    total = sum(row["seconds"] for row in found.values())
    return [name, *seconds, f"{total:.1f}", f"{max(row['bytes'] for row in found.values()) / 1e9:.2f}"]


def shown(row: list[str], markdown: bool) -> str:
    """Return a row as a line of text."""
    return f"| {' | '.join(row)} |" if markdown else "".join(cell.ljust(13) for cell in row).rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with 20newsgroups and arxiv_cs_abstracts")
    parser.add_argument("--corpus", choices=CORPORA, default="newsgroups")
    parser.add_argument("--run", type=Path, help="folder of the run, which is made if it is not there")
    parser.add_argument("--topics", type=int, default=110, help="topics of a draw; 0: learned")
    parser.add_argument("--warmup", type=int, default=60)
    parser.add_argument("--draws", type=int, default=64)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        for row in measure(Path(asked.measure[0]), asked.measure[1:]):
            print(json.dumps(row), flush=True)
        return
    with tempfile.TemporaryDirectory() as place:
        folder = asked.run or Path(place, "run")
        fit(folder, asked)
        compare(folder, asked.markdown)


def compare(folder: Path, markdown: bool) -> None:
    """Print the figures of all processes."""
    steps = ["load", "topics", "topic_info", "report"]
    with copied(folder) as copy:
        in_new_process(copy, steps)  # compiles
    print(shown(HEADER, markdown))
    if markdown:
        print(shown(["---"] * len(HEADER), markdown))
    with copied(folder) as copy:
        for name in ("first", "again"):
            print(shown(cells(name, in_new_process(copy, steps)), markdown), flush=True)
        topics = len(fr.load(copy).topics())
    with copied(folder) as copy:
        print(shown(cells("report only", in_new_process(copy, ["load", "report"])), markdown), flush=True)
    posterior = fr.load(folder)
    kept = sum(map(len, posterior.all_kept_draws))
    print(f"{topics} consensus topics of {kept} stored draws of {posterior.data!r}")


if __name__ == "__main__":
    main()
