"""Releases: from an index on this machine that serves good and hostile files, and from the cache alone."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from extractor.errors import ToolError
from extractor.source import SourceOptions, Tree, index, open_tree
from extractor.source.base import Silent
from extractor.source.store import locked
from tests.test_source_archive import _zip, good, member, tar_bytes


@dataclass
class Server:
    """A package index; `files` are what the page lists, `answers` what is sent."""

    address: str = ""
    files: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    html: bool = False
    status: int = 200
    page: bytes | None = None
    cut: int = 0  # bytes that are promised and not sent

    def add(
        self,
        filename: str,
        data: bytes,
        *,
        sha256: str | None = "",
        yanked: bool = False,
        size: int | None = 0,
    ) -> None:
        hashes = {} if sha256 is None else {"sha256": sha256 or hashlib.sha256(data).hexdigest()}
        row = {
            "filename": filename,
            "url": f"{self.address}/files/{filename}",
            "hashes": hashes,
            "yanked": yanked,
        }
        row |= {"upload-time": "2026-01-02T03:04:05.678901Z"} | ({} if size is None else {"size": size or len(data)})
        self.files.append(row)
        self.answers[f"/files/{filename}"] = data

    def answer(self, path: str) -> tuple[int, str, bytes]:
        if path in self.answers:
            return 200, "application/octet-stream", self.answers[path]
        if path != "/simple/vllm/":
            return 404, "text/plain", b""
        if self.page is not None or self.status != 200:
            return self.status, "text/html", self.page or b""
        if self.html:
            links = "".join(
                f'<a href="{f["url"]}#sha256={f["hashes"]["sha256"]}">{f["filename"]}</a>' for f in self.files
            )
            return 200, "text/html", f"<html><body>{links}</body></html>".encode()
        page = {"meta": {"api-version": "1.1"}, "name": "vllm", "versions": [], "files": self.files}
        return 200, "application/vnd.pypi.simple.v1+json", json.dumps(page).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            status, kind, body = state.answer(self.path)
            promised = state.cut if self.path.startswith("/files/") else 0
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body) + promised))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Not on the screen of the tests."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield state
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture(autouse=True)
def no_index_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*index.VARIABLES, "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@dataclass
class Watch:
    """A progress that remembers."""

    said: list[object] = field(default_factory=list)

    def start(self, what: str, total: int | None) -> None:
        self.said.append((what, total))

    def advance(self, amount: int) -> None:
        self.said.append(amount)

    def done(self) -> None:
        self.said.append("done")


def open_release(tmp: Path, server: Server | str | None, version: str | None, label: str | None = None) -> Tree:
    address = f"{server.address}/simple" if isinstance(server, Server) else server
    return open_tree(SourceOptions(cache=tmp / "cache", release=version, index=address, label=label), Silent())


def release(version: str) -> bytes:
    return tar_bytes(
        *good(),
        member("vllm-1/vllm/_version.py", f"__commit_id__ = 'g{version.encode().hex():0<9}'".encode()),
    )


def kept(tmp: Path) -> list[str]:
    return sorted(p.name for p in (tmp / "cache" / "releases").glob("*")) if (tmp / "cache").exists() else []


# --- what does not work ----------------------------------------------------------------------------------

DEAD = "http://127.0.0.1:9/simple"

CASES_ADDRESS = [
    pytest.param(DEAD, r"cannot reach .*--release .*\(there: none yet\) or --source", id="nobody there"),
    pytest.param("http://me:s3cret@127.0.0.1:9/simple", "cannot reach the package index http://127", id="a password"),
    pytest.param("ftp://127.0.0.1/simple", "is not the address of a package index", id="another protocol"),
    pytest.param("file:///tmp", "is not the address of a package index", id="a folder"),
    pytest.param("nonsense", "is not the address of a package index", id="no address"),
    pytest.param("http://[", "not", id="half an address"),
]


@pytest.mark.parametrize(("address", "message"), CASES_ADDRESS)
def test_no_index(tmp_path: Path, address: str, message: str) -> None:
    with pytest.raises(ToolError, match=message) as caught:
        open_release(tmp_path, address, "1.0")
    assert "s3cret" not in str(caught.value)
    assert kept(tmp_path) == []


CASES_PAGE = [
    pytest.param({"status": 404}, "has no project vllm", id="not found"),
    pytest.param({"status": 401}, "answers 401", id="not allowed"),
    pytest.param({"status": 500}, "answers 500", id="broken"),
    pytest.param({"page": b"<html>log in</html>"}, "no release 1.0 .*nearest: none", id="a page of somebody else's"),
]


@pytest.mark.parametrize(("change", "message"), CASES_PAGE)
def test_an_index_in_trouble(tmp_path: Path, server: Server, change: dict[str, Any], message: str) -> None:
    for name, value in change.items():
        setattr(server, name, value)
    with pytest.raises(ToolError, match=message):
        open_release(tmp_path, server, "1.0")


CASES_VERSION = [
    pytest.param("2.5", r"no release 2.5 of vLLM on the index; the nearest: 1.0, 2.0, 3.0", id="between"),
    pytest.param("9", "the nearest: 2.0, 3.0$", id="above all"),
    pytest.param("0.1", "the nearest: 1.0, 2.0$", id="below all"),
    pytest.param("1.0.dev1", "the nearest: 1.0, 2.0$", id="a pre-release of one that is there"),
    pytest.param("newest", "'newest' is not a version: give --release one such as 0.28.0", id="no version"),
    pytest.param("", "is not a version", id="empty"),
    pytest.param("../../x", "is not a version", id="a path"),
]


@pytest.mark.parametrize(("version", "message"), CASES_VERSION)
def test_no_such_version(tmp_path: Path, server: Server, version: str, message: str) -> None:
    for there in ("3.0", "1.0", "2.0"):
        server.add(f"vllm-{there}.tar.gz", release(there))
    with pytest.raises(ToolError, match=message):
        open_release(tmp_path, server, version)


CASES_FILE = [
    pytest.param("0" * 64, 0, "is not what its sha256 says", id="wrong hash"),
    pytest.param(None, 0, "gives no sha256", id="no hash"),
    pytest.param("", 100, r"cut off.*--source", id="cut off"),
]


@pytest.mark.parametrize(("sha256", "cut", "message"), CASES_FILE)
def test_a_file_in_trouble(tmp_path: Path, server: Server, sha256: str | None, cut: int, message: str) -> None:
    server.add("vllm-1.0.tar.gz", release("1.0"), sha256=sha256)
    server.cut = cut
    with pytest.raises(ToolError, match=message):
        open_release(tmp_path, server, "1.0")
    assert kept(tmp_path) == []


def test_a_file_that_is_gone(tmp_path: Path, server: Server) -> None:
    server.add("vllm-1.0.tar.gz", release("1.0"))
    server.answers.clear()
    with pytest.raises(ToolError, match="answers 404"):
        open_release(tmp_path, server, "1.0")


@pytest.mark.parametrize(
    "name",
    ["../vllm-1.0.tar.gz", "/etc/vllm-1.0.tar.gz", "vllm-1.0.exe", ".vllm-1.0.tar.gz", "other-1.0.tar.gz"],
)
def test_files_that_are_not_considered(tmp_path: Path, server: Server, name: str) -> None:
    server.add(name, release("1.0"))
    with pytest.raises(ToolError, match=r"no release 1\.0"):
        open_release(tmp_path, server, "1.0")
    assert kept(tmp_path) == []


def test_a_hostile_archive_with_the_right_hash(tmp_path: Path, server: Server) -> None:
    server.add("vllm-1.0.tar.gz", b"not an archive")
    with pytest.raises(ToolError, match="damaged, cut off or not an archive"):
        open_release(tmp_path, server, "1.0")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_stopped_while_downloading(
    tmp_path: Path, server: Server, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.add("vllm-1.0.tar.gz", release("1.0"))
    monkeypatch.setattr(Silent, "advance", lambda *_: (_ for _ in ()).throw(error))
    with pytest.raises((ToolError, KeyboardInterrupt)) as caught:
        open_release(tmp_path, server, "1.0")
    assert isinstance(caught.value, KeyboardInterrupt) or "no space left" in str(caught.value)
    assert kept(tmp_path) == []


def test_a_cache_that_is_a_file(tmp_path: Path, server: Server) -> None:
    server.add("vllm-1.0.tar.gz", release("1.0"))
    (tmp_path / "cache").touch()
    with pytest.raises(ToolError, match="cannot write into the cache"):
        open_tree(SourceOptions(cache=tmp_path / "cache", release="1.0", index=f"{server.address}/simple"), Silent())


def test_only_pre_releases_and_yanked(tmp_path: Path, server: Server) -> None:
    server.add("vllm-1.0rc1.tar.gz", release("1.0"))
    server.add("vllm-0.9.tar.gz", release("0.9"), yanked=True)
    with pytest.raises(ToolError, match="neither a pre-release nor yanked"):
        open_release(tmp_path, server, None)


@pytest.mark.parametrize("options", [{"commit": "a", "release": "1"}, {"release": "1", "source": Path()}])
def test_one_source_at_a_time(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="not several"):
        open_tree(SourceOptions(cache=tmp_path, **options), Silent())


# --- what does -------------------------------------------------------------------------------------------


def test_a_release(tmp_path: Path, server: Server) -> None:
    data = release("1.0")
    server.add("vllm-1.0.tar.gz", data)
    tree = open_release(tmp_path, server, "v1.0")
    source = tree.provenance
    assert (source.repo, source.label, source.release) == ("vllm-project/vllm", "v1.0", "1.0")
    assert (source.commit, source.date) == ("312e30000", "2026-01-02T03:04:05Z")
    assert (source.archive, source.sha256) == ("vllm-1.0.tar.gz", hashlib.sha256(data).hexdigest())
    assert source.permalink == "https://github.com/vllm-project/vllm/blob/v1.0"
    assert [entry.path for entry in tree.entries] == ["setup.py", "vllm/_version.py", "vllm/a.py"]
    assert dict(tree.read(["vllm/a.py"])) == dict(tree.read(["vllm/a.py"])) == {"vllm/a.py": b"a = 1\n"}
    assert open_release(tmp_path, server, "1", "mine").provenance.label == "mine"


CASES_NEWEST = [
    pytest.param(["2.0rc1", "1.10", "1.9"], "1.10", id="no pre-release, and by number"),
    pytest.param(["1.0", "1.0.post1"], "1.0.post1", id="a correction of a release"),
    pytest.param(["1.0", "2.0.dev3"], "1.0", id="no development release"),
    pytest.param(["1.0", "2.0+cpu"], "1.0", id="no build for one machine"),
]


@pytest.mark.parametrize(("versions", "expected"), CASES_NEWEST)
def test_the_newest(tmp_path: Path, server: Server, versions: list[str], expected: str) -> None:
    for version in versions:
        server.add(f"vllm-{version}.tar.gz", release(version))
    server.add("vllm-99.tar.gz", release("99"), yanked=True)
    assert open_release(tmp_path, server, None).provenance.release == expected
    assert open_release(tmp_path, server, "99").provenance.release == "99"  # when it is asked for by name


def test_the_smallest_wheel_where_there_is_no_sdist(tmp_path: Path, server: Server) -> None:
    for tag, size in (("cp310", 300), ("cp38", 20), ("cp39", None)):
        server.add(f"vllm-1.0-{tag}-{tag}-manylinux1_x86_64.whl", _zip({"vllm/a.py": b"1"}), size=size)
    tree = open_release(tmp_path, server, "1.0")
    assert tree.provenance.archive == "vllm-1.0-cp38-cp38-manylinux1_x86_64.whl"
    assert dict(tree.read(["vllm/a.py"])) == {"vllm/a.py": b"1"}
    server.add("vllm-2.0-cp38-cp38-manylinux1_x86_64.whl", _zip({"vllm/a.py": b"1"}), size=1)
    server.add("vllm-2.0.tar.gz", release("2.0"), size=10**9)
    assert open_release(tmp_path, server, "2.0").provenance.archive == "vllm-2.0.tar.gz"


def test_an_index_in_html(tmp_path: Path, server: Server) -> None:
    server.add("vllm-1.0.tar.gz", release("1.0"))
    server.html = True
    assert open_release(tmp_path, server, None).provenance.date is None


@pytest.mark.parametrize("name", index.VARIABLES)
def test_the_index_of_the_surroundings(
    tmp_path: Path, server: Server, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.add("vllm-1.0.tar.gz", release("1.0"))
    monkeypatch.setenv(name, f"{server.address}/simple/")
    assert open_release(tmp_path, None, "1.0").provenance.release == "1.0"


def test_which_index() -> None:
    variables = {
        "PIP_INDEX_URL": " ",
        "UV_DEFAULT_INDEX": "mine=https://b/simple",
        "UV_INDEX_URL": "https://c/simple",
    }
    assert index.endpoint(None, {}) is None
    assert index.endpoint("https://a/simple", variables) == "https://a/simple"
    assert index.endpoint(None, variables) == "https://b/simple"
    assert index.endpoint("https://a/?x=https://b", {}) == "https://a/?x=https://b"


def test_progress_in_bytes(tmp_path: Path, server: Server) -> None:
    data = release("1.0")
    server.add("vllm-1.0.tar.gz", data)
    watch = Watch()
    options = SourceOptions(cache=tmp_path / "cache", release="1.0", index=f"{server.address}/simple")
    open_tree(options, watch)
    assert watch.said[0] == ("downloading vllm-1.0.tar.gz", len(data))
    assert sum(amount for amount in watch.said if isinstance(amount, int)) == len(data)
    assert watch.said[-1] == "done"


# --- the cache -------------------------------------------------------------------------------------------


def test_what_is_kept_needs_no_network(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.add("vllm-1.0.tar.gz", release("1.0"))
    first = open_release(tmp_path, server, "1.0")
    assert len(server.asked) == 2
    scans: list[object] = []
    monkeypatch.setattr("extractor.source.archive.scan", scans.append)  # nor is it decompressed to be listed
    again = open_release(tmp_path, server, "v1.0.0")
    assert len(server.asked) == 2 and scans == []
    assert (again.provenance, again.entries, again.skipped) == (
        first.provenance,
        first.entries,
        first.skipped,
    )
    assert kept(tmp_path) == ["vllm-1.0.tar.gz", "vllm-1.0.tar.gz.json"]
    with pytest.raises(ToolError, match=r"--release with one from the cache \(there: 1.0\)"):
        open_release(tmp_path, DEAD, "2.0")
    with pytest.raises(ToolError, match="cannot reach"):
        open_release(tmp_path, DEAD, None)


def test_the_newest_is_not_downloaded_twice(tmp_path: Path, server: Server) -> None:
    server.add("vllm-1.0.tar.gz", release("1.0"))
    open_release(tmp_path, server, None)
    open_release(tmp_path, server, None)
    assert server.asked == ["/simple/vllm/", "/files/vllm-1.0.tar.gz", "/simple/vllm/"]


CASES_DAMAGED = [
    pytest.param("vllm-1.0.tar.gz", b"", id="an empty archive"),
    pytest.param("vllm-1.0.tar.gz", b"x" * 500, id="another archive"),
    pytest.param("vllm-1.0.tar.gz.json", b"", id="no description"),
    pytest.param("vllm-1.0.tar.gz.json", b'{"filename": 3}', id="a wrong description"),
    pytest.param("vllm-1.0.tar.gz.json", b"\xff\xfe", id="not text"),
]


@pytest.mark.parametrize(("name", "data"), CASES_DAMAGED)
def test_what_is_damaged_is_fetched_again(tmp_path: Path, server: Server, name: str, data: bytes) -> None:
    server.add("vllm-1.0.tar.gz", release("1.0"))
    open_release(tmp_path, server, "1.0")
    (tmp_path / "cache" / "releases" / name).write_bytes(data)
    for path in (tmp_path / "cache" / "listings").iterdir():
        path.write_bytes(b"damaged")
    tree = open_release(tmp_path, server, "1.0")
    assert len(dict(tree.read([entry.path for entry in tree.entries]))) == 3
    fetched = 2 if name.endswith(".gz") else 1  # a good archive is not fetched for its description
    assert len(server.asked) == 2 + fetched
    asked = len(server.asked)
    open_release(tmp_path, DEAD, "1.0")
    assert len(server.asked) == asked


def test_a_description_cannot_name_another_file(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "releases"
    folder.mkdir(parents=True)
    (tmp_path / "secret").write_bytes(b"1")
    row = {"filename": "../../secret", "sha256": hashlib.sha256(b"1").hexdigest(), "version": "1.0"}
    (folder / "x.json").write_text(json.dumps(row | {"uploaded": None, "yanked": False}))
    with pytest.raises(ToolError, match="there: none yet"):
        open_release(tmp_path, DEAD, "1.0")


def test_partial_files_of_runs_that_were_killed_go(tmp_path: Path, server: Server) -> None:
    server.add("vllm-1.0.tar.gz", release("1.0"))
    folder = tmp_path / "cache" / "releases"
    folder.mkdir(parents=True)
    for name in (".part-old", ".part-new"):
        (folder / name).touch()
    os.utime(folder / ".part-old", (1, 1))
    open_release(tmp_path, server, "1.0")
    assert kept(tmp_path) == [".part-new", "vllm-1.0.tar.gz", "vllm-1.0.tar.gz.json"]


def test_two_runs_at_once(tmp_path: Path, server: Server) -> None:
    server.add("vllm-1.0.tar.gz", release("1.0"))
    code = (
        "from extractor.source import *; from pathlib import Path\n"
        f"cache = Path({str(tmp_path / 'cache')!r})\n"
        f"options = SourceOptions(cache=cache, release='1.0', index='{server.address}/simple')\n"
        "t = open_tree(options, Silent()); print(len(dict(t.read([e.path for e in t.entries]))))"
    )
    command = [sys.executable, "-c", code]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [run.communicate() for run in runs] == [("3\n", "")] * 4
    assert kept(tmp_path) == ["vllm-1.0.tar.gz", "vllm-1.0.tar.gz.json"]


def test_a_lock_is_for_one_at_a_time(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def run(number: int) -> None:
        with locked(tmp_path / "deep" / "lock"):
            inside.append(number)
            most.append(len(inside))
            time.sleep(0.02)
            inside.remove(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 5


@pytest.mark.real
def test_a_real_release() -> None:
    from platformdirs import user_cache_path

    tree = open_tree(SourceOptions(cache=user_cache_path("vllm-errors", appauthor=False), release="0.28.0"), Silent())
    assert len(tree.entries) == 2540
    assert tree.skipped == ()
    assert (tree.provenance.commit, tree.provenance.date) == ("2cf0a6915", "2026-08-26T10:08:30Z")
    assert dict(tree.read(["vllm/version.py"]))["vllm/version.py"].startswith(b"# SPDX")
