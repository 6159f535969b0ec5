"""Owns ids and titles: the rule of the seeds, which nothing but the repository, message and path enter."""

import difflib
import hashlib
from collections.abc import Iterable, Sequence

from extractor.errors import NothingFound

TITLE = 60  # characters
SHORTEST = 3  # digits of an id that say which is meant


def error_id(repo: str, message: str, path: str) -> str:
    """The first 16 hex digits; `message` is the exception's name where there is no message."""
    return hashlib.sha256(f"{repo}\x01{message}\x01{path}".encode()).hexdigest()[:16]


def title(message: str) -> str:
    """The first 60 characters, trimmed."""
    return message[:TITLE].strip()


def not_one(given: str, found: Sequence[str], known: Iterable[str], nowhere: str) -> NothingFound:
    """Why the beginning of an id tells no error: several begin so, or else none, and these are the nearest."""
    if found:
        more = " …" * (len(found) > 5)
        return NothingFound(f"{len(found)} ids begin with {given}: {', '.join(found[:5])}{more}")
    near = difflib.get_close_matches(given.lower(), sorted(known), 3, 0.3)
    return NothingFound(f"{nowhere} {given!r}; the nearest: {', '.join(near) or 'none'}")
