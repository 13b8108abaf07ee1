"""The levels of groups in a report."""

import json
import re

import pytest

from franchise.report import level_rows, write_report
from tests.plots.cases import mixture
from tests.posterior.test_level_tables import POSTERIOR


def data_in(path):
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(), re.S)[1])


def test_levels_above_the_groups_have_their_largest_topics():
    cohorts, patients = level_rows.level_rows(POSTERIOR)
    assert [(level["name"], level["total"]) for level in (cohorts, patients)] == [
        ("cohort", 2),
        ("patient", 3),
    ]
    table = POSTERIOR.exposures("patient")
    for node in patients["nodes"]:
        assert node["size"] == POSTERIOR.nodes().loc[node["name"], "observations"]
        means = [mean for _, mean, _, _ in node["topics"]]
        assert means == sorted(means, reverse=True)
        for topic, *shares in node["topics"]:
            wanted = table.loc[(node["name"], topic), ["mean", "lower", "upper"]].tolist()
            assert shares == pytest.approx(wanted, rel=0.005)


def test_of_many_nodes_the_largest_are_shown(monkeypatch):
    monkeypatch.setattr(level_rows, "MOST_NODES", 1)
    _, patients = level_rows.level_rows(POSTERIOR)
    assert [node["name"] for node in patients["nodes"]] == ["A/1"]
    assert patients["total"] == 3


def test_only_trees_have_levels(tmp_path):
    flat = write_report(mixture(), tmp_path / "flat.html")
    assert data_in(flat)["levels"] == []
    assert 'id="levels"' not in flat.read_text()


def test_a_report_of_a_tree_shows_its_levels(tmp_path):
    page = write_report(POSTERIOR, tmp_path / "tree.html")
    assert [level["name"] for level in data_in(page)["levels"]] == ["cohort", "patient"]
    assert 'id="levels"' in page.read_text()


@pytest.mark.slow
def test_a_level_is_chosen_and_saved(tmp_path, opened):
    page = opened(write_report(POSTERIOR, tmp_path / "tree.html"))
    rows = page.locator("#level-table tbody tr")
    assert rows.count() == 2
    page.locator("#level").select_option(label="patient")
    assert rows.count() == 3
    assert rows.first.locator("th").inner_text() == "A/1"
    assert rows.first.locator(".part").count() >= 2
    page.locator("#level-table .part").first.click()
    assert page.url.endswith(("#topic-0", "#topic-1"))
    with page.expect_download() as waiting:
        page.get_by_role("button", name="exposures.csv").click()
    lines = waiting.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == '"level","node","observations","topic","label","share","low","high"'
