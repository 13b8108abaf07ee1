"""Channels of mutational signatures: their usual names and order, and the other spellings of them.

    SBS96    single-base substitutions in their context: A[C>A]A, A[C>A]C, ..., T[T>G]T
    DBS78    doublet-base substitutions: AC>CA, AC>CG, ..., TT>GG
    ID83     insertions and deletions: 1:Del:C:0, ..., 5:Del:M:5

The names and the order are those of COSMIC and SigProfiler.  Other spellings are recognised from all names of a
table together, as one name can be a channel of two kinds: "ACCA" is A[C>A]C or AC>CA.  A mutation of the other
strand is the same channel: A[G>T]C is G[C>A]T.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

BASES = "ACGT"
_OTHER_STRAND = str.maketrans(BASES, BASES[::-1])

SUBSTITUTIONS = ("C>A", "C>G", "C>T", "T>A", "T>C", "T>G")
"""The six substitutions of single bases, in the usual order."""

_DOUBLETS = {
    "AC": "CA CG CT GA GG GT TA TG TT",
    "AT": "CA CC CG GA GC TA",
    "CC": "AA AG AT GA GG GT TA TG TT",
    "CG": "AT GC GT TA TC TT",
    "CT": "AA AC AG GA GC GG TA TC TG",
    "GC": "AA AG AT CA CG TA",
    "TA": "AT CG CT GC GG GT",
    "TC": "AA AG AT CA CG CT GA GG GT",
    "TG": "AA AC AT CA CC CT GA GC GT",
    "TT": "AA AC AG CA CC CG GA GC GG",
}
"""What each doublet becomes."""

_LEAST_RECOGNISED = 0.5
"""Names are of a kind if at least this proportion of them is."""


def _of_single_bases() -> list[str]:
    return [f"{left}[{change}]{right}" for change in SUBSTITUTIONS for left in BASES for right in BASES]


def _of_doublets() -> list[str]:
    return [f"{before}>{after}" for before, listed in _DOUBLETS.items() for after in listed.split()]


def _of_indels() -> list[str]:
    """One base, by repeats of it; two to five or more, by repeats; deletions with microhomology, by its length."""
    one = [f"1:{change}:{base}" for change in ("Del", "Ins") for base in "CT"]
    more = [f"{size}:{change}:R" for change in ("Del", "Ins") for size in range(2, 6)]
    repeats = [f"{name}:{count}" for name in one + more for count in range(6)]
    homology = [(size, length) for size in range(2, 6) for length in range(1, size if size < 5 else 6)]
    return repeats + [f"{size}:Del:M:{length}" for size, length in homology]


CHANNELS: dict[str, tuple[str, ...]] = {
    "SBS96": tuple(_of_single_bases()),
    "DBS78": tuple(_of_doublets()),
    "ID83": tuple(_of_indels()),
}
"""The channels of each kind, in the usual order."""


class Recognised(NamedTuple):
    """The kind of some names, and the usual name of each."""

    kind: str
    usual: list[str | None]
    """None for a name that is no channel of the kind."""

    @property
    def n_channels(self) -> int:
        """Number of different channels."""
        return len(set(self.usual) - {None})


def recognise(names: Iterable[object]) -> Recognised | None:
    """Return the kind of which most of these names are; None if fewer than half are of any kind."""
    listed = [str(name).strip() for name in names]
    found = [
        Recognised(kind, [usual if (usual := spell(name)) in known else None for name in listed])
        for (kind, spell), known in zip(_SPELL.items(), map(set, CHANNELS.values()), strict=True)
    ]
    best = max(found, key=lambda one: one.n_channels)
    return best if best.n_channels and best.n_channels >= _LEAST_RECOGNISED * len(listed) else None


def keys_of(names: Sequence[object]) -> tuple[str | None, list[str]]:
    """Return the kind of some names, and what is compared: usual names where recognised, or else the names."""
    plain = [str(name).strip() for name in names]
    found = recognise(plain)
    if found is None:
        return None, plain
    return found.kind, [
        name if usual is None else usual for name, usual in zip(plain, found.usual, strict=True)
    ]


# --- spellings ----------------------------------------------------------------------------------------------

_GAP = r"[\s._:;|/-]*"
_INSIDE = re.compile(r"([ACGT])[\[({._\s]+([ACGT])[>._\s]+([ACGT])[\])}._\s]+([ACGT])", re.IGNORECASE)
"""A[C>A]A, and A.C.A.A as R writes it in column names"""
_THREE_TO_ONE = re.compile(r"([ACGT])([ACGT])([ACGT])\s*>?\s*([ACGT])", re.IGNORECASE)
"""ACA>A, and ACAA"""
_THREE_TO_THREE = re.compile(r"([ACGT])([ACGT])([ACGT])\s*>\s*\1([ACGT])\3", re.IGNORECASE)
"""ACA>AAA"""
_CHANGE_FIRST = re.compile(rf"([ACGT])>([ACGT]){_GAP}([ACGT])\1([ACGT])", re.IGNORECASE)
"""C>A:ACA, and columns "C>A" and "ACA" joined"""
_CHANGE_LAST = re.compile(rf"([ACGT])([ACGT])([ACGT]){_GAP}\2>([ACGT])", re.IGNORECASE)
"""ACA:C>A"""
_CHANGE_APART = re.compile(r"([ACGT])>?([ACGT])[\s_:]+([ACGT])[._-]([ACGT])", re.IGNORECASE)
"""CA A.A"""


def _spell_single(name: str) -> str | None:
    """Return the usual name of a single-base substitution."""
    if match := _INSIDE.fullmatch(name):
        left, before, after, right = match.groups()
    elif (
        match := _THREE_TO_ONE.fullmatch(name)
        or _THREE_TO_THREE.fullmatch(name)
        or _CHANGE_LAST.fullmatch(name)
    ):
        left, before, right, after = match.groups()
    elif match := _CHANGE_FIRST.fullmatch(name) or _CHANGE_APART.fullmatch(name):
        before, after, left, right = match.groups()
    else:
        return None
    left, before, after, right = (base.upper() for base in (left, before, after, right))
    if before in "AG":
        left, right = _reverse_complement(right), _reverse_complement(left)
        before, after = before.translate(_OTHER_STRAND), after.translate(_OTHER_STRAND)
    return f"{left}[{before}>{after}]{right}"


_DOUBLET = re.compile(r"([ACGT]{2})[\s>._:/-]*([ACGT]{2})", re.IGNORECASE)
"""AC>CA, AC:CA and ACCA"""


def _spell_doublet(name: str) -> str | None:
    """Return the usual name of a doublet-base substitution."""
    match = _DOUBLET.fullmatch(name)
    if match is None:
        return None
    before, after = (bases.upper() for bases in match.groups())
    if before not in _DOUBLETS or after not in _DOUBLETS[before].split():
        before, after = _reverse_complement(before), _reverse_complement(after)
    return f"{before}>{after}"


def _reverse_complement(bases: str) -> str:
    return bases.translate(_OTHER_STRAND)[::-1]


_SIZE_FIRST = re.compile(r"X?(\d)\+?[:_.](Del|Ins)[:_.]([CTRM])[:_.](\d)\+?", re.IGNORECASE)
"""1:Del:C:0"""
_CHANGE_BEFORE_SIZE = re.compile(r"(DEL|INS)[:_.](C|T|repeats|MH)[:_.](\d)[+.]?[:_.](\d)[+.]?", re.IGNORECASE)
"""DEL_C_1_0, DEL:repeats:5+:5+ and DEL.MH.5..5."""
_IN_WORDS = re.compile(
    r"(?:(?P<base>[CT])|(?P<size>\d)\+?bp)_(?P<change>deletion|insertion)(?P<homology>_with_microhomology)?_"
    r"(?P<count>\d)\+?",
    re.IGNORECASE,
)
"""C_deletion_1 and 2bp_deletion_with_microhomology_1"""


def _spell_indel(name: str) -> str | None:
    """Return the usual name of an insertion or deletion."""
    if match := _SIZE_FIRST.fullmatch(name):
        size, change, what, count = match.groups()
        return f"{size}:{change.capitalize()}:{what.upper()}:{count}"
    if match := _CHANGE_BEFORE_SIZE.fullmatch(name):
        change, what, size, count = match.groups()
        return f"{size}:{change.capitalize()}:{what[0].upper()}:{count}"
    if match := _IN_WORDS.fullmatch(name):
        what = "M" if match["homology"] else (match["base"] or "R").upper()
        change = match["change"][:3].capitalize()
        own = change == "Del" and what != "M"  # repeats are counted with the deleted one
        return f"{match['size'] or 1}:{change}:{what}:{int(match['count']) - own}"
    return None


_SPELL: dict[str, Callable[[str], str | None]] = {
    "SBS96": _spell_single,
    "DBS78": _spell_doublet,
    "ID83": _spell_indel,
}
