"""A dataset on disk: valid, the same bytes each time, put in place whole, and never over somebody's files."""

from __future__ import annotations

import json
import os
import py_compile
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from extractor import dataset
from extractor.cache import Cache
from extractor.errors import NothingFound, ToolError
from extractor.pipeline import run
from extractor.source import Silent, SourceOptions, open_tree

TREE = {
    "vllm/a.py": 'from vllm.b import TEXT\n\ndef f(x):\n    if x:\n        raise ValueError(f"{TEXT} {x}")\n    raise KeyError\n',
    "vllm/b.py": 'TEXT = "one"\n\nclass E(Exception):\n    """Why."""\n\ndef g():\n    """Does g."""\n    raise E("other")\n',
    "vllm/broken.py": "def f(:\n    raise E\n",
    "tests/test_a.py": 'raise ValueError("not a card")\n',
}


def write_tree(folder: Path, files: dict[str, str] = TREE) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def extract(source: Path, out: Path, cache: Cache | None = None, jobs: int = 1, label: str = "x") -> Path:
    tree = open_tree(SourceOptions(cache=out / "cache", source=source, label=label), Silent())
    return run(tree, out, cache or Cache(None, b"tool"), b"tool", jobs, Silent()).folder


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_what_is_in_it(tmp_path: Path) -> None:
    folder = extract(write_tree(tmp_path / "tree"), tmp_path / "out")
    manifest = dataset.read_manifest(folder)
    assert (manifest.counts.sites, manifest.counts.errors, manifest.counts.skipped) == (3, 3, 1)
    assert [(s.path, s.raises) for s in dataset.read_skipped(folder)] == [("vllm/broken.py", 1)]
    errors = list(dataset.read_errors(folder))
    assert [e.id for e in errors] == sorted(e.id for e in errors)
    assert {e.message for e in errors} == {"one {x}", "", "other"}
    assert set(contents(folder)) == set(manifest.files) | {"manifest.json"}
    schema = json.loads((folder / "schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for error in errors:
        record = json.loads((folder / "errors" / f"{error.id}.json").read_text())
        jsonschema.validate(record, schema)
        assert dataset.read_error(folder, error.id) == error


def test_the_same_bytes_from_two_runs_and_any_number_of_processes(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "tree")
    first = contents(extract(source, tmp_path / "one"))
    assert first == contents(extract(source, tmp_path / "two", jobs=4))


def test_a_changed_constant_elsewhere_changes_a_warm_run_as_it_does_a_cold_one(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "tree")
    cache = Cache(tmp_path / "cache", b"tool")
    extract(source, tmp_path / "out", cache)
    (source / "vllm/b.py").write_text(TREE["vllm/b.py"].replace("one", "two"))
    warm = contents(extract(source, tmp_path / "out", cache))
    assert warm == contents(extract(source, tmp_path / "cold"))
    assert b"two {x}" in warm["errors.jsonl"]


def test_an_unchanged_dataset_is_left_alone_and_a_damaged_one_is_not(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "tree")
    folder = extract(source, tmp_path / "out")
    before = folder.stat().st_ino
    assert extract(source, tmp_path / "out").stat().st_ino == before
    (folder / "errors.jsonl").write_bytes(b"{}\n")
    extract(source, tmp_path / "out")
    assert len(list(dataset.read_errors(folder))) == 3


def test_two_files_of_one_content_share_a_record_and_nothing_else(tmp_path: Path) -> None:
    text = 'def f():\n    raise ValueError("same")\n'
    folder = extract(write_tree(tmp_path / "tree", {"vllm/a.py": text, "vllm/c.py": text}), tmp_path / "out")
    assert [e.sites[0].path for e in dataset.read_errors(folder)] != []
    assert {e.sites[0].path for e in dataset.read_errors(folder)} == {"vllm/a.py", "vllm/c.py"}


# (name, what stands at the target, what the sentence says)
OTHERS = [
    ("a file", lambda t: t.write_text("mine"), "not a folder"),
    ("a link", lambda t: t.symlink_to(t.parent), "not a folder"),
    ("somebody's files", lambda t: (t.mkdir(), (t / "notes.txt").write_text("mine")), "not a dataset"),
    (
        "a manifest of something else",
        lambda t: (t.mkdir(), (t / "manifest.json").write_text("{}")),
        "not a dataset",
    ),
]


@pytest.mark.parametrize(("make", "sentence"), [r[1:] for r in OTHERS], ids=[r[0] for r in OTHERS])
def test_others_files_are_never_replaced(tmp_path: Path, make, sentence: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "out").mkdir()
    make(tmp_path / "out" / "x")
    before = sorted((tmp_path / "out").rglob("*"))
    with pytest.raises(ToolError, match=sentence):
        extract(write_tree(tmp_path / "tree"), tmp_path / "out")
    assert sorted(p for p in (tmp_path / "out").rglob("*") if p.name != "cache") == before


def test_a_note_put_into_a_dataset_stops_its_replacement(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "tree")
    folder = extract(source, tmp_path / "out")
    (folder / "note.txt").write_text("mine")
    (source / "vllm/b.py").write_text("")
    with pytest.raises(ToolError, match=r"note\.txt"):
        extract(source, tmp_path / "out")
    assert len(list(dataset.read_errors(folder))) == 3


def test_a_dataset_whose_predicates_were_imported_is_replaced(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "tree")
    folder = extract(source, tmp_path / "out")
    py_compile.compile(str(folder / "predicates/registry.py"))
    (folder / "predicates/__pycache__/note.cpython-311.pyc").write_text("mine")
    (source / "vllm/b.py").write_text("")
    with pytest.raises(ToolError, match=r"__pycache__/note"):
        extract(source, tmp_path / "out")
    (folder / "predicates/__pycache__/note.cpython-311.pyc").unlink()
    extract(source, tmp_path / "out")
    assert not (folder / "predicates/__pycache__").exists()


def test_an_out_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    tree = open_tree(SourceOptions(cache=tmp_path / "cache", source=write_tree(tmp_path / "tree")), Silent())
    with pytest.raises(ToolError, match="is a file"):
        run(tree, tmp_path / "out", Cache(None, b""), b"", 1, Silent())


def test_a_full_disk_is_one_sentence_and_leaves_the_old_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_tree(tmp_path / "tree")
    folder = extract(source, tmp_path / "out")
    before = contents(folder)
    (source / "vllm/b.py").write_text("")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(dataset, "write", full)
    with pytest.raises(ToolError, match="No space left"):
        extract(source, tmp_path / "out")
    assert contents(folder) == before
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["x"]


UNREADABLE = [
    ("nothing there", lambda f: None, "no manifest"),
    ("cut off", lambda f: (f / "manifest.json").write_text('{"schema": 1'), "cannot be read"),
    ("newer", lambda f: (f / "manifest.json").write_text('{"schema": 99}'), "newer version"),
    ("older", lambda f: (f / "manifest.json").write_text('{"schema": 0}'), "another version"),
    ("not a manifest", lambda f: (f / "manifest.json").write_text('{"schema": 1}'), "not a manifest"),
    ("no object", lambda f: (f / "manifest.json").write_text("[]"), "cannot be read"),
]


@pytest.mark.parametrize(("damage", "sentence"), [r[1:] for r in UNREADABLE], ids=[r[0] for r in UNREADABLE])
def test_a_dataset_that_cannot_be_read_is_an_error_and_never_an_empty_one(
    tmp_path: Path, damage, sentence: str
) -> None:  # type: ignore[no-untyped-def]
    damage(tmp_path)
    with pytest.raises(ToolError, match=sentence):
        list(dataset.read_errors(tmp_path))


def test_records_that_are_not_what_the_manifest_lists(tmp_path: Path) -> None:
    folder = extract(write_tree(tmp_path / "tree"), tmp_path / "out")
    (folder / "errors.jsonl").write_bytes(b"")
    with pytest.raises(ToolError, match="extract the dataset again"):
        list(dataset.read_errors(folder))
    with pytest.raises(NothingFound):
        dataset.read_error(folder, "0" * 16)


# --- interruption ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [0.05, 0.3, 0.6, 0.9, 1.2])
def test_killed_at_any_moment_there_is_the_old_dataset_or_the_new_one(tmp_path: Path, after: float) -> None:
    files = {f"vllm/m{n}.py": f'def f(x):\n    raise ValueError(f"number {n} {{x}}")\n' for n in range(200)}
    source = write_tree(tmp_path / "tree", files)
    out = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "extractor",
        "extract",
        "--source",
        str(source),
        "--out",
        str(out),
        "--label",
        "x",
    ]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([*command, "--jobs", "1"], check=True, env=environment, capture_output=True)
    old = contents(out / "x")
    (source / "vllm/m0.py").write_text('raise ValueError("new")\n')
    process = subprocess.Popen(
        [*command, "--jobs", "2"], env=environment, start_new_session=True, stderr=subprocess.PIPE
    )
    time.sleep(after)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    found = contents(out / "x")
    assert found == old or b'"new"' in found["errors.jsonl"]
    assert dataset.is_intact(out / "x", dataset.read_manifest(out / "x").inputs)
    subprocess.run(command, check=True, env=environment, capture_output=True)
    assert b'"new"' in contents(out / "x")["errors.jsonl"]
    assert [p.name for p in out.iterdir()] == ["x"]


def test_interrupted_by_the_user(tmp_path: Path) -> None:
    source = write_tree(
        tmp_path / "tree",
        {f"vllm/m{n}.py": "def f(x):\n" + "    x = 1\n" * 3000 + "    raise E\n" for n in range(60)},
    )
    command = [
        sys.executable,
        "-m",
        "extractor",
        "extract",
        "--source",
        str(source),
        "--out",
        str(tmp_path / "out"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    time.sleep(1.5)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    if process.returncode != 0:
        assert process.returncode == 130
        assert stderr.strip().count("\n") == 0 and "Traceback" not in stderr
        assert not (tmp_path / "out" / "tree").exists()


def test_two_runs_to_one_place_at_once(tmp_path: Path) -> None:
    sources = [write_tree(tmp_path / "one"), write_tree(tmp_path / "two", {"vllm/a.py": "raise E('two')\n"})]
    script = (
        "import sys; from pathlib import Path; from tests.test_dataset import extract\n"
        "for _ in range(5): extract(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    command = [sys.executable, "-c", script]
    runs = [subprocess.Popen([*command, str(s), str(tmp_path / "out")], stderr=subprocess.PIPE) for s in sources]
    assert [(r.communicate(timeout=60)[1], r.returncode) for r in runs] == [(b"", 0), (b"", 0)]
    assert dataset.is_intact(tmp_path / "out" / "x", dataset.read_manifest(tmp_path / "out" / "x").inputs)
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["x"]
