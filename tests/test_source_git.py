"""Commits: out of repositories that are made here, local ones and `file://` remotes of several kinds."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from extractor.errors import ToolError
from extractor.source import SourceOptions, Tree, open_tree
from extractor.source.base import Silent

DATE = "2026-01-02T03:04:05+02:00"
ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": DATE,
    "GIT_COMMITTER_DATE": DATE,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}


@dataclass
class Repository:
    """A repository in a folder."""

    folder: Path
    bare: bool = False
    environment: dict[str, str] = field(default_factory=lambda: os.environ | ENVIRONMENT)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / ".git").exists() and not (self.folder / "HEAD").exists():
            self.git("init", "-q", "-b", "main", *(["--bare"] if self.bare else []), ".")

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        allowed = ("-c", "protocol.file.allow=always", "-c", "core.autocrlf=false")
        done = subprocess.run(
            ["git", *allowed, *arguments],
            cwd=self.folder,
            env=self.environment,
            input=stdin,
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def commit(self, message: str = "x") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def write(self, files: dict[str, str]) -> str:
        for name, text in files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)
        return self.commit(", ".join(files))


def snapshot(folder: Path) -> dict[str, str]:
    """Every file under a folder, `.git` included, with a hash and the time of its last change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not path.is_symlink():
            found[name] = f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}"
        else:
            found[name] = "folder or link"
    return found


@dataclass
class World:
    """A repository with a history, remotes that serve it, and a cache."""

    tmp: Path
    source: Repository
    first: str
    second: str

    def remote(self, name: str, **config: str) -> str:
        """A bare clone of it as a `file://` remote."""
        self.source.git("clone", "-q", "--bare", ".", str(self.tmp / name))
        clone = Repository(self.tmp / name)
        for key, value in config.items():
            clone.git("config", key.replace("_", "."), value)
        return f"file://{self.tmp / name}"

    def open(self, commit: str, repo: str | Path | None, label: str | None = None) -> Tree:
        options = SourceOptions(
            cache=self.tmp / "cache", commit=commit, repo=None if repo is None else str(repo), label=label
        )
        return open_tree(options, Silent())


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL"):
        monkeypatch.setenv(name, ENVIRONMENT[name])
    source = Repository(tmp_path / "source")
    common = {f"vllm/m{n}.py": f"x = {n}\n" * 50 for n in range(30)}
    first = source.write({"vllm/a.py": "a = 1\n", "tests/t.py": "", "README": "", **common})
    source.git("tag", "light")
    second = source.write({"vllm/a.py": "a = 2\n", "vllm/b.pyi": "b = 2\n"})
    source.git("tag", "-a", "v1.0", "-m", "annotated", first)
    source.git("branch", "side/way", first)
    yield World(tmp_path, source, first, second)


def contents(tree: Tree) -> dict[str, bytes]:
    return dict(tree.read([entry.path for entry in tree.entries]))


FILTERS = {"uploadpack_allowFilter": "true", "uploadpack_allowAnySHA1InWant": "true"}
REMOTES = [pytest.param(FILTERS, id="filters"), pytest.param({}, id="no filters")]


# --- what is refused -------------------------------------------------------------------------------------

CASES_REFUSED = [
    pytest.param("", "is not a commit, tag or branch", id="empty"),
    pytest.param("--upload-pack=touch x", "is not a commit, tag or branch", id="an option"),
    pytest.param("-h", "is not a commit, tag or branch", id="a short option"),
    pytest.param("a b", "is not a commit, tag or branch", id="a space"),
    pytest.param("a..b", "is not a commit, tag or branch", id="a range"),
    pytest.param("a\x1b[0m", r"'a\\x1b\[0m' is not a commit", id="an escape sequence"),
    pytest.param("nosuch", "has no commit, tag or branch nosuch", id="no such name"),
    pytest.param("lights", r"has no commit, tag or branch lights \(the nearest: light", id="a name nearly right"),
    pytest.param("f" * 40, "has no commit, tag or branch ffff", id="no such commit"),
    pytest.param("ffffffff", "has no commit, tag or branch ffff", id="no such short commit"),
    pytest.param("fff", "has no commit, tag or branch fff", id="too short"),
]


@pytest.mark.parametrize(("revision", "message"), CASES_REFUSED)
@pytest.mark.parametrize("kind", ["local", "filters", "no filters"])
def test_refused(world: World, revision: str, message: str, kind: str) -> None:
    remote = world.source.folder if kind == "local" else world.remote("r", **(FILTERS if kind == "filters" else {}))
    with pytest.raises(ToolError, match=message):
        world.open(revision, remote)


