"""`history` on the command line, the story for a person, the chart, cards, and `match` with a history beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from extractor.errors import ToolError
from extractor.history import chart, store, story
from extractor.history.record import History
from extractor.history.series import EXCEPTION, PACKAGE, series
from extractor.match.command import Options, run
from tests.histories import Files, history_of, one
from tests.test_cli import ROOT, cli
from tests.test_dataset import extract, write_tree
from tests.trees import errors_in

FULL = "def f(rank):\n    if rank > 16:\n        raise ValueError(f'the rank {rank} is larger than what this engine takes')\n"
REWORDED = FULL.replace("is larger than what this engine takes", "does not fit into this engine")
GUARDED = REWORDED.replace("rank > 16:", "rank > 16 and rank < 99:")
NONE = "x = 1\n"
OTHER = "def g(port):\n    raise OSError('no port is free on the host')\n"

SUBCOMMANDS = ["build", "show", "chart"]


def written(out: Path, history: History) -> Path:
    path = store.path_under(out)
    store.write(path, history.header, history.lines)
    return path


def test_help_with_an_example_and_in_the_readme(tmp_path: Path) -> None:
    from extractor.cli_history import history

    assert [c.name for c in history.registered_commands] == SUBCOMMANDS
    for command in history.registered_commands:
        assert command.callback is not None and command.callback.__doc__ is not None
        assert f"Example: vllm-errors history {command.name}" in command.callback.__doc__
        assert f"vllm-errors history {command.name}" in (ROOT / "README.md").read_text()


def test_on_the_command_line(tmp_path: Path) -> None:
    done = cli(tmp_path, "history", "show", "abc")
    assert (done.returncode, done.stdout) == (2, "") and "make one with vllm-errors history build --all" in done.stderr
    history = history_of(one(FULL, REWORDED, GUARDED))
    written(tmp_path / "output", history)
    done = cli(tmp_path, "history", "show", history.lines[0].ids[0])
    assert done.returncode == 0 and done.stderr == "" and "\x1b" not in done.stdout
    assert done.stdout.splitlines()[-1].endswith("when {+rank < 99+}")
    done = cli(tmp_path, "history", "show", history.lines[0].id, "--json")
    assert [row["ids"] for row in json.loads(done.stdout)] == [list(history.lines[0].ids)]
    done = cli(tmp_path, "history", "show", "f" * 16)
    assert (done.returncode, done.stdout) == (1, "") and "no release had an error" in done.stderr


CASES_USE = [
    pytest.param(("--all", "--releases", "1..2"), "give one of --all, --releases and --commits", id="two ranges"),
    pytest.param(("--repo", "."), "--repo says where --commits are read", id="a clone for releases"),
    pytest.param(("--executor", "dask"), "belong together: give both, or neither", id="no scheduler"),
    pytest.param(("--executor", "ray", "--scheduler", "x"), "there is no executor 'ray'", id="another executor"),
]


@pytest.mark.parametrize(("arguments", "message"), CASES_USE)
def test_bad_use(arguments: tuple[str, ...], message: str) -> None:
    from typer.testing import CliRunner

    from extractor.cli import app

    done = CliRunner().invoke(app, ["history", "build", *arguments])
    assert isinstance(done.exception, ToolError) and message in str(done.exception)


# --- the story -------------------------------------------------------------------------------------------


def told(trees: list[Files], colour: bool = False) -> list[str]:
    history = history_of(trees)
    return list(story.text(history.lines[0], history.header, colour))


def test_a_story() -> None:
    assert told(one(FULL, REWORDED, GUARDED, NONE, GUARDED, NONE)) == [
        "ValueError: the rank {rank} does not fit into this engine",
        "In vLLM since 1; reworded in 2; condition changed in 3; back in 5; until: 5.",
        f"ids, oldest first: {errors_in({'vllm/a.py': FULL})[0].id}, {errors_in({'vllm/a.py': REWORDED})[0].id}",
        "",
        "1            2026-01-01  introduced",
        "                         vllm/a.py:3 in f",
        "                         when rank > 16",
        "2            2026-01-02  reworded",
        "                         the rank {rank} [-is larger than what-]{+does not fit into+} this engine[- takes-]",
        "3            2026-01-03  condition stricter",
        "                         when {+rank < 99+}",
        "4            2026-01-04  gone",
        "5            2026-01-05  there again",
        "6            2026-01-06  gone",
    ]


def test_moves_and_types_are_told() -> None:
    moved = [{"vllm/a.py": FULL}, {"vllm/b.py": FULL.replace("ValueError", "TypeError")}]
    lines = told(list(moved))
    assert lines[-3:] == [
        "2            2026-01-02  moved, another exception",
        "                         [-ValueError-] {+TypeError+}",
        "                         [-vllm/a.py:3 in f-] {+vllm/b.py:3 in f+}",
    ]


def test_on_a_terminal_changes_are_coloured_and_nothing_hostile_gets_there() -> None:
    hostile = FULL.replace("the rank", "the \\x1b[31m\\u202e rank")
    lines = "\n".join(told([{"vllm/a.py": hostile}, {"vllm/a.py": hostile.replace("larger", "l\\x1barger")}], True))
    assert "\x1b[31;9mlarger\x1b[0m" in lines and "\x1b[32m" in lines
    assert "\x1b[31m" not in lines and "\u202e" not in lines and "\\x1b[31m\\u202e" in lines


# --- the chart -------------------------------------------------------------------------------------------

TREES: list[Files] = [
    {"vllm/entrypoints/a.py": FULL, "setup.py": OTHER},
    {"vllm/entrypoints/a.py": FULL, "vllm/b.py": OTHER.replace("host", "machine")},
    {"vllm/entrypoints/a.py": NONE, "vllm/b.py": OTHER.replace("host", "machine"), "setup.py": OTHER},
]


@pytest.mark.parametrize(
    ("by", "alive"),
    [
        pytest.param(PACKAGE, {"top level": (1, 0, 1), "vllm": (0, 1, 1), "vllm.entrypoints": (1, 1, 0)}, id="package"),
        pytest.param(EXCEPTION, {"OSError": (1, 1, 2), "ValueError": (1, 1, 0)}, id="exception"),
    ],
)
def test_figures(by: str, alive: dict[str, tuple[int, ...]]) -> None:
    found = series(history_of(TREES), by)
    assert found.alive == alive
    assert found.added[0] == 2 and sum(found.added) - sum(found.removed) == sum(row[-1] for row in found.alive.values())


def test_small_groups_are_one() -> None:
    trees: list[Files] = [{f"vllm/p{n}/a.py": FULL.replace("rank", f"rank{n}") for n in range(12)}] * 2
    found = series(history_of(trees), PACKAGE)
    assert len(found.alive) == 9 and list(found.alive)[-1] == "other" and found.alive["other"] == (4, 4)


def test_a_chart_is_the_same_bytes_and_safe_to_show() -> None:
    history = history_of([*TREES, {"vllm/$x^2$<&/a.py": FULL}])
    picture = chart.drawn(history)
    assert picture == chart.drawn(history) and b"<dc:date>" not in picture
    texts = [e.text for e in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert "vllm.$x^2$<&" in texts and any("1 in 4" in str(text) for text in texts)
    assert chart.drawn(history, png=True).startswith(b"\x89PNG")


def test_charts_that_cannot_be_drawn() -> None:
    with pytest.raises(ToolError, match="needs two releases: build a longer history"):
        chart.drawn(history_of(one(FULL)))
    with pytest.raises(ToolError, match="give --by package or exception"):
        chart.drawn(history_of(one(FULL, FULL)), "file")
    undated = history_of(one(FULL, NONE))
    releases = tuple(replace(release, date=None) for release in undated.header.releases)
    assert chart.drawn(History(header=replace(undated.header, releases=releases), lines=undated.lines))


# --- beside datasets -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `output` has a dataset of the last release, and the history of all."""
    folder = tmp_path_factory.mktemp("beside")
    trees: list[Files] = [
        {"vllm/a.py": FULL, "vllm/b.py": OTHER},
        {"vllm/a.py": FULL, "vllm/b.py": OTHER},
        {"vllm/a.py": REWORDED, "vllm/b.py": NONE},
    ]
    source = write_tree(folder / "tree", {path: str(text) for path, text in trees[-1].items()})
    extract(source, folder / "output", label="now")
    written(folder / "output", history_of(trees))
    return folder


