"""Owns ids and titles: the rule of the seeds, which nothing but the repository, message and path enter."""

import hashlib

TITLE = 60  # characters


def error_id(repo: str, message: str, path: str) -> str:
    """The first 16 hex digits; `message` is the exception's name where there is no message."""
    return hashlib.sha256(f"{repo}\x01{message}\x01{path}".encode()).hexdigest()[:16]


def title(message: str) -> str:
    """The first 60 characters, trimmed."""
    return message[:TITLE].strip()