def test_only_a_clone_knows_expressions(world: World) -> None:
    with pytest.raises(ToolError, match="only be asked of a local clone"):
        world.open("main~1", world.remote("r"))
    assert world.open("main~1", world.source.folder).provenance.commit == world.first


CASES_NO_REPOSITORY = [
    pytest.param("{tmp}/empty", "is not a git repository", id="a folder that is none"),
    pytest.param("{tmp}/file", "is a file", id="a file"),
    pytest.param("{tmp}/missing", "there is no folder", id="a folder that is not there"),
    pytest.param("--upload-pack=x", "there is no folder", id="an option"),
    pytest.param("ext::sh -c touch% x", "there is no folder", id="a program"),
    pytest.param("file://{tmp}/missing", "cannot fetch", id="a remote that is not there"),
    pytest.param("http://127.0.0.1:9/a/b", "cannot reach.*--release.*--source", id="no network"),
    pytest.param("http://me:s3cret@127.0.0.1:9/a/b", "^cannot reach http://127", id="no password is said"),
]


@pytest.mark.parametrize(("repo", "message"), CASES_NO_REPOSITORY)
def test_no_repository(tmp_path: Path, repo: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    options = SourceOptions(cache=tmp_path / "cache", commit="main", repo=repo.format(tmp=tmp_path))
    with pytest.raises(ToolError, match=message) as caught:
        open_tree(options, Silent())
    assert "s3cret" not in str(caught.value)


def test_a_folder_in_a_repository_is_not_it(world: World) -> None:
    with pytest.raises(ToolError, match="is not a git repository"):
        world.open("main", world.source.folder / "vllm")


def test_without_git(tmp_path: Path) -> None:
    code = (
        "from extractor.source import *; from extractor.errors import ToolError; from pathlib import Path\n"
        "try: open_tree(SourceOptions(cache=Path('c'), commit='main', repo='file:///x'), Silent())\n"
        "except ToolError as e: print(e)"
    )
    clean = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=clean, capture_output=True, text=True)
    assert done.stdout.startswith("git is not installed"), done.stderr


@pytest.mark.parametrize("kind", ["local", "filters", "no filters"])
def test_an_ambiguous_short_commit(tmp_path: Path, kind: str) -> None:
    source = Repository(tmp_path / "source")
    stream, prefix = _colliding()
    source.git("fast-import", "--quiet", stdin=stream)
    world = World(tmp_path, source, "", "")
    repo = source.folder if kind == "local" else world.remote("r", **(FILTERS if kind == "filters" else {}))
    commits = sorted(c for c in source.git("rev-list", "--all").split() if c.startswith(prefix))
    assert len(commits) > 1
    with pytest.raises(ToolError, match=f"commits begin with {prefix}: ") as caught:
        world.open(prefix, repo)
    assert all(commit[:12] in str(caught.value) for commit in commits)
    assert world.open(commits[0][:12], repo).provenance.commit == commits[0]


def _colliding() -> tuple[bytes, str]:
    """A history in which four digits begin two commits: of 900 commits, they nearly certainly do."""
    tree = bytes.fromhex(_object(b"tree", b"100644 a.py\0" + bytes.fromhex(_object(b"blob", b"1\n"))))
    parent, seen, stream = "", set[str](), b"blob\nmark :1\ndata 2\n1\n\n"
    for number in range(2000):
        message = b"%d\x1b[31m" % number
        who = b"a <a@example.org> 1767315845 +0200"
        text = b"tree " + tree.hex().encode() + b"\n" + (b"parent " + parent.encode() + b"\n" if parent else b"")
        parent = _object(b"commit", text + b"author " + who + b"\ncommitter " + who + b"\n\n" + message)
        stream += b"commit refs/heads/main\nauthor " + who + b"\ncommitter " + who
        stream += b"\ndata %d\n%s\n" % (len(message), message) + (b"" if number else b"M 644 :1 a.py\n") + b"\n"
        if parent[:4] in seen:
            return stream, parent[:4]
        seen.add(parent[:4])
    raise AssertionError("no collision")


def _object(kind: bytes, data: bytes) -> str:
    return hashlib.sha1(kind + b" %d\0" % len(data) + data).hexdigest()


# --- what is found ---------------------------------------------------------------------------------------

