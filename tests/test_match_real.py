"""`match` on the real 0.28.0: every message rendered, pastes of every kind by program, other libraries' logs."""

from __future__ import annotations

import io
import random

import pytest

from extractor.match import engine
from extractor.match.lexicon import Lexicon, dumps, loads
from tests import foreign, pastes
from tests.releases import released

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Lexicon:
    return loads(dumps(*released("0.28.0", tmp_path_factory)))


def messages(lexicon: Lexicon, least: int) -> list[tuple[int, int]]:
    """Errors and their variants with so many characters of text."""
    return [
        (number, variant)
        for number in range(len(lexicon))
        for variant, parts in enumerate(lexicon.entry(number).variants)
        if sum(len(text) for text, _ in parts if text is not None) >= least
    ]


@pytest.mark.parametrize("form", [pastes.line, lambda said: said.text], ids=["named", "bare"])
def test_every_error_with_twelve_characters_of_text_is_first(real: Lexicon, form: object) -> None:
    assert callable(form)
    chance = random.Random(28)
    wanted = messages(real, 12)
    good = 0
    for number, variant in wanted:
        entry = real.entry(number)
        good += pastes.outcome(form(pastes.rendered(entry, variant, chance)), entry, real).first
    assert len(wanted) > 4000 and good / len(wanted) >= 0.99


def test_pastes_of_every_kind_by_program(real: Lexicon) -> None:
    chance = random.Random(49)
    wanted = messages(real, 25)
    results = {
        kind: [
            pastes.outcome(make(pastes.rendered(entry, variant, chance), chance), entry, real).first
            for number, variant in chance.sample(wanted, 12)
            for entry in (real.entry(number),)
        ]
        for kind, make in pastes.KINDS.items()
    }
    assert {kind: sum(good) for kind, good in results.items() if sum(good) < 9} == {}
    assert sum(sum(good) for good in results.values()) / (12 * len(results)) >= 0.97


def test_nothing_fires_on_ten_megabytes_of_other_libraries(real: Lexicon) -> None:
    """As many forms of the same messages as make ten megabytes."""
    found = list(foreign.messages())
    size, fired = 0, []
    for form in (foreign.traceback, foreign.logged, foreign.bare):
        for again in range(3):
            text = "".join(form(message) for message in found[again:]).encode("utf-8", "replace")
            size += len(text)
            fired += [one.match.matched for one in engine.answer(io.BytesIO(text), real).ranked]
    assert size > 10_000_000 and fired == []
