"""Owns what a card says of an error's history, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from extractor.history.record import COMMITS, RETURNED, Header, History, Line

MOST = 3  # releases named for one kind of change
PHRASES = {
    "reworded": "reworded in",
    "retyped": "another exception since",
    "reguarded": "condition changed in",
    "relocated": "moved in",
    RETURNED: "back in",
}


def sentence(line: Line, header: Header) -> str:
    """`In vLLM since 0.19.0; reworded in 0.24.0; until: still there`."""
    said = [f"In vLLM since {_named(line.since, header)}"]
    for kind, phrase in PHRASES.items():
        releases = [state.release for state in line.states if kind in state.kinds]
        if releases:
            said.append(f"{phrase} {listed(releases)}")
    said.append(f"until: {line.until or 'still there'}")
    if line.tool is not None:
        said.append(f"seen by {line.tool} alone, which read the source otherwise")
    return "; ".join(said)


def sentences(history: History) -> dict[str, str]:
    """The sentence of each id that there ever was; of several errors with one id, of the one that had it last."""
    found: dict[str, tuple[tuple[bool, int], Line]] = {}
    order = {release.name: n for n, release in enumerate(history.header.releases)}
    for line in history.lines:
        for state in line.states:
            rank = (state.id == line.id and line.until is None, order.get(state.release, 0))
            if state.id not in found or rank > found[state.id][0]:
                found[state.id] = rank, line
    return {error_id: sentence(line, history.header) for error_id, (_, line) in found.items()}


def best(lines: Sequence[Line], error_id: str) -> Line | None:
    """Of the errors that had an id, the one that has it still, or had it last."""
    having = [line for line in lines if error_id in line.ids]
    return max(having, key=lambda line: (line.id == error_id, line.until is None), default=None)


def gone_in(line: Line, header: Header) -> str | None:
    """The first release that no longer has it; None: it is still there, or nothing came after."""
    names = [release.name for release in header.releases]
    if line.until is None or line.until not in names:
        return None
    after = names.index(line.until) + 1
    return names[after] if after < len(names) else None


def listed(names: Iterable[str]) -> str:
    """The last few of them in words."""
    some = list(names)
    left = len(some) - MOST
    shown = some[-MOST:]
    words = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"{words}, and {left} times before" if left > 0 else words


def _named(release: str, header: Header) -> str:
    return f"commit {release}" if header.of == COMMITS else release
