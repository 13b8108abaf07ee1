"""The concentrations that a command names: one for all levels of groups, or one for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from franchise.errors import InputError

if TYPE_CHECKING:
    from franchise.cli.options import Model
    from franchise.data.grouped import GroupedData


def check_concentrations(model: Model) -> None:
    """Raise InputError for values of --alpha, --alpha-per and --gamma that are not allowed for any data."""
    from franchise.cli.library_arguments import number_or_gamma
    from franchise.validation import check_choice

    number_or_gamma("--gamma", model.gamma)
    _parsed(model.alpha)
    if model.alpha_per is not None:
        check_choice("--alpha-per", model.alpha_per, ["level", "parent"])


def concentrations_for(model: Model, data: GroupedData) -> dict[str, Any]:
    """Return alpha, gamma and, for trees of groups, alpha_per; a level without its own value has that of all."""
    from franchise.cli.library_arguments import number_or_gamma

    for_all, by_level = _parsed(model.alpha)
    given: dict[str, Any] = {"alpha": for_all, "gamma": number_or_gamma("--gamma", model.gamma)}
    tree = data.tree
    if tree is None:
        if by_level or model.alpha_per is not None:
            option = "alpha" if by_level else "alpha-per"
            raise InputError(
                f"--{option} has levels, but the data have one level of groups. Name several with "
                "--group cohort/patient/sample, or with --levels for documents."
            )
        return given
    unknown = [level for level in by_level if level not in tree.levels]
    if unknown:
        raise InputError(
            f"--alpha must name a level of the groups ({', '.join(tree.levels)}); got {unknown[0]!r}."
        )
    if by_level:
        given["alpha"] = {**dict.fromkeys(tree.levels, for_all), **by_level}
    return given if model.alpha_per is None else {**given, "alpha_per": model.alpha_per}


def _parsed(entries: list[str]) -> tuple[Any, dict[str, Any]]:
    """Return the value for all levels, and those of single ones."""
    from franchise.cli.library_arguments import number_or_gamma
    from franchise.cli.options import ALPHA

    for_all, by_level = number_or_gamma("--alpha", ALPHA), {}
    for entry in entries:
        level, equals, value = entry.rpartition("=")
        if not equals:
            for_all = number_or_gamma("--alpha", value)
        elif level.strip():
            by_level[level.strip()] = number_or_gamma(f"--alpha {level.strip()}", value)
        else:
            raise InputError(f"--alpha must be a number, SHAPE,RATE or LEVEL=VALUE; got {entry!r}.")
    return for_all, by_level
