"""Many releases at once: which ones, in which order, downloads that are cut off, and an index in trouble."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from extractor.errors import ToolError
from extractor.source import batch, resumed
from extractor.source.base import Silent
from extractor.source.batch import Range
from tests.test_source_release import DEAD, Server, Watch, no_index_of_the_machine, release, server

__all__ = ["no_index_of_the_machine", "server"]

DATES = {
    "0.1.0": "2023-06-20T00:00:00Z",
    "0.2.0": "2023-09-28T00:00:00Z",
    "0.2.0.post1": "2023-09-28T00:00:00Z",
    "0.3.0rc1": "2024-01-01T00:00:00Z",
    "0.3.0": "2024-01-31T00:00:00Z",
    "0.1.9": "2024-02-02T00:00:00Z",  # mended afterwards
    "0.4.0+cpu": "2024-02-03T00:00:00Z",
}


def dated(server: Server, yanked: str = "") -> None:
    for version, date in DATES.items():
        server.add(f"vllm-{version}.tar.gz", release(version), yanked=version == yanked)
        server.files[-1]["upload-time"] = date


def versions(server: Server, wanted: Range, also: tuple[str, ...] = (), tmp: Path = Path("/nowhere")) -> list[str]:
    return [c.version for c in batch.chosen(batch.listed(f"{server.address}/simple", tmp), wanted, also)]


CASES_CHOSEN = [
    pytest.param(Range(), (), ["0.1.0", "0.2.0", "0.2.0.post1", "0.3.0", "0.1.9"], id="no pre-release, by date"),
    pytest.param(Range(pre=True), (), ["0.1.0", "0.2.0", "0.2.0.post1", "0.3.0rc1", "0.3.0", "0.1.9"], id="pre"),
    pytest.param(Range(first="0.2.0", last="0.3.0"), (), ["0.2.0", "0.2.0.post1", "0.3.0"], id="both ends"),
    pytest.param(Range(first="v0.3.0"), (), ["0.3.0", "0.1.9"], id="from one on"),
    pytest.param(Range(last="0.2.0"), (), ["0.1.0", "0.2.0"], id="two of one date: the lower version first"),
    pytest.param(Range(first="0.3.0rc1", last="0.3.0"), (), ["0.3.0rc1", "0.3.0"], id="a pre-release that is named"),
    pytest.param(Range(first="0.3.0"), ("0.1.0",), ["0.1.0", "0.3.0", "0.1.9"], id="what is there already"),
]


@pytest.mark.parametrize(("wanted", "also", "expected"), CASES_CHOSEN)
def test_chosen(server: Server, wanted: Range, also: tuple[str, ...], expected: list[str]) -> None:
    dated(server)
    assert versions(server, wanted, also) == expected


def test_a_yanked_release_is_left_out_unless_asked_for(server: Server) -> None:
    dated(server, yanked="0.2.0")
    assert "0.2.0" not in versions(server, Range())
    assert "0.2.0" in versions(server, Range(yanked=True))
    assert "0.2.0" in versions(server, Range(first="0.2.0"))
    assert "0.2.0" in versions(server, Range(first="0.3.0"), ("0.2.0",))


CASES_RANGE = [
    pytest.param("..", "is no range of releases: give --releases one such as", id="nothing"),
    pytest.param("a..b", "'a' is not a version", id="no versions"),
    pytest.param("0.1.0..7.0", "there is no release 7.0 of vLLM on the index", id="not there"),
    pytest.param("0.3.0..0.1.0", "0.3.0 came after 0.1.0: give --releases the older one first", id="backwards"),
]


@pytest.mark.parametrize(("text", "message"), CASES_RANGE)
def test_no_range(server: Server, text: str, message: str) -> None:
    dated(server)
    with pytest.raises(ToolError, match=message):
        first, last = batch.parsed_range(text)
        versions(server, Range(first=first, last=last))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("0.1.0..0.2.0", ("0.1.0", "0.2.0"), id="both"),
        pytest.param("0.1.0..", ("0.1.0", None), id="the first"),
        pytest.param("..0.2.0", (None, "0.2.0"), id="the last"),
        pytest.param("0.1.0", ("0.1.0", "0.1.0"), id="one"),
    ],
)
def test_ranges(text: str, expected: tuple[str | None, str | None]) -> None:
    assert batch.parsed_range(text) == expected


CASES_INDEX: list[Any] = [
    pytest.param({"status": 500}, "answers 500", id="broken"),
    pytest.param({"page": b"<html>log in</html>"}, "neither a pre-release nor yanked: check --index", id="HTML"),
]


@pytest.mark.parametrize(("change", "message"), CASES_INDEX)
def test_an_index_in_trouble(server: Server, change: dict[str, Any], message: str) -> None:
    for name, value in change.items():
        setattr(server, name, value)
    with pytest.raises(ToolError, match=message):
        versions(server, Range())


def test_no_index_at_all(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"cannot reach the package index .*--source"):
        batch.listed(DEAD, tmp_path)


def test_one_that_fails_does_not_stop_the_rest(tmp_path: Path, server: Server) -> None:
    for version in ("0.1.0", "0.2.0", "0.3.0"):
        server.add(f"vllm-{version}.tar.gz", release(version), sha256="0" * 64 if version == "0.2.0" else "")
    address = f"{server.address}/simple"
    files = batch.chosen(batch.listed(address, tmp_path), Range())
    watch = Watch()
    found = list(batch.fetched(files, tmp_path, address, watch))
    assert [(a.version, a.trouble is None) for a in found] == [("0.1.0", True), ("0.2.0", False), ("0.3.0", True)]
    assert "is not what its sha256 says" in str(found[1].trouble)
    assert watch.said[0] == ("downloading 3 releases", sum(len(d) for d in server.answers.values()))
    asked = len(server.asked)
    assert [a.trouble is None for a in batch.fetched(files, tmp_path, address, Silent())] == [True, False, True]
    assert len(server.asked) == asked + 1


@pytest.fixture
def flaky() -> Iterator[tuple[Server, list[str | None]]]:
    """An index whose files break off after half of what is asked for, and that can go on."""
    state = Server()
    ranges: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, kind, body = state.answer(self.path)
            asked = self.headers.get("Range")
            start = 0
            if self.path.startswith("/files/"):
                ranges.append(asked)
                start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
            self.send_response(206 if start else status)
            self.send_header("Content-Type", kind)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            self.send_header("Content-Length", str(len(body) - start))
            self.end_headers()
            cut = start + (len(body) - start) // 2 if self.path.startswith("/files/") and len(ranges) < 3 else None
            self.wfile.write(body[start:cut])

        def log_message(self, format: str, *arguments: object) -> None:
            """Not on the screen of the tests."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield state, ranges
    http.shutdown()
    thread.join()
    http.server_close()


