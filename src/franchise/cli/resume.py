"""`franchise resume`: continue a run."""

from __future__ import annotations

from typing import Annotated

import typer

from franchise.cli.options import Execution, Output, Run, with_options


@with_options()
def resume(
    run: Run,
    execution: Execution,
    output: Output,
    draws: Annotated[
        int | None, typer.Option(help="Total draws per chain [default: as originally requested].")
    ] = None,
) -> None:
    """Continue an interrupted run, or extend a finished one. Results match an uninterrupted run exactly."""
    from franchise.cli.library_arguments import check_numbers, run_arguments
    from franchise.cli.render import make_console, show_fit
    from franchise.sampling import resume as resume_run

    check_numbers(draws=draws)
    console = make_console(output.quiet or output.json)
    posterior = resume_run(run, draws, **run_arguments(execution), progress=False if console.quiet else None)
    show_fit(console, posterior, run, output.json)
