"""A browser for tests: Chromium through Playwright, pages that fail on what a console complains of, folders served."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


def executable() -> str | None:
    given = os.environ.get("VLLM_ERRORS_CHROMIUM")
    names = [given] if given else ["chromium", "chromium-browser", "google-chrome"]
    return next((found for found in map(shutil.which, names) if found), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = executable()
    if path is None:
        pytest.skip("no browser")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context()
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    opened.on("pageerror", lambda e: complaints.append(str(e)))
    yield opened
    context.close()
    assert complaints == []


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def served() -> Iterator[Callable[[Path], str]]:
    servers = []

    def serve(folder: Path) -> str:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()
