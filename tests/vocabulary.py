"""The words that franchise uses, checked by `make lint`.

    python -m tests.vocabulary

Names follow the field (MPI, OpenMP, MCMC), and prose is plain English, so that readers can search for a word and
newcomers need no glossary.  Each banned name, phrase or pattern comes with its replacement.  `NAMES` are banned in
code, `PHRASES` in all prose, and `MESSAGES` in what users see: `tests/test_words.py` renders that and checks it,
and `make lint` checks the strings of the source.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "studies", "benchmarks", "examples")

NAMES = {
    "peers": "comm",
    "peers_of": "data.comm",
    "Alone": "Communicator",
    "Together": "TreeCommunicator",
    "ActorPost": "RayTransport",
    "Mailbox": "MessageQueue",
    "Crew": "ActorPool",
    "Seat": "Placement",
    "Gone": "WorkerLost",
    "Forgotten": "StaleHandle",
    "Among": "DistributedExecutor",
    "Desk": "ThreadTeam",
    "Bells": "TeamFlags",
    "Turns": "BlockQueue",
    "take_turn": "next_block",
    "Lots": "SweepStages",
    "lots": "stages",
    "zeros_apart": "padded_zeros",
    "words_of_blocks": "rng_states",
    "Begun": "GivenState",
    "asked_for": "from_start",
    "Terms": "RunOptions",
    "Setup": "Problem",
    "Mixture": "HDPProblem",
    "SegmentModel": "HTMMProblem",
    "SegmentPosterior": "HTMMPosterior",
    "SegmentChain": "HTMMChain",
    "aim_for": "set_target_draws",
    "Snapshot": "HDPDraw",
    "Snapshots": "KeptDraws",
    "DrawOnDisk": "LazyDraw",
    "damage_named": "read_errors_named",
    "refusals_named": "write_errors_named",
    "only_one_process": "exclusive_lock",
    "what_is_left": "recovery_hint",
    "WithTopics": "Posterior",
    "strangers": "unmatched",
    "Findings": "HTMMResults",
    "Recipe": "NamedSampler",
    "tell": "on_progress",
    "told": "message",
    "cuts": "block_bounds",
    "in_units": "format_bytes",
    "is_here": "Engine.place",
    "host": "Engine.place",
}
"""Identifiers, with the name to use instead."""

PHRASES = {
    "anew": "again",
    "beforehand": "in advance",
    "mended": "fixed",
    "told": "reported, printed",
    "whichever": "any",
    "thereof": "of it",
    "all along": "throughout",
    "the very same": "the same",
    "put right": "corrected",
    "gone on with": "continued",
    "as can be": "as possible",
    "so many": "the number, N",
    "if not given": "[default: ...]",
    "side by side": "in parallel",
    "alike": "similar",
    "peers": "processes, workers",
    "lots of": "stages of, batches of",
    "how sure": "how certain",
    "somebody": "(name the caller)",
}
"""Words and phrases of prose, with what to write instead."""

MESSAGES = {
    r"\d[ \u00a0]%": "90%, without a space",
    r"\bone (\w+ )?an? (row|line|topic|document|sentence|chain|word|node|group|dimension|category|panel|sweep)\b": (
        "one row per topic"
    ),
    r"\b(actors|tables|tokens|words|draws|topics|documents|bools?|numbers?) an? \w+(?=[.;:),]|$)": "per document",
    r"\b(left|leave|leaves|leaving) (\S+ ){0,2}out\b": "removed, ignored, optional",
    r"\b(go|goes|gone|going|went) on\b": "continue",
    r"\basked for\b": "requested",
    r"\b(hold|holds|is there|are there) already\b|\bis already there\b": "already contains, already exists",
    r"\b(is|are|be) (said|meant)\b": "(name what is wanted)",
    r"\b(say|says|tell|tells|know|knows|believe|believes|believed|hears?)\b": "reports, prints, contains",
    r"\b(worth|surer?|surest|hardly|wander|much the same|(and|or) the like)\b": "(plain words)",
    r"\bof (its|their|your) own\b|\bby (itself|themselves)\b": "separate, alone",
    r"\bwhat (is|was|are|were|has|it|they|there|varies|comes|goes)\b": "(name the thing)",
    r"\bat no cost\b|\bfor good\b|\bon the spot\b|\bto take along\b|\bat all\b": "free, permanently, now",
    r"\bin all(?=[.,;:)]|$)": "in total",
    r"\b(open|opened|write|written|choose|chosen|make|made|convert|start|started|pack|packed|compress|compressed|read"
    r"|continue|give|given) (\S+ )?by (?=franchise|fr\.|scipy|\w+=|gzip|bzip2|xz|zstandard|`|Corpus|--)": "with",
    r"(^|[.;:] )(left out|shown|judged|kept|compared|scored|given) (is|are)\b": "(subject, verb, object)",
    r"\bthe same of\b|\bthose (of|that|whose)\b|\bthat of\b": "(name the thing)",
    r"\b(nobody|everybody)\b": "(name the caller)",
    r"\b(not a sound|unsound)\b": "not a valid",
    r"\bdraws agree on\b": "consensus topics",
    r"\bhow (it is|they are)\b": "(name the thing)",
    r"\b(till|whereof|hence|whilst|one and the same|all there is|there are such)\b": "until, of which, so, while",
    r"\bfault of franchise\b|\bmay you\b|\bis it the right one\b": "(no blame, no question)",
    r"\bmiddle \d+% of (the )?draws\b": "90% interval",
}
"""Patterns of what users see, with what to write instead."""

MOST_WORDS = 35
"""Length of the longest sentence that users see."""

_CODE = re.compile(r"(?<!`)`[^`\n]+`(?!`)")
"""Names in a page: not prose."""

_PHRASE = re.compile(
    r"\b(" + "|".join(phrase.replace(" ", r"\s+") for phrase in PHRASES) + r")\b", re.IGNORECASE
)


def banned_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of every banned identifier."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string in NAMES:
            yield token.start[0], f"{token.string!r}: use {NAMES[token.string]}"


def banned_phrases(text: str, python: bool) -> Iterator[tuple[int, str]]:
    """Yield line and phrase of every banned phrase in prose: docstrings, messages and comments, or a whole page."""
    pieces = [(1, _CODE.sub("", text))]
    if python:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        prose = (tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1))
        pieces = [(token.start[0], token.string) for token in tokens if token.type in prose]
    for line, piece in pieces:
        for match in _PHRASE.finditer(piece):
            phrase = " ".join(match.group(0).lower().split())
            yield line + piece.count("\n", 0, match.start()), f"{phrase!r}: write {PHRASES[phrase]}"


_MESSAGE = [(re.compile(pattern, re.IGNORECASE), advice) for pattern, advice in MESSAGES.items()]

_LIST = re.compile(r"([^\s,]+( [^\s,]+)?, ){4,}")
"""Five or more names, as in a list of all choices: they count as no words of a sentence."""


def banned_in_message(text: str) -> Iterator[str]:
    """Yield what is banned in a text that users see: phrases, patterns, and sentences that are too long."""
    plain = " ".join(text.split())
    for phrase in _PHRASE.findall(plain):
        yield f"{phrase!r}: write {PHRASES[phrase.lower()]}"
    for pattern, advice in _MESSAGE:
        if match := pattern.search(plain):
            yield f"{match.group(0)!r}: write {advice}"
    for sentence in re.split(r"(?<=[.!?:;])\s", _LIST.sub("", plain)):
        if len(sentence.split()) > MOST_WORDS:
            yield f"{sentence[:40]!r}...: more than {MOST_WORDS} words"


def messages_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of the strings with several words, except docstrings, with 1 for every value in them."""
    tree = ast.parse(source)
    seen = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if node in seen:
            continue
        if isinstance(node, ast.JoinedStr):
            seen.update(node.values)
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "1" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if " " in text.strip():
            yield node.lineno, text


def is_of_users(path: Path) -> bool:
    """Whether users see the strings of a file: it is in the package, and not a kernel."""
    parts = path.relative_to(ROOT).parts if path.is_relative_to(ROOT) else ()
    return parts[:2] == ("src", "franchise") and parts[2] != "kernels"


def check_file(path: Path) -> Iterator[tuple[int, str]]:
    """Yield what is banned in a file."""
    text = path.read_text(encoding="utf-8")
    python = path.suffix == ".py"
    if python:
        yield from banned_names(text)
    if python and is_of_users(path):
        for line, message in messages_of(text):
            yield from ((line, what) for what in banned_in_message(message))
    yield from banned_phrases(text, python)


def files() -> Iterator[Path]:
    """Yield the files that are checked."""
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))
    yield from sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def main() -> int:
    """Print every hit as FILE:LINE and the replacement; exit code 1 if there is one."""
    found = [(path, line, what) for path in files() for line, what in sorted(set(check_file(path)))]
    for path, line, what in found:
        print(f"{path.relative_to(ROOT)}:{line}: {what}")
    print(f"vocabulary: {len(found)} banned words")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
