"""One set of pastes for both engines, the command line's and the browser's, and how much their answers agree."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from extractor.match import engine, report
from extractor.match.lexicon import Lexicon
from tests import foreign, pastes

Answer = list[dict[str, Any]]


def cases(lexicon: Lexicon, each: int, seed: int) -> list[str]:
    """Messages with at least 12 characters of text in every kind of paste, several in one log, and others' errors."""
    return list(_cases(lexicon, each, random.Random(seed)))


def _cases(lexicon: Lexicon, each: int, chance: random.Random) -> Iterator[str]:
    wanted = [
        (number, variant)
        for number in range(len(lexicon))
        for variant, parts in enumerate(lexicon.entry(number).variants)
        if sum(len(text) for text, _ in parts if text is not None) >= 12
    ]

    def said() -> pastes.Said:
        number, variant = chance.choice(wanted)
        return pastes.rendered(lexicon.entry(number), variant, chance)

    others = list(islice(foreign.messages(), 400))  # the standard library's
    for make in pastes.KINDS.values():
        for _ in range(each):
            yield make(said(), chance)
    chain = "\nThe above exception was the direct cause of the following exception:\n\n"
    for _ in range(4 * each):
        yield pastes.traceback(said()) + chain + pastes.traceback(said())
        yield pastes.each(pastes.ENGINE, pastes.traceback(said())) + pastes.line(said())
        yield pastes.line(said())[chance.randrange(40) :]
        yield foreign.traceback(chance.choice(others)) + pastes.line(said())
    for _, paste in pastes.SILENT:
        yield paste
    for form in (foreign.traceback, foreign.logged, foreign.bare):
        yield from map(form, chance.sample(others, 8 * each))
        yield "".join(map(form, chance.sample(others, 300)))


def told(paste: str, lexicon: Lexicon) -> Answer:
    """What `match --json` prints."""
    found = engine.answer(io.BytesIO(paste.encode("utf-8", "replace")), lexicon).ranked
    rows: Answer = json.loads(report.as_data(found, lexicon))
    return rows


class Agreement(NamedTuple):
    """Shares of cases: the same error first, silent where the command line is, all the same."""

    first: float
    silent: float
    whole: float


FIELDS = ("id", "role", "score", "matched", "message", "values", "lines")


def agreement(pasted: Sequence[str], answers: Sequence[Answer], lexicon: Lexicon) -> Agreement:
    """How much the browser's answers agree with the command line's."""
    wanted = [told(paste, lexicon) for paste in pasted]
    pairs = list(zip(wanted, answers, strict=True))
    return Agreement(
        first=_share(mine[0]["id"] == theirs[0]["id"] for mine, theirs in pairs if mine and theirs),
        silent=_share((not mine) == (not theirs) for mine, theirs in pairs),
        whole=_share(_fields(mine) == _fields(theirs) for mine, theirs in pairs),
    )


def _share(good: Iterator[bool] | Any) -> float:
    all_ = list(good)
    return sum(all_) / len(all_)


def _fields(answer: Answer) -> list[list[Any]]:
    return [[row[field] for field in FIELDS] for row in answer]
