"""Counts of the code base: code lines, files, longest file and function, and the hops of the main calls.

    python -m tests.layout            # lines and files
    python -m tests.layout --hops     # also the hops of fr.sample, posterior.report and fr.resume

A code line is neither blank nor only a comment nor part of a docstring.  A hop is a first call from one file of the
package into another: the number of distinct pairs (caller file, callee file) on a real run.  A two-way pair is a
pair of files of different folders that call each other.
"""

from __future__ import annotations

import ast
import io
import sys
import tempfile
import threading
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "franchise"


def modules() -> list[Path]:
    """Return every Python file of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    """Return the path of a file in the package."""
    return path.relative_to(PACKAGE).as_posix()


def room_of(path: Path) -> str:
    """Return the folder of a file, directly in the package; "" for the modules beside the folders."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the lines of docstrings, and of strings that document a constant."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def code_lines(path: Path) -> int:
    """Count the lines with code."""
    text = path.read_text(encoding="utf-8")
    ignored = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in ignored and token.type != tokenize.ENDMARKER:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(tree_of(path)))


def file_length(path: Path) -> int:
    """Count the lines of a file without its docstrings."""
    return len(path.read_text(encoding="utf-8").splitlines()) - len(docstring_lines(tree_of(path)))


def function_lengths(path: Path) -> Iterator[tuple[str, int]]:
    """Yield name and number of lines of every function and method, with the signature, without the docstring."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                length -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            yield node.name, length


class Hops(NamedTuple):
    """Calls between files of the package."""

    pairs: frozenset[tuple[str, str]]

    @property
    def two_way(self) -> list[tuple[str, str]]:
        """Pairs of files of different folders that call each other."""
        return sorted(
            (one, other)
            for one, other in self.pairs
            if one < other and (other, one) in self.pairs and one.split("/")[0] != other.split("/")[0]
        )


def hops_of(call: Callable[[], object]) -> Hops:
    """Run a function, and record the first calls from each file of the package into each other."""
    pairs: set[tuple[str, str]] = set()
    inside = f"{PACKAGE}/"
    own: dict[str, str | None] = {}

    def file_of(frame: FrameType) -> str | None:
        name = frame.f_code.co_filename
        if name not in own:
            own[name] = name.removeprefix(inside) if name.startswith(inside) else None
        return own[name]

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event != "call" or frame.f_code.co_name == "<module>":
            return
        callee, before = file_of(frame), frame.f_back
        if callee is None or before is None:
            return
        caller = file_of(before)
        if caller is not None and caller != callee:
            pairs.add((caller, callee))

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return Hops(frozenset(pairs))


def measured_hops() -> dict[str, Hops]:
    """Return the hops of the main calls on 60 documents, one worker, with compiled kernels."""
    import numpy as np

    import franchise as fr

    rng = np.random.default_rng(0)
    documents = [[f"w{word}" for word in rng.integers(0, 40, 30)] for _ in range(60)]
    settings = {"draws": 10, "warmup": 10, "chains": 2, "workers": 1, "progress": False}
    corpus = fr.Corpus.from_tokens(documents)
    with tempfile.TemporaryDirectory() as folder:
        run, page = Path(folder) / "run", Path(folder) / "report.html"
        posterior = fr.sample(corpus, run_dir=run, **settings)
        fr.resume(run, draws=11).report(page)  # compiles, and imports everything
        return {
            "fr.sample(corpus)": hops_of(lambda: fr.sample(corpus, **settings)),
            "posterior.report(path)": hops_of(lambda: posterior.report(page)),
            "fr.resume(run)": hops_of(lambda: fr.resume(run, draws=12)),
        }


def report_lines() -> Iterator[str]:
    """Yield the counts of files and lines as text."""
    lines, files = Counter[str](), Counter[str]()
    for path in modules():
        lines[room_of(path)] += code_lines(path)
        files[room_of(path)] += 1
    yield f"{'folder':<14}{'files':>6}{'code lines':>12}"
    for room, count in sorted(lines.items()):
        yield f"{room or '(top)':<14}{files[room]:>6}{count:>12,}"
    yield f"{'all':<14}{files.total():>6}{lines.total():>12,}"
    yield f"modules beside the folders: {files['']}"
    longest = max(modules(), key=file_length)
    yield f"longest file: {name_of(longest)}, {file_length(longest)} lines"
    length, name, path = max(
        (size, name, path) for path in modules() for name, size in function_lengths(path)
    )
    yield f"longest function: {name} in {name_of(path)}, {length} lines"


def main() -> None:
    """Print the counts."""
    for line in report_lines():
        print(line)
    if "--hops" in sys.argv:
        for call, hops in measured_hops().items():
            files = {file for pair in hops.pairs for file in pair}
            print(f"{call}: {len(hops.pairs)} hops, {len(files)} files, {len(hops.two_way)} two-way pairs")
            for one, other in hops.two_way:
                print(f"    {one} <> {other}")


if __name__ == "__main__":
    main()
