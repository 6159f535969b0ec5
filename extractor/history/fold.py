"""Owns the fold: lines of descent grow by what changed from one release to the next.

An error that vanishes and comes back with an id that it had goes on with its line, and the time between is a gap.
Nothing that was there once is ever taken out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from extractor.history.record import ADDED, RETURNED, Gap, Line, Release, State, state
from extractor.model import Error

MOVED = "moved"  # by lines alone, which is no change here


class Pair(NamedTuple):
    """An error before and after, and in which kinds it changed; None on the side that does not have it.

    `strictness` is of the new condition, as a state has it.
    """

    kinds: tuple[str, ...]
    old: Error | None
    new: Error | None
    strictness: str | None = None


class _Growing:
    """A line that may still change."""

    __slots__ = ("gaps", "states", "tool", "until")

    def __init__(self, states: Iterable[State], until: str | None, gaps: Iterable[Gap], tool: str | None) -> None:
        self.states = list(states)
        self.until = until
        self.gaps = list(gaps)
        self.tool = tool

    def line(self) -> Line:
        return Line(
            id=self.states[-1].id,
            ids=tuple(dict.fromkeys(s.id for s in self.states)),
            since=self.states[0].release,
            until=self.until,
            gaps=tuple(self.gaps),
            states=tuple(self.states),
            tool=self.tool,
        )


class Fold:
    """Lines of descent over releases that come one after the other."""

    def __init__(self, releases: Sequence[Release] = (), lines: Iterable[Line] = ()) -> None:
        """Goes on from what was folded before."""
        self.releases = list(releases)
        self._lines: list[_Growing] = []
        self._alive: dict[str, _Growing] = {}
        self._gone: dict[str, _Growing] = {}  # by every id that the line had; the one that went last
        order = {release.name: n for n, release in enumerate(self.releases)}
        self._lines += (_Growing(line.states, line.until, line.gaps, line.tool) for line in lines)
        for line in self._lines:
            if line.until is None:
                self._alive[line.states[-1].id] = line
        for line in sorted((g for g in self._lines if g.until is not None), key=lambda g: order[str(g.until)]):
            self._bury(line)

    def step(self, release: Release, pairs: Iterable[Pair]) -> None:
        """Takes what changed since the release before; errors that no pair names are as they were."""
        before = self.releases[-1].name if self.releases else ""
        born: list[Error] = []
        living: dict[str, _Growing] = {}
        for kinds, old, new, strictness in pairs:
            line = self._alive.pop(old.id) if old is not None else None
            if line is None:
                assert new is not None
                born.append(new)
            elif new is None:
                line.until = before
                self._bury(line)
            else:
                living[new.id] = line
                changed = tuple(kind for kind in kinds if kind != MOVED)
                if changed:
                    line.states.append(state(new, release.name, changed, strictness))
        self._alive |= living
        for error in sorted(born, key=lambda e: e.id):
            self._alive[error.id] = self._begin(error, release.name, before)
        self.releases.append(release)

    def _bury(self, line: _Growing) -> None:
        for known in line.states:
            self._gone[known.id] = line

    def _begin(self, error: Error, release: str, before: str) -> _Growing:
        """A new line, or one that goes on. What went just now is another error: it was not paired with this one."""
        line = self._gone.get(error.id)
        if line is None or line.until is None or line.until == before:
            line = _Growing([state(error, release, (ADDED,))], None, (), None)
            self._lines.append(line)
            return line
        line.gaps.append(Gap(last=line.until, back=release))
        line.until = line.tool = None
        line.states.append(state(error, release, (RETURNED,)))
        return line

    def keep(self, lines: Iterable[Line], tool: str, last: str) -> None:
        """Takes in those lines of an earlier history, made by `tool` up to `last`, that have an id which is in none."""
        known = {s.id for line in self._lines for s in line.states}
        for line in lines:
            if not known.issuperset(line.ids):
                lost = _Growing(line.states, line.until or last, line.gaps, line.tool or tool)
                self._lines.append(lost)
                self._bury(lost)

    def names(self) -> set[str]:
        """The releases that are folded."""
        return {release.name for release in self.releases}

    def lines(self) -> list[Line]:
        """All lines, in the order in which they began, then by their first id."""
        order = {release.name: n for n, release in enumerate(self.releases)}
        made = [growing.line() for growing in self._lines]
        return sorted(made, key=lambda line: (order[line.since], line.ids[0]))
