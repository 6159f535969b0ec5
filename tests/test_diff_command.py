"""`vllm-errors diff`: two datasets told apart, in three formats, with what is asked for and no more."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import git
import pytest
import yaml
from typer.testing import CliRunner

from extractor.cli import app
from extractor.dataset import MANIFEST, read_manifest
from extractor.diff.changes import KINDS
from extractor.errors import ToolError
from tests.test_dataset import extract, write_tree

ROOT = Path(__file__).parent.parent

OLD = {
    "vllm/a.py": """
class BadInput(ValueError): pass

def gone(x):
    raise RuntimeError("the old engine is not running")

def size(x):
    if x < 1:
        raise BadInput(f"the size must be positive, got {x}")

def mode(x, y):
    if x:
        raise ValueError("this mode needs a device")

def here(x):
    if x:
        raise KeyError("stays")
""",
    "vllm/b/c.py": 'def far():\n    raise OSError("the file of weights cannot be found anywhere")\n',
}
NEW = {
    "vllm/a.py": """
class BadInput(ValueError): pass

def size(x):
    if x < 1:
        raise BadInput(f"the size must be at least one, got {x}")

def mode(x, y):
    if x or y:
        raise ValueError("this mode needs a device")

def new(x):
    if x == "<b>":
        raise TypeError("never of this type: <script>alert(1)</script> \\u202e [x](y) *z* \\x1b[31m")

def here(x):
    if x:
        raise KeyError("stays")
""",
    "vllm/b/d/c.py": 'def far():\n    raise OSError("the file of weights cannot be found anywhere")\n',
}
COUNTS = {"added": 1, "moved": 1, "reguarded": 1, "relocated": 1, "removed": 1, "retyped": 0, "reworded": 1}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the datasets `old`, `new` and `same` under `output`."""
    folder = tmp_path_factory.mktemp("home")
    for label, files in (("old", OLD), ("new", NEW), ("same", NEW)):
        extract(write_tree(folder / "tree" / label, files), folder / "output", label=label)
    return folder


Run = Callable[..., Any]


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(home)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    return lambda *arguments: CliRunner().invoke(app, ["diff", *arguments])


def test_json(run: Run) -> None:
    done = run("old", "new", "--format", "json", "--moved")
    assert done.exit_code == 0 and done.stdout == run("old", "new", "--format", "json", "--moved").stdout
    found = json.loads(done.stdout)
    assert found["counts"] == COUNTS
    assert found["old"] == {"label": "old", "release": None, "commit": None, "errors": 5}
    changes = {change["kinds"][0]: change for change in found["changes"]}
    assert changes["added"]["old"] is None and changes["added"]["message_old"] is None
    assert changes["added"]["guards_added"] == ['x == "<b>"'] and changes["added"]["path_new"] == "vllm/a.py"
    assert changes["removed"]["new"] is None and changes["removed"]["symbol_old"] == "gone"
    assert changes["reworded"]["message_new"] == "the size must be at least one, got {x}"
    assert changes["reguarded"]["strictness"] == "looser"
    assert (changes["reguarded"]["guards_removed"], changes["reguarded"]["guards_added"]) == (["x"], ["x or y"])
    assert (changes["relocated"]["path_old"], changes["relocated"]["path_new"]) == ("vllm/b/c.py", "vllm/b/d/c.py")
    assert changes["moved"]["line_old"] != changes["moved"]["line_new"]
    places = [(c["path_new"] or c["path_old"], c["line_new"] or c["line_old"]) for c in found["changes"]]
    assert places == sorted(places)


def test_markdown(run: Run) -> None:
    text = run("old", "new").stdout
    assert text.startswith("# Errors of vllm-project/vllm: old → new\n\n5 → 5 errors: 1 added, 1 moved, 1 reguarded")
    assert "must be <del>positive</del><ins>at least one</ins>, got {x}" in text
    assert "## Raised in more cases (1)" in text and "now also asked: `x or y`" in text
    assert "\\<script\\>" in text and "<script>" not in text and "\u202e" not in text and "\x1b" not in text
    assert "## Moved" not in text and "## Moved (1)" in run("old", "new", "--moved").stdout
    assert "\n\n\n" not in text