NAMES = [
    pytest.param("{first}", "first", id="full commit"),
    pytest.param("{first:.12}", "first", id="short commit"),
    pytest.param("{first:.7}", "first", id="shorter commit"),
    pytest.param("main", "second", id="branch"),
    pytest.param("side/way", "first", id="branch with a slash"),
    pytest.param("refs/heads/main", "second", id="whole name"),
    pytest.param("light", "first", id="tag"),
    pytest.param("v1.0", "first", id="annotated tag"),
    pytest.param("HEAD", "second", id="head"),
]


@pytest.mark.parametrize(("revision", "which"), NAMES)
@pytest.mark.parametrize("kind", ["local", "filters", "no filters"])
def test_found(world: World, revision: str, which: str, kind: str) -> None:
    repo = world.source.folder if kind == "local" else world.remote("r", **(FILTERS if kind == "filters" else {}))
    commit = getattr(world, which)
    tree = world.open(revision.format(first=world.first), repo)
    source = tree.provenance
    assert (source.commit, source.label, source.release) == (commit, commit[:10], None)
    assert (source.date, source.dirty, source.repo) == ("2026-01-02T01:04:05Z", False, "vllm-project/vllm")
    assert source.permalink == f"https://github.com/vllm-project/vllm/blob/{commit}"
    found = contents(tree)
    assert found["vllm/a.py"] == (b"a = 1\n" if which == "first" else b"a = 2\n")
    assert ("vllm/b.pyi" in found) == (which == "second")
    assert "tests/t.py" not in found and "README" not in found
    assert [e.digest for e in tree.entries] == [_object(b"blob", found[e.path]) for e in tree.entries]
    assert list(tree.read([])) == []


def test_a_label_of_ones_own(world: World) -> None:
    assert world.open("main", world.source.folder, "mine").provenance.label == "mine"


def _bare(world: World) -> Path:
    world.remote("bare")
    return world.tmp / "bare"


def _shallow(world: World) -> Path:
    world.source.git("clone", "-q", "--depth=1", f"file://{world.source.folder}", str(world.tmp / "shallow"))
    return world.tmp / "shallow"


def _worktree(world: World) -> Path:
    world.source.git("worktree", "add", "-q", str(world.tmp / "worktree"), "light")
    return world.tmp / "worktree"


def _submodule(world: World) -> Path:
    outer = Repository(world.tmp / "outer")
    outer.git("submodule", "--quiet", "add", str(world.source.folder), "inner")
    outer.commit()
    return outer.folder / "inner"


@pytest.mark.parametrize("make", [_bare, _shallow, _worktree, _submodule])
def test_local_clones_are_left_as_they_are(world: World, make: object) -> None:
    place = make(world)  # type: ignore[operator]
    before = snapshot(world.tmp)
    for revision in ("main", world.second, world.second[:8]):
        assert contents(world.open(revision, place))["vllm/a.py"] == b"a = 2\n"
    assert snapshot(world.tmp) == before


