"""Names of files, labels, repositories, and what a tree says of itself: tables, no disk."""

from __future__ import annotations

import subprocess
import sys

import pytest

from extractor.errors import ToolError
from extractor.source import names, stated
from extractor.source.command import reason

CASES_WANTED = [
    pytest.param(b"vllm/a.pyc", False, id="not bytecode"),
    pytest.param(b"vllm/a.py.txt", False, id="not what only begins like Python"),
    pytest.param(b"tests/a.py", False, id="not the top-level tests"),
    pytest.param(b"tests/deep/a.py", False, id="not below them"),
    pytest.param(b"vllm/tests/a.py", True, id="tests further down count"),
    pytest.param(b"tests.py", True, id="a file called tests"),
    pytest.param(b"setup.py", True, id="at the top"),
    pytest.param(b"vllm/a.pyi", True, id="a stub"),
]


@pytest.mark.parametrize(("path", "expected"), CASES_WANTED)
def test_which_files_count(path: bytes, expected: bool) -> None:
    assert names.wanted(tuple(path.split(b"/"))) is expected


CASES_IGNORED = [
    pytest.param(b"node_modules", False, id="not a file of that name"),
    pytest.param(b"vllm/node_modules.py", False, id="not a longer name"),
    pytest.param(b"a.py", False, id="not the folder itself that is an environment"),
    pytest.param(b"environment/a.py", False, id="not what begins as an environment"),
    pytest.param(b"node_modules/x/a.py", True, id="dependencies"),
    pytest.param(b"vllm/__pycache__/a.py", True, id="caches"),
    pytest.param(b"env/lib/a.py", True, id="environment"),
]


@pytest.mark.parametrize(("path", "expected"), CASES_IGNORED)
def test_which_folders_do_not(path: bytes, expected: bool) -> None:
    assert names.ignored(tuple(path.split(b"/")), {(), (b"env",)}) is expected


CASES_SHOWN = [
    pytest.param("vllm/ä b'\".py".encode(), "vllm/ä b'\".py", id="text stays"),
    pytest.param(b"vllm/\xff.py", "vllm/\\xff.py", id="not UTF-8"),
    pytest.param(b"a\nb.py", "a\\nb.py", id="line break"),
    pytest.param(b"a\x1b[31m.py", "a\\x1b[31m.py", id="escape sequence"),
    pytest.param("a\u202eb.py".encode(), "a\\u202eb.py", id="bidi mark"),
    pytest.param("a\u2028b.py".encode(), "a\\u2028b.py", id="line separator"),
    pytest.param(b"\xed\xa0\x80.py", "\\xed\\xa0\\x80.py", id="surrogate"),
]


@pytest.mark.parametrize(("name", "expected"), CASES_SHOWN)
def test_names_are_shown_on_one_line(name: bytes, expected: str) -> None:
    assert names.shown(name) == expected
    expected.encode()


def test_blob_id_is_what_git_says() -> None:
    assert names.blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert names.blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


CASES_LABEL = [
    pytest.param("", id="empty"),
    pytest.param("  ", id="blank"),
    pytest.param("..", id="the folder above"),
    pytest.param(".hidden", id="hidden"),
    pytest.param("a/b", id="slash"),
    pytest.param("a\\b", id="backslash"),
    pytest.param("a\nb", id="line break"),
    pytest.param("a\x1b[0m", id="escape sequence"),
    pytest.param("a" * 101, id="long"),
    pytest.param("\udcff", id="not UTF-8"),
]


@pytest.mark.parametrize("label", CASES_LABEL)
def test_labels_that_are_no_file_name(label: str) -> None:
    with pytest.raises(ToolError, match="--label"):
        names.checked_label(label)
    assert names.label_problem(names.derived_label(label)) is None


@pytest.mark.parametrize("label", ["v0.28.0", "nightly build", "ä", "a..b", "2cf0a6915e"])
def test_labels_that_are(label: str) -> None:
    assert names.checked_label(label) == names.derived_label(label) == label


CASES_GITHUB = [
    pytest.param("https://gitlab.com/vllm-project/vllm", None, id="not another host"),
    pytest.param("https://evil.com/github.com/a/b", None, id="not a host in the path"),
    pytest.param("https://github.com.evil.com/a/b", None, id="not a host that begins so"),
    pytest.param("https://github.com/a", None, id="not an owner alone"),
    pytest.param("/srv/github.com/a/b", None, id="not a folder"),
    pytest.param("https://github.com/vllm-project/vllm", "vllm-project/vllm", id="https"),
    pytest.param("https://github.com/vllm-project/vllm.git/", "vllm-project/vllm", id="git suffix and slash"),
    pytest.param("https://me:secret@github.com/me/vllm", "me/vllm", id="with a password"),
    pytest.param("git@github.com:me/vllm.git", "me/vllm", id="scp"),
    pytest.param("ssh://git@github.com:22/me/v.llm", "me/v.llm", id="ssh"),
]


