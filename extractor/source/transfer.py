"""Owns a fetch while it lasts: what git says of its progress becomes a bar, in objects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from extractor.source.base import Progress
from extractor.source.command import Git, Result

CHUNK = 4096
KEPT = 1 << 20  # bytes of what git says, the last ones

# Receiving objects:  45% (1234/2742), 3.10 MiB | 2.00 MiB/s
_COUNT = re.compile(rb"(?:Receiving|Unpacking) objects:\s+\d+% \((?P<done>\d+)/(?P<total>\d+)\)")


def fetch(git: Git, progress: Progress, what: str, *arguments: str) -> Result:
    """Runs `git fetch` to its end."""
    progress.start(what, None)
    try:
        with git.process("fetch", "--progress", *arguments) as process:
            error = _follow(process.stderr, progress, what)
            return Result(process.proc.wait(), b"", error)
    finally:
        progress.done()


def _follow(stream: Any, progress: Progress, what: str) -> bytes:
    said, known, done = b"", False, 0
    for line in _lines(stream):
        match = _COUNT.search(line)
        if match is None:
            said = (said + line + b"\n")[-KEPT:]
            continue
        if not known:
            progress.start(what, int(match["total"]))
            known = True
        progress.advance(int(match["done"]) - done)
        done = int(match["done"])
    return said


def _lines(stream: Any) -> Iterator[bytes]:
    """Lines as they arrive; git ends those of its progress with a carriage return."""
    rest = b""
    while chunk := stream.read1(CHUNK):
        *lines, rest = re.split(rb"[\r\n]", rest + chunk)
        yield from lines
    yield rest
