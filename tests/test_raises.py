"""Reading one file: no raise is lost or invented, lines are right, bad input is a reason."""

from __future__ import annotations

import ast
import sys

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractor import scan
from extractor.raises import FileRecord, extract
from tests.trees import STDLIB, only, sites_in


def raises_of(data: bytes) -> list[tuple[int, int, int | None]]:
    return sorted((n.lineno, n.col_offset, n.end_lineno) for n in ast.walk(ast.parse(data)) if isinstance(n, ast.Raise))


def sites_of(record: FileRecord) -> list[tuple[int, int, int | None]]:
    return sorted((s.line, s.column, s.end_line) for s in record.sites)


@pytest.mark.parametrize("part", range(4))
def test_the_standard_library_loses_no_raise(part: int) -> None:
    """Much real code that was not written for this tool, against the plainest reading of it."""
    for path in STDLIB[part::16]:
        data = path.read_bytes()
        try:
            wanted = raises_of(data)
        except (SyntaxError, ValueError):
            assert extract(data).reason is not None, path
            continue
        assert sites_of(extract(data)) == wanted, path


PLACES = [
    ("on one line", "def f():\n    if x: raise E"),
    ("behind a semicolon", "def f():\n    a = 1; raise E; b = 2"),
    ("behind a semicolon at the top", "a = 1; raise E"),
    ("two on a line", "raise E; raise F"),
    ("class on one line", "class C: raise E"),
    ("method on one line", "class C:\n    def f(self): raise E"),
    ("class body", "class C:\n    if x:\n        raise E"),
    ("class in a function", "def f():\n    class C:\n        def g(self):\n            raise E"),
    ("after a return", "def f():\n    return 1\n    raise E"),
    ("try in all parts", "try:\n    raise A\nexcept B:\n    raise C\nelse:\n    raise D\nfinally:\n    raise E"),
    ("except star", "try:\n    raise A\nexcept* B:\n    raise C"),
    ("loops with else", "for a in b:\n    raise A\nelse:\n    raise B\nwhile c:\n    raise C\nelse:\n    raise D"),
    ("match", "match a:\n    case 1:\n        raise A\n    case _:\n        raise B"),
    ("with", "with a as b, c:\n    raise A"),
    ("async", "async def f():\n    async for a in b:\n        raise A\n    async with c:\n        raise B"),
    ("decorated", "@a(\n    b)\n@c\ndef f():\n    raise A"),
    ("over lines with a comment", "def f():\n    raise E(\n        # why\n        'a'\n        'b',\n    ) from None"),
    ("backslash", "def f():\n    raise \\\n        E('a')"),
    ("tabs", "def f():\n\tif x:\n\t\traise E"),
    ("text with a raise in it", "def f():\n    '''\n    raise A\n    '''\n    raise E('raise B')"),
    ("nested functions", "def f():\n    def g():\n        def h():\n            raise A\n        raise B\n    raise C"),
    ("an elif chain", "def f(x):\n    if x == 1:\n        raise A\n    elif x == 2:\n        raise B\n    else:\n        raise C"),
    ("not ascii before it on the line", "def f():\n    'é'; raise E('é')"),
    ("form feed", "def f():\n    pass\n\x0c\ndef g():\n    raise E"),
    ("no line end", "def f():\n    raise E"),
    ("lone carriage returns", "def f():\r    raise E\r"),
    ("dos line ends", "def f():\r\n    raise E\r\n"),
]  # fmt: skip


@pytest.mark.parametrize("text", [row[1] for row in PLACES], ids=[row[0] for row in PLACES])
def test_places(text: str) -> None:
    record = extract(text.encode())
    assert record.reason is None
    line = text.encode().replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    wanted = [(a, len(line[a - 1][:b].decode()), c) for a, b, c in raises_of(text.encode())]
    assert sites_of(record) == sorted(wanted)


SYMBOLS = [
    ("raise E", "<module>"),
    ("class C:\n    class D:\n        raise E", "C.D"),
    ("class C:\n    class D:\n        def f(self):\n            raise E", "C.D.f"),
    ("def f():\n    class D:\n        def g(self):\n            raise E", "f.<locals>.D.g"),
    ("def f():\n    def g():\n        raise E", "f.<locals>.g"),
    ("if x:\n    def f():\n        raise E", "f"),
    ("if x:\n    class C:\n        async def f(self):\n            raise E", "C.f"),
]


@pytest.mark.parametrize(("text", "symbol"), SYMBOLS)
def test_symbols_are_those_of_the_code_object(text: str, symbol: str) -> None:
    assert only(text).site.symbol == symbol


UNREADABLE = [
    ("a syntax error", b"def f(:\n    raise E\n", "syntax error"),
    ("cut off in the middle", b"def f():\n    raise E(\n", "syntax error"),
    ("not utf-8", b"# caf\xe9\nraise E\n", "not utf-8"),
    ("an unknown coding", b"# -*- coding: klingon -*-\nraise E\n", "encoding"),
    ("a coding that lies", b"# -*- coding: ascii -*-\n# caf\xe9\nraise E\n", "not ascii"),
    ("NUL bytes", b"raise E\0\n", "NUL"),
    ("python 2", b"raise E, 'a'\n", "syntax error"),
    ("nested too deeply", b"x = " + b"(" * 2000 + b")" * 2000 + b"\nraise E\n", "nested"),
    ("a chain too long", b"x = " + b"not " * 20_000 + b"y\nraise E\n", "nested"),
]


