"""Run the code of a page of the documentation, at a small size.

Commands are those of the page; only the default numbers of draws, warm-up sweeps and chains are smaller.

Python blocks of a page share one namespace; lines of `sh` and `console` blocks run where they stand between them.
A block after the comment `<!-- not run: REASON -->` is not run.
"""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import typer

import franchise as fr

ROOT = Path(__file__).parents[2]
SMALL = {"draws": 6, "warmup": 6, "chains": 2}
BLOCK = re.compile(
    r"(<!-- not run: [^\n]*-->\n)?^```(python|sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL
)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Yield "python" or "shell", and the code, of every block to run; of shell blocks each line by itself."""
    for skipped, kind, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if skipped:
            continue
        if kind == "python":
            yield kind, code
        else:
            lines = (line.removeprefix("$ ").split("  #")[0].strip() for line in code.splitlines())
            yield from (("shell", line) for line in lines if line)


def enter_folder(folder: Path, monkeypatch) -> None:
    """Go to a folder with the files that pages read; defaults of draws and chains are small."""
    for callable in (fr.sample, fr.HDP.__init__, fr.HTMM.__init__):
        defaults = inspect.unwrap(callable).__kwdefaults__
        for name, value in SMALL.items():
            monkeypatch.setitem(defaults, name, value)
    _write_files(folder)
    monkeypatch.chdir(folder)


def _write_files(folder: Path) -> None:
    """Write the files that the pages read: speeches in two formats, new texts, counts."""
    speeches = fr.datasets.table("sotu").iloc[::12].reset_index(drop=True)
    speeches["text"] = [text[:8000] for text in speeches["text"]]
    (folder / "speeches").mkdir()
    for name, text in zip(speeches["date"], speeches["text"], strict=True):
        (folder / "speeches" / f"{name}.txt").write_text(text, encoding="utf-8")
    speeches.to_csv(folder / "speeches.csv", index=False)
    new = [" ".join(text.split()) for text in speeches["text"][:3]]
    (folder / "new.txt").write_text("\n".join(new), encoding="utf-8")
    fr.datasets.table("ants")[["study", "count"]].to_csv(folder / "counts.csv", index=False)


def run_page(page: Path) -> None:
    """Run every block of a page in the current folder."""
    namespace: dict[str, object] = {"__name__": "page"}
    for number, (kind, code) in enumerate(blocks(page), start=1):
        if kind == "python":
            exec(compile(code, f"{page.name}, block {number}", "exec"), namespace)
        else:
            run_line(code)


def run_line(line: str) -> None:
    """Run a line for a shell: commands of franchise in this process, those of make only as far as `make -n`."""
    program, *arguments = shlex.split(line)
    if program == "franchise":
        run_command(arguments)
    elif program == "make":
        subprocess.run(["make", "-n", *arguments], cwd=ROOT, check=True, capture_output=True)
    elif program == "python":
        assert (ROOT / arguments[0]).is_file(), line
    else:
        assert line.startswith("pip install"), line
        check_install(arguments[1:])


def run_command(arguments: list[str]) -> None:
    """Run a command of franchise with small defaults."""
    from franchise.cli.main import app

    group = typer.main.get_command(app)
    for command in group.commands.values():  # type: ignore[attr-defined]
        for option in command.params:
            if option.name in SMALL:
                option.default = SMALL[option.name]
            if option.name == "open":
                option.callback = lambda *_: False
    group.main(arguments, prog_name="franchise", standalone_mode=False)


def check_install(what: list[str]) -> None:
    """Whether everything that is to be installed is the package itself, with extras that it has."""
    extras = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    for target in what:
        package, _, names = target.rstrip("]").partition("[")
        assert package in (".", "franchise"), target
        assert all(name in extras for name in names.split(",") if name), target
