"""Reading function by function gives what reading whole files does: no guess from lines alone is ever believed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractor.outline import Outline, is_true
from extractor.raises import extract
from tests.trees import STDLIB


class Memory:
    """Keeps what functions tell, and counts how many it knew."""

    def __init__(self) -> None:
        self.known: dict[str, bytes] = {}
        self.hits = 0

    def get(self, names: Iterable[str]) -> dict[str, bytes]:
        found = {name: self.known[name] for name in names if name in self.known}
        self.hits += len(found)
        return found

    def put(self, values: dict[str, bytes]) -> None:
        self.known |= values


def whole(data: bytes) -> bytes:
    """The record of a file, parsed as it stands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Outline, "definitions", lambda self: [])
        return msgspec.json.encode(extract(data), order="sorted")


def by_functions(data: bytes, kept: Memory | None = None) -> bytes:
    return msgspec.json.encode(extract(data, kept=kept), order="sorted")


def names(text: str) -> list[str]:
    return [f"{one.owner}.{one.name}".lstrip(".") for one in Outline(text).definitions()]


NOT_TOLD = [
    ("in a text", 'X = """\ndef f():\n    a\n"""\n'),
    ("in a text with other quotes in it", "X = '''\n\"\"\"\ndef f():\n    a\n'''\n"),
    ("in the text of a class", 'class C:\n    """\n    def f(self):\n        a\n    """\n'),
    ("under a condition", "\nif x:\n    def f():\n        a\n"),
    ("under a condition in a class", "\nclass C:\n    if x:\n        def f(self):\n            a\n"),
    ("under a condition behind a class", "\nclass C:\n    x = 1\nif x:\n    def f(self):\n        a\n"),
    ("in a class under a condition", "\nif x:\n    class C:\n        def f(self):\n            a\n"),
    ("on one line", "\ndef f(): a\n"),
    ("indented by tabs", "\ndef f():\n\ta\n"),
    ("behind a form feed", "\n\x0cdef f():\n    a\n"),
    ("a header over lines of an odd shape", "\ndef f(a,\n      b): \n    a\n"),
    ("a text without an end", '\ndef f():\n    a = """\n'),
    ("a comment for a body", "\ndef f():\n    # a\n"),
]


@pytest.mark.parametrize("text", [row[1] for row in NOT_TOLD], ids=[row[0] for row in NOT_TOLD])
def test_must_not_tell(text: str) -> None:
    assert names(text) == []


