"""Laws of visible text: nothing that hides or steers is left, nothing else changes."""

from __future__ import annotations

import unicodedata

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from extractor.printable import json_safe, visible

HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
any_text = st.text(st.characters(), max_size=60)  # lone surrogates too

UNCHANGED = [
    ("words", "tensor_parallel_size must be > 0"),
    ("a backslash", r"\x1b is written out already"),
    ("letters of other scripts", "größer 大 ∈ ≥ “quoted” …"),
    ("an emoji", "❌ failed"),
    ("an emoji with its selector", "⚠️ careful"),
    ("a family of emoji", "👩‍👧 here"),
    ("nothing", ""),
]

ESCAPED = [
    ("an escape sequence", "\x1b[31mred", r"\x1b[31mred"),
    ("a line end", "a\nb\r\n", r"a\nb\r\n"),
    ("a tab", "a\tb", r"a\tb"),
    ("NUL and DEL", "\x00\x7f", r"\x00\x7f"),
    ("the other control characters", "\x85\x9b", r"\x85\x9b"),
    ("right to left", "\u202etxt\u2069\u061c", r"\u202etxt\u2069\u061c"),
    ("no width", "a\u200bb\ufeff\u00ad", r"a\u200bb\ufeff\xad"),
    ("line separators", "\u2028\u2029", r"\u2028\u2029"),
    ("half a pair", "\ud800", r"\ud800"),
    ("tags", "\U000e0041", r"\U000e0041"),
    ("fillers", "\u3164\u115f", r"\u3164\u115f"),
    ("a joiner that joins letters", "a\u200db", r"a\u200db"),
    ("a selector behind a letter", "a\ufe0f", r"a\ufe0f"),
]


@pytest.mark.parametrize("text", [r[1] for r in UNCHANGED], ids=[r[0] for r in UNCHANGED])
def test_what_must_not_change(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(("text", "shown"), [r[1:] for r in ESCAPED], ids=[r[0] for r in ESCAPED])
def test_what_comes_out_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_several_lines_keep_their_ends_and_tabs() -> None:
    assert visible("a\n\tb\r\x0c", multiline=True) == "a\n\tb\\r\\x0c"


def test_every_hidden_character_of_unicode_is_escaped() -> None:
    left = [hex(c) for c in range(0x110000) if unicodedata.category(chr(c)) in HIDDEN and visible(chr(c)) == chr(c)]
    assert left == []


@given(any_text, st.booleans())
@example("\ufe0f\u200d❌", False)
@example("a\ufe0f\u200d❌", True)
def test_nothing_hidden_is_left_and_twice_is_once(text: str, multiline: bool) -> None:
    shown = visible(text, multiline)
    kept = {"\n", "\t"} if multiline else set()
    assert {c for c in shown if unicodedata.category(c) in HIDDEN} <= kept | {"\u200d"}
    assert visible(shown, multiline) == shown
    shown.encode()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_json_keeps_its_value(text: str) -> None:
    data = orjson.dumps({"k": [text, {text: 1}]}, option=orjson.OPT_INDENT_2)
    safe = json_safe(data)
    assert orjson.loads(safe) == orjson.loads(data)
    assert {c for c in safe.decode() if unicodedata.category(c) in HIDDEN} <= {"\n", "\u200d"}


def test_json_escapes_are_those_of_json() -> None:
    assert json_safe('"\u202e \U000e0041 \x7f"'.encode()) == rb'"\u202e \udb40\udc41 \u007f"'


def test_clean_json_is_the_same_object() -> None:
    data = b'{"a": "b"}'
    assert json_safe(data) is data
