"""The command `match`: what it prints where, exit codes, datasets and releases, bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from extractor import start
from extractor.match import evaluate, library
from tests import errors_like
from tests.test_cli import cli
from tests.test_dataset import write_tree

PASTE = "ValueError: LoRA rank 64 is greater than the largest rank 16 of this engine."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    from textwrap import dedent

    write_tree(folder / "tree", {path: dedent(text) for path, text in errors_like.TREE.items()})
    for label in ("v1.2.3", "other"):
        done = cli(folder, "extract", "--source", "tree", "--label", label, "--quiet")
        assert done.returncode == 0, done.stderr
    (folder / "log").write_text(PASTE)
    return folder


def test_json_alone_on_stdout_and_exit_codes(home: Path) -> None:
    done = cli(home, "match", "log", "--json")
    assert done.returncode == 0 and done.stderr == ""
    assert [row["role"] for row in json.loads(done.stdout)] == ["root"]
    (home / "none").write_text("all is well\n")
    done = cli(home, "match", "none", "--json")
    assert (done.returncode, done.stdout, done.stderr) == (1, "[]\n", "")
    done = cli(home, "match", "none")
    assert done.returncode == 1 and done.stdout == "" and "nothing found" in done.stderr


def test_for_a_person(home: Path) -> None:
    done = cli(home, "match", "log")
    assert done.returncode == 0 and "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    assert lines[0] == PASTE and "root cause; line 1" in lines[2]
    assert "vllm/lora/ranks.py:5 in Ranks.validate" in done.stdout and "rank = 64" in done.stdout
    (home / "rough").write_text(
        "ValueError: The cache needs 4 GiB on device cuda:0, which is more than the 3 GiB that are free. "
        "Decrease `gpu_share` or take a smaller `context`."
    )
    assert "not from this release: the nearest is" in cli(home, "match", "rough").stdout


def test_stdin(home: Path) -> None:
    for arguments in ([], ["-"], ["--json"]):
        done = subprocess.run(
            [sys.executable, "-m", "extractor", "match", *arguments],
            cwd=home,
            input=PASTE,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0 and "LoRA rank" in done.stdout


def test_the_limit_and_a_dataset_by_label(home: Path) -> None:
    text = "No suitable kernel was found for x with these settings. Reasons: {}."
    (home / "two").write_text(text)
    for arguments, number in (([], 2), (["--limit", "1"], 1), (["--limit=1", "--dataset", "other"], 1)):
        assert len(json.loads(cli(home, "match", "two", "--json", *arguments).stdout)) == number


def test_the_release_that_the_log_names(home: Path) -> None:
    manifest = home / "output" / "v1.2.3" / "manifest.json"
    text = manifest.read_text()
    assert '"release": null' in text
    manifest.write_text(text.replace('"release": null', '"release": "1.2.3"'))
    (home / "banner").write_text(f"INFO vLLM API server version 1.2.3\n{PASTE}")
    assert "the log says vLLM 1.2.3: matched against output/v1.2.3" in cli(home, "match", "banner").stderr
    (home / "banner").write_text(f"INFO vLLM API server version 0.9.1\n{PASTE}")
    done = cli(home, "match", "banner")
    assert done.returncode == 0 and "vllm-errors extract --release 0.9.1" in done.stderr


# (name, arguments, what the sentence says)
BAD = [
    ("a file that is not there", ["nowhere"], "nowhere cannot be read"),
    ("a folder", ["tree"], "is a folder"),
    ("a dataset that is not there", ["log", "--dataset", "v9"], "no dataset 'v9'"),
    ("no dataset at all", ["log", "--out", "empty"], "no dataset under empty"),
    ("another schema", ["log", "--dataset", "old"], "newer version"),
    ("no manifest of ours", ["log", "--dataset", "broken"], "extract the dataset again"),
    ("a limit of none", ["log", "--limit", "0"], "--limit"),
    ("an option that is not there", ["log", "--frobnicate"], "No such option"),
    ("two files", ["log", "log"], "unexpected extra argument"),
]


@pytest.mark.parametrize(("arguments", "sentence"), [r[1:] for r in BAD], ids=[r[0] for r in BAD])
def test_bad_use_is_one_sentence(home: Path, arguments: list[str], sentence: str) -> None:
    for name, manifest in (("old", '{"schema": 99}'), ("broken", "[")):
        (home / "elsewhere" / name).mkdir(parents=True, exist_ok=True)
        (home / "elsewhere" / name / "manifest.json").write_text(manifest)
    arguments = [f"elsewhere/{a}" if a in ("old", "broken") else a for a in arguments]
    done = cli(home, "match", *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert sentence in done.stderr and "Traceback" not in done.stderr


def test_an_index_that_is_broken_is_made_anew(home: Path) -> None:
    folder = home / ".cache" / "vllm-errors" / "match"
    assert list(folder.glob("*.lexicon")), "made at extraction"
    for path in folder.glob("*"):
        path.write_bytes(b"broken")
    assert cli(home, "match", "log").returncode == 0
    for path in folder.glob("*"):
        path.unlink()
    folder.rmdir()
    folder.write_text("not a folder")
    assert cli(home, "match", "log").returncode == 0
    folder.unlink()


def test_an_endless_log_can_be_interrupted(home: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "extractor", "match"],
        cwd=home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
    )
    assert process.stdin is not None
    process.stdin.write(b"on and on\n" * 100_000)
    process.stdin.flush()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130 and said.decode().count("\n") == 1 and b"interrupted" in said


# (arguments, what is understood without the parser)
PLAIN = [
    (["show", "x"], None),
    (["match", "--help"], None),
    (["match", "a", "b"], None),
    (["match", "--limit", "0"], None),
    (["match", "--limit"], None),
    (["match", "--dataset", "--json"], None),
    (["match"], {}),
    (["match", "-", "--json", "--limit=3"], {"file": "-", "--json": "yes", "--limit": "3"}),
    (["match", "--dataset", "v1", "log"], {"--dataset": "v1", "file": "log"}),
]


@pytest.mark.parametrize(("arguments", "options"), PLAIN, ids=[" ".join(r[0]) for r in PLAIN])
def test_plain_options(arguments: list[str], options: dict[str, str] | None) -> None:
    assert start.plain(arguments) == options


def test_a_search_imports_little() -> None:
    script = "import sys\nimport extractor.quick\nprint([m for m in ('typer', 'rich', 'msgspec', 'orjson', 'dataclasses', 'pathlib', 'extractor.model') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_evaluate_counts_what_is_right(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {
            "id": "a",
            "paste": PASTE,
            "expect": "site",
            "truth": {"site_kind": "raise"},
            "in_x": "vllm/lora/ranks.py:5",
            "tags": ["t"],
        },
        {
            "id": "b",
            "paste": PASTE,
            "expect": "site",
            "truth": {"site_kind": "raise"},
            "in_x": "vllm/lora/ranks.py:99",
            "tags": [],
        },
        {"id": "c", "paste": "nothing", "expect": "not-vllm", "truth": {"site_kind": "external"}, "tags": ["t"]},
    ]
    file = tmp_path / "pastes.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(home)
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(home / ".cache"))
    shelf = library.named("other", "output", library.cache_folder())
    lexicon = library.load(shelf, library.cache_folder())
    found = [evaluate.verdict(case, lexicon) for case in evaluate.cases(file, "x")]
    assert [(v.rank, v.found) for v in found] == [(1, 1), (0, 1), (0, 0)]
    text = evaluate.report(found, "x")
    assert "50.0 % (1 of 2)" in text and "100.0 % (1 of 1)" in text and "b: wanted vllm/lora/ranks.py:99" in text