@pytest.mark.parametrize(("data", "reason"), [r[1:] for r in UNREADABLE], ids=[r[0] for r in UNREADABLE])
def test_what_cannot_be_read_says_why_and_guesses_the_raises(data: bytes, reason: str) -> None:
    record = extract(data)
    assert record.reason is not None and reason in record.reason
    assert record.sites == () and record.raises == 1


READABLE = [
    ("a BOM", b"\xef\xbb\xbfraise E('a')\n"),
    ("latin-1 with a coding line", b"# -*- coding: latin-1 -*-\nraise E('caf\xe9')\n"),
    (
        "90 nested functions",
        b"".join(b" " * n + b"def f():\n" for n in range(90)) + b" " * 90 + b"raise E('a')\n",
    ),
    ("a text of a megabyte", b"raise E('" + b"a" * 1_000_000 + b"')\n"),
    ("an f-string of 10,000 parts", b"raise E(f'" + b"a{x}" * 10_000 + b"')\n"),
    ("a sum of 2,000 terms", b"def f(x):\n    raise E(" + b" + ".join([b"'a'"] * 2_000) + b")\n"),
    (
        "1,000 early exits",
        b"def f(x):\n"
        + b"".join(b"    if x == %d:\n        return\n" % n for n in range(1000))
        + b"    raise E('a')\n",
    ),
    (
        "a function of 10,000 lines",
        b"def f(x):\n" + b"".join(b"    a%d = x\n" % n for n in range(10_000)) + b"    raise E(a1)\n",
    ),
    ("lone surrogates", b"raise E('a \\ud800 b')\n"),
]


@pytest.mark.parametrize("data", [row[1] for row in READABLE], ids=[row[0] for row in READABLE])
def test_strange_but_readable(data: bytes) -> None:
    record = extract(data)
    assert record.reason is None and len(record.sites) == 1
    msgspec.msgpack.encode(record)


def test_lone_surrogates_become_visible_text() -> None:
    assert only("raise E('a \\ud800 b')").message == "a \\ud800 b"


def test_too_large_a_file_is_listed() -> None:
    record = extract(b"raise E\n" + b"#" * scan.MAX_BYTES)
    assert record.reason is not None and "bytes" in record.reason and record.raises == 1


def test_context_is_eighteen_lines_either_side_in_the_lines_that_python_counts() -> None:
    text = (
        "".join(f"a{n} = 1\n" for n in range(1, 31)) + "\x0craise E('x')\n" + "".join(f"b{n} = 1\n" for n in range(30))
    )
    site = only(text).site
    assert (site.line, site.context.start, len(site.context.lines)) == (31, 13, 37)
    assert site.context.lines[18] == "\x0craise E('x')"
    assert only("raise E").site.context.lines == ("raise E",)


NEWER = [
    (
        "PEP 701, the same quotes",
        'def f(v):\n    raise ValueError(f"no {v["key"]} here")',
        'no {v["key"]} here',
    ),
    ("PEP 695, a type parameter", "def f[T](v: T) -> T:\n    raise ValueError(f'no {v}')", "no {v}"),
    ("PEP 695, a type alias", "type A = int\ndef f(v):\n    raise ValueError(f'no {v}')", "no {v}"),
    (
        "PEP 758, no brackets",
        "def f(v):\n    try: g()\n    except A, B:\n        raise ValueError(f'no {v}')",
        "no {v}",
    ),
]


@pytest.mark.parametrize(("text", "message"), [r[1:] for r in NEWER], ids=[r[0] for r in NEWER])
def test_newer_syntax_reads_as_it_will(text: str, message: str) -> None:
    found = sites_in({"vllm/a.py": text})
    assert [f.message for f in found] == [message]
    assert (found[0].site.symbol, found[0].site.line) == ("f", text.count("\n") + 1)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the running Python reads it by itself")
def test_newer_syntax_still_follows_imports() -> None:
    text = "from vllm.q import T\ndef f[X](v: X):\n    raise ValueError(T)"
    assert only(text, vllm__q='T = "text"').message == "text"


# --- any statements at all, against ast -----------------------------------------------------------------

names = st.sampled_from("abc")


@st.composite
def blocks(draw: st.DrawFn, depth: int = 0) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(
            st.sampled_from(["raise", "assign", "if", "for", "while", "try", "with", "def", "class", "match", "return"])
        )
        inner = (
            [f"    {line}" for line in draw(blocks(depth + 1))]
            if depth < 3 and kind not in ("raise", "assign", "return")
            else ["    pass"]
        )
        name = draw(names)
        lines += {
            "raise": [f"raise E(f'{{{name}}} {draw(st.integers(0, 9))}')"],
            "assign": [f"{name} = '{draw(names)}'"],
            "return": ["pass"],
            "if": [f"if {name}:", *inner, "else:", *inner],
            "for": [f"for {name} in x:", *inner],
            "while": ["while x:", *inner, "else:", *inner],
            "try": ["try:", *inner, f"except E as {name}:", *inner, "finally:", *inner],
            "with": [f"with x as {name}:", *inner],
            "def": ["def f():", *inner],
            "class": ["class C:", *inner],
            "match": ["match x:", f"    case {name}:", *[f"    {line}" for line in inner]],
        }[kind]  # fmt: skip
    return lines


@settings(max_examples=300, deadline=None)
@given(blocks())
def test_any_nesting_loses_no_raise(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    record = extract(data)
    assert record.reason is None and sites_of(record) == raises_of(data)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(record), type=FileRecord) == record
