"""A real browser, the system's Chromium, and pages opened in it as a user would: a file, and no network."""

from __future__ import annotations

import os
import shutil

import pytest

from franchise.report import write_report
from tests.report import cases

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_MISSING = "no Chromium is installed: `apt-get install chromium` (or google-chrome)"


@pytest.fixture(scope="session")
def browser():
    """The browser; where tests must not be left out (CI=true) it has to be there."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail(_MISSING)
        pytest.skip(_MISSING)
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=arguments)
        yield running
        running.close()


class Opened:
    """A page in the browser, and all that went wrong in it."""

    def __init__(self, browser, path, anchor="", **settings):
        self.context = browser.new_context(reduced_motion="reduce", accept_downloads=True, **settings)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.requests, self.troubles = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.troubles.append(dialog.message), dialog.dismiss()))
        self.address = path.as_uri()
        self.page.goto(self.address + anchor)
        self.page.wait_for_selector("#document-title")


@pytest.fixture
def opened(browser):
    """A function that opens a page; what it opens must load nothing and complain of nothing."""
    pages = []

    def open_page(path, anchor="", **settings):
        pages.append(Opened(browser, path, anchor, **settings))
        return pages[-1].page

    yield open_page
    for one in pages:
        one.context.close()
        assert {address.split("#")[0] for address in one.requests} <= {one.address}
        assert one.troubles == []


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The report on three themes, as a file."""
    return write_report(
        cases.themes(), tmp_path_factory.mktemp("report") / "report.html", title="Three themes"
    )
