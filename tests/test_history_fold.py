"""Lines of descent: what continues, what is another error, and that nothing that was there is ever lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractor.history.fold import Fold
from extractor.history.pairs import pairing
from extractor.history.record import Line
from extractor.history.sentence import sentence, sentences
from extractor.model import Error
from tests.histories import Files, folded, history_of, ids, one, raised, release

FULL = "def f(rank):\n    if rank > 16:\n        raise ValueError('the rank is larger than what this engine takes')\n"
REWORDED = FULL.replace("is larger than what this engine takes", "is larger than this engine takes")
GUARDED = FULL.replace("rank > 16:", "rank > 16 and rank < 99:")
RETYPED = FULL.replace("ValueError", "TypeError")
LOWER = "\n\n\n" + FULL
OTHER = "def g(port):\n    raise OSError('no port is free on the host')\n"
NONE = "x = 1\n"

States = list[tuple[str, tuple[str, ...]]]

# rows: sources of the releases 1, 2, …; of each line (since, until, gaps, [(release, kinds)])
CASES: list[Any] = [
    pytest.param(one(FULL, FULL), [("1", None, [], [("1", ("added",))])], id="nothing changed"),
    pytest.param(one(FULL, LOWER), [("1", None, [], [("1", ("added",))])], id="only lines"),
    pytest.param(
        one(FULL, OTHER),
        [("1", "1", [], [("1", ("added",))]), ("2", None, [], [("2", ("added",))])],
        id="gone, and another that came is not it",
    ),
    pytest.param(
        one(FULL, REWORDED, REWORDED), [("1", None, [], [("1", ("added",)), ("2", ("reworded",))])], id="reworded"
    ),
    pytest.param(one(FULL, GUARDED), [("1", None, [], [("1", ("added",)), ("2", ("reguarded",))])], id="reguarded"),
    pytest.param(one(FULL, RETYPED), [("1", None, [], [("1", ("added",)), ("2", ("retyped",))])], id="retyped"),
    pytest.param(
        [{"vllm/a.py": FULL}, {"vllm/b.py": FULL}],
        [("1", None, [], [("1", ("added",)), ("2", ("relocated",))])],
        id="relocated",
    ),
    pytest.param(
        one(FULL, NONE, NONE, FULL),
        [("1", None, [("1", "4")], [("1", ("added",)), ("4", ("returned",))])],
        id="gone and there again is one line",
    ),
    pytest.param(
        one(FULL, NONE, FULL, NONE, FULL),
        [("1", None, [("1", "3"), ("3", "5")], [("1", ("added",)), ("3", ("returned",)), ("5", ("returned",))])],
        id="twice",
    ),
    pytest.param(
        one(FULL, REWORDED, NONE, FULL),
        [("1", None, [("2", "4")], [("1", ("added",)), ("2", ("reworded",)), ("4", ("returned",))])],
        id="there again in the words that it had before",
    ),
    pytest.param(one(NONE, FULL, NONE), [("2", "2", [], [("2", ("added",))])], id="lived for one release"),
    pytest.param(one(NONE, NONE), [], id="no errors"),
    pytest.param(one("try:\n    f()\nexcept KeyError:\n    raise\n"), [], id="what is raised again is left out"),
]


def told(line: Line) -> tuple[str, str | None, list[tuple[str, str]], States]:
    return (
        line.since,
        line.until,
        [(gap.last, gap.back) for gap in line.gaps],
        [(state.release, state.kinds) for state in line.states],
    )


@pytest.mark.parametrize(("trees", "expected"), CASES)
def test_lines(trees: list[Files], expected: list[Any]) -> None:
    assert [told(line) for line in folded(trees).lines()] == expected


def test_what_a_state_holds() -> None:
    (line,) = folded(one(FULL, GUARDED)).lines()
    first, second = line.states
    assert first.id == second.id == line.id and line.ids == (line.id,)
    assert (first.exception, first.path) == ("ValueError", "vllm/a.py")
    assert first.texts == (("the rank is larger than what this engine takes",),)
    assert [(s.symbol, s.line, [g.text for g in s.guards]) for s in first.sites] == [("f", 3, ["rank > 16"])]
    assert [g.text for g in second.sites[0].guards] == ["rank > 16", "rank < 99"] and second.strictness == "stricter"


CASES_SENTENCE = [
    pytest.param(one(FULL, FULL), "In vLLM since 1; until: still there", id="as it was"),
    pytest.param(one(FULL, REWORDED), "In vLLM since 1; reworded in 2; until: still there", id="reworded"),
    pytest.param(one(FULL, NONE), "In vLLM since 1; until: 1", id="gone"),
    pytest.param(one(FULL, NONE, FULL), "In vLLM since 1; back in 3; until: still there", id="back"),
    pytest.param(
        one(*[FULL, GUARDED] * 3),
        "In vLLM since 1; condition changed in 4, 5 and 6, and 2 times before; until: still there",
        id="often",
    ),
]


@pytest.mark.parametrize(("trees", "expected"), CASES_SENTENCE)
def test_sentences(trees: list[Files], expected: str) -> None:
    history = history_of(trees)
    assert sentence(history.lines[0], history.header) == expected
    assert set(sentences(history)) == ids(history.lines)


# --- laws ------------------------------------------------------------------------------------------------

SOURCES = st.lists(st.sets(st.sampled_from([FULL, REWORDED, GUARDED, LOWER, OTHER])), min_size=1, max_size=6)
KNOWN: dict[tuple[str, ...], list[Error]] = {}


def release_of(parts: set[str]) -> list[Error]:
    key = tuple(sorted(parts))
    if key not in KNOWN:
        KNOWN[key] = raised({f"vllm/{n}.py": part for n, part in enumerate(key)})
    return KNOWN[key]


@settings(max_examples=60, deadline=None)
@given(SOURCES, st.integers(0, 6))
def test_laws(trees: list[set[str]], stop: int) -> None:
    fold, again = Fold(), Fold()
    known: list[Error] = []
    seen: set[str] = set()
    for number, parts in enumerate(trees, 1):
        errors = release_of(parts)
        for one_fold in (fold, again):
            one_fold.step(release(str(number), len(errors)), pairing(known, errors))
        known = errors
        seen |= {e.id for e in errors}
        if number == stop:  # read back from what was written
            again = Fold(again.releases, again.lines())
        lines = fold.lines()
        assert ids(lines) == seen  # an id that was there once never disappears
        assert sorted(line.id for line in lines if line.until is None) == sorted(e.id for e in errors)
        assert again.lines() == lines
