"""Owns a download that goes on where it was cut off, in this run or the next, as far as the server allows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from extractor.source.base import Progress

if TYPE_CHECKING:
    from requests import Session

ATTEMPTS = 4  # of which each but the first goes on after a cut
CHUNK = 1 << 16
PLAIN = {"Accept-Encoding": "identity"}  # as it is in the archive: a part of it can be asked for


def download(
    session: Session, url: str, partial: Path, size: int | None, progress: Progress, timeout: tuple[float, float]
) -> None:
    """Appends to `partial` until all of it is there. Raises what `requests` does, when going on does not help."""
    from requests import exceptions

    for left in reversed(range(ATTEMPTS)):
        before = _size(partial)
        try:
            _attempt(session, url, partial, size, progress, timeout)
            return
        except (exceptions.ChunkedEncodingError, exceptions.ConnectionError):
            if not left or _size(partial) <= before:  # nothing came: asking again is for another time
                raise


def _attempt(
    session: Session, url: str, partial: Path, size: int | None, progress: Progress, timeout: tuple[float, float]
) -> None:
    start = _size(partial)
    if start and start == size:
        return
    if size is not None and start > size:
        partial.unlink()
        start = 0
    headers = PLAIN | ({"Range": f"bytes={start}-"} if start else {})
    with session.get(url, stream=True, timeout=timeout, headers=headers) as answer:
        answer.raise_for_status()
        goes_on = answer.status_code == 206 and _begins(answer) == start
        with partial.open("ab" if goes_on else "wb") as file:
            progress.advance(start if goes_on else 0)
            for chunk in answer.iter_content(CHUNK):
                file.write(chunk)
                progress.advance(len(chunk))


def _begins(answer: Any) -> int | None:
    """Where the part that was sent begins: `bytes 100-199/200`."""
    first = answer.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(first) if first.isdigit() else None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
