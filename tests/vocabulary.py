"""The words that franchise uses, checked by `make lint`.

    python -m tests.vocabulary

Names follow the field (MPI, OpenMP, MCMC), and prose is plain English, so that readers can search for a word and
newcomers need no glossary.  Each banned name or phrase comes with its replacement.
"""

from __future__ import annotations

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


def check_file(path: Path) -> Iterator[tuple[int, str]]:
    """Yield what is banned in a file."""
    text = path.read_text(encoding="utf-8")
    python = path.suffix == ".py"
    if python:
        yield from banned_names(text)
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
