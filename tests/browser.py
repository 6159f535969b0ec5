"""A browser for tests: Chromium through Playwright, pages that fail on what a console complains of, folders served."""

from __future__ import annotations

import atexit
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from extractor import serving

HOW = "install Chromium (on Debian: apt-get install chromium), or name a browser in VLLM_ERRORS_CHROMIUM"


def executable() -> str | None:
    """The browser that is there."""
    given = os.environ.get("VLLM_ERRORS_CHROMIUM")
    names = [given] if given else ["chromium", "chromium-browser", "google-chrome"]
    return next((found for found in map(shutil.which, names) if found), None)


def follow(link: Any) -> None:
    """Clicks a link, and waits for the page that it leads to: what is counted before is of the page before."""
    with link.page.expect_navigation():
        link.click()


_STARTED: list[Any] = []


@pytest.fixture(scope="session")
def browser() -> Any:
    from playwright.sync_api import sync_playwright

    path = executable()
    if path is None:
        (pytest.fail if os.environ.get("VLLM_ERRORS_BROWSER") == "required" else pytest.skip)(f"no browser: {HOW}")
    if not _STARTED:  # each module that takes the fixture has its own; a process has one browser
        playwright = sync_playwright().start()
        _STARTED.append(playwright.chromium.launch(executable_path=path, args=["--no-sandbox"]))
        atexit.register(playwright.stop)
    return _STARTED[0]


@pytest.fixture
def complaints() -> list[str]:
    """What the console of `page` said."""
    return []


@pytest.fixture
def excused() -> set[str]:
    """Words of complaints that a test provokes, which it adds; a browser may write them late, or not at all."""
    return set()


@pytest.fixture
def page(browser: Any, complaints: list[str], excused: set[str]) -> Iterator[Any]:
    """A page that fails its test when a script fails, the console complains, or anything is asked of elsewhere."""
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    opened.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    opened.on("pageerror", lambda e: complaints.append(str(e)))
    opened.on("request", lambda r: None if _own(r.url) else complaints.append(f"asked {r.url}"))
    yield opened
    context.close()
    assert [text for text in complaints if not any(words in text for words in excused)] == []


def _own(url: str) -> bool:
    return url.startswith((f"http://{serving.HOST}:", "file:", "blob:", "data:"))


@pytest.fixture(scope="session")
def served() -> Iterator[Callable[[Path], str]]:
    """Serves folders, each at an address of its own that ends with a slash."""
    servers = []

    def serve(folder: Path) -> str:
        server = serving.server(folder, 0)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return serving.address(server)

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()
