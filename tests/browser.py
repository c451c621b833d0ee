"""A browser for tests: Chromium without a window, and a folder served to it."""

import functools
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

TOO_WIDE = "document.documentElement.scrollWidth > innerWidth ? [`wider than ${innerWidth} pixels`] : []"
# The ratio of WCAG 2.1 (1.4.3) for every pair of colours in which visible text stands; formulas are text, too.
CONTRAST = r"""() => {
    const numbers = colour => colour.match(/[\d.]+/g).map(Number);
    const linear = c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
    const pairs = new Map();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (!/[\p{L}\p{N}]/u.test(texts.currentNode.textContent) || !element.checkVisibility()) continue;
        let seen = 1, ground = null;
        for (let behind = element; behind; behind = behind.parentElement) {
            const style = getComputedStyle(behind);
            seen *= style.opacity;
            if (!ground && (numbers(style.backgroundColor)[3] ?? 1) > 0) ground = style.backgroundColor;
        }
        const colour = getComputedStyle(element).color;
        ground ??= "rgb(255, 255, 255)";
        pairs.set(`${colour} on ${ground} at ${seen}`, [element, numbers(colour), numbers(ground), seen]);
    }
    const faults = [];
    for (const [pair, [element, colour, ground, seen]] of pairs) {
        const mixed = ground.map((c, i) => c + seen * (colour[3] ?? 1) * (colour[i] - c));
        const [less, more] = [light(mixed), light(ground)].sort((a, b) => a - b);
        const ratio = (more + 0.05) / (less + 0.05);
        if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}, ${pair}: ${element.outerHTML.slice(0, 90)}`);
    }
    return faults;
}"""


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


@contextmanager
def browser_page(faults: list[str], own: str, width: int = 1400, height: int = 1000) -> Iterator:
    """A page that notes what goes wrong in it: errors on its console, failed requests, requests not to `own`."""

    def note_request(request):
        if not request.url.startswith((own, "data:", "blob:")):
            faults.append(f"{page.url}: asks for {request.url}")

    def note_response(response):
        if response.status >= 400:
            faults.append(f"{page.url}: {response.status} {response.url}")

    with chromium() as browser:
        page = browser.new_page(viewport={"width": width, "height": height})
        page.on("request", note_request)
        page.on("response", note_response)
        page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
        page.on("console", lambda line: line.type == "error" and faults.append(f"{page.url}: {line.text}"))
        yield page