def test_a_branch_that_only_the_origin_of_a_clone_has(world: World) -> None:
    clone = Repository(_shallow(world))
    clone.git("fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
    assert world.open("side/way", clone.folder).provenance.commit == world.first


def test_a_partial_clone_is_not_filled(world: World) -> None:
    remote = world.remote("r", **FILTERS)
    place = world.tmp / "partial"
    world.source.git("clone", "-q", "--bare", "--filter=blob:none", remote, str(place))
    before = snapshot(place)
    with pytest.raises(ToolError, match=r"does not hold .* whole"):
        world.open("main", place)
    assert snapshot(place) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_clone_of_another_user(world: World) -> None:
    place = _bare(world)
    os.chown(place, 12345, 12345)
    with pytest.raises(ToolError, match=r"safe\.directory"):
        world.open("main", place)


def test_the_origin_of_a_clone_says_whose_it_is(world: World) -> None:
    world.source.git("remote", "add", "origin", "https://github.com/me/fork.git")
    source = world.open("main", world.source.folder).provenance
    assert (source.repo, source.permalink) == ("me/fork", f"https://github.com/me/fork/blob/{world.second}")


def test_links_and_submodules_of_a_commit(world: World) -> None:
    (world.source.folder / "link.py").symlink_to("vllm/a.py")
    world.source.git("update-index", "--add", "--cacheinfo", f"160000,{world.first},sub.py")
    world.source.git("add", "link.py")
    world.source.git("commit", "-q", "-m", "odd")
    tree = world.open("main", world.source.folder)
    assert [(skip.path, skip.reason) for skip in tree.skipped] == [("link.py", "symbolic link")]
    assert "sub.py" not in contents(tree) and "link.py" not in contents(tree)


def test_a_file_that_is_too_large(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extractor.source.objects.MAX_FILE", 5)
    tree = world.open("light", world.source.folder)
    assert "vllm/a.py" in {skip.path for skip in tree.skipped}


def test_a_branch_called_like_a_commit(world: World) -> None:
    world.source.git("branch", "deadbeef", world.first)
    assert world.open("deadbeef", world.remote("r")).provenance.commit == world.first


# --- what is fetched -------------------------------------------------------------------------------------


def objects(world: World) -> int:
    """How many objects the packs of whole commits hold, an object in two packs counted twice."""
    (clone,) = (world.tmp / "cache" / "git").glob("*/objects.git")
    counts = Repository(clone).git("count-objects", "-v").split("\n")
    return sum(int(line.split(": ")[1]) for line in counts if line.startswith(("count", "in-pack")))


@pytest.mark.parametrize("revision", ["main", "{second}", "{second:.8}"])
def test_a_commit_is_fetched_alone(world: World, revision: str) -> None:
    world.open(revision.format(second=world.second), world.remote("r", **FILTERS))
    (clone,) = (world.tmp / "cache" / "git").glob("*/objects.git")
    kinds = Repository(clone).git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split("\n")
    assert kinds.count("commit") == 1


@pytest.mark.parametrize("config", REMOTES)
def test_a_second_commit_fetches_what_is_missing(world: World, config: dict[str, str]) -> None:
    remote = world.remote("r", **config)
    world.open(world.first, remote)
    before = objects(world)
    assert len(contents(world.open(world.second, remote))) == 32
    assert objects(world) - before == 5  # a commit, two folders, two files


@pytest.mark.parametrize("config", REMOTES)
@pytest.mark.parametrize("revision", ["{first}", "v1.0", "refs/tags/v1.0", "light", "{first:.10}"])
def test_what_does_not_move_needs_no_network_again(world: World, config: dict[str, str], revision: str) -> None:
    remote = world.remote("r", **config)
    revision = revision.format(first=world.first)
    world.open(revision, remote)
    (world.tmp / "r").rename(world.tmp / "gone")
    assert contents(world.open(revision, remote))["vllm/a.py"] == b"a = 1\n"
    assert contents(world.open(world.first[:10], remote))["vllm/a.py"] == b"a = 1\n"
    with pytest.raises(ToolError, match="cannot fetch"):
        world.open(world.first[:9], remote)  # another commit may begin so by now


def test_a_branch_that_has_moved(world: World) -> None:
    remote = world.remote("r")
    assert world.open("main", remote).provenance.commit == world.second
    third = world.source.write({"vllm/c.py": "c = 3\n"})
    world.source.git("push", "-q", remote, "main")
    assert world.open("main", remote).provenance.commit == third
    world.source.git("reset", "-q", "--hard", world.first)
    world.source.git("push", "-q", "--force", remote, "main")
    assert world.open("main", remote).provenance.commit == world.first


def test_a_short_commit_that_is_new(world: World) -> None:
    remote = world.remote("r", **FILTERS)
    world.open(world.first[:7], remote)
    third = world.source.write({"vllm/c.py": "c = 3\n"})
    world.source.git("push", "-q", remote, "main")
    assert world.open(third[:7], remote).provenance.commit == third


def test_the_graph_has_no_trees_where_the_remote_can_leave_them_out(world: World) -> None:
    world.open(world.first[:7], world.remote("r", **FILTERS))
    (graph,) = (world.tmp / "cache" / "git").glob("*/graph.git")
    kinds = Repository(graph).git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split("\n")
    assert sorted(set(kinds)) == ["commit", "tag"]


def test_an_old_server_that_gives_branches_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    third = world.source.write({"vllm/c.py": "c = 3\n"})
    remote = world.remote("r")
    for name, value in {"COUNT": "1", "KEY_0": "protocol.version", "VALUE_0": "0"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert world.open("main", remote).provenance.commit == third
    assert contents(world.open(world.second, remote))["vllm/a.py"] == b"a = 2\n"
    assert contents(world.open(world.first[:7], remote))["vllm/a.py"] == b"a = 1\n"
    with pytest.raises(ToolError, match="has no commit"):
        world.open("f" * 40, remote)


def test_a_commit_that_no_branch_has(world: World) -> None:
    lost = world.source.write({"vllm/c.py": "c = 3\n"})
    remote = world.remote("r", **FILTERS)
    Repository(world.tmp / "r").git("update-ref", "refs/heads/main", world.second)
    assert "vllm/c.py" in contents(world.open(lost, remote))


def test_what_a_killed_run_left_is_cleared(world: World) -> None:
    remote = world.remote("r")
    world.open(world.first, remote)
    (clone,) = (world.tmp / "cache" / "git").glob("*/objects.git")
    for name in ("shallow.lock", "packed-refs.lock", "refs/extract/incoming.lock", "objects/pack/tmp_pack_x"):
        (clone / name).touch()
    world.open(world.second, remote)
    assert not list(clone.rglob("*.lock"))
    (clone / "HEAD").unlink()  # killed while the clone was made
    assert contents(world.open(world.second, remote))["vllm/a.py"] == b"a = 2\n"


def test_two_runs_at_once(world: World) -> None:
    remote = world.remote("r", **FILTERS)
    code = (
        "import sys; from extractor.source import *; from pathlib import Path\n"
        f"cache = Path({str(world.tmp / 'cache')!r})\n"
        f"options = SourceOptions(cache=cache, commit=sys.argv[1], repo={remote!r})\n"
        "t = open_tree(options, Silent())\n"
        "print(len(dict(t.read([e.path for e in t.entries]))))"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, revision], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for revision in (world.first, "main", world.first[:7], world.second)
    ]
    assert [run.communicate() for run in runs] == [("31\n", ""), ("32\n", ""), ("31\n", ""), ("32\n", "")]


def test_the_cache_holds_no_password_and_no_work_tree(world: World) -> None:
    world.open(world.first[:7], world.remote("r", **FILTERS))
    for config in (world.tmp / "cache").rglob("config"):
        assert "url" not in config.read_text()
    assert not list((world.tmp / "cache").rglob("*.py"))


def test_a_fetch_runs_no_hook(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = world.tmp / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-checkout", "pre-auto-gc"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {world.tmp}/sprung\n")
        (hooks / name).chmod(0o755)
    (world.tmp / "config").write_text(f"[core]\n\thooksPath = {hooks}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(world.tmp / "config"))
    world.open(world.first[:7], world.remote("r", **FILTERS))
    assert not (world.tmp / "sprung").exists()


def test_progress_in_objects(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"COUNT": "1", "KEY_0": "fetch.unpackLimit", "VALUE_0": "1"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)  # below a hundred objects, git shows nothing
    said: list[tuple[str, int | None]] = []

    class Watch(Silent):
        def start(self, what: str, total: int | None) -> None:
            said.append((what, total))

        def advance(self, amount: int) -> None:
            said.append(("", amount))

    options = SourceOptions(cache=world.tmp / "cache", commit="main", repo=world.remote("r"))
    open_tree(options, Watch())
    assert said[0] == ("fetching main", None)
    assert said[1][0] == "fetching main"
    assert sum(amount or 0 for what, amount in said if not what) == said[1][1]


def test_a_damaged_cache(world: World) -> None:
    remote = world.remote("r")
    world.open(world.first, remote)
    (clone,) = (world.tmp / "cache" / "git").glob("*/objects.git")
    for path in (*clone.glob("objects/??/*"), *clone.glob("objects/pack/*.pack")):
        path.chmod(0o600)
        path.write_bytes(b"")
    with pytest.raises(ToolError, match=r"is damaged: remove that folder|cannot (fetch|read)"):
        world.open(world.first, remote)


def test_a_full_disk(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(ToolError, match="no space left on device"):
        open_tree(SourceOptions(cache=world.tmp / "cache", commit="main", repo="file:///x"), Silent())


URLS = [
    pytest.param(
        "https://git.example.org/team/vllm.git",
        "team/vllm",
        "https://git.example.org/team/vllm",
        id="other host",
    ),
    pytest.param("git@git.example.org:team/vllm", "team/vllm", "https://git.example.org/team/vllm", id="scp"),
    pytest.param("https://github.com/me/fork", "me/fork", "https://github.com/me/fork", id="GitHub"),
    pytest.param("file:///srv/mirror.git", "vllm-project/vllm", "https://github.com/vllm-project/vllm", id="mirror"),
]


@pytest.mark.parametrize(("url", "repo", "page"), URLS)
def test_where_a_remotes_files_are_shown(url: str, repo: str, page: str) -> None:
    from extractor.source.git import _of_url

    assert _of_url(url, "c0ffee") == (repo, f"{page}/blob/c0ffee")