TOLD = [
    ("plain", "\ndef f():\n    a\n", ["f"]),
    ("no line end", "\ndef f():\n    a", ["f"]),
    ("async", "\nasync def f():\n    a\n", ["f"]),
    ("methods", "\nclass C:\n    x = 1\n\n    def f(self):\n        a\n\n    def g(self):\n        b\n", ["C.f", "C.g"]),
    ("of an inner class", "\nclass C:\n    class D:\n        def f(self):\n            a\n", ["C.D.f"]),
    ("behind an inner class", "\nclass C:\n    class D:\n        x = 1\n    def f(self):\n        a\n", ["C.f"]),
    ("a class over lines", "\nclass C(\n    A,\n):\n    def f(self):\n        a\n", ["C.f"]),
    ("a header over lines", "\ndef f(\n    a: int = (1),\n    *,\n    b={},\n) -> None:  # why:\n    a\n", ["f"]),
    ("a bracket in a default", "\ndef f(a='('):\n    a\ndef g():\n    a\n", ["g"]),
    ("not what is inside", "\ndef f():\n    def g():\n        a\n    class C:\n        def h(self):\n            a\n", ["f"]),
    ("comments anywhere", "\ndef f():\n    a\n# no end\n    b\ndef g():\n    c\n", ["f", "g"]),
    ("texts at the margin", '\ndef f():\n    a = """\nb\n"""\n    c\ndef g():\n    d\n', ["f", "g"]),
    ("lines that go on", "\ndef f():\n    a = b + \\\nc\n    d\ndef g():\n    e\n", ["f", "g"]),
    ("quotes in comments", "\ndef f():\n    a  # it's \"\"\" here\ndef g():\n    b\n", ["f", "g"]),
    ("quotes in texts", "\ndef f():\n    a = '\"\"\"'\ndef g():\n    b = \"'''\"\n", ["f", "g"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), [row[1:] for row in TOLD], ids=[row[0] for row in TOLD])
def test_functions_are_told(text: str, wanted: list[str]) -> None:
    outline = Outline(text)
    assert names(text) == wanted
    assert is_true(ast.parse(outline.without(outline.definitions())), outline.definitions())


def test_lines_stay_where_they_are() -> None:
    text = "\n@a(\n    b)\n@c\ndef f():\n    a\n\n    # why\n    b  # then\n\n# of g\ndef g():\n    c\n"
    outline = Outline(text)
    f, g = outline.definitions()
    assert outline.without([f]) == "\n@a(\n    b)\n@c\ndef f():\n\n\n\n ...\n\n# of g\ndef g():\n    c\n"
    assert (f.first, f.line, f.body, f.last) == (2, 5, 6, 9) and (g.first, g.last) == (12, 13)
    assert outline.code(f) == "@a(\n    b)\n@c\ndef f():\n    a\n\n    # why\n    b  # then"


WRONG = [
    ("a closing bracket at the margin", "\ndef f():\n    a = g(\n    1\n)\n    b\n\ndef h():\n    raise E\n"),
    ("a body that stands less deep in brackets", "\ndef f():\n    a = [\n1,\n]\n    raise E\n"),
    ("a class with the name of another", "\nclass C:\n    def f(self):\n        a\nclass C:\n    def f(self):\n        raise E\n"),
    ("one line for two", "\ndef f():\n    a; raise E\ndef g():\n    b\n"),
    ("a decorator apart", "\n@a\n\n# why\n@b\ndef f():\n    raise E\n"),
    ("what looks like a decorator", "\na = (b\n@c)\ndef f():\n    raise E\ndef g():\n    c\n"),
    ("a way out of a block", "\nclass C:\n    def __exit__(self, *a):\n        return True\ndef f():\n    with C():\n        raise E\n"),
    (
        "a generator that is one",
        "\nfrom contextlib import contextmanager\n@contextmanager\ndef c():\n    try:\n        yield\n    except E:\n        pass\n"
        "def f():\n    with c():\n        raise E\n",
    ),
    ("a dataclass", "\n@dataclass\nclass C:\n    a: int\n    def __post_init__(self):\n        if self.a:\n            raise E('a')\n"),
    ("globals", "\nX = 'a'\ndef g():\n    global X\n    X = 'b'\ndef f():\n    raise E(X)\n"),
    ("a constant that is changed elsewhere", "\nX = ['a']\ndef g():\n    X.append('b')\ndef f():\n    raise E(X[0])\n"),
    ("an attribute that is set elsewhere", "\nclass C:\n    x = 'a'\n    def g(self):\n        self.x = 'b'\n    def f(self):\n        raise E(self.x)\n"),
    ("an import inside", "\ndef f():\n    from a import B\n    raise B\ndef g():\n    from c import B\n    raise B\n"),
    ("a builtin of its own", "\ndef len(x):\n    return 0\ndef f(x):\n    if len(x) > 1:\n        raise E('a')\n"),
]  # fmt: skip


@pytest.mark.parametrize("text", [row[1] for row in WRONG], ids=[row[0] for row in WRONG])
def test_the_record_is_that_of_the_whole_file(text: str) -> None:
    kept = Memory()
    for data in (text, text, f"import z\n\n{text}", f"{text}\n\nY = 1\n"):
        assert by_functions(data.encode()) == by_functions(data.encode(), kept) == whole(data.encode())


def test_what_a_function_tells_is_not_read_twice() -> None:
    text = "\nclass C:\n    def f(self, x):\n        '''Why.'''\n        if x:\n            raise E(f'no {x}')\n"
    kept = Memory()
    by_functions(text.encode(), kept)
    assert kept.hits == 0 and len(kept.known) == 1
    other = ("import z\n\n\n" + text + "\n    def g(self):\n        raise F\n").encode()
    assert by_functions(other, kept) == whole(other)
    assert kept.hits == 1 and len(kept.known) == 2


MEANS_OTHERS = [
    ("another class around it", "\nclass D:\n    def f(self, x):\n        if len(x) > 1:\n            raise E('a')\n"),
    ("no class around it", "\nif 1:\n    def f(self, x):\n        if len(x) > 1:\n            raise E('a')\n"),
    ("a builtin that is none", "\nfrom a import len\nclass C:\n    def f(self, x):\n        if len(x) > 1:\n            raise E('a')\n"),
]  # fmt: skip


@pytest.mark.parametrize("text", [row[1] for row in MEANS_OTHERS], ids=[row[0] for row in MEANS_OTHERS])
def test_the_same_text_elsewhere_is_read_anew(text: str) -> None:
    kept = Memory()
    by_functions(b"\nclass C:\n    def f(self, x):\n        if len(x) > 1:\n            raise E('a')\n", kept)
    assert by_functions(text.encode(), kept) == whole(text.encode())


def test_calls_that_never_return_are_part_of_the_name() -> None:
    data = b"\ndef f(x):\n    if x:\n        g()\n    raise E('a')\n"
    kept = Memory()
    read = [extract(data, leaving, kept) for leaving in (frozenset({"g"}), frozenset[str](), frozenset({"g"}))]
    assert read[0] == read[2] == extract(data, frozenset({"g"})) != read[1] == extract(data)


# --- any file at all -------------------------------------------------------------------------------------

BODIES = [  # what begins with | stands at the margin, however deep the rest is
    "raise E('a')",
    "raise E(x)  # no\n|# way",
    "return 'raise E'",
    '"""Raises.\n\n|def g():\n    raise\n"""',
    "if x:\n    raise E(f'{x}')",
    "a = [\n|1,\n|]",
    "a = b + \\\n|c",
    "def g():\n    raise E\nraise",
    "yield",
    "global y\ny = 2",
    "from a import E\nraise E",
]


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.split("\n"))


