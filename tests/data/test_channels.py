"""Channels of mutational signatures: their numbers, their order, and other spellings of their names."""

import random

import pytest

from franchise.data.channels import CHANNELS, keys_of, recognise


def parts(channel):
    """left, before, after, right of A[C>A]T"""
    return channel[0], channel[2], channel[4], channel[6]


SBS = list(map(parts, CHANNELS["SBS96"]))
DBS = [channel.split(">") for channel in CHANNELS["DBS78"]]
ID = [channel.split(":") for channel in CHANNELS["ID83"]]
LONG = {"C": "C", "T": "T", "R": "repeats", "M": "MH"}


def plus(number):
    return "5+" if number == "5" else number


def in_words(size, change, what, count):
    """The names of MutationalPatterns: deleted repeats are counted with the one that is gone."""
    size, what_else = f"{plus(size)}bp_", "_with_microhomology" if what == "M" else ""
    count = int(count) + (change == "Del" and what != "M")
    most = 6 if change == "Del" and what != "M" else 5
    word = {"Del": "deletion", "Ins": "insertion"}[change]
    return f"{what + '_' if what in 'CT' else size}{word}{what_else}_{count}{'+' if count == most else ''}"


SPELLINGS = {
    "SBS96": {
        "usual": CHANNELS["SBS96"],
        "ICAMS": [f"{left}{before}{right}{after}" for left, before, after, right in SBS],
        "R": [f"{left}.{before}.{after}.{right}" for left, before, after, right in SBS],
        "three": [f"{left}{before}{right}>{after}" for left, before, after, right in SBS],
        "three to three": [
            f"{left}{before}{right}>{left}{after}{right}" for left, before, after, right in SBS
        ],
        "change first": [f"{before}>{after} {left}{before}{right}" for left, before, after, right in SBS],
        "change last": [f"{left}{before}{right}:{before}>{after}" for left, before, after, right in SBS],
        "apart": [f"{before}{after} {left}.{right}" for left, before, after, right in SBS],
        "small": [channel.lower() for channel in CHANNELS["SBS96"]],
    },
    "DBS78": {
        "usual": CHANNELS["DBS78"],
        "ICAMS": [before + after for before, after in DBS],
        "colon": [f"{before}:{after}" for before, after in DBS],
        "R": [f"{before}.{after}" for before, after in DBS],
    },
    "ID83": {
        "usual": CHANNELS["ID83"],
        "R": [f"X{channel.replace(':', '.')}" for channel in CHANNELS["ID83"]],
        "PCAWG": [
            f"{change.upper()}_{LONG[what]}_{plus(size)}_{plus(count)}" for size, change, what, count in ID
        ],
        "ICAMS": [
            f"{change.upper()}:{LONG[what]}:{plus(size)}:{plus(count)}" for size, change, what, count in ID
        ],
        "words": [in_words(*channel) for channel in ID],
    },
}


@pytest.mark.parametrize(("kind", "size"), [("SBS96", 96), ("DBS78", 78), ("ID83", 83)])
def test_each_kind_has_its_number_of_channels(kind, size):
    assert len(set(CHANNELS[kind])) == len(CHANNELS[kind]) == size


def test_doublets_are_one_strand_of_all():
    """144 doublets change both bases; those of both strands are one, and 12 are the same on both strands."""
    pairs = {
        (a + b, c + d) for a in "ACGT" for b in "ACGT" for c in "ACGT" for d in "ACGT" if a != c and b != d
    }
    other = str.maketrans("ACGT", "TGCA")
    classes = {
        frozenset([pair, (pair[0].translate(other)[::-1], pair[1].translate(other)[::-1])]) for pair in pairs
    }
    assert len(classes) == 78
    assert all(sum(tuple(pair) in one for pair in DBS) == 1 for one in classes)


@pytest.mark.parametrize(
    ("kind", "spelling"), [(kind, name) for kind, named in SPELLINGS.items() for name in named]
)
def test_spellings_in_any_order(kind, spelling):
    both = list(zip(SPELLINGS[kind][spelling], CHANNELS[kind], strict=True))
    random.Random(1).shuffle(both)
    found = recognise([name for name, _ in both])
    assert found == (kind, [usual for _, usual in both])


def test_the_other_strand_is_the_same_channel():
    assert keys_of(["A[G>T]C", "C[C>A]A", "GCT>GAT"]) == ("SBS96", ["G[C>A]T", "C[C>A]A", "G[C>A]T"])
    assert keys_of(["GT>TG", "TT>GG"]) == ("DBS78", ["AC>CA", "TT>GG"])


def test_other_names_are_of_no_kind():
    assert recognise(["war", "money", "A[C>A]A"]) is None
    assert recognise([]) is None
    assert keys_of(["ship ", "sea"]) == (None, ["ship", "sea"])


def test_a_few_unknown_names_stay():
    assert keys_of(["A[C>A]A", "A[C>A]C", "total"]) == ("SBS96", ["A[C>A]A", "A[C>A]C", "total"])
