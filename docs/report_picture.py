"""The picture of the report in the README.

    make demo
    python docs/report_picture.py demo/report.html          writes docs/report.png

It needs Chromium and the extra `dev`, which has playwright. The fifth topic of the list is open.
"""

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = {"width": 1280, "height": 860}
TOPIC = 4


def take_picture(report: Path, picture: Path) -> None:
    """Open the list of topics of a report, and write what the browser shows."""
    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=arguments)
        page = browser.new_page(viewport=SIZE, reduced_motion="reduce", color_scheme="light")
        page.goto(report.resolve().as_uri())
        page.locator("#topic-list > li > a").nth(TOPIC).click()
        page.evaluate("document.querySelector('#topics').scrollIntoView()")
        page.mouse.move(0, 0)
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    take_picture(Path(sys.argv[1]), Path(__file__).with_name("report.png"))