functions = st.builds(
    lambda head, name, bodies: f"{head}def {name}(x):\n" + "".join(bodies),
    st.sampled_from(["", "async ", "@a\n", "@a(\n    b\n)\n@c\n", "# why\n", "\n\n"]),
    st.sampled_from(["f", "g", "__init__", "__exit__", "__post_init__"]),
    st.lists(st.sampled_from(BODIES).map(indented), min_size=1, max_size=3),
)
classes = st.builds(
    lambda name, inner: f"class {name}:\n    x = 'a'\n" + "".join(indented(text.rstrip("\n")) for text in inner),
    st.sampled_from("CD"),
    st.lists(functions, max_size=3),
)
others = st.sampled_from(
    [
        "x = 1\n",
        "if x:\n    raise E('c')\n",
        "if x:\n    def f(x):\n        raise E\n",
        '"""\ndef f():\n"""\n',
        "len = 1\n",
    ]
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(functions | classes | others, min_size=1, max_size=4),
    st.lists(functions | classes | others, max_size=3),
)
def test_any_change_of_a_file_gives_the_record_of_the_whole(parts: list[str], more: list[str]) -> None:
    kept = Memory()
    for lines in ((*parts,), (*more, *parts), (*parts[::-1], *more)):
        text = re.sub(r"^ *\|", "", "".join(lines), flags=re.MULTILINE)
        assert by_functions(text.encode(), kept) == whole(text.encode())


@pytest.mark.parametrize("part", range(2))
def test_the_standard_library_reads_the_same(part: int) -> None:
    kept = Memory()
    files = [path.read_bytes() for path in STDLIB[part::24]]
    for data in files:
        wanted = whole(data)
        assert by_functions(data, kept) == wanted
        moved = b"#\n" * 3 + data if not data.startswith((b"#", b"\xef")) else data
        assert by_functions(moved, kept) == whole(moved)
    assert kept.hits > len(files)
