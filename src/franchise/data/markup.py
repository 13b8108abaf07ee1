r"""What in texts is not prose: encoded files, and the marks of HTML, LaTeX and Markdown.

It is reported where it is found, and read like all else unless `strip` asks for it to be passed over: then it is
overwritten by spaces, so that all other characters keep their places.

    find_markup(["<p>A cat</p>"])                {"html": [0]}
    blank("<p>A cat</p>", ("html",))             "   A cat    "
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from franchise.errors import InputError
from franchise.validation import check_choice, describe

_UU_LINE = r"M[ -`]{60}"  # 45 bytes, in printable characters without small letters
_BASE64_LINE = r"[A-Za-z0-9+/]{60,76}"
_END = r"[ \t\r]*"

_UUENCODE = re.compile(
    rf"(?:^begin[ ]\d+[ ][^\n]*\n\s*)?(?:^{_UU_LINE}{_END}(?:\n|\Z)){{2,}}"
    rf"(?:^[ -`]{{1,60}}{_END}\n)?(?:^[`]{_END}\n)?(?:^end{_END}$)?",
    re.MULTILINE,
)
_BASE64 = re.compile(
    rf"(?:^{_BASE64_LINE}{_END}\n){{2,}}(?:^[A-Za-z0-9+/]{{1,76}}={{0,2}}{_END}$)?|[A-Za-z0-9+/]{{120,}}={{0,2}}",
    re.MULTILINE,
)
_UU_RUN = re.compile(rf"{_UU_LINE}{_END}\n{_UU_LINE}")  # soon done: begins with a letter
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/]{60}")
_MIXED = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9])", re.DOTALL)
_HTML = re.compile(
    r"</[A-Za-z][\w:.-]*\s*>|<(?:br|p|hr|img)(?:\s[^<>]*)?/?>|&(?:amp|nbsp|lt|gt|quot|apos|[lr][sd]quo|[mn]dash|hellip|#\d{2,5}|#x[\da-f]{2,5});",
    re.IGNORECASE,
)
_APOSTROPHE = r"&(?:#x0*27|#0*39|apos|rsquo|#8217|#x2019);(\w*)"
_HTML_MARKS = re.compile(
    _APOSTROPHE
    + r"|<(script|style)\b.*?</\2\s*>|<!--.*?-->|</?[A-Za-z][^<>@]*>|<[!?][^<>]*>|&(?:[A-Za-z]{2,8}|#\w{2,6});",
    re.IGNORECASE | re.DOTALL,
)
_MATH = r"\$(?=\S)[^$\n]*[\\^_=<>{}][^$\n]*(?<=\S)\$(?!\d)"  # as in pandoc, so that "$5 or $6" is none
_LATEX = re.compile(rf"\\[A-Za-z]{{2,}}\*?(?:\[[^\]\n]*\])?\{{|{_MATH}")
_LATEX_MARKS = re.compile(
    r"\\(?:begin|end|label|ref|eqref|cite\w*|includegraphics|bibliography\w*|usepackage|documentclass)\*?"
    r"(?:\[[^\]]*\])*\{[^{}]*\}|\$\$.*?\$\$|" + _MATH + r"|\\\[.*?\\\]|\\\(.*?\\\)|\\[A-Za-z]+\*?",
    re.DOTALL,
)
_MARKDOWN = re.compile(r"\[[^\]\n]+\]\([^)\s]+\)|^```|^#{1,6} \w", re.MULTILINE)
_MARKDOWN_MARKS = re.compile(r"(?<=\])\([^)\s]+(?:\s+\"[^\"\n]*\")?\)|^```.*$", re.MULTILINE)


class Kind(NamedTuple):
    """What is not prose, of one kind."""

    label: str
    """in words, of several documents"""
    is_there: Callable[[str], bool]
    marks: Callable[[str], Iterable[re.Match[str]]]
    """what of a text is passed over on request"""


def _has_base64(text: str) -> bool:
    return bool(_BASE64_RUN.search(text)) and any(True for _ in _base64_blocks(text))


def _base64_blocks(text: str) -> Iterable[re.Match[str]]:
    """Long runs of letters and digits with capitals, small letters and digits among them, which no rule is."""
    return (match for match in _BASE64.finditer(text) if _MIXED.match(match[0]))


KINDS = {
    "uuencode": Kind(
        "blocks encoded by uuencode",
        lambda text: bool(_UU_RUN.search(text)) and bool(_UUENCODE.search(text)),
        _UUENCODE.finditer,
    ),
    "base64": Kind("blocks encoded in base64", _has_base64, _base64_blocks),
    "html": Kind(
        "HTML or XML tags",
        lambda text: ("<" in text or "&" in text) and bool(_HTML.search(text)),
        _HTML_MARKS.finditer,
    ),
    "latex": Kind(
        "LaTeX commands", lambda text: "\\" in text and bool(_LATEX.search(text)), _LATEX_MARKS.finditer
    ),
    "markdown": Kind(
        "Markdown",
        lambda text: ("](" in text or "```" in text or "# " in text) and bool(_MARKDOWN.search(text)),
        _MARKDOWN_MARKS.finditer,
    ),
}
"""What is recognised, by the names that `strip` takes."""

_ENCODED = ("uuencode", "base64")


def check_kinds(strip: object) -> tuple[str, ...]:
    """Names of kinds: one, several, "all", or none."""
    if strip is None:
        return ()
    if isinstance(strip, str):
        return tuple(KINDS) if strip == "all" else (check_choice("strip", strip, [*KINDS, "all"]),)
    if not isinstance(strip, Iterable):
        raise InputError(f'strip must be "all", or some of {", ".join(KINDS)}; got {describe(strip)}.')
    asked = {check_choice("strip", name, KINDS) for name in strip}
    return tuple(name for name in KINDS if name in asked)


def find_markup(texts: list[str]) -> dict[str, list[int]]:
    """The numbers of the texts that have something of each kind; kinds that none has are left out."""
    found: dict[str, list[int]] = {name: [] for name in KINDS}
    for number, text in enumerate(texts):
        for name, kind in KINDS.items():
            if kind.is_there(text):
                found[name].append(number)
                text = blank(text, (name,)) if name in _ENCODED else text  # which has all kinds of marks
    return {name: numbers for name, numbers in found.items() if numbers}


def _overwritten(mark: str) -> str:
    """Spaces in place of a mark; an apostrophe and its letters, then spaces, in place of one of HTML."""
    apostrophe = re.fullmatch(_APOSTROPHE, mark, re.IGNORECASE)
    if apostrophe:
        return f"'{apostrophe[1]}".ljust(len(mark))
    return re.sub(r"[^\n]", " ", mark)


def blank(text: str, kinds: tuple[str, ...]) -> str:
    """The text with what is of these kinds overwritten by spaces, line ends left.

    An apostrophe of HTML, such as ``&#x27;``, is read as one: the letters after it move next to it.
    """
    for name in kinds:
        kind = KINDS[name]
        if kind.is_there(text):
            pieces, last = [], 0
            for match in kind.marks(text):
                pieces += [text[last : match.start()], _overwritten(match[0])]
                last = match.end()
            text = "".join([*pieces, text[last:]])
    return text
