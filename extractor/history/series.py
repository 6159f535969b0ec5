"""Owns the figures of a chart: how many errors each release has, and how many came and went, by group."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from extractor.history.record import History, Line, State, stretches

PACKAGE, EXCEPTION = "package", "exception"
GROUPS = 8  # told apart; all smaller ones are OTHER
OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Numbers for each release, oldest first. `alive` is by group, the largest of the last release first."""

    releases: tuple[str, ...]
    dates: tuple[str | None, ...]
    alive: dict[str, tuple[int, ...]]
    added: tuple[int, ...]
    removed: tuple[int, ...]


def series(history: History, by: str) -> Series:
    """The figures of all releases, by PACKAGE or EXCEPTION."""
    order = {release.name: n for n, release in enumerate(history.header.releases)}
    alive: dict[str, Counter[int]] = defaultdict(Counter)
    added: Counter[int] = Counter()
    removed: Counter[int] = Counter()
    for line in history.lines:
        if line.tool is not None:
            continue
        for first, last in stretches(line):
            added[order[first]] += 1
            if last is not None:
                removed[order[last] + 1] += 1
        for number, state in _lived(line, order):
            alive[_group(state, by)][number] += 1
    count = len(order)
    newest = sorted(alive, key=lambda group: (-alive[group][count - 1], -alive[group].total(), group))
    shown = newest[:GROUPS] if len(newest) > GROUPS + 1 else newest
    rows = {group: tuple(alive[group][n] for n in range(count)) for group in shown}
    rest = [group for group in newest if group not in rows]
    if rest:
        rows[OTHER] = tuple(sum(alive[group][n] for group in rest) for n in range(count))
    return Series(
        releases=tuple(order),
        dates=tuple(release.date for release in history.header.releases),
        alive=rows,
        added=tuple(added[n] for n in range(count)),
        removed=tuple(removed[n] for n in range(count)),
    )


def _lived(line: Line, order: dict[str, int]) -> list[tuple[int, State]]:
    """The releases that had the error, by number, each with its state then."""
    return [
        (number, next(state for state in reversed(line.states) if order[state.release] <= number))
        for first, last in stretches(line)
        for number in range(order[first], len(order) if last is None else order[last] + 1)
    ]


def _group(state: State, by: str) -> str:
    """The exception's own name; or the package of the file, one folder below `vllm`."""
    if by == EXCEPTION:
        return state.exception.rpartition(".")[2]
    folders = state.path.split("/")[:-1]
    if not folders:
        return "top level"
    return ".".join(folders[:2] if folders[0] == "vllm" else folders[:1])
