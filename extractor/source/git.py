"""Owns `--commit`: where the commit is looked for, and the tree that it becomes."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from extractor.errors import ToolError
from extractor.model import DEFAULT_REPO, Provenance
from extractor.source import local, names
from extractor.source.base import Progress, SourceOptions
from extractor.source.command import Git
from extractor.source.objects import CommitTree, commit_date
from extractor.source.remote import Remote

LABEL_DIGITS = 10

_OWNER_NAME = re.compile(r"[A-Za-z0-9][\w-]*/[\w.-]+")
_URL = re.compile(r"(?:https?|ssh|git|file)://.+|(?:[\w.-]+@)?[\w.-]+:(?!//)[^\s]+")
_NO_REVISION = re.compile(r"[\s\x00-\x1f\x7f*?\[\\]|\.\.|^-|^$")
_NO_NAME = re.compile(r"[~^:]|@\{")


def open_commit(options: SourceOptions, progress: Progress) -> CommitTree:
    """The tree of `options.commit` in `options.repo`. Raises `ToolError`."""
    revision = options.commit or ""
    if _NO_REVISION.search(revision):
        raise ToolError(f"{revision!r} is not a commit, tag or branch: give --commit one, as v0.28.0")
    where = DEFAULT_REPO if options.repo is None else options.repo
    clone = _local(where)
    if clone is not None:
        git = local.open_clone(clone)
        commit = local.find(git, revision)
        repo, link = _of_clone(git, commit)
    else:
        url = _url(where)
        if _NO_NAME.search(revision):
            raise ToolError(f"{revision!r} can only be asked of a local clone: give --repo its folder")
        git, commit = Remote(url, options.cache, progress).find(revision)
        repo, link = _of_url(url, commit)
    provenance = Provenance(
        repo=repo,
        label=options.label or commit[:LABEL_DIGITS],
        commit=commit,
        date=commit_date(git, commit),
        permalink=link,
    )
    return CommitTree(git, provenance)


def _local(where: str) -> Path | None:
    """The folder that is meant; None: something else is."""
    try:
        path = Path(where).expanduser()
        if path.is_dir():
            return path
        if path.exists():
            raise ToolError(f"{names.one_line(where)} is a file: give --repo a URL, OWNER/NAME or a clone's folder")
    except (OSError, RuntimeError, ValueError):
        return None
    return None


def _url(where: str) -> str:
    if _OWNER_NAME.fullmatch(where):
        return names.GITHUB + where
    if _URL.fullmatch(where) and where.isprintable():
        return where
    shown = names.one_line(names.without_secrets(where))
    raise ToolError(f"there is no folder {shown}, and it is no URL: give --repo a URL, OWNER/NAME or a clone's folder")


def _of_clone(git: Git, commit: str) -> tuple[str, str | None]:
    repo = local.origin_repo(git)
    return repo, names.permalink(repo, commit)


def _of_url(url: str, commit: str) -> tuple[str, str | None]:
    """`owner/name`, and where the commit's files are shown: on the remote's own host."""
    parts = urlsplit(url)
    if parts.scheme == "file":  # a mirror on this disk: of what, it does not say
        return DEFAULT_REPO, names.permalink(DEFAULT_REPO, commit)
    repo = names.repo_of(url)
    if names.github_repo(url):
        return repo, names.permalink(repo, commit)
    host = parts.hostname if parts.scheme else url.split(":", 1)[0].rsplit("@", 1)[-1]
    return repo, f"https://{host}/{repo}/blob/{commit}" if host else None
