"""Histories of small trees, without an index or a clone in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from extractor.history.build import header_for
from extractor.history.fold import Fold
from extractor.history.pairs import pairing
from extractor.history.record import RELEASES, History, Line, Release
from extractor.model import Error
from tests.trees import errors_in

Files = Mapping[str, str | bytes]


def release(name: str, errors: int = 0, whole: bool = True) -> Release:
    return Release(name=name, date=f"2026-01-{int(name):02}T00:00:00Z", inputs=f"in {name}", errors=errors, whole=whole)


def raised(files: Files) -> list[Error]:
    return [error for error in errors_in(files) if error.kind == "raise"]


def folded(trees: Sequence[Files]) -> Fold:
    """Releases `1`, `2`, … with these trees."""
    fold = Fold()
    known: list[Error] = []
    for number, files in enumerate(trees, 1):
        errors = raised(files)
        fold.step(release(str(number), len(errors)), pairing(known, errors))
        known = errors
    return fold


def history_of(trees: Sequence[Files]) -> History:
    fold = folded(trees)
    lines = tuple(fold.lines())
    empty = header_for(RELEASES, "vllm-project/vllm", b"tool")
    from dataclasses import replace

    return History(header=replace(empty, releases=tuple(fold.releases), lines=len(lines)), lines=lines)


def one(*texts: str) -> list[Files]:
    """Trees of one file."""
    return [{"vllm/a.py": text} for text in texts]


def ids(lines: Sequence[Line]) -> set[str]:
    return {i for line in lines for i in line.ids}
