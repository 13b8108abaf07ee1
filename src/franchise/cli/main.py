"""`franchise`: the entry point, and what every command shares.

Exit codes: 0 success, 1 internal error, 2 invalid input or usage, 130 interrupted.

Only typer and the errors are imported here; each command imports what it needs when it runs, so that
``franchise --help`` answers at once.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated

import typer

from franchise import __version__
from franchise.cli.compare import compare
from franchise.cli.data import data
from franchise.cli.demo import demo
from franchise.cli.effect import effect
from franchise.cli.evaluate import evaluate
from franchise.cli.export import export
from franchise.cli.exposures import exposures
from franchise.cli.fit import fit
from franchise.cli.generate import generate
from franchise.cli.infer import infer
from franchise.cli.match import match
from franchise.cli.option_names import in_options
from franchise.cli.report import report
from franchise.cli.reproduce import reproduce
from franchise.cli.resume import resume
from franchise.cli.samplers import samplers
from franchise.cli.text_segments import segments
from franchise.cli.topics import topics
from franchise.cli.update import update
from franchise.errors import InputError

DONE, OUR_FAULT, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

_DEBUG = "FRANCHISE_DEBUG"

app = typer.Typer(
    name="franchise",
    help="Bayesian topic models and clustering for grouped data, with uncertainty.",
    no_args_is_help=True,
    rich_markup_mode="markdown",  # lines of a paragraph run on
    pretty_exceptions_enable=False,
)
_COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Fit": (fit, resume, update, compare),
    "Look": (topics, segments, report, exposures, effect, match, export, infer, evaluate),
    "Learn": (demo, data, generate, samplers, reproduce),
}
for _panel, _commands in _COMMANDS.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"franchise {__version__}")
        raise typer.Exit


@app.callback()
def _shared(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", metavar="", help="Show a full traceback on errors.", envvar=_DEBUG),
    ] = False,
) -> None:
    if debug:
        os.environ[_DEBUG] = "1"


def main() -> None:
    """Run the command that the arguments name, and end the process with its exit code."""
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a console may lack characters of a topic's words
            stream.reconfigure(errors="replace")
    try:
        app()
    except InputError as error:
        _end(f"error: {in_options(str(error))}", BAD_INPUT, error)
    except KeyboardInterrupt as error:
        _end("interrupted", INTERRUPTED, error)
    except SystemExit as ending:
        if ending.code == INTERRUPTED:  # typer has seen the interruption first, and is silent about it
            print("interrupted", file=sys.stderr)
        raise
    except Exception as error:
        _end(
            f"internal error: {type(error).__name__}: {error}\n"
            "This is a bug in franchise. Please report it, with the traceback that `franchise --debug ...` prints.",
            OUR_FAULT,
            error,
        )


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning of the library in one line, without its place in the code."""
    print(f"warning: {in_options(str(message))}", file=sys.stderr)


def _end(message: str, code: int, error: BaseException) -> None:
    if os.environ.get(_DEBUG):
        import traceback

        traceback.print_exception(error)
    print(message, file=sys.stderr)
    sys.exit(code)
