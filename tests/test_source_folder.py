"""Folders: what is read, what is skipped and why, and that a checkout is left as it was."""

from __future__ import annotations

import os
import socket
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from extractor.errors import ToolError
from extractor.source import SourceOptions, Tree, open_tree, release
from extractor.source.base import Silent
from extractor.source.names import blob_id
from tests.test_source_git import Repository, snapshot

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away and makes devices")


def open_at(folder: Path, label: str | None = None) -> Tree:
    return open_tree(SourceOptions(cache=folder.parent / "cache", source=folder, label=label), Silent())


def paths(tree: Tree) -> list[str]:
    return [entry.path for entry in tree.entries]


def reasons(tree: Tree) -> dict[str, str]:
    return {skip.path: skip.reason for skip in tree.skipped}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "src"
    (place / "vllm").mkdir(parents=True)
    (place / "vllm" / "a.py").write_bytes(b"a = 1\r\n")
    return place


# --- what is no source -----------------------------------------------------------------------------------


def test_not_there(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="there is no folder"):
        open_at(tmp_path / "none")


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    with pytest.raises(ToolError, match="is not a folder"):
        open_at(tmp_path / "a.py")


def test_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ToolError, match="cannot be read"):
        open_at(tmp_path / "loop")


def test_no_python(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "a.py").touch()
    with pytest.raises(ToolError, match=r"no Python files in .*: give the folder that holds vllm/"):
        open_at(tmp_path)


def test_unreadable_as_a_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "scandir", _denied(os.scandir, str(folder)))
    with pytest.raises(ToolError, match="permission denied"):
        open_at(folder)


def _denied(real: Callable[..., object], place: str) -> Callable[..., object]:
    """Tests run as root, whom no permission stops."""

    def call(path: object, *arguments: object, **keywords: object) -> object:
        if os.fsdecode(path) == place:  # type: ignore[arg-type]
            raise PermissionError(13, "Permission denied", path)
        return real(path, *arguments, **keywords)

    return call


def test_more_than_memory_holds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extractor.source.folder.MAX_KEPT", 3)
    with pytest.raises(ToolError, match="have more than"):
        open_at(folder)


# --- what is skipped -------------------------------------------------------------------------------------


def _link(place: Path) -> None:
    place.symlink_to("a.py")


def _socket(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as s:
        os.chdir(place.parent)  # a socket's path has 108 bytes
        s.bind(place.name)


CASES_SKIPPED = [
    pytest.param(_link, "symbolic link", id="link to a file"),
    pytest.param(lambda p: p.symlink_to("/etc"), "symbolic link", id="link that leaves the tree"),
    pytest.param(lambda p: p.symlink_to("."), "symbolic link", id="link to its own folder"),
    pytest.param(lambda p: p.symlink_to(p.name), "symbolic link", id="link to itself"),
    pytest.param(lambda p: p.symlink_to("nowhere"), "symbolic link", id="dangling link"),
    pytest.param(os.mkfifo, "not a regular file", id="pipe"),
    pytest.param(_socket, "not a regular file", id="socket"),
    pytest.param(
        lambda p: os.mknod(p, stat.S_IFCHR | 0o600, os.makedev(1, 3)),
        "not a regular file",
        id="device",
        marks=root_only,
    ),
    pytest.param(
        lambda p: os.truncate(os.open(p, os.O_CREAT | os.O_WRONLY), (64 << 20) + 1),
        "larger than 64 MiB",
        id="huge",
    ),
]


@pytest.mark.parametrize(("make", "reason"), CASES_SKIPPED)
def test_skipped(folder: Path, make: Callable[[Path], None], reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    make(folder / "vllm" / "odd.py")
    tree = open_at(folder)
    assert paths(tree) == ["vllm/a.py"]
    assert reasons(tree) == {"vllm/odd.py": reason}


def test_links_to_folders_are_not_followed(folder: Path) -> None:
    (folder / "again").symlink_to("vllm")
    (folder / "loop").symlink_to(".")
    tree = open_at(folder)
    assert (paths(tree), reasons(tree)) == (["vllm/a.py"], {})


def test_unreadable_file_and_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "vllm" / "secret.py").touch()
    (folder / "closed").mkdir()
    monkeypatch.setattr(os, "scandir", _denied(os.scandir, str(folder / "closed")))
    monkeypatch.setattr(os, "open", _denied(os.open, str(folder / "vllm" / "secret.py")))
    tree = open_at(folder)
    assert paths(tree) == ["vllm/a.py"]
    denied = "cannot be read: permission denied"
    assert reasons(tree) == {"closed/": denied, "vllm/secret.py": denied}


def test_vanishing_while_listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "vllm" / "b.py").touch()
    real = os.lstat

    def lstat(path: bytes) -> os.stat_result:
        if os.fsencode(path).endswith(b"b.py"):
            raise FileNotFoundError(2, "No such file or directory")
        return real(path)

    monkeypatch.setattr(os, "lstat", lstat)
    assert reasons(open_at(folder)) == {"vllm/b.py": "vanished while the folder was being read"}


