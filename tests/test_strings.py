"""Plain literals are read by a pattern: it must say what libcst says, or leave them to it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractor.strings import Field, parse, pieces, read

LITERALS = [
    pytest.param('f"a {{x}} b"', ("a {x} b",), id="braces that are no hole"),
    pytest.param('f"{x:>{width}}"', (Field("x", None, (">", Field("width"))),), id="format spec"),
    pytest.param('f"{a != b}"', (Field("a != b"),), id="comparison is no conversion"),
    pytest.param('f"{x = }"', ("x = ", Field("x", "r")), id="debug"),
    pytest.param("f\"{d['k']}\"", (Field("d['k']"),), id="quotes in a hole"),
    pytest.param('f"""a {x}"""', ("a ", Field("x")), id="three quotes"),
    pytest.param('rf"\\d {x}"', ("\\d ", Field("x")), id="raw"),
    pytest.param('"a\\n"', ("a\n",), id="escape"),
    pytest.param('"{x}"', ("{x}",), id="no f-string"),
    pytest.param(
        "\"it's \"\n    f'{ self.x !r} of {len(y)}'",
        ("it's ", Field("self.x", "r"), " of ", Field("len(y)")),
        id="side by side",
    ),
]


@pytest.mark.parametrize(("source", "expected"), LITERALS)
def test_literals(source: str, expected: tuple[str | Field, ...]) -> None:
    assert read(source) == expected


PIECE = st.sampled_from(["a b", "it's", "{x}", "{ x.y !r}", "{f(x)}", "{{", "\\n", "{x:>4}", "{x=}", "é", "#", " "])
LITERAL = st.tuples(st.sampled_from(["", "f", "F", "r"]), st.lists(PIECE, max_size=4).map("".join))


@settings(max_examples=150, deadline=None)
@given(st.lists(LITERAL, min_size=1, max_size=3), st.sampled_from([" ", "\n    "]))
def test_as_libcst_reads_them(literals: list[tuple[str, str]], between: str) -> None:
    source = between.join(f'{prefix}"{text}"' for prefix, text in literals)
    try:
        expected = pieces(parse(source))
    except ValueError:
        return
    assert read(source) == expected
