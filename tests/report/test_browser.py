"""Reports in a real browser: what can be seen and done, by mouse, keyboard and phone; and nothing breaks out.

Every page that `opened` opens must ask the network for nothing and leave the console empty.
"""

from __future__ import annotations

import csv
import re
from dataclasses import replace

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from franchise.report import write_report
from tests.plots.cases import points, segmented
from tests.report import cases

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    return write_report(cases.nasty(), tmp_path_factory.mktemp("nasty") / "report.html", title=cases.SCRIPT)


def topic_with(page, word):
    """The link of the topic whose words have this one."""
    return page.locator("#topic-list > li > a", has_text=word)


def serious(page):
    """What axe-core finds that is serious or critical, with where."""
    found = Axe().run(page).response["violations"]
    return [
        (each["id"], node["html"])
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def downloaded(page, name):
    """The rows of a table that the page gives to take along."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"{name}.csv").click()
    with open(waiting.value.path(), encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


# --- what is there ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_beginning_says_what_was_found_and_whether_to_trust_it(report, opened):
    page = opened(report)
    assert page.title() == "Three themes"
    said = page.locator("#found").inner_text()
    assert "3 topics recur across draws, all of them in both chains" in said
    assert "The chains have not converged: the log likelihood is still rising" in said
    assert page.locator("#topic-list > li").count() == 3
    assert (
        page.locator("#counts svg")
        .get_attribute("aria-label")
        .startswith("Probability of each number of topics")
    )
    assert page.locator("#traces svg").count() == page.locator("#convergence-table tbody tr").count() > 3


def test_a_topic_shows_its_words_documents_and_trend(report, opened):
    page = opened(report)
    topic_with(page, "roses").click()
    shown = page.locator("#topic")
    shown.locator("dt", has_text="roses").wait_for()  # the page shows another topic before the click
    words = shown.locator("dt").all_text_contents()
    assert set(words[:8]) == set(cases.THEMES[1])
    assert shown.locator("dd svg .whisker").count() == len(words)
    assert shown.locator("figure svg").get_attribute("aria-label").startswith("Share of ")
    first = shown.locator(".excerpts a").first
    name = first.inner_text()
    first.click()
    page.locator("#document-title", has_text=name).wait_for()
    assert page.locator("#document-title").inner_text() == name
    assert "roses" in page.locator("#document .text").inner_text()


@pytest.mark.slow
def test_a_topic_shows_its_share_in_every_class(report, opened):
    page = opened(report)
    topic_with(page, "roses").click()
    bars = page.locator("#topic h3", has_text="Share by party").locator("xpath=following-sibling::dl[1]")
    assert bars.locator("dt").all_inner_texts() == ["P0", "P1"]
    assert all(re.fullmatch(r"\d+%", amount) for amount in bars.locator(".amount").all_inner_texts())
    rows = downloaded(page, "topics")
    assert rows[0][-2:] == ["share party P0", "share party P1"]
    assert all(0.0 <= float(share) <= 1.0 for row in rows[1:] for share in row[-2:])


@pytest.mark.slow
def test_the_map_selects_a_topic(report, opened):
    page = opened(report)
    assert page.locator("#topic-map circle").count() == 3
    link = page.locator("#topic-map a").nth(2)
    link.locator("circle").click()
    expect(link).to_have_attribute(
        "aria-current", "true"
    )  # waits: the page follows the address, not the click
    assert (
        page.locator("#topic-title").inner_text()
        == page.locator("#topic-list > li > a .topic-name").nth(2).inner_text()
    )


@pytest.mark.slow
def test_search_finds_topics_and_documents(report, opened):
    page = opened(report)
    page.get_by_role("searchbox", name="Search topics and documents").fill("cannons")
    answers = page.locator("#answers")
    assert re.search(r"contains 9\d% of the uses of “cannons”", answers.inner_text())
    assert "16 documents" in answers.inner_text()
    assert page.locator("#answered").inner_text().endswith("16 documents")
    answers.get_by_role("link").first.click()
    expect(page.locator("#topic dt", has_text=re.compile("^cannons$"))).to_have_count(1)
    assert not answers.is_visible()


@pytest.mark.slow
def test_search_leads_to_documents_with_the_word(report, opened):
    page = opened(report)
    page.fill("#query", "cannons")
    page.get_by_role("button", name="Browse 16 documents").click()
    assert page.locator("#position").inner_text() == "1 of 16"
    assert "cannons" in page.locator("#document .text").inner_text()
    page.fill("#document-query", "nowhere to be found")
    assert page.locator("#position").inner_text() == "none"


@pytest.mark.slow
def test_words_have_the_colours_of_their_topics(report, opened):
    page = opened(report)
    text = page.locator("#document .text")
    assert text.inner_text().startswith("The captain saw the harbour")
    colours = {
        word: text.locator("span", has_text=re.compile(f"^{word}$", re.I)).first.evaluate(
            "each => getComputedStyle(each).backgroundColor"
        )
        for word in ("captain", "ship", "roses")
    }
    assert colours["captain"].split("/")[0] != colours["roses"].split("/")[0]
    assert colours["ship"].split("/")[0].split(" ")[:4] == colours["captain"].split("/")[0].split(" ")[:4]
    text.locator("span", has_text="roses").first.hover()
    assert re.search(r"roses.* probability \d+%", page.locator("#tip").inner_text())
    assert text.locator("span", has_text=re.compile("^the$", re.I)).count() == 0


@pytest.mark.slow
def test_documents_are_browsed_and_filtered_by_topic(report, opened):
    page = opened(report)
    first = page.locator("#document-title").inner_text()
    page.get_by_role("button", name="Next").click()
    assert page.locator("#document-title").inner_text() != first
    page.get_by_role("button", name="Previous").click()
    assert page.locator("#document-title").inner_text() == first
    garden = topic_with(page, "roses").locator(".topic-name").inner_text()
    page.locator("#document-topic").select_option(label=garden)
    assert page.locator("#document .chips button").first.inner_text().startswith(garden)
    page.locator("#document .chips button").first.click()
    chosen = page.locator("#document .text .chosen").all_inner_texts()
    assert {word.lower() for word in chosen} <= set(cases.THEMES[1])


@pytest.mark.slow
def test_tables_can_be_taken_along(report, opened):
    page = opened(report)
    topics = downloaded(page, "topics")
    assert topics[0][:5] == ["topic", "label", "share", "low", "high"]
    assert len(topics) == 4
    assert sum(float(row[2]) for row in topics[1:]) == pytest.approx(1.0, abs=1e-3)
    words = downloaded(page, "words")
    assert {row[2] for row in words[1:]} == {word for theme in cases.THEMES.values() for word in theme}
    documents = downloaded(page, "documents")
    assert {row[0] for row in documents[1:]} == {f"letter {place}" for place in range(24)}
    convergence = downloaded(page, "convergence")
    assert "log_joint" in {row[0] for row in convergence}


# --- nothing breaks out -------------------------------------------------------------------------------------


def test_html_and_scripts_in_the_data_stay_text(nasty, opened):
    page = opened(nasty)
    assert page.title() == cases.SCRIPT
    assert page.locator("h1").inner_text() == cases.SCRIPT
    words = set(page.locator("#topic dt").all_text_contents())
    assert words <= set(cases.NASTY)
    assert f"Share by class {cases.SCRIPT}" in page.locator("#topic h3").all_text_contents()
    assert {cases.SCRIPT, cases.IMAGE} <= words
    for place, word in enumerate(cases.NASTY):
        page.goto(f"{nasty.as_uri()}#document-{place}")
        assert page.locator("#document-title").inner_text() == f"{word}{cases.SCRIPT}"
        assert word in page.locator("#document .about").inner_text()
    page.fill("#query", "<script")
    assert cases.SCRIPT in page.locator("#answers").inner_text()
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.scripts.length") == 2
    assert page.locator("img, iframe, article b").count() == 0


@pytest.mark.slow
def test_html_in_texts_stays_text_and_words_keep_their_places(tmp_path, opened):
    path = write_report(cases.nasty_texts(), tmp_path / "report.html")
    page = opened(path, "#document-4")
    text = page.locator("#document .text")
    for piece in (cases.SCRIPT, cases.IMAGE, "-->", "&amp;", "\U0001f6a2", cases.NASTY[4]):
        assert piece in text.inner_text()
    spans = text.locator("span").all_inner_texts()
    assert {"ship", "harbour", "sea", "sailors", "roses", "tulips"} <= set(spans)
    assert page.evaluate("window.broken") is None


@pytest.mark.slow
def test_formulas_are_text_in_tables(nasty, opened):
    page = opened(nasty)
    cells = {
        cell
        for name in ("topics", "words", "documents", "convergence")
        for row in downloaded(page, name)
        for cell in row
    }
    assert {"'=cmd()", "'+1", "'@x", "'-2+3", "'=sum()", "'-->"} <= cells
    formulas = [cell for cell in cells if cell[:1] in "=+-@" and cell and not _is_number(cell)]
    assert formulas == []


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.slow
def test_a_policy_forbids_what_is_not_ours(report, opened, browser):
    context = browser.new_context()
    page = context.new_page()
    blocked = []
    page.on("console", lambda message: blocked.append(message.text))
    page.goto(report.as_uri())
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.broken = 1'}))"
    )
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=\"https://example.org/x.png\">')")
    page.wait_for_function("() => true")
    assert page.evaluate("window.broken") is None
    assert any("Content Security Policy" in text for text in blocked)
    context.close()


# --- everybody can use it -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_keyboard_is_enough(report, opened):
    page = opened(report)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "found"
    _tab_to(page, "#topic-list > li:nth-child(2) > a")
    page.keyboard.press("Enter")
    page.wait_for_selector(
        "#topic-list > li:nth-child(2) > a[aria-current=true]"
    )  # once the address has changed
    second = page.locator("#topic-list > li > a").nth(1)
    assert page.locator("#topic-title").inner_text() == second.locator(".topic-name").inner_text()
    _tab_to(page, "#topic-map a")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.closest('#topic-map') !== null")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.getAttribute('aria-current') === 'true'")
    _tab_to(page, "#next")
    page.keyboard.press("Enter")
    assert page.locator("#position").inner_text() == "2 of 24"
    _tab_to(page, "#document .text span")
    first = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") != first
    assert "probability" in page.locator("#tip").inner_text()


@pytest.mark.slow
def test_answers_are_reached_by_arrows_and_left_by_escape(report, opened):
    page = opened(report)
    page.focus("#query")
    page.keyboard.type("roses")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.matches('#answers a')")
    page.keyboard.press("Escape")
    assert not page.locator("#answers").is_visible()
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.press("ArrowDown")
    page.keyboard.type(" ")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#topic dt:text-is('roses')")


def _tab_to(page, selector, most=60):
    """Press Tab till the focus is there; and wherever it is, it can be seen."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab does not come to {selector}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "query"),
    [({}, ""), ({}, "ship"), ({"color_scheme": "dark"}, ""), (PHONE, "")],
    ids=["light", "answers", "dark", "phone"],
)
def test_axe_finds_nothing_serious(report, opened, settings, query):
    page = opened(report, "#topic-1", **settings)
    page.fill("#query", query)
    assert page.locator("#answers").is_visible() == bool(query)
    assert serious(page) == []


