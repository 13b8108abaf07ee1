"""Write the commands and their options into command-line.md, as `--help` has them.

    python docs/command_line.py

A test fails if the page is out of date.
"""

from __future__ import annotations

from pathlib import Path

import typer

from franchise.cli.main import _COMMANDS, app

PAGE = Path(__file__).with_name("command-line.md")
BEGIN = "<!-- The rest is written by `python docs/command_line.py`. -->"


def page() -> str:
    """Return the text of the page: what is there by hand, and the commands."""
    by_hand = PAGE.read_text(encoding="utf-8").partition(BEGIN)[0]
    return f"{by_hand}{BEGIN}\n\n{commands_as_markdown()}"


def commands_as_markdown() -> str:
    """Return one section per command: what it does, its arguments and its options."""
    group = typer.main.get_command(app)
    parts: list[str] = []
    for panel, functions in _COMMANDS.items():
        parts.append(f"## {panel}\n")
        for function in functions:
            command = group.commands[function.__name__]  # type: ignore[attr-defined]
            parts.append(_section(function.__name__, command))
    return "\n".join(parts)


def _section(name: str, command: typer.core.TyperCommand) -> str:
    """Return the section of one command."""
    arguments = [entry for entry in command.params if entry.param_type_name == "argument"]
    options = [entry for entry in command.params if entry.param_type_name == "option"]
    usage = " ".join(
        entry.name.upper() if entry.required else f"[{entry.name.upper()}]" for entry in arguments
    )
    lines = [
        f"### franchise {name}\n",
        f"```text\nfranchise {name} {usage + ' ' if usage else ''}[OPTIONS]\n```\n",
        f"{command.help}\n",
    ]
    if arguments:
        lines.append("| argument | meaning |\n|---|---|")
        lines += [f"| `{entry.name.upper()}` | {_text(entry.help)} |" for entry in arguments]
        lines.append("")
    if options:
        lines.append("| option | meaning | default |\n|---|---|---|")
        lines += [_option_row(entry) for entry in options]
        lines.append("")
    return "\n".join(lines)


def _option_row(option: typer.core.TyperOption) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    flag = option.is_flag or option.default in (None, (), [])
    default = "" if flag else f"`{option.default}`"
    return f"| {names} | {_text(option.help)} | {default} |"


def _text(help: str | None) -> str:
    return " ".join((help or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
