"""Owns showing a site on this machine: its files on 127.0.0.1, with its own page for addresses that are none."""

from __future__ import annotations

import functools
import socket
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from extractor.errors import ToolError
from extractor.pages.addresses import MISSING
from extractor.pages.folder import listed

HOST = "127.0.0.1"
PORT = 8000
TRIED = 20  # ports after the one that is asked for


class _Handler(SimpleHTTPRequestHandler):
    """Files as they are: nothing is kept by the browser, nothing is said on the terminal."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".json": "application/json",
        ".txt": "text/plain; charset=utf-8",
        ".html": "text/html; charset=utf-8",
    }

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def list_directory(self, path: object) -> None:
        """No list of files, as most hosts have none."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        page = Path(self.directory) / MISSING
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            super().send_error(code, message, explain)
            return
        data = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", self.extensions_map[".html"])
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True


def checked(folder: Path) -> Path:
    """The folder of a site. Raises `ToolError` when it is none."""
    listed(folder)
    return folder


def server(folder: Path, port: int = PORT) -> ThreadingHTTPServer:
    """A server of a folder that only waits for `serve_forever`, on the port or one after it. Raises `ToolError`."""
    handler = functools.partial(_Handler, directory=str(folder))
    for candidate in range(port, min(port + TRIED, 65_536)):
        if candidate and _taken(candidate):
            continue
        try:
            return _Server((HOST, candidate), handler)
        except OSError:
            continue
    raise ToolError(f"the ports from {port} on are taken: name another with --port")


def _taken(port: int) -> bool:
    """Whether somebody answers there, also one that listens on all addresses."""
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex((HOST, port)) == 0


def address(of: ThreadingHTTPServer) -> str:
    """Where it is."""
    return f"http://{HOST}:{of.server_address[1]}/"
