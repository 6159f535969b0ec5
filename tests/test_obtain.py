"""From what a user names to a dataset: found where it is, extracted where it is not, never guessed between two."""

from __future__ import annotations

from pathlib import Path

import git
import pytest

from extractor import datasets, obtain
from extractor.dataset import read_manifest
from extractor.errors import ToolError
from extractor.source import Silent
from tests.test_dataset import extract, write_tree

ONE = {"vllm/a.py": 'raise ValueError("one")\n'}
TWO = {"vllm/a.py": 'raise ValueError("two")\n'}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def options(**more: str) -> obtain.ExtractOptions:
    return obtain.ExtractOptions(cache=Path("cache").absolute(), jobs=1, **more)


def made(label: str, files: dict[str, str] = ONE, out: str = "output") -> Path:
    return extract(write_tree(Path("tree", label), files), Path(out), label=label)


@pytest.mark.parametrize(
    ("labels", "given", "means"),
    [
        pytest.param(["v0.28.0", "v0.2.0"], "0.28", None, id="the beginning of a release is not that release"),
        pytest.param(["main"], "ma", None, id="nor the beginning of a name"),
        pytest.param(["c794754062"], "c79", None, id="three digits are no commit"),
        pytest.param(["c794754062"], "c794754063", None, id="another commit"),
        pytest.param(["v0.28.0"], "v0.28.0/", None, id="a path is no label"),
        pytest.param(["v0.28.0"], "\0", None, id="not a name at all"),
        pytest.param(["v0.28.0"], "x" * 300, None, id="longer than a name can be"),
        pytest.param(["v0.28.0"], "v0.28.0", "output/v0.28.0", id="a label"),
        pytest.param(["v0.28.0"], "0.28.0", "output/v0.28.0", id="a release"),
        pytest.param(["v0.28.0"], "output/v0.28.0", "output/v0.28.0", id="a folder"),
        pytest.param(["c794754062", "c7a0000000"], "C794", "output/c794754062", id="the beginning of a commit"),
    ],
)
def test_a_dataset_that_is_there(home: Path, labels: list[str], given: str, means: str | None) -> None:
    for label in labels:
        made(label)
    found = datasets.there(given, Path("output"))
    assert (None if found is None else str(found)) == means


@pytest.mark.parametrize(
    ("places", "given", "named"),
    [
        pytest.param([(".", "0.28.0"), ("output", "v0.28.0")], "0.28.0", ["./0.28.0", "output/v0.28.0"], id="folder"),
        pytest.param([("output", "0.28.0"), ("output", "v0.28.0")], "0.28.0", ["output/0.28.0", "output/v0.28.0"], id="v"),
        pytest.param([("output", "abcd000000"), ("output", "abcd111111")], "abcd", ["output/abcd000000", "output/abcd111111"], id="short"),
        pytest.param([("output", f"abcd00000{i}") for i in range(8)], "abcd", ["output/abcd000000", "and 3 more"], id="many"),
    ],
)  # fmt: skip
def test_what_could_be_several_is_an_error_that_names_them(
    home: Path, places: list[tuple[str, str]], given: str, named: list[str]
) -> None:
    for i, (out, label) in enumerate(places):
        made(label, {"vllm/a.py": f'raise ValueError("{i}")\n'}, out)
    with pytest.raises(ToolError) as caught:
        obtain.obtain(given, options(), Silent())
    assert all(name in str(caught.value) for name in named)


def test_two_places_of_one_dataset_are_no_question(home: Path) -> None:
    made("v0.28.0")
    Path("v0.28.0").symlink_to("output/v0.28.0")
    assert obtain.obtain("v0.28.0", options(), Silent()).resolve() == (home / "output/v0.28.0")


def test_a_folder_of_source_is_extracted_each_time(home: Path) -> None:
    source = write_tree(Path("mine"), ONE)
    first = obtain.obtain("./mine", options(), Silent())
    write_tree(source, TWO)
    assert obtain.obtain("./mine", options(), Silent()) == first == Path("output/mine")
    assert [e.message for e in datasets.read_errors(first)] == ["two"]
    with pytest.raises(ToolError, match=r"'mine' could be \./mine, output/mine"):
        obtain.obtain("mine", options(), Silent())


def test_commits_tags_and_branches_of_a_local_clone(home: Path) -> None:
    repo = git.Repo.init(home / "clone", initial_branch="trunk")
    commits = []
    for number, files in enumerate((ONE, TWO)):
        write_tree(home / "clone", files)
        repo.index.add(["vllm/a.py"])
        commits.append(repo.index.commit(f"commit {number}").hexsha)
    repo.create_tag("first-tag", commits[0])
    for given, commit in (("first-tag", 0), (commits[0], 0), ("trunk", 1), (commits[1][:8], 1)):
        folder = obtain.obtain(given, options(repo=str(home / "clone")), Silent())
        assert folder == Path("output", commits[commit][:10])
        assert read_manifest(folder).source.commit == commits[commit]
    assert datasets.there(commits[0], Path("output")) == Path("output", commits[0][:10])


def test_two_sources_of_one_label_do_not_take_each_others_place(home: Path) -> None:
    write_tree(Path("a/vllm-src"), ONE)
    write_tree(Path("b/vllm-src"), TWO)
    first = obtain.obtain("a/vllm-src", options(), Silent())
    assert obtain.obtain("a/vllm-src", options(), Silent(), keep=[first]) == first
    with pytest.raises(ToolError, match=r"both be written to output/vllm-src: .* --label"):
        obtain.obtain("b/vllm-src", options(), Silent(), keep=[first])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        pytest.param("", "no dataset", id="nothing"),
        pytest.param("a\0b", "not a commit, tag or branch", id="no name of anything"),
        pytest.param("file.txt", "no dataset", id="a file"),
        pytest.param("./empty", "no Python files", id="a folder without Python"),
        pytest.param("nowhere", "no commit, tag or branch", id="neither there nor a revision"),
        pytest.param("v1.2.3-mine", "no commit, tag or branch", id="a tag that is no version"),
    ],
)
def test_bad_names(home: Path, given: str, sentence: str) -> None:
    git.Repo.init(home / "clone")
    Path("file.txt").write_text("")
    Path("empty").mkdir()
    with pytest.raises(ToolError, match=sentence):
        obtain.obtain(given, options(repo=str(home / "clone")), Silent())
