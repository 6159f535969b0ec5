"""Owns names: of files as they can be shown, of datasets, of repositories. Pure functions, no disk."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from extractor.errors import ToolError
from extractor.model import DEFAULT_REPO

SUFFIXES = (b".py", b".pyi")
IGNORED_FOLDERS = frozenset({b".git", b"node_modules", b"__pycache__"})  # where git does not say what counts
ENVIRONMENT = b"pyvenv.cfg"  # stands at the top of a virtual environment
LONGEST_LABEL = 100
GITHUB = "https://github.com/"

_GITHUB_REMOTE = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^/@]*@)?(?:www\.)?github\.com(?::\d+)?/|(?:[^/@:]+@)?github\.com:/?)"
    r"(?P<repo>[\w.-]+/[\w.-]+?)(?:\.git)?/?"
)
_SCP = re.compile(r"(?:[^/@:]+@)?[^/@:]+:(?P<path>[^/].*)")


def is_python(name: bytes) -> bool:
    """By the name alone."""
    return name.endswith(SUFFIXES)


def wanted(parts: tuple[bytes, ...]) -> bool:
    """A Python file outside the top-level tests, whose raises are no cards."""
    return is_python(parts[-1]) and not (len(parts) > 1 and parts[0] == b"tests")


def ignored(parts: tuple[bytes, ...], environments: Iterable[tuple[bytes, ...]]) -> bool:
    """Inside a folder that is nobody's source: dependencies, caches, virtual environments."""
    folder = parts[:-1]
    return any(part in IGNORED_FOLDERS for part in folder) or any(
        environment and folder[: len(environment)] == environment for environment in environments
    )


def shown(name: bytes) -> str:
    """A name as valid text on one line: what is not UTF-8 or not printable stands as an escape."""
    return one_line(name.decode("utf-8", "backslashreplace"))


def one_line(text: str) -> str:
    """Text with every character that is not printable as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def blob_id(data: bytes) -> str:
    """The name that git gives to these bytes."""
    digest = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


# --- labels ----------------------------------------------------------------------------------------------


def label_problem(label: str) -> str | None:
    """Why a label cannot be the name of a folder under the output folder; None: it can."""
    if not label.strip():
        return "is empty"
    if label.startswith("."):
        return "begins with a dot"
    if "/" in label or "\\" in label:
        return "holds a slash"
    if not label.isprintable():
        return "holds a control character"
    if len(label.encode("utf-8", "replace")) > LONGEST_LABEL:
        return f"is longer than {LONGEST_LABEL} bytes"
    return None


def checked_label(label: str) -> str:
    """A label that the user gave. Raises `ToolError`."""
    problem = label_problem(label)
    if problem is not None:
        raise ToolError(f"the label {label!r} {problem}: give --label a plain name such as nightly")
    return label


def derived_label(name: str) -> str:
    """A label made of a folder's name: what a label may not hold becomes `_`."""
    kept = "".join(c if c.isprintable() and c not in "/\\" else "_" for c in name).strip()
    if kept.startswith("."):
        kept = "_" + kept[1:]
    kept = kept.encode("utf-8", "replace")[:LONGEST_LABEL].decode("utf-8", "ignore").strip()
    return kept or "source"


# --- repositories ----------------------------------------------------------------------------------------


def github_repo(url: str) -> str | None:
    """`owner/name` of a GitHub remote; None: it is none."""
    match = _GITHUB_REMOTE.fullmatch(url.strip())
    return match["repo"] if match else None


def repo_of(url: str) -> str:
    """`owner/name` of any remote: for other hosts, the last two parts of the path."""
    known = github_repo(url)
    if known is not None:
        return known
    scp = _SCP.fullmatch(url) if "://" not in url else None
    path = scp["path"] if scp else urlsplit(url).path
    parts = [re.sub(r"[^\w.-]", "_", part) for part in path.removesuffix("/").removesuffix(".git").split("/") if part]
    return "/".join(parts[-2:]) if len(parts) >= 2 else DEFAULT_REPO


def permalink(repo: str, revision: str) -> str:
    """Where a revision's files are shown to readers."""
    return f"{GITHUB}{repo}/blob/{revision}"


def without_secrets(text: str) -> str:
    """Text with the user and password of each URL in it left out."""
    return re.sub(r"(?<=://)[^/@\s'\"]*@", "", text)
