"""`franchise resume`: go on with a run."""

from __future__ import annotations

from typing import Annotated

import typer

from franchise.cli import options


def resume(
    run: options.Run,
    draws: Annotated[
        int | None, typer.Option(help="Total draws per chain [default: as originally requested].")
    ] = None,
    workers: options.Workers = None,
    engine: options.Engine = "threads",
    address: options.Address = None,
    actors: options.Actors = None,
    time_limit: options.TimeLimit = None,
    checkpoint: options.Checkpoint = 60.0,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Go on with a run that was interrupted, or make it longer; the result is that of one never interrupted."""
    from franchise.cli.library_arguments import engine_of
    from franchise.cli.render import make_console, show_fit
    from franchise.sampling import resume as go_on

    console = make_console()
    console.quiet = quiet or json
    posterior = go_on(
        run,
        draws,
        **engine_of(engine, address, actors, workers),
        time_limit=time_limit,
        checkpoint_interval=checkpoint,
        progress=False if console.quiet else None,
    )
    show_fit(console, posterior, run, json)
