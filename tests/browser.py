"""A browser for tests: Chromium without a window, a folder served to it, faults of any page."""

import functools
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

TOO_WIDE = "document.documentElement.scrollWidth > innerWidth ? [`wider than ${innerWidth} pixels`] : []"
# Sphinx writes long signatures as lists that are nothing but definitions.
AXE = """() => axe.run({
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
    rules: {
        "definition-list": {enabled: false}, "label-content-name-mismatch": {enabled: true},
        "heading-order": {enabled: true}
    }
}).then(
    found => found.violations.flatMap(({id, nodes}) => nodes.map(({html}) => `${id}: ${html}`)))"""


def faults_of(page, axe: bool) -> list[str]:
    """What is wrong with an open page, 1400 wide; axe: by the rules of WCAG, too, which take seconds."""
    found = []
    if axe:
        folder = distribution("axe-playwright-python").locate_file("axe_playwright_python")
        page.evaluate(Path(str(folder), "axe.min.js").read_text())
        for theme in ("light", "dark"):
            page.evaluate(f"document.body.dataset.theme = '{theme}'")
            found += page.evaluate(AXE)
    for width in (390, 1400):
        page.set_viewport_size({"width": width, "height": 1000})
        found += page.evaluate(TOO_WIDE)
    return [f"{page.url}: {fault}" for fault in found]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which a folder is served on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:  # also where a test is skipped for want of a browser
            server.shutdown()


@contextmanager
def chromium() -> Iterator:
    """A browser; where there is none, or nothing to drive it with, the test is skipped."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright: pip install -e './course-package[book]'"
    )
    if CHROMIUM is None:
        pytest.skip("needs Chromium or Google Chrome")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def note_faults(page, faults: list[str], own: str) -> None:
    """Note what goes wrong in a page: errors on its console, failed requests, requests not to `own`."""

    def note_request(request):
        if not request.url.startswith((own, "data:", "blob:")):
            faults.append(f"{page.url}: asks for {request.url}")

    def note_response(response):
        if response.status >= 400:
            faults.append(f"{page.url}: {response.status} {response.url}")

    page.on("request", note_request)
    page.on("response", note_response)
    page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
    page.on("console", lambda line: line.type == "error" and faults.append(f"{page.url}: {line.text}"))


@contextmanager
def browser_page(faults: list[str], own: str, width: int = 1400, height: int = 1000) -> Iterator:
    """A page that notes its faults."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": width, "height": height})
        note_faults(page, faults, own)
        yield page
