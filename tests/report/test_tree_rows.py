"""The tree of topics in a report: its rows, and what the page shows of it."""

from __future__ import annotations

import numpy as np
import pytest

import franchise as fr
from franchise.posterior.topic_groups import usual_groups
from franchise.report import tree_rows as rows_of_trees
from franchise.report import write_report
from franchise.report.tree_rows import PARTS, tree_rows
from tests.plots.cases import mixture, points
from tests.posterior.test_topic_groups import paired
from tests.report import cases
from tests.report.test_browser import PHONE, serious


def topics_in(row):
    return (
        sorted(topic for part in row["parts"] for topic in topics_in(part))
        if "parts" in row
        else [row["topic"]]
    )


def many(topics=60, words=6):
    """A posterior of many topics in two draws."""
    rng = np.random.default_rng(0)
    own = rng.integers(topics, size=(300, 3))
    labels = np.take_along_axis(own, rng.integers(3, size=(300, 30)), axis=1).ravel()
    tokens = labels * words + rng.integers(words, size=labels.size)
    data = fr.Corpus(tokens, np.arange(301) * 30, [f"w{word}" for word in range(topics * words)])
    draws = [[labels.astype(np.uint16)] * 2] * 2
    return mixture(data=data, labels=draws, n_topics=np.full((2, 2), topics), **cases.joint(2, 2))


def test_groups_have_all_topics_once():
    posterior = paired()
    rows = tree_rows(posterior)
    assert len(rows) == usual_groups(8) == 3
    assert sorted(topic for row in rows for topic in topics_in(row)) == list(range(8))
    assert [row["count"] for row in rows] == [len(topics_in(row)) for row in rows]
    shares = posterior.consensus_topics.shares.mean(axis=0)
    assert [row["share"] for row in rows] == pytest.approx(
        [shares[topics_in(row)].sum() for row in rows], rel=1e-3
    )
    assert [row["share"] for row in rows] == sorted((row["share"] for row in rows), reverse=True)
    groups = posterior.consensus_topics.tree.groups(3)
    assert all(len(set(groups[topics_in(row)])) == 1 for row in rows)


def test_large_groups_have_smaller_ones(monkeypatch):
    monkeypatch.setattr(rows_of_trees, "FLAT", 3)
    posterior = many()
    rows = tree_rows(posterior)
    count = posterior.consensus_topics.topic_count
    assert sorted(topic for row in rows for topic in topics_in(row)) == list(range(count))

    def check(row):
        if "parts" not in row:
            return
        assert len(row["parts"]) == (row["count"] if row["count"] <= 3 else min(PARTS, row["count"]))
        for part in row["parts"]:
            check(part)

    for row in rows:
        check(row)
    assert any("parts" in part for row in rows for part in row.get("parts", ()))


def test_groups_of_a_reduced_posterior_have_their_members():
    few = paired().reduce_topics(4)
    rows = tree_rows(few)
    assert [row["topic"] for row in rows] == [0, 1, 2, 3]
    assert [row["label"] for row in rows] == few.consensus_topics.labels
    members = [[part["member"] for part in row["parts"]] for row in rows]
    assert members == [list(map(int, own.split())) for own in few.topics()["members"]]
    assert all(part["support"] == 1 and part["words"] for row in rows for part in row["parts"])


def test_few_topics_and_topics_that_cannot_be_compared_have_no_tree(tmp_path):
    assert tree_rows(cases.themes()) == []
    assert tree_rows(points()) == []
    page = write_report(cases.themes(), tmp_path / "report.html").read_text()
    assert 'topic-tree"' not in page.split("<script", 1)[0]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Reports of eight topics, and of the four groups of them."""
    folder, posterior = tmp_path_factory.mktemp("trees"), paired()
    few = posterior.reduce_topics(4)
    return write_report(posterior, folder / "all.html"), write_report(few, folder / "few.html")


def test_groups_open_to_topics_that_link_to_their_details(reports, opened):
    page = opened(reports[0])
    tree = page.locator("#topic-tree")
    assert tree.locator("> li").count() == 3
    assert tree.locator("a").first.is_visible() is False
    tree.locator("summary").first.click()
    link = tree.locator("details").first.locator("a").first
    assert link.is_visible()
    name = link.inner_text()
    link.click()
    page.locator("#topic-title", has_text=name).wait_for()
    page.get_by_role("button", name="Open all").click()
    assert all(link.is_visible() for link in tree.locator("a").all())
    assert tree.locator(".leaf").count() == 8
    page.get_by_role("button", name="Close all").click()
    assert not any(link.is_visible() for link in tree.locator("a").all())


def test_groups_of_a_reduced_posterior_show_members_and_lead_to_the_group(reports, opened):
    page = opened(reports[1])
    assert "4 groups of 8 topics" in page.locator("#found").inner_text()
    page.locator("#topic-tree summary").nth(2).click()
    box = page.locator("#topic-tree details").nth(2)
    assert box.locator(".leaf").count() == 2
    assert "support 100%" in box.locator(".leaf").first.inner_text()
    box.get_by_role("link", name="Words and documents of this group").click()
    label = page.locator("#topic-list > li > a .topic-name").nth(2).inner_text()
    page.locator("#topic-title", has_text=label).wait_for()


@pytest.mark.slow
def test_the_tree_fits_a_phone_and_is_accessible(reports, opened):
    for path in reports:
        page = opened(path, **PHONE)
        page.get_by_role("button", name="Open all").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator(".bar nav a").first.evaluate("link => link.getClientRects().length") == 1
        assert serious(page) == []
