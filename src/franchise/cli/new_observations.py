"""New observations for a run that was fitted to a table of observations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from franchise.errors import InputError

if TYPE_CHECKING:
    from franchise.cli.options import Source
    from franchise.data.corpus import Corpus
    from franchise.data.groups import Groups
    from franchise.posterior.base import Posterior


def read_observations(source: Source, posterior: Posterior[Any]) -> Corpus | Groups | None:
    """Return new observations in their groups; None if the run was fitted to documents."""
    from franchise.cli.library_arguments import read_data, refuse
    from franchise.cli.options import Words
    from franchise.data.groups import Groups

    if not isinstance(posterior.data, Groups):
        refuse("is for runs of tables of observations", group=source.group, columns=source.columns)
        return None
    if source.group is None:
        raise InputError(
            "the run was fitted to a table of observations. Add --group COLUMN to read one like it."
        )
    return read_data(source, Words())