def test_vanishing_afterwards_loses_nothing(folder: Path) -> None:
    tree = open_at(folder)
    (folder / "vllm" / "a.py").unlink()
    assert list(tree.read(["vllm/a.py"])) == list(tree.read(["vllm/a.py"])) == [("vllm/a.py", b"a = 1\r\n")]


@pytest.mark.parametrize(
    "inside", ["env/pyvenv.cfg", "node_modules/x", "vllm/__pycache__/x", ".git/x", "deep/node_modules/x"]
)
def test_folders_that_are_nobodys_source(folder: Path, inside: str) -> None:
    marker = folder / inside
    marker.parent.mkdir(parents=True)
    marker.touch()
    (marker.parent / "lib").mkdir()
    (marker.parent / "lib" / "b.py").touch()
    (marker.parent / "c.py").touch()
    assert paths(open_at(folder)) == ["vllm/a.py"]


# --- what is read ----------------------------------------------------------------------------------------

ODD_NAMES = {
    b"a b.py": "a b.py",
    b'it\'s "so".py': 'it\'s "so".py',
    b"two\nlines.py": "two\\nlines.py",
    b"..odd...py": "..odd...py",
    b"-rf.py": "-rf.py",
    b"\xff\xfe.py": "\\xff\\xfe.py",
    b"x" * 252 + b".py": "x" * 252 + ".py",
    b":(top).py": ":(top).py",
}


@pytest.mark.parametrize("in_git", [False, True], ids=["plain", "checkout"])
def test_odd_names(tmp_path: Path, in_git: bool) -> None:
    place = tmp_path / "src"
    place.mkdir()
    for name in ODD_NAMES:
        (Path(os.fsdecode(os.path.join(os.fsencode(place), name)))).write_bytes(name)
    if in_git:
        Repository(place).commit()
    tree = open_at(place)
    assert paths(tree) == sorted(ODD_NAMES.values())
    assert dict(tree.read(paths(tree))) == {shown: name for name, shown in ODD_NAMES.items()}


def test_two_files_shown_alike(folder: Path) -> None:
    (folder / "\\xff.py").write_bytes(b"1")
    (folder / os.fsdecode(b"\xff.py")).write_bytes(b"2")
    tree = open_at(folder)
    assert paths(tree) == ["\\xff.py", "vllm/a.py"]
    assert reasons(tree) == {"\\xff.py": "another file is shown by the same name"}


def test_digest_label_and_absence_of_a_revision(folder: Path) -> None:
    tree = open_at(folder)
    assert tree.entries[0].digest == blob_id(b"a = 1\r\n")
    source = tree.provenance
    assert (source.label, source.commit, source.release, source.permalink) == ("src", None, None, None)
    assert open_at(folder / "vllm" / "..", "mine").provenance.label == "mine"
    assert open_at(folder / "vllm" / "..").provenance.label == "src"


def test_an_unpacked_release_is_the_release(tmp_path: Path) -> None:
    place = tmp_path / "vllm-0.28.0"
    for name, text in {
        "PKG-INFO": "Name: vllm\nVersion: 0.28.0\n",
        "vllm/_version.py": "commit_id = 'g2cf0a6915'\n",
        "tests/a.py": "",
        "node_modules/b.py": "",
        "env/pyvenv.cfg": "",
        "env/c.py": "",
        "setup.py": "1",
    }.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    (place / "link.py").symlink_to("setup.py")
    tree = open_at(place)
    source = tree.provenance
    assert (source.label, source.commit, source.release) == ("vllm-0.28.0", "2cf0a6915", "0.28.0")
    assert source.permalink == "https://github.com/vllm-project/vllm/blob/v0.28.0"
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as tar:
        tar.add(place, "vllm-0.28.0")
    found = release.archive.scan(tmp_path / "x.tar.gz")
    assert (found.entries, found.skipped, found.commit) == (tree.entries, tree.skipped, source.commit)


# --- checkouts -------------------------------------------------------------------------------------------


@pytest.fixture
def checkout(folder: Path) -> Repository:
    (folder / ".gitignore").write_text("build/\n")
    repository = Repository(folder)
    repository.commit()
    return repository


def test_a_clean_checkout(checkout: Repository) -> None:
    before = snapshot(checkout.folder)
    tree = open_at(checkout.folder)
    assert snapshot(checkout.folder) == before
    head = checkout.git("rev-parse", "HEAD")
    source = tree.provenance
    assert (source.repo, source.commit, source.dirty) == ("vllm-project/vllm", head, False)
    assert source.permalink == f"https://github.com/vllm-project/vllm/blob/{head}"
    assert source.date == "2026-01-02T01:04:05Z"
    assert paths(tree) == ["vllm/a.py"]


