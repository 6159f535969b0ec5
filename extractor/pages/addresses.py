"""Owns the addresses of a site: made of ids, and of names only where they are plain, so that no text steers one.

All are relative to the site's root and end in a file's name, for that works below any path, and from a disk.
"""

from __future__ import annotations

import hashlib
import re

INDEX = "index.html"
HOME, ABOUT, PROGRAMS, MISSING = INDEX, f"about/{INDEX}", f"programs/{INDEX}", "404.html"
EXCEPTIONS, FILES, RELEASES = "exceptions", "files", "releases"
OURS = frozenset({"about", "api", "assets", "data", "diffs", "errors", "programs", EXCEPTIONS, FILES, RELEASES})

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}", re.ASCII)
_RESERVED = frozenset({"index.html", "con", "prn", "aux", "nul"})


def slug(name: str) -> str:
    """A name as a part of an address: itself where it is plain, else what stands for it."""
    if _PLAIN.fullmatch(name) and not name.endswith(".") and name.lower() not in _RESERVED:
        return name
    return f"x-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def slugs(names: list[str]) -> dict[str, str]:
    """A part of an address for each name, no two alike even where upper and lower case are one."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names):
        made = slug(name.replace("/", "."))
        if made.lower() in taken:
            made = f"{made[:60]}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
        taken.add(made.lower())
        found[name] = made
    return found


def error(error_id: str, edition: str | None = None) -> str:
    """The page of an error: in the newest edition that has it, or in an older one."""
    return f"errors/{error_id}/{edition}/{INDEX}" if edition else f"errors/{error_id}/{INDEX}"


def record(error_id: str) -> str:
    """The JSON of an error."""
    return f"api/errors/{error_id}.json"


def section(*parts: str) -> str:
    """The page of a list."""
    return "/".join((*parts, INDEX))


def root(page: str) -> str:
    """The way from a page to the site's root."""
    return "../" * page.count("/") or "./"


def repository(repo: str) -> str:
    """`owner/name` as two parts of an address."""
    return "/".join(map(slug, repo.split("/")))


def cited(repo: str, name: str) -> str | None:
    """The address that ErrLookup's clients cite for an error; None where a folder of ours has that name."""
    where = repository(repo)
    return None if where.partition("/")[0] in OURS else f"{where}/{name}/{INDEX}"
