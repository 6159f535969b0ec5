"""Building a history: from an index or a clone on this machine, interrupted, with holes, cut off, gone on with."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from extractor.errors import NothingFound, ToolError
from extractor.history import build, command, store
from extractor.history.record import History
from extractor.model import Error
from extractor.pool import Crashed, Here
from extractor.source.base import Silent
from tests.test_source_archive import _zip, member, tar_bytes
from tests.test_source_git import ENVIRONMENT
from tests.test_source_release import DEAD, Server, no_index_of_the_machine, server
from tests.trees import errors_in

__all__ = ["no_index_of_the_machine", "server"]

FULL = "def f(rank):\n    if rank > 16:\n        raise ValueError('the rank is larger than what this engine takes')\n"
REWORDED = FULL.replace("is larger than what this engine takes", "is larger than this engine takes")
TOOLS = "def g(port):\n    raise OSError('no port is free on the host')\n"
TREES = {
    "0.1.0": {"vllm/a.py": FULL, "tools/b.py": TOOLS},
    "0.2.0": {"vllm/a.py": REWORDED, "tools/b.py": TOOLS},
    "0.3.0": {"vllm/a.py": "x = 1\n", "tools/b.py": TOOLS},
    "0.4.0": {"vllm/a.py": REWORDED, "tools/b.py": TOOLS},
}


def archive(version: str, files: dict[str, str]) -> bytes:
    return tar_bytes(*(member(f"vllm-{version}/{path}", text.encode()) for path, text in sorted(files.items())))


@pytest.fixture
def index(server: Server) -> Server:
    for number, (version, files) in enumerate(TREES.items(), 1):
        add(server, version, archive(version, files), number)
    return server


def add(server: Server, version: str, data: bytes, day: int, **more: Any) -> None:
    server.add(f"vllm-{version}.tar.gz", data, **more)
    server.files[-1]["upload-time"] = f"2026-01-{day:02}T00:00:00Z"


def options(tmp: Path, server: Server | str, **more: Any) -> command.Options:
    address = server if isinstance(server, str) else f"{server.address}/simple"
    return command.Options(out=tmp / "output", cache=tmp / "cache", index=address, **more)


def built(given: command.Options, tool: bytes = b"tool") -> build.Report:
    return command.run(given, tool, Here(), None, Silent(), Silent())


def history(tmp: Path) -> History:
    return store.read(tmp / "output" / "history.jsonl")


def told(tmp: Path) -> dict[str, tuple[str, str | None, int]]:
    return {line.states[0].path: (line.since, line.until, len(line.states)) for line in history(tmp).lines}


ALL = {"tools/b.py": ("0.1.0", None, 1), "vllm/a.py": ("0.1.0", None, 3)}


def test_all_releases(tmp_path: Path, index: Server) -> None:
    report = built(options(tmp_path, index))
    assert (report.folded, report.files, report.parsed, report.troubles) == (4, 8, 4, ())
    assert told(tmp_path) == ALL
    found = history(tmp_path)
    assert [(r.name, r.errors) for r in found.header.releases] == [
        ("0.1.0", 2),
        ("0.2.0", 2),
        ("0.3.0", 1),
        ("0.4.0", 2),
    ]
    (line,) = (line for line in found.lines if len(line.states) > 1)
    assert [s.kinds for s in line.states] == [("added",), ("reworded",), ("returned",)]
    assert [(g.last, g.back) for g in line.gaps] == [("0.2.0", "0.4.0")] and len(line.ids) == 2


def test_the_same_bytes_however_it_was_built(tmp_path: Path, index: Server) -> None:
    path = tmp_path / "output" / "history.jsonl"
    built(options(tmp_path, index))
    whole = path.read_bytes()
    path.unlink()
    for releases in ("..0.2.0", "0.2.0..0.3.0", "0.4.0"):
        built(options(tmp_path, index, releases=releases))
    assert path.read_bytes() == whole
    assert built(options(tmp_path, index)).folded == 0 and path.read_bytes() == whole
    path.unlink()
    built(options(tmp_path, index, keep=False))
    assert path.read_bytes() == whole


def test_what_is_kept_needs_no_archive(tmp_path: Path, index: Server) -> None:
    built(options(tmp_path, index, releases="..0.3.0"))
    (tmp_path / "cache" / "releases" / "vllm-0.3.0.tar.gz").unlink()
    asked = len(index.asked)
    assert built(options(tmp_path, index)).folded == 1
    assert index.asked[asked:] == ["/simple/vllm/", "/files/vllm-0.4.0.tar.gz"]


def test_a_release_that_is_missing_in_the_middle(tmp_path: Path, index: Server) -> None:
    good = index.answers.pop("/files/vllm-0.2.0.tar.gz")
    report = built(options(tmp_path, index))
    assert report.folded == 3 and [name for name, _ in report.troubles] == ["0.2.0"]
    assert history(tmp_path).header.missing == ("0.2.0",)
    assert {line.since for line in history(tmp_path).lines} == {"0.1.0", "0.4.0"}
    index.answers["/files/vllm-0.2.0.tar.gz"] = good
    report = built(options(tmp_path, index))
    assert report.folded == 4 and told(tmp_path) == ALL
    assert history(tmp_path).header.missing == ()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("a fault")], ids=["Ctrl-C", "a fault"])
def test_an_interrupted_build_counts_and_is_gone_on_with(
    tmp_path: Path, index: Server, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = command.pairing
    met: list[int] = []

    def third(old: list[Error], new: list[Error]) -> Iterator[Any]:
        met.append(len(new))
        if len(met) == 3:
            raise error
        return real(old, new)

    monkeypatch.setattr(command, "pairing", third)
    with pytest.raises(type(error)):
        built(options(tmp_path, index))
    assert [r.name for r in history(tmp_path).header.releases] == ["0.1.0", "0.2.0"]
    monkeypatch.setattr(command, "pairing", real)
    assert built(options(tmp_path, index)).folded == 2 and told(tmp_path) == ALL


def test_an_interruption_never_makes_a_history_shorter(
    tmp_path: Path, index: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(options(tmp_path, index))
    before = (tmp_path / "output" / "history.jsonl").read_bytes()
    monkeypatch.setattr(command, "pairing", lambda old, new: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        built(options(tmp_path, index), b"another tool")
    assert (tmp_path / "output" / "history.jsonl").read_bytes() == before


def test_what_another_version_of_the_tool_saw_stays(tmp_path: Path, index: Server) -> None:
    built(options(tmp_path, index))
    path = tmp_path / "output" / "history.jsonl"
    found = history(tmp_path)
    other = replace(found.lines[0], id="f" * 16, ids=("f" * 16,))
    other = replace(other, states=tuple(replace(s, id="f" * 16) for s in other.states))
    store.write(path, replace(found.header, reading="00"), (*found.lines, other))
    report = built(options(tmp_path, index))
    assert report.anew and report.folded == 4
    lines = {line.id: line for line in history(tmp_path).lines}
    assert lines["f" * 16].tool == build.TOOL and lines["f" * 16].until == "0.4.0"
    assert [line.tool for line in lines.values()].count(None) == 2
    assert built(options(tmp_path, index)).folded == 0
    add(index, "0.5.0", archive("0.5.0", TREES["0.4.0"]), 5)
    assert built(options(tmp_path, index)).folded == 1 and "f" * 16 in {line.id for line in history(tmp_path).lines}


def test_two_releases_of_one_date(tmp_path: Path, index: Server) -> None:
    add(index, "0.3.0.post1", archive("0.3.0.post1", TREES["0.3.0"]), 3)
    built(options(tmp_path, index))
    assert [r.name for r in history(tmp_path).header.releases] == ["0.1.0", "0.2.0", "0.3.0", "0.3.0.post1", "0.4.0"]


def test_a_release_that_was_yanked_later_stays(tmp_path: Path, index: Server) -> None:
    built(options(tmp_path, index))
    index.files[1]["yanked"] = True
    assert built(options(tmp_path, index)).folded == 0
    (tmp_path / "output" / "history.jsonl").unlink()
    assert built(options(tmp_path, index)).folded == 3  # nothing says that it was there
    assert "0.2.0" not in {r.name for r in history(tmp_path).header.releases}


def test_a_release_that_is_gone_from_the_index_stays(tmp_path: Path, index: Server) -> None:
    built(options(tmp_path, index))
    del index.files[1]
    add(index, "0.5.0", archive("0.5.0", TREES["0.4.0"]), 5)
    assert built(options(tmp_path, index)).folded == 1
    assert [r.name for r in history(tmp_path).header.releases] == [*TREES, "0.5.0"]
    assert built(options(tmp_path, index), b"another tool").folded == 5


def test_a_wheel_says_nothing_of_files_that_it_does_not_hold(tmp_path: Path, server: Server) -> None:
    add(server, "0.1.0", archive("0.1.0", TREES["0.1.0"]), 1)
    server.add("vllm-0.2.0-py3-none-any.whl", _zip({"vllm/a.py": FULL.encode()}))
    server.files[-1]["upload-time"] = "2026-01-02T00:00:00Z"
    built(options(tmp_path, server))
    assert told(tmp_path) == {"tools/b.py": ("0.1.0", None, 1), "vllm/a.py": ("0.1.0", None, 1)}
    add(server, "0.3.0", archive("0.3.0", TREES["0.1.0"]), 3)
    assert built(options(tmp_path, server)).folded == 1
    assert told(tmp_path) == {"tools/b.py": ("0.1.0", None, 1), "vllm/a.py": ("0.1.0", None, 1)}


def test_an_archive_that_is_none_is_named(tmp_path: Path, index: Server) -> None:
    add(index, "0.5.0", b"not an archive", 5)
    report = built(options(tmp_path, index))
    assert report.folded == 4 and "damaged, cut off or not an archive" in dict(report.troubles)["0.5.0"]


def test_after_a_crash_trees_are_read_one_by_one(tmp_path: Path, index: Server) -> None:
    class Breaks(Here):
        def run(self, function: Any, tasks: Any) -> Iterator[Any]:
            broken = function.__name__ == "read_all"
            for number, result in super().run((lambda *_: None) if broken else function, tasks):
                yield number, Crashed("gone") if broken else result

    command.run(options(tmp_path, index), b"tool", Breaks(), None, Silent(), Silent())
    assert told(tmp_path) == ALL


def test_files_can_be_read_ahead_elsewhere(tmp_path: Path, index: Server) -> None:
    report = command.run(options(tmp_path, index), b"tool", Here(), Here(), Silent(), Silent())
    assert report.parsed == 4 and told(tmp_path) == ALL


# --- bad input -------------------------------------------------------------------------------------------

CASES_FILE = [
    pytest.param(lambda d: b"", "is not a history, or only the beginning of one: move it away and run", id="empty"),
    pytest.param(lambda d: d[:40], "only the beginning of one", id="cut off in the header"),
    pytest.param(lambda d: d[: len(d) // 2], "was cut off or changed after it was written", id="cut off later"),
    pytest.param(lambda d: d[: d.rindex(b"\n", 0, -1) + 1], "was cut off", id="a line is missing"),
    pytest.param(lambda d: d.replace(b"rank", b"bank"), "cut off or changed", id="changed"),
    pytest.param(lambda d: d.replace(b'"schema":1', b'"schema":2'), "by a newer version of this tool", id="newer"),
    pytest.param(lambda d: d.replace(b'"schema":1', b'"schema":0'), r"by another version .*schema 0", id="older"),
    pytest.param(lambda d: d.replace(b'"schema":1', b'"schema":"1"'), "is not a history", id="no number"),
    pytest.param(lambda d: d.replace(b'"reading"', b'"writing"'), "has a header that does not fit", id="a header"),
    pytest.param(lambda d: b"\xff\xfe" + d, "is not a history", id="no text"),
]


@pytest.mark.parametrize(("change", "message"), CASES_FILE)
def test_a_history_that_is_none_is_never_begun_anew(tmp_path: Path, index: Server, change: Any, message: str) -> None:
    built(options(tmp_path, index, releases="..0.2.0"))
    path = tmp_path / "output" / "history.jsonl"
    path.write_bytes(change(path.read_bytes()))
    broken = path.read_bytes()
    for ask in (
        lambda: built(options(tmp_path, index)),
        lambda: command.story(path, "abcdef"),
        lambda: command.fact(path, "abcdef"),
    ):
        with pytest.raises(ToolError, match=message):
            ask()
    assert path.read_bytes() == broken


CASES_INDEX: list[Any] = [
    pytest.param({"status": 500}, "answers 500", id="broken"),
    pytest.param({"page": b"<html>log in</html>"}, "neither a pre-release nor yanked", id="HTML"),
]


@pytest.mark.parametrize(("change", "message"), CASES_INDEX)
def test_an_index_in_trouble(tmp_path: Path, index: Server, change: dict[str, Any], message: str) -> None:
    built(options(tmp_path, index, releases="0.1.0"))
    before = (tmp_path / "output" / "history.jsonl").read_bytes()
    for name, value in change.items():
        setattr(index, name, value)
    with pytest.raises(ToolError, match=message):
        built(options(tmp_path, index, releases=None if "page" in change else "0.2.0"))
    assert (tmp_path / "output" / "history.jsonl").read_bytes() == before


def test_no_index(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="cannot reach the package index"):
        built(options(tmp_path, DEAD))
    assert not (tmp_path / "output").exists()


def test_ids(tmp_path: Path, index: Server) -> None:
    path = tmp_path / "output" / "history.jsonl"
    with pytest.raises(ToolError, match=r"no history at .*: make one with vllm-errors history build --all"):
        command.story(path, "abc")
    assert command.fact(path, "abc") is None
    built(options(tmp_path, index))
    old = next(e.id for e in errors_in({"vllm/a.py": FULL}))
    for given in (old, old[:6], old.upper()):
        header, (line,) = command.story(path, given)
        assert old in line.ids and header.of == "release"
    assert command.fact(path, old) == "In vLLM since 0.1.0; reworded in 0.2.0; back in 0.4.0; until: still there"
    for given in ("f" * 16, "a", "", "\x1b[31m"):
        with pytest.raises(NothingFound, match=r"no release had an error .*nearest: "):
            command.story(path, given)


# --- commits ---------------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, env=ENVIRONMENT | {"PATH": "/usr/bin:/bin"}, check=True,
                          capture_output=True, text=True)  # fmt: skip
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Four commits on main, tagged as the trees are called, and a merged branch that is none of them."""
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    for number, (version, files) in enumerate(TREES.items()):
        if number == 2:
            git(folder, "checkout", "--quiet", "-b", "side")
            (folder / "vllm/side.py").write_text(TOOLS.replace("port", "side"))
            git(folder, "add", "-A")
            git(folder, "commit", "--quiet", "-m", "side")
            git(folder, "checkout", "--quiet", "main")
        for path, text in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "--quiet", "-m", version)
        git(folder, "tag", version)
    return folder


