"""The data sets that ship: what is in them, and that nothing in them changed."""

import sys
from pathlib import Path
from subprocess import run

import pytest

from franchise.data import datasets
from franchise.errors import InputError


@pytest.fixture(scope="module")
def addresses():
    return datasets.load("sotu")


def test_names_and_unknown_names():
    assert datasets.names() == ["ants", "sotu"]
    with pytest.raises(
        InputError, match=r"name must be one of 'ants', 'sotu'; got 'soto'\. Did you mean 'sotu'"
    ):
        datasets.load("soto")


def test_ants_are_the_printed_counts():
    ants = datasets.load("ants")
    assert repr(ants) == "Groups(184 observations in 12 groups)"
    assert ants.group_sizes.tolist() == [20] * 4 + [16] * 4 + [10] * 4
    assert ants.group_names[1] == ("altitude and temperature", "altitude")
    assert ants.metadata["condition"][:4] == [
        "control",
        "altitude",
        "temperature",
        "altitude and temperature",
    ]
    assert ants.metadata["study"][-1] == "food intake and quality of dirt"
    parts = [ants.observations[a:b] for a, b in zip(ants.offsets[:-1], ants.offsets[1:], strict=True)]
    assert parts[0][:3].tolist() == [37, 33, 22]  # first column of the first printed array, downwards
    assert parts[7][-1] == 109  # its second array, bottom right
    assert parts[10].tolist() == [1, 1, 0, 1, 0, 0, 0, 2, 1, 1]
    assert [int(part.sum()) for part in parts] == [640, 157, 468, 511, 439, 588, 349, 1684, 291, 353, 7, 408]
    assert ants.observations.dtype == "int64"
    with pytest.raises(InputError, match="unit is only for the data set 'sotu'; got 'address' with 'ants'"):
        datasets.load("ants", unit="address")


def test_addresses(addresses):
    assert (addresses.n_documents, addresses.n_empty_documents) == (237, 0)
    assert 400_000 < addresses.n_tokens < 500_000
    assert 9_000 < addresses.vocabulary_size < 11_000
    assert addresses.group_names[0] == "1790-01-08 George Washington"
    assert len(set(addresses.group_names)) == 237
    assert {"1972-01-20 Richard Nixon, spoken", "1972-01-20 Richard Nixon, written"} < set(
        addresses.group_names
    )
    facts = addresses.metadata
    assert list(facts) == ["date", "year", "president", "party", "delivery", "source"]
    assert (facts["year"][0], facts["year"][-1]) == (1790, 2026)
    assert facts["date"] == sorted(facts["date"])
    assert set(facts["delivery"]) == {"spoken", "written"}
    assert facts["delivery"].count("written") == 127
    assert facts["president"].count("Abraham Lincoln") == 4
    assert addresses.texts[0].startswith(
        "Fellow-Citizens of the Senate and House of Representatives:\n\nI embrace"
    )
    assert sum(len(text.split()) for text in addresses.texts) > 1_900_000
    words = set(addresses.vocabulary)
    assert {"slavery", "tariff", "soviet", "silver", "inflation"} <= words
    assert not {"the", "ve", "ll", "laughter", "applause", "congress"} & words


def test_paragraphs(addresses):
    paragraphs = datasets.load("sotu", unit="paragraph")
    assert paragraphs.n_documents == sum(text.count("\n\n") + 1 for text in addresses.texts)
    assert paragraphs.group_names[3] == "1790-01-08 George Washington, paragraph 4"
    assert paragraphs.metadata["paragraph"][:3] == [1, 2, 3]
    assert paragraphs.metadata["paragraph"].count(1) == 237
    of_the_first = paragraphs.texts[: addresses.texts[0].count("\n\n") + 1]
    assert "\n\n".join(of_the_first) == addresses.texts[0]
    assert paragraphs.n_empty_documents < 100
    with pytest.raises(InputError, match="unit must be one of 'address', 'paragraph'; got 'sentence'"):
        datasets.load("sotu", unit="sentence")


def test_files_are_small_and_their_origin_is_told():
    folder = Path(datasets.__file__).parent
    assert (folder / "sotu.jsonl.xz").stat().st_size < 4_000_000
    origin = (folder / "ORIGIN.md").read_text(encoding="utf-8")
    assert all(file.name in origin for file in [*folder.glob("*.xz"), *folder.glob("*.csv")])


def test_the_data_room_imports_nothing_heavy():
    code = (
        "import sys, franchise.data, franchise.data.datasets\n"
        "import franchise.data.splits, franchise.data.synthetic\n"
        "franchise.data.Corpus.from_tokens([['a', 'b'], ['a']]).cells\n"
        "franchise.data.Groups([1, 2], ['a', 'b'])\n"
        "print([name for name in ('scipy', 'sklearn', 'pandas', 'numba') if name in sys.modules])"
    )
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