@pytest.mark.slow
def test_dark_follows_the_system_and_the_button(report, opened):
    paper = "getComputedStyle(document.body).backgroundColor"
    light, dark = opened(report), opened(report, color_scheme="dark")
    assert light.evaluate(paper) != dark.evaluate(paper)
    button = light.get_by_role("button", name="Dark colours")
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert light.evaluate(paper) == dark.evaluate(paper)


@pytest.mark.slow
def test_a_phone_scrolls_down_only_and_opens_topics_in_place(report, opened):
    page = opened(report, **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    second = page.locator("#topic-list > li").nth(1)
    second.locator("> a").tap()
    assert second.locator("#topic dt").count() > 3
    page.locator("#document .text span").nth(1).tap()
    assert "probability" in page.locator("#tip").inner_text()


# --- other posteriors ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_sentences_are_coloured_where_sentences_have_topics(tmp_path, opened):
    page = opened(write_report(segmented(), tmp_path / "report.html"))
    spans = page.locator("#document .text span")
    assert spans.all_inner_texts() == [
        "apple pear",
        "plum apple pear",
        "iron tin",
        "iron tin tin",
        "army war",
    ]
    assert spans.nth(1).get_attribute("data-sure") == "75"
    assert "Each sentence is coloured" in page.locator("#documents .note").first.inner_text()


@pytest.mark.slow
def test_a_number_of_topics_that_never_changes_has_no_picture(tmp_path, opened):
    page = opened(write_report(cases.many(topics=4, documents=30), tmp_path / "report.html"))
    assert page.locator(".lead").inner_text().startswith("4 topics in 30 documents")
    assert "All draws have 4 topics" in page.locator("#found + section").inner_text()
    assert page.locator("#counts svg").count() == 0


@pytest.mark.slow
def test_labels_of_the_map_cover_no_circle(tmp_path, opened):
    page = opened(write_report(cases.many(topics=40, documents=300), tmp_path / "report.html"))
    boxes = """(selector) => [...document.querySelectorAll(selector)].map((node) => {
        const { left, top, right, bottom } = node.getBoundingClientRect();
        return [left, top, right, bottom];
    })"""
    labels, circles = (page.evaluate(boxes, f"#topic-map {tag}") for tag in ("text", "circle"))
    assert len(labels) >= 5
    covered = [
        (label, circle)
        for label in labels
        for circle in circles
        if label[0] < circle[2] and circle[0] < label[2] and label[1] < circle[3] and circle[1] < label[3]
    ]
    assert covered == []


@pytest.mark.slow
def test_topics_of_a_document_that_are_not_named_are_summed_up(report, opened):
    page = opened(report)
    chips = page.locator("#document .chips")
    named = sum(float(share.rstrip("%")) for share in chips.locator("button small").all_inner_texts())
    assert abs(named - 100) <= 2
    assert chips.locator("> small").count() == 0


@pytest.mark.slow
def test_groups_without_words_have_a_report_without_words(tmp_path, opened):
    page = opened(write_report(points(), tmp_path / "report.html"))
    assert page.locator("#topic-list > li").count() == 2
    assert page.locator("#documents-title").inner_text() == "Groups"
    assert page.locator("#topic .words dt, #document .text").count() == 0
    assert page.locator("#topic .parameters dt").count() >= 1
    assert page.locator("#document .chips button").count() >= 1
    assert page.get_by_role("button", name="words.csv").count() == 0
    assert serious(page) == []


@pytest.mark.slow
def test_many_topics_and_documents_open_and_answer(tmp_path, opened):
    path = write_report(cases.many(), tmp_path / "report.html")
    assert path.stat().st_size < 10_000_000
    page = opened(path)
    assert "3,000 of 20,000 documents" in page.locator("#documents .note").first.inner_text()
    assert page.locator("#topic-list > li").count() == 25
    page.get_by_role("button", name="more of 500 topics").click()
    assert page.locator("#topic-list > li").count() == 125
    page.fill("#query", "w417x3")
    assert "w417x" in page.locator("#answers a").first.inner_text()
    assert page.locator("#topic-map circle").count() == 500


@pytest.mark.slow
def test_a_posterior_whose_draws_agree_on_nothing_opens(tmp_path, opened):
    themes = cases.themes()
    nothing = [np.full_like(match, -1) for match in themes.consensus_topics.matches]
    vars(themes)["consensus_topics"] = replace(themes.consensus_topics, matches=nothing)
    page = opened(write_report(themes, tmp_path / "report.html"))
    assert "There are no consensus topics" in page.locator("#found").inner_text()
    assert page.locator("#topic-list > li").count() == 0
    assert page.locator("#document .text .nobody").count() > 10
