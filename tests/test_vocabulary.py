"""The banned patterns of `tests/vocabulary.py`: each one is found, and plain sentences pass."""

from __future__ import annotations

import pytest

from tests.support.rendered import assert_plain
from tests.vocabulary import banned_in_message


@pytest.mark.parametrize(
    "sentence",
    [
        "In 90 % of the draws there are 5 topics.",
        "X must be a matrix of counts, one row a document.",
        "Take fewer actors a node.",
        "groups must be None. Leave it out.",
        "Words in few documents are left out.",
        "The run was interrupted; go on with franchise.resume.",
        "Print nothing if not asked for.",
        "The folder holds already a run.",
        "Give the file that is meant.",
        "The vocabulary says which words there are.",
        "The draws are worth 40 independent ones.",
        "Chains with bars of their own disagree.",
        "Show what was found.",
        "The prior would forbid the word for good.",
        "The shards have 40 documents in all.",
        "Open it by franchise.open_shards(folder).",
        "Left out is the time.",
        "The concentration of the groups, and the same of the top level.",
        "It is not a sound Parquet file.",
        "The topics that draws agree on are shown.",
        "This is a fault of franchise.",
        "The file is empty. Is it the right one?",
        "The intervals are the middle 90% of draws.",
        "How sure is a topic?",
        "It is drawn anew.",
        f"A sentence has {'very ' * 30}many words, too many for a reader.",
    ],
)
def test_a_banned_pattern_is_found(sentence):
    assert list(banned_in_message(sentence))
    with pytest.raises(AssertionError):
        assert_plain(["The run is saved.", sentence])


@pytest.mark.parametrize(
    "sentence",
    [
        "Topics: 5 (90% interval 5 to 7).",
        "The effective sample size is 40 for alpha; it should be at least 100.",
        "All 4 chains share 3 topics, found in all draws.",
        f"stop_words must be one of {', '.join(f'l{number} language' for number in range(60))}.",
        "x.txt, line 3: must have one word per line. Remove empty lines.",
    ],
)
def test_a_plain_sentence_passes(sentence):
    assert_plain([sentence])