def test_commits(tmp_path: Path, clone: Path) -> None:
    given = options(tmp_path, DEAD, repo=clone, commits="0.1.0..main")
    report = built(given)
    assert (report.folded, report.files, report.parsed) == (4, 8, 4)
    names = [git(clone, "rev-parse", version)[:10] for version in TREES]
    assert [r.name for r in history(tmp_path).header.releases] == names
    assert told(tmp_path) == {"tools/b.py": (names[0], None, 1), "vllm/a.py": (names[0], None, 3)}
    old = next(e.id for e in errors_in({"vllm/a.py": FULL}))
    fact = command.fact(tmp_path / "output" / "history.jsonl", old)
    assert fact is not None and fact.startswith(f"In vLLM since commit {names[0]}; reworded in {names[1]}; back in")
    git(clone, "merge", "--quiet", "side", "-m", "merged")
    assert built(given).folded == 1  # one first parent, not two commits


CASES_COMMITS = [
    pytest.param("0.1.0", None, "is no range of commits: give --commits one such as", id="one commit"),
    pytest.param("..main", None, "is no range of commits", id="no beginning"),
    pytest.param("0.1.0..nowhere", None, "has no commit, tag or branch nowhere", id="not there"),
    pytest.param("main..0.1.0", None, "is no ancestor of 0.1.0: give --commits the older one first", id="backwards"),
    pytest.param("0.1.0..main", "https://example.org/x", "give --repo its folder", id="a remote repository"),
]


@pytest.mark.parametrize(("text", "repo", "message"), CASES_COMMITS)
def test_no_commits(tmp_path: Path, clone: Path, text: str, repo: str | None, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        built(options(tmp_path, DEAD, repo=Path(repo) if repo else clone, commits=text))


def test_releases_and_commits_do_not_mix(tmp_path: Path, clone: Path, index: Server) -> None:
    built(options(tmp_path, index, repo=clone, commits="0.2.0..main"))
    with pytest.raises(ToolError, match=r"is a history of commits: give another folder with --out"):
        built(options(tmp_path, index))
    with pytest.raises(ToolError, match=r"which is not in this range: give --commits a longer one"):
        built(options(tmp_path, index, repo=clone, commits="0.3.0..main"))


def test_every_line_is_json_for_others(tmp_path: Path, index: Server) -> None:
    built(options(tmp_path, index))
    rows = [json.loads(row) for row in (tmp_path / "output" / "history.jsonl").read_text().splitlines()]
    assert rows[0]["schema"] == 1 and rows[0]["lines"] == len(rows) - 1
    assert all({"id", "ids", "since", "until", "states"} <= row.keys() for row in rows[1:])
