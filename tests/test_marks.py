"""Words that changed: a reader can follow, and both texts can be read off."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractor.marks import GONE, MOST, NEW, SAME, marked

SIGNS = {GONE: "-", NEW: "+", SAME: "="}


@pytest.mark.parametrize(
    ("old", "new", "pieces"),
    [
        pytest.param("a b", "a b", ["=a b"], id="nothing"),
        pytest.param("", "", [], id="no text"),
        pytest.param("", "a b", ["+a b"], id="text where none was"),
        pytest.param("must be five", "must be six", ["=must be ", "-five", "+six"], id="no letters of a word"),
        pytest.param("a b c", "a c", ["=a ", "-b ", "=c"], id="a word gone"),
        pytest.param("got {a.b}.", "got {a.c}.", ["=got ", "-{a.b}", "+{a.c}", "=."], id="a hole is a word"),
        pytest.param("x one two y", "x red green y", ["=x ", "-one two", "+red green", "= y"], id="neighbours are one"),
        pytest.param("ab" * 9, "ab" * 9 + "!", ["=" + "ab" * 9, "+!"], id="a sign"),
    ],
)
def test_pieces(old: str, new: str, pieces: list[str]) -> None:
    assert [SIGNS[p.kind] + p.text for p in marked(old, new)] == pieces


TEXT = st.text(st.sampled_from("ab {}.\n\u202e'"), max_size=40)


@given(TEXT, TEXT)
@settings(max_examples=300, deadline=None)
def test_both_texts_can_be_read_off(old: str, new: str) -> None:
    pieces = marked(old, new)
    assert "".join(p.text for p in pieces if p.kind != NEW) == old
    assert "".join(p.text for p in pieces if p.kind != GONE) == new
    assert all(p.text for p in pieces)
    assert [(p.kind, q.kind) for p, q in pairwise(pieces) if p.kind == q.kind] == []


def test_a_long_text_takes_no_longer_than_it_is() -> None:
    words = 200_000
    old, new = (
        "word " * words,
        "word " * (words // 2) + "other " + "word " * (words // 2),
    )
    assert [p.kind for p in marked(old, new)] == [SAME, NEW, SAME]
    assert len(marked("a " * MOST, "b " * MOST)) == 3
