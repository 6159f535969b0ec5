"""The diff of real releases: nothing that is removed has a twin among what is added, and either side sees the same."""

from __future__ import annotations

import difflib
from collections import defaultdict

import pytest

from extractor.diff import compare, pairs
from extractor.model import Error
from tests.releases import released

pytestmark = pytest.mark.real

TEXT = 20  # characters; a removed message with more of them should not have a twin
ALIKE = 0.93
MOST = 0.05  # of the removed ones


@pytest.fixture(scope="module", params=[("0.27.1", "0.28.0")], ids=" to ".join)
def sides(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Error], list[Error]]:
    old, new = (released(release, tmp_path_factory)[1] for release in request.param)
    return old, new


def has_twin(error: Error, others: list[Error]) -> bool:
    matcher = difflib.SequenceMatcher(b=error.message)
    for other in others:
        matcher.set_seq1(other.message)
        if all(ratio() > ALIKE for ratio in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)):
            return True
    return False


def test_hardly_any_removed_error_has_a_twin_among_the_added(sides: tuple[list[Error], list[Error]]) -> None:
    found = compare(*sides)
    added: dict[str, list[Error]] = defaultdict(list)
    for change in found:
        if change.kinds == ("added",):
            added[change.error.exception].append(change.error)
    removed = [c.error for c in found if c.kinds == ("removed",) and len(c.error.message) > TEXT]
    twins = [error for error in removed if has_twin(error, added[error.exception])]
    assert len(twins) <= MOST * len(removed), [f"{e.sites[0].path}: {e.message}" for e in twins]


def test_each_error_once_and_the_same_from_either_side(sides: tuple[list[Error], list[Error]]) -> None:
    old, new = sides
    there = {(a.id if a else None, b.id if b else None) for a, b in pairs(old, new)}
    assert sorted(a for a, _ in there if a) == sorted(e.id for e in old if e.kind == "raise")
    assert sorted(b for _, b in there if b) == sorted(e.id for e in new if e.kind == "raise")
    assert {(a.id if a else None, b.id if b else None) for b, a in pairs(new, old)} == there
