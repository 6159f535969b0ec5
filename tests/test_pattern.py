"""The law of patterns: a message with any values in its holes is found by its own pattern, in RE2."""

from __future__ import annotations

import re

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from extractor.model import Part, Variant
from extractor.pattern import pattern

HOLE = Part(expr="x", conversion=None, spec=None)


def variant(*parts: str | None) -> Variant:
    made = tuple(HOLE if p is None else Part(text=p) for p in parts)
    return Variant(message="".join("{x}" if p is None else p for p in parts), parts=made)


literals = st.text(min_size=1, max_size=40).filter(lambda t: max(t) < "\ud800" or min(t) > "\udfff")
parts = st.lists(
    st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)),
    min_size=1,
    max_size=8,
)
values = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@settings(max_examples=400, deadline=None)
@given(parts, st.data(), values, values)
def test_a_rendered_message_is_found_anywhere(
    pieces: list[str | None], data: st.DataObject, before: str, after: str
) -> None:
    found = pattern([variant(*pieces)])
    if found is None:
        assert not any(p and p.strip(" \t\n\r\f") for p in pieces)
        return
    rendered = "".join(data.draw(values) if p is None else p for p in pieces)
    assert re2.search(found, before + rendered + after) is not None
    assert re.compile(found)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.from_regex(r"[a-z.,:(){}\[\]*+?|^$\\-]{1,12}", fullmatch=True), min_size=2, max_size=8),
    st.integers(1, 7),
)
def test_a_message_wrapped_at_a_space_is_found(words: list[str], at: int) -> None:
    found = pattern([variant(" ".join(words))])
    wrapped = " ".join(words[:at]) + "\n    " + " ".join(words[at:])
    assert found is not None and re2.search(found, wrapped) is not None


MUST_NOT = [
    ("another word", ["n must be positive"], "n must be negative"),
    ("a dot is a dot", ["a.b"], "axb"),
    ("the whole text is needed", ["a", None, "b c"], "a anything b"),
]


@pytest.mark.parametrize(("pieces", "log"), [r[1:] for r in MUST_NOT], ids=[r[0] for r in MUST_NOT])
def test_what_is_not_found(pieces: list[str | None], log: str) -> None:
    found = pattern([variant(*pieces)])
    assert found is not None and re2.search(found, log) is None


def test_no_text_no_pattern() -> None:
    assert pattern([variant(None)]) is pattern([variant(" ", None, "\n")]) is pattern([]) is None


def test_each_variant_is_found() -> None:
    found = pattern([variant("one ", None), variant("two")])
    assert found is not None and re2.search(found, "two") and re2.search(found, "one 1")


def test_a_very_long_message_is_found_by_its_beginning() -> None:
    text = "word " * 200_000
    found = pattern([variant(text)])
    assert found is not None and len(found) < 3_000 and re2.search(found, text)
