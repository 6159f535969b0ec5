"""Owns what became of an error from one edition to the next: which it was before, which replaced it, since, until."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from extractor.model import Error
from extractor.pages.editions import Edition

if TYPE_CHECKING:
    from extractor.diff import Change


@dataclass(frozen=True, slots=True)
class Step:
    """From one edition to the next newer one."""

    old: Edition
    new: Edition
    changes: tuple[Change[Error], ...]  # the unchanged ones too

    @property
    def added(self) -> list[Error]:
        """Those that are only in the newer."""
        return [c.new for c in self.changes if c.new is not None and c.old is None]

    @property
    def removed(self) -> list[Error]:
        """Those that are only in the older."""
        return [c.old for c in self.changes if c.old is not None and c.new is None]


def steps(editions: Sequence[Edition]) -> tuple[Step, ...]:
    """Each edition against the next older one, the newest first."""
    if len(editions) < 2:
        return ()
    from extractor.diff import compare  # which imports more than all of the site takes to build for one edition

    return tuple(
        Step(old, new, tuple(compare(list(old.errors.values()), list(new.errors.values()))))
        for new, old in pairwise(editions)
    )


class Lines:
    """The lines of descent through the editions (the newest first): for each error what it is in every other one."""

    def __init__(self, editions: Sequence[Edition], taken: Sequence[Step]) -> None:
        self._editions = editions
        self._older: list[dict[str, str]] = []  # by edition: id there -> id in the next older one
        self._newer: list[dict[str, str]] = [{}]
        for step in taken:
            pairs = {c.new.id: c.old.id for c in step.changes if c.new is not None and c.old is not None}
            pairs |= {same: same for same in step.new.errors.keys() & step.old.errors.keys()}
            self._older.append(pairs)
            self._newer.append({old: new for new, old in pairs.items()})
        self._older.append({})

    def through(self, at: int, error_id: str) -> tuple[str | None, ...]:
        """The error's id in each edition, starting from edition `at`; None where it is not."""
        found: list[str | None] = [error_id if error_id in e.errors else None for e in self._editions]
        for step, ways in ((1, self._older), (-1, self._newer)):
            current: str | None = error_id
            here = at
            while current is not None and 0 <= here + step < len(self._editions):
                current = ways[here].get(current)
                here += step
                if current is not None and found[here] is None:
                    found[here] = current
        return tuple(found)