@pytest.mark.parametrize(("url", "expected"), CASES_GITHUB)
def test_github_remotes(url: str, expected: str | None) -> None:
    assert names.github_repo(url) == expected


CASES_REPO = [
    pytest.param("https://gitlab.com/group/sub/vllm.git", "sub/vllm", id="the last two parts"),
    pytest.param("git@host.example:team/vllm.git", "team/vllm", id="scp"),
    pytest.param("https://host.example/vllm", "vllm-project/vllm", id="one part says nothing"),
    pytest.param("https://host.example/a b/<c>", "a_b/_c_", id="odd characters"),
    pytest.param("https://github.com/me/vllm", "me/vllm", id="GitHub"),
]


@pytest.mark.parametrize(("url", "expected"), CASES_REPO)
def test_repository_of_a_remote(url: str, expected: str) -> None:
    assert names.repo_of(url) == expected


def test_passwords_are_never_said() -> None:
    said = b"fatal: unable to access 'https://me:s3cret@host/x/': no\nfatal: Could not read from remote"
    assert reason(said) == "unable to access 'https://host/x/': no"


CASES_REASON = [
    pytest.param(b"", "it does not say why", id="nothing"),
    pytest.param(b"warning: x\nfatal: bad\x1b[0m object\n", "bad\\x1b[0m object", id="no escape sequence gets out"),
    pytest.param(
        b"ssh: Could not resolve hostname h\r\nfatal: Could not read from remote repository.\n\n"
        b"Please make sure you have the correct access rights\nand the repository exists.\n",
        "ssh: Could not resolve hostname h",
        id="not the general advice",
    ),
]


@pytest.mark.parametrize(("error", "expected"), CASES_REASON)
def test_what_git_says(error: bytes, expected: str) -> None:
    assert reason(error) == expected


CASES_COMMIT = [
    pytest.param(b"commit_id = compute()", None, id="not what would have to run"),
    pytest.param(b"commit_id = None", None, id="none"),
    pytest.param(b"commit_id = 'not hex at all'", None, id="not any text"),
    pytest.param(b"commit_id = 'g12'", None, id="not too short"),
    pytest.param(b"other = 'g2cf0a6915'", None, id="not another name"),
    pytest.param(b"commit_id = ", None, id="not Python"),
    pytest.param(b"\x00\xff", None, id="not text"),
    pytest.param(b"(" * 5000, None, id="not too deep"),
    pytest.param(b"__commit_id__ = commit_id = 'g2cf0a6915'", "2cf0a6915", id="now"),
    pytest.param(b'__commit__ = "' + b"a1" * 20 + b'"', "a1" * 20, id="0.6.0"),
]


@pytest.mark.parametrize(("data", "expected"), CASES_COMMIT)
@pytest.mark.parametrize("path", stated.COMMIT_FILES)
def test_commit_that_a_tree_names(path: str, data: bytes, expected: str | None) -> None:
    assert stated.commit({path: data}) == expected


CASES_RELEASE = [
    pytest.param("", None, id="nothing"),
    pytest.param("Name: other\nVersion: 1\n", None, id="not another project"),
    pytest.param("Version: 1\n\nName: vllm\n", None, id="not the text below the head"),
    pytest.param("Name: vllm\nVersion: x\n", None, id="not a version"),
    pytest.param("Name: vllm\nVersion: 0.1.dev1+g12\n", None, id="not a build of somebody's own"),
    pytest.param("Metadata-Version: 2.4\nName: vllm\nVersion: 0.28.0\n\ntext", "0.28.0", id="release"),
    pytest.param("Name: vllm\r\nVersion: 0.5.0.post1\r\n\r\n", "0.5.0.post1", id="carriage returns"),
]


@pytest.mark.parametrize(("text", "expected"), CASES_RELEASE)
def test_release_that_a_tree_names(text: str, expected: str | None) -> None:
    assert stated.release({"PKG-INFO": text.encode()}) == expected


def test_importing_is_cheap() -> None:
    slow = "{'git', 'requests', 'pypi_simple', 'packaging'}"
    code = f"import sys, extractor.source; print({slow} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