class Page(HTMLParser):
    """What is in a page, and that each element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_one_file_without_a_script(run: Run) -> None:
    text = run("old", "new", "--format", "html", "--moved").stdout
    page = Page(text)
    assert page.open == [] and not page.tags & {"script", "link", "img", "iframe"}
    assert not [name for name in page.attributes if name.startswith("on")] and "style" not in page.attributes
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text
    assert "&lt;script&gt;" in text and "\u202e" not in text and "\x1b" not in text
    assert "<del>positive</del><ins>at least one</ins>" in text and "prefers-color-scheme: dark" in text


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        pytest.param(["--kind", "removed"], ["the old"], id="a kind"),
        pytest.param(["--kind", "removed,added"], ["never of", "the old"], id="two with a comma"),
        pytest.param(["--kind", "added", "--kind", "removed"], ["never of", "the old"], id="two options"),
        pytest.param(["--kind", "moved"], ["stays"], id="those in other lines alone"),
        pytest.param(["--path", "vllm/b/*"], ["the file"], id="files"),
        pytest.param(["--path", "tools/*"], [], id="no files"),
        pytest.param(["--exception", "TypeError"], ["never of"], id="an exception"),
        pytest.param(["--exception", "ValueError"], ["the size", "this mode"], id="and what derives from it"),
        pytest.param(["--exception", "builtins.OSError"], ["the file"], id="with its module"),
        pytest.param(["--exception", "ValueError", "--kind", "reworded"], ["the size"], id="both"),
    ],
)
def test_what_is_asked_for(run: Run, arguments: list[str], messages: list[str]) -> None:
    found = json.loads(run("old", "new", "--format", "json", *arguments).stdout)["changes"]
    texts = [change["message_new"] or change["message_old"] for change in found]
    assert sorted(" ".join(text.split()[:2]) for text in texts) == sorted(messages)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["old", "new"], 0, id="not asked for"),
        pytest.param(["new", "same", "--exit-code"], 0, id="nothing"),
        pytest.param(["old", "new", "--exit-code=retyped"], 0, id="none of the kind"),
        pytest.param(["--exit-code", "old", "new", "--path", "tools/*"], 0, id="none that is asked for"),
        pytest.param(["old", "new", "--exit-code", "--kind", "moved"], 0, id="lines alone are no change"),
        pytest.param(["old", "new", "--exit-code=moved"], 1, id="unless they are asked for"),
        pytest.param(["--exit-code", "old", "new"], 1, id="before the arguments"),
        pytest.param(["old", "new", "--exit-code"], 1, id="after them"),
        pytest.param(["old", "new", "--exit-code=retyped,removed"], 1, id="one of the kinds"),
    ],
)
def test_exit_code(run: Run, arguments: list[str], code: int) -> None:
    assert run(*arguments).exit_code == code


def test_equal_sides_are_told(run: Run) -> None:
    done = run("new", "new")
    assert (done.exit_code, "nothing has changed" in done.stderr, "Nothing has changed." in done.stdout) == (
        0,
        True,
        True,
    )
    done = run("new", "same", "--format", "json")
    assert done.exit_code == 0 and "nothing has changed between output/new and output/same" in done.stderr
    assert json.loads(done.stdout)["changes"] == [] and json.loads(done.stdout)["counts"] == dict.fromkeys(KINDS, 0)
    assert "of what was asked for" in run("old", "new", "--kind", "retyped").stderr


def test_limit(run: Run) -> None:
    text = run("old", "new", "--limit", "0").stdout
    assert "- … and 1 more" in text and "the old engine" not in text


def changed(folder: Path, **values: Any) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | values))


def cut(folder: Path) -> None:
    data = (folder / "errors.jsonl").read_bytes()
    (folder / "errors.jsonl").write_bytes(data[: len(data) // 2])


BAD = [
    pytest.param(lambda f: changed(f, schema=99), [], "has schema 99, .*vllm-errors extract --source FOLDER --label bad", id="schema"),
    pytest.param(lambda f: changed(f, tool="vllm-errors 0.0.1"), [], "by vllm-errors 0.0.1 and .*make it again with vllm-errors extract", id="tool"),
    pytest.param(cut, [], "errors.jsonl is not what its manifest lists: extract the dataset again", id="cut off"),
    pytest.param(lambda f: (f / MANIFEST).write_text("{"), [], "cannot be read", id="no manifest"),
    pytest.param(None, ["--kind", "renamed"], "no kind of change 'renamed': the kinds are added, moved", id="kind"),
    pytest.param(None, ["--exit-code=all"], "no kind of change 'all': the kinds are added, moved", id="exit code"),
    pytest.param(None, ["--exception", "ValueErorr"], "neither side raises 'ValueErorr'.*ValueError", id="exception"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "arguments", "sentence"), BAD)
def test_bad_input(
    run: Run, home: Path, damage: Callable[[Path], Any] | None, arguments: list[str], sentence: str
) -> None:
    extract(home / "tree/new", home / "output", label="bad")
    if damage is not None:
        damage(home / "output/bad")
    for sides in (("bad", "old"), ("old", "bad")):
        done = run(*sides, *arguments)
        assert isinstance(done.exception, ToolError) and done.exception.exit_code == 2 and done.stdout == ""
        assert re.search(sentence, str(done.exception)), done.exception
    for name in (home / "output/bad").rglob("*"):
        if name.is_file():
            name.unlink()


def test_the_command_that_makes_a_release_again(run: Run, home: Path) -> None:
    extract(home / "tree/new", home / "output", label="aged")
    source = {"repo": "vllm-project/vllm", "label": "v0.9.0", "release": "0.9.0", "archive": "vllm-0.9.0.tar.gz"}
    changed(home / "output/aged", schema=0, source=source)
    sentence = "make it again with vllm-errors extract --release 0.9.0 --out output"
    assert sentence in str(run("aged", "new").exception)


def test_what_is_not_there_yet_is_extracted(run: Run, home: Path) -> None:
    done = run("./tree/old", "./tree/new", "--format", "json", "--out", "other", "--jobs", "1", "--quiet")
    assert json.loads(done.stdout)["counts"] == COUNTS
    assert read_manifest(home / "other/old").source.label == "old"


def test_the_same_bytes_whatever_the_seed_of_hashes(home: Path) -> None:
    outputs = set()
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "extractor", "diff", "old", "new", "--format", "json", "--exit-code=added"]
        done = subprocess.run(command, cwd=home, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True)
        assert done.returncode == 1 and done.stderr == b""
        outputs.add(done.stdout)
    assert len(outputs) == 1


def test_the_recipe_for_ci_on_a_repository_with_two_commits(home: Path, tmp_path: Path) -> None:
    source = git.Repo.init(tmp_path / "source", initial_branch="main")
    commits = []
    for files in (OLD, NEW):
        write_tree(tmp_path / "source", files)
        source.git.add("--all")
        commits.append(source.index.commit("work").hexsha)
    job = yaml.safe_load((ROOT / "docs/ci-diff.yml").read_text())["jobs"]["diff"]
    steps = {step["name"]: step["run"] for step in job["steps"] if "run" in step and "name" in step}
    gh = tmp_path / "bin/gh"
    gh.parent.mkdir()
    gh.write_text('#!/bin/sh\necho "$@" > asked.txt\n')
    gh.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{gh.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(home / "cache"),
        "BASE_SHA": commits[0],
        "HEAD_SHA": commits[1],
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_REPOSITORY": "vllm-project/vllm",
        "NUMBER": "7",
    }
    codes = []
    for name in ("Compare", "Comment", "Fail when an error is gone or asks for something else"):
        command = ["bash", "-e", "-o", "pipefail", "-c", steps[name]]
        codes.append(subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True).returncode)
    assert codes == [0, 0, 1]
    assert "at least one" in (tmp_path / "comment.md").read_text() == (tmp_path / "summary.md").read_text()
    assert (tmp_path / "errors.html").read_text().startswith("<!DOCTYPE html>")
    assert (
        (tmp_path / "asked.txt").read_text().startswith("pr comment 7 --repo vllm-project/vllm --body-file comment.md")
    )
