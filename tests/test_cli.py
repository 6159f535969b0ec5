"""The command line: what it says, where it says it, and the exit code."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_dataset import TREE, write_tree

ROOT = Path(__file__).parent.parent
COMMANDS = ["extract", "show", "match", "check", "diff", "site", "serve"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an extracted dataset `tree` under `output`."""
    folder = tmp_path_factory.mktemp("home")
    write_tree(folder / "tree", TREE)
    done = cli(folder, "extract", "--source", "tree")
    assert done.returncode == 0, done.stderr
    return folder


def cli(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "XDG_CACHE_HOME": str(folder / ".cache"), "COLUMNS": "200", **environment}
    return subprocess.run(
        [sys.executable, "-m", "extractor", *arguments],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
    )


def test_help_is_cheap() -> None:
    script = (
        "import sys\nsys.argv[1:] = ['--help']\nfrom extractor.cli import app\ntry: app()\nexcept SystemExit: pass\n"
    )
    heavy = "print([m for m in ('libcst', 'git', 'jinja2', 'requests', 'pypi_simple', 'orjson', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script + heavy], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_an_example_and_is_in_the_readme(command: str, tmp_path: Path) -> None:
    done = cli(tmp_path, command, "--help")
    assert done.returncode == 0 and f"Example: vllm-errors {command}" in done.stdout
    assert f"vllm-errors {command}" in (ROOT / "README.md").read_text()


def test_commands_are_all_tested_here(tmp_path: Path) -> None:
    from extractor.cli import app

    assert [c.callback.__name__ for c in app.registered_commands if c.callback] == COMMANDS


def test_off_a_terminal_there_is_one_last_line_on_stderr_and_nothing_else(home: Path) -> None:
    done = cli(home, "extract", "--source", "tree", "--label", "again")
    assert done.stdout == "" and "\x1b" not in done.stderr
    assert re.search(r"2 files|3 files, 3 sites, 3 errors, 1 skipped, [\d.]+ s: output/again\n$", done.stderr)
    assert "skipped vllm/broken.py: syntax error" in done.stderr
    assert cli(home, "extract", "--source", "tree", "--label", "quiet", "--quiet").stderr == ""


def test_on_a_terminal_there_is_progress(home: Path) -> None:
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "extractor", "extract", "--source", "tree", "--label", "tty"]
    subprocess.run(command, cwd=home, env={**os.environ, "TERM": "xterm"}, stderr=follower, check=True)
    os.close(follower)
    shown = os.read(leader, 100_000).decode(errors="replace")
    os.close(leader)
    assert "reading files" in shown and "3 sites" in shown


# (name, arguments, exit code, what the sentence says)
BAD = [
    ("no such command", ["frobnicate"], 2, "No such command"),
    (
        "two sources",
        ["extract", "--source", "tree", "--release", "1"],
        2,
        "one of --commit, --release and --source",
    ),
    ("a repository without a commit", ["extract", "--repo", "x"], 2, "give --commit too"),
    ("no processes", ["extract", "--source", "tree", "--jobs", "0"], 2, "--jobs"),
    ("no folder", ["extract", "--source", "nowhere"], 2, "nowhere"),
    ("a folder without Python", ["extract", "--source", "empty"], 2, "Python"),
    ("a label that leaves the folder", ["extract", "--source", "tree", "--label", "../x"], 2, "label"),
    ("an id that is not there", ["show", "ffffffffffffffff"], 1, "nearest"),
    ("a line where nothing is raised", ["show", "vllm/a.py:1"], 1, "nearest"),
    ("a file where nothing is raised", ["show", "vllm/z.py:1"], 1, "nearest"),
    ("a beginning that is too short", ["show", "0"], 1, "no error"),
    ("a dataset that is not there", ["show", "0", "--dataset", "v9"], 2, "tree"),
    ("no dataset at all", ["show", "0", "--out", "nowhere"], 2, "vllm-errors extract"),
]


@pytest.mark.parametrize(("arguments", "code", "sentence"), [r[1:] for r in BAD], ids=[r[0] for r in BAD])
def test_bad_use_is_one_sentence(home: Path, arguments: list[str], code: int, sentence: str) -> None:
    (home / "empty").mkdir(exist_ok=True)
    done = cli(home, *arguments)
    assert done.returncode == code and done.stdout == ""
    assert sentence in done.stderr and "Traceback" not in done.stderr


def test_show_by_id_by_its_beginning_and_by_line(home: Path) -> None:
    record = json.loads(cli(home, "show", "a.py:5", "--json").stdout)
    assert record["message"] == "one {x}"
    for what in (record["id"], record["id"][:6], "vllm/a.py:5"):
        done = cli(home, "show", what)
        assert done.returncode == 0 and "one {x}" in done.stdout and "vllm/a.py:5" in done.stdout
        assert "\x1b" not in done.stdout


HOSTILE = r"""
def f(x):
    if x == 1:
        raise ValueError("\x1b[31mred\x1b[0m \u202e evil \u2066 [bold]rich[/bold] <script>alert(1)</script> {% raw %} {{ x }}")
    if x == 2:
        raise ValueError("\ud800 lone \x00 nul \x07 bell")
    raise ValueError("``` fence\n# heading\n| a | [link](javascript:alert(1)) </script>")
"""


def test_hostile_text_comes_out_as_visible_text(tmp_path: Path) -> None:
    write_tree(tmp_path / "tree", {"vllm/a.py": HOSTILE})
    assert cli(tmp_path, "extract", "--source", "tree").returncode == 0
    folder = tmp_path / "output" / "tree"
    control = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
    for path in folder.rglob("*"):
        if path.is_file():
            assert not control.search(path.read_text(encoding="utf-8")), path
    for line in (4, 6, 7):
        shown = cli(tmp_path, "show", f"vllm/a.py:{line}")
        assert shown.returncode == 0 and not control.search(shown.stdout)
    first = cli(tmp_path, "show", "vllm/a.py:4").stdout
    assert "[bold]rich[/bold]" in first and "\\x1b[31m" in first and "\\u202e" in first
    record = json.loads(cli(tmp_path, "show", "vllm/a.py:4", "--json").stdout)
    assert record["message"].startswith("\x1b[31mred")