def _touch(name: str, text: str = "b = 2\n") -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)

    return make


CASES_DIRTY = [
    pytest.param(_touch("build/b.py"), False, ["vllm/a.py"], id="not an ignored file"),
    pytest.param(lambda f: os.utime(f / "vllm" / "a.py", (1, 1)), False, ["vllm/a.py"], id="not a new time alone"),
    pytest.param(_touch("vllm/b.py"), True, ["vllm/a.py", "vllm/b.py"], id="a new file"),
    pytest.param(_touch("vllm/a.py"), True, ["vllm/a.py"], id="a changed file"),
    pytest.param(lambda f: (f / "vllm" / "a.py").rename(f / "c.py"), True, ["c.py"], id="a moved file"),
]


@pytest.mark.parametrize(("change", "dirty", "expected"), CASES_DIRTY)
def test_a_changed_checkout(
    checkout: Repository, change: Callable[[Path], object], dirty: bool, expected: list[str]
) -> None:
    change(checkout.folder)
    before = snapshot(checkout.folder)
    tree = open_at(checkout.folder)
    assert (tree.provenance.dirty, paths(tree), reasons(tree)) == (dirty, expected, {})
    assert snapshot(checkout.folder) == before


def test_a_subfolder_of_a_checkout(checkout: Repository) -> None:
    checkout.git("remote", "add", "origin", "git@github.com:me/fork.git")
    (checkout.folder / "new.py").touch()  # not below the folder
    source = open_at(checkout.folder / "vllm").provenance
    head = checkout.git("rev-parse", "HEAD")
    assert (source.repo, source.dirty, source.label) == ("me/fork", False, "vllm")
    assert source.permalink == f"https://github.com/me/fork/blob/{head}/vllm"


def test_a_checkout_without_a_commit(folder: Path) -> None:
    Repository(folder)
    tree = open_at(folder)
    assert (tree.provenance.commit, tree.provenance.permalink, tree.provenance.dirty) == (None, None, True)
    assert paths(tree) == ["vllm/a.py"]


def test_a_folder_that_only_lies_in_a_checkout(checkout: Repository) -> None:
    _touch("build/vllm-0.1/setup.py")(checkout.folder)
    tree = open_at(checkout.folder / "build" / "vllm-0.1")
    assert (tree.provenance.commit, paths(tree)) == (None, ["setup.py"])


def test_an_environment_that_git_does_not_ignore(checkout: Repository) -> None:
    _touch("env/pyvenv.cfg")(checkout.folder)
    _touch("env/lib/b.py")(checkout.folder)
    assert paths(open_at(checkout.folder)) == ["vllm/a.py"]


def test_a_sparse_checkout(checkout: Repository) -> None:
    (checkout.folder / "tools").mkdir()
    (checkout.folder / "tools" / "t.py").touch()
    checkout.commit()
    checkout.git("sparse-checkout", "set", "vllm")
    tree = open_at(checkout.folder)
    assert (paths(tree), reasons(tree)) == (["vllm/a.py"], {"tools/t.py": "not in this sparse checkout"})
    assert not tree.provenance.dirty


def test_a_linked_file_in_a_checkout(checkout: Repository) -> None:
    (checkout.folder / "link.py").symlink_to("vllm/a.py")
    checkout.commit()
    assert reasons(open_at(checkout.folder)) == {"link.py": "symbolic link"}


@root_only
def test_a_checkout_of_another_user(checkout: Repository) -> None:
    for place in (checkout.folder, checkout.folder / ".git"):
        os.chown(place, 12345, 12345)
    with pytest.raises(ToolError, match=r"git config --global --add safe\.directory"):
        open_at(checkout.folder)


def test_a_checkout_runs_nothing(checkout: Repository, tmp_path: Path) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    (checkout.folder / ".gitattributes").write_text("*.py filter=x\n")
    checkout.commit()
    for key in ("filter.x.clean", "filter.x.process", "core.fsmonitor", "core.pager", "core.sshCommand"):
        checkout.git("config", key, str(trap))
    for hook in ("post-index-change", "fsmonitor-watchman"):
        (checkout.folder / ".git" / "hooks").mkdir(exist_ok=True)
        (checkout.folder / ".git" / "hooks" / hook).symlink_to(trap)
    os.utime(checkout.folder / "vllm" / "a.py", (1, 1))
    open_at(checkout.folder)
    assert not (tmp_path / "sprung").exists()


def test_git_of_the_surroundings_is_left_out(checkout: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent")
    assert open_at(checkout.folder).provenance.commit is not None


def test_a_folder_called_git_that_is_none(folder: Path) -> None:
    (folder / ".git").mkdir()
    assert paths(open_at(folder)) == ["vllm/a.py"]
