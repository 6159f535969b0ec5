"""Owns the wordings that errors once had: as what a log can be searched for, and what became of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from extractor.history.record import Header, History, Line, State, stretches
from extractor.history.sentence import best, gone_in
from extractor.identity import title
from extractor.model import Context, Error, Part, Site, Variant

SHOWN = 300  # characters of another wording
NOTHING = Context(start=0, lines=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A message while it was in use. `now` is the last state of its error, None when that is this one."""

    state: State
    spans: tuple[tuple[str, str], ...]  # first and last release
    alive: bool
    now: State | None
    said: str


def errors(history: History) -> Iterator[Error]:
    """Every wording of every error once, in the file where it stood last."""
    for line in history.lines:
        last = {(state.message, state.texts): state for state in line.states}
        for state in {state.id: state for state in last.values()}.values():
            yield _error(state, history.header.repo)


def became(lines: list[Line], header: Header, error_id: str) -> Wording | None:
    """When an id was in use and what its error is now, in words; None when no line has the id."""
    line = best(lines, error_id)
    if line is None:
        return None
    order = {release.name: n for n, release in enumerate(header.releases)}
    at = max(n for n, state in enumerate(line.states) if state.id == error_id)
    state = line.states[at]
    begin = at
    while begin and line.states[begin - 1].message == state.message:
        begin -= 1
    names = [release.name for release in header.releases]
    end = order[line.states[at + 1].release] - 1 if at + 1 < len(line.states) else len(names) - 1
    spans = _spans(line, names, order[line.states[begin].release], end)
    now = line.states[-1] if line.states[-1] is not state else None
    said = "in " + " and ".join(first if first == last else f"{first} to {last}" for first, last in spans)
    if now is not None and now.message != state.message:
        shown = " ".join(now.message.split())
        said += f"; {'now' if line.until is None else 'then'} reworded as: {shown[:SHOWN]}{'…' * (len(shown) > SHOWN)}"
    elif now is not None and now.path != state.path:
        said += f"; {'now' if line.until is None else 'then'} in {now.path}"
    gone = gone_in(line, header)
    if gone is not None:
        said += f"; gone since {gone}"
    elif line.until is None and now is None:
        said += ", the newest in the history"
    return Wording(state=state, spans=spans, alive=line.until is None, now=now, said=said)


def _spans(line: Line, names: list[str], begin: int, end: int) -> tuple[tuple[str, str], ...]:
    """The stretches of a line's life between two releases, by their numbers."""
    order = {name: n for n, name in enumerate(names)}
    lives = ((order[first], order[last] if last is not None else end) for first, last in stretches(line))
    cut = ((max(first, begin), min(last, end)) for first, last in lives)
    return tuple((names[first], names[last]) for first, last in cut if first <= last)


def _error(state: State, repo: str) -> Error:
    return Error(
        id=state.id,
        repo=repo,
        kind="raise",
        language="python",
        exception=state.exception,
        qualified_exception=None,
        bases=(),
        title=title(state.message or state.exception),
        message=state.message,
        http_status=state.http_status,
        variants=tuple(
            Variant(
                message="",
                parts=tuple(Part(text=p) if isinstance(p, str) else Part(expr=p[0]) for p in text),
            )
            for text in state.texts
        ),
        pattern=None,
        constants={},
        hints=(),
        related=(),
        sites=tuple(
            Site(
                path=state.path,
                line=site.line,
                end_line=site.line,
                column=0,
                symbol=site.symbol,
                permalink=None,
                kind="raise",
                exception=site.exception,
                qualified_exception=None,
                bases=(),
                http_status=state.http_status,
                cause=None,
                context=NOTHING,
                doc=None,
                exception_doc=None,
            )
            for site in state.sites
        ),
    )
