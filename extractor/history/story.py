"""Owns the story of one error for a person: what became of it, release after release, with the words that changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from extractor.history.record import ADDED, LOOSER, RETURNED, STRICTER, Header, Line, Place, State
from extractor.history.sentence import gone_in, sentence
from extractor.marks import GONE, NEW, SAME, Piece, marked
from extractor.printable import visible

COLOURED = {SAME: "{}", GONE: "\x1b[31;9m{}\x1b[0m", NEW: "\x1b[32m{}\x1b[0m"}  # red and struck out, green
MARKED = {SAME: "{}", GONE: "[-{}-]", NEW: "{{+{}+}}"}
INDENT = " " * 25
MESSAGE = 1_000  # characters
GUARDS = 8  # conditions that are listed of a beginning


@dataclass(frozen=True, slots=True)
class Event:
    """What happened in a release; `details` are lines below it, with what is gone and what is new marked."""

    release: str
    date: str | None
    what: str
    details: tuple[tuple[Piece, ...], ...] = ()


def events(line: Line, header: Header) -> list[Event]:
    """The story in order."""
    dates = {release.name: (release.date or "")[:10] or None for release in header.releases}
    order = {release.name: n for n, release in enumerate(header.releases)}
    found = [_began(line.states[0], dates)]
    for before, after in zip(line.states, line.states[1:], strict=False):
        found.append(_changed(before, after, dates))
    for gap in line.gaps:
        after_gap = header.releases[order[gap.last] + 1].name
        found.append(Event(after_gap, dates.get(after_gap), "gone"))
    gone = gone_in(line, header)
    if gone is not None:
        found.append(Event(gone, dates.get(gone), "gone"))
    return sorted(found, key=lambda event: order.get(event.release, 0))


def _began(state: State, dates: dict[str, str | None]) -> Event:
    details = [_plain(place_of(state, site)) for site in state.sites]
    guards = [_plain(f"when {text}") for text in _guards(state.sites[0])]
    return Event(state.release, dates.get(state.release), "introduced", (*details[:GUARDS], *guards[:GUARDS]))


def _changed(before: State, after: State, dates: dict[str, str | None]) -> Event:
    words = {ADDED: "introduced", RETURNED: "there again"}
    words |= {"reworded": "reworded", "retyped": "another exception", "reguarded": "condition changed"}
    words |= {"relocated": "moved"}
    details: list[tuple[Piece, ...]] = []
    if before.message != after.message:
        details.append(marked(before.message[:MESSAGE], after.message[:MESSAGE]))
    if before.exception != after.exception:
        details.append(_replaced(before.exception, after.exception))
    details += _conditions(before, after)
    if (before.path, _symbols(before)) != (after.path, _symbols(after)):
        old, new = place_of(before, before.sites[0]), place_of(after, after.sites[0])
        details.append(_replaced(old, new))
    if after.strictness in (STRICTER, LOOSER):
        words["reguarded"] = f"condition {after.strictness}"
    what = ", ".join(words.get(kind, kind) for kind in after.kinds)
    return Event(after.release, dates.get(after.release), what, tuple(details))


def _conditions(before: State, after: State) -> Iterator[tuple[Piece, ...]]:
    """Conditions that only one side has, however many sites have them."""
    old = Counter(text for site in before.sites for text in set(_guards(site)))
    new = Counter(text for site in after.sites for text in set(_guards(site)))
    for kind, texts in ((GONE, old.keys() - new.keys()), (NEW, new.keys() - old.keys())):
        for text in sorted(texts):
            yield Piece(SAME, "when "), Piece(kind, text)


def _guards(site: Place) -> list[str]:
    return [" ".join(guard.text.split()) for guard in site.guards]


def _symbols(state: State) -> list[str]:
    return sorted({site.symbol for site in state.sites})


def place_of(state: State, site: Place) -> str:
    """Where a site stood when the state began."""
    return f"{state.path}:{site.line} in {site.symbol}"


def _plain(text: str) -> tuple[Piece, ...]:
    return (Piece(SAME, text),)


def _replaced(old: str, new: str) -> tuple[Piece, ...]:
    return Piece(GONE, old), Piece(SAME, " "), Piece(NEW, new)


# --- as text ---------------------------------------------------------------------------------------------


def text(line: Line, header: Header, colour: bool) -> Iterator[str]:
    """The lines that a person reads; with `colour` changed words are struck out or green, else in marks."""
    forms = COLOURED if colour else MARKED
    last = line.states[-1]
    yield visible(f"{last.exception}: {last.message[:MESSAGE]}" if last.message else last.exception)
    yield f"{visible(sentence(line, header))}."
    if len(line.ids) > 1:
        yield f"ids, oldest first: {', '.join(line.ids)}"
    yield ""
    for event in events(line, header):
        yield f"{visible(event.release):12} {event.date or '':10}  {event.what}"
        for detail in event.details:
            yield INDENT + "".join(forms[piece.kind].format(visible(piece.text)) for piece in detail)