@pytest.fixture
def out(beside: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(beside / "cache"))
    return str(beside / "output")


def matched(out: str, log: str, tmp: Path) -> tuple[list[dict[str, object]], str]:
    (tmp / "log").write_text(log)
    as_json = run(Options(file=str(tmp / "log"), out=out, json=True))
    return json.loads(as_json.result), run(Options(file=str(tmp / "log"), out=out)).result.decode()


CASES_PAST = [
    pytest.param(
        "ValueError: the rank 64 is larger than what this engine takes",
        "in 1 to 2; now reworded as: the rank {rank} does not fit into this engine",
        id="reworded",
    ),
    pytest.param("OSError: no port is free on the host", "in 1 to 2; gone since 3", id="gone"),
]


@pytest.mark.parametrize(("log", "said"), CASES_PAST)
def test_match_finds_what_older_releases_said(out: str, tmp_path: Path, log: str, said: str) -> None:
    (row,), text = matched(out, log, tmp_path)
    assert isinstance(row["history"], dict) and row["history"]["said"] == said and row["role"] == "root"
    assert row["history"]["releases"] == [{"first": "1", "last": "2"}]
    assert f"  {said}\n" in text and f"story: vllm-errors history show {row['id']}" in text


CASES_SILENT = [
    pytest.param("ValueError: the rank 64 does not fit into this engine", 1, id="the dataset has it"),
    pytest.param("ValueError: the size 64 is larger than what that machine takes", 0, id="another message"),
    pytest.param("OSError: no port is free", 0, id="only the beginning of an old one"),
    pytest.param("all is well", 0, id="nothing"),
]


@pytest.mark.parametrize(("log", "found"), CASES_SILENT)
def test_match_does_not_ask_the_history(out: str, tmp_path: Path, log: str, found: int) -> None:
    rows, _ = matched(out, log, tmp_path)
    assert len(rows) == found and all("history" not in row for row in rows)


def test_a_broken_history_does_not_stop_match(beside: Path, out: str, tmp_path: Path) -> None:
    path = beside / "output" / "history.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1].replace(b'"lines":2', b'"lines":3'))
    try:
        (tmp_path / "log").write_text("OSError: no port is free on the host")
        outcome = run(Options(file=str(tmp_path / "log"), out=out))
    finally:
        path.write_bytes(whole)
    assert outcome.code == 1 and "the history was not asked" in outcome.notes[0] and "cut off" in outcome.notes[0]


def test_a_card_says_since_when(beside: Path) -> None:
    error = errors_in({"vllm/a.py": REWORDED})[0].id
    done = cli(beside, "show", error)
    assert "In vLLM since 1; reworded in 3; until: still there" in done.stdout
    assert json.loads(cli(beside, "show", error, "--json").stdout)["id"] == error