def test_a_cut_off_download_goes_on(
    tmp_path: Path, flaky: tuple[Server, list[str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    index, ranges = flaky
    monkeypatch.setattr(resumed, "CHUNK", 8)  # these archives are small
    data = release("0.1.0")
    index.add("vllm-0.1.0.tar.gz", data)
    address = f"{index.address}/simple"
    files = batch.chosen(batch.listed(address, tmp_path), Range())
    assert next(batch.fetched(files, tmp_path, address, Silent())).trouble is None
    starts = [int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0 for asked in ranges]
    assert len(starts) == 3 and 0 == starts[0] < starts[1] < starts[2] < len(data)
    assert (tmp_path / "releases" / "vllm-0.1.0.tar.gz").read_bytes() == data


def test_what_an_earlier_run_left_is_gone_on_with(tmp_path: Path, flaky: tuple[Server, list[str | None]]) -> None:
    index, ranges = flaky
    data = release("0.1.0")
    index.add("vllm-0.1.0.tar.gz", data)
    ranges += ["earlier", "ones"]  # nothing is cut any more
    address = f"{index.address}/simple"
    files = batch.chosen(batch.listed(address, tmp_path), Range())
    partial = tmp_path / "partial" / f".part-{files[0].sha256}"
    partial.parent.mkdir()
    partial.write_bytes(data[:100])
    assert next(batch.fetched(files, tmp_path, address, Silent())).trouble is None
    assert ranges[2:] == ["bytes=100-"]
    partial.write_bytes(b"x" * 100)  # of something else
    (tmp_path / "releases" / "vllm-0.1.0.tar.gz").unlink()
    (found,) = batch.fetched(files, tmp_path, address, Silent())
    assert "is not what its sha256 says: run again" in str(found.trouble)
    (found,) = batch.fetched(files, tmp_path, address, Silent())
    assert found.trouble is None
