"""Which errors stand beside one, in which order, and why."""

from __future__ import annotations

import time
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractor import facts
from extractor.facts.related import SHOWN, Subject, related
from tests.trees import errors_in


def subject(name: str, text: str = "", **more: object) -> Subject:
    plain = Subject(
        id=name,
        title=text or name,
        exception="ValueError",
        path=f"{name}.py",
        line=1,
        symbols=(f"f_{name}",),
        texts=(text,) if text else (),
        exprs=(),
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def beside(*subjects: Subject) -> list[tuple[str, str]]:
    """What is shown beside the first."""
    return [(r.id, r.why) for r in related(subjects)[0]]


FAR = [subject(f"z{i}", f"nothing{i} common{i}") for i in range(9)]
A = subject("a", "cudagraph sizes")

NOT_RELATED = [
    ("nothing shared", subject("b", "other thing")),
    ("words that every message has", subject("b", "must be set, is not supported")),
    ("the same function's name in another file", subject("b", "other thing", symbols=A.symbols)),
    ("a module is no function", subject("b", "other", symbols=("<module>",))),
]

WHY = [
    ("same function", {"path": A.path, "symbols": A.symbols}, "same function"),
    ("a function inside of it", {"path": A.path, "symbols": ("f_a.<locals>.g",)}, "same function"),
    ("same file", {"path": A.path}, "same file"),
    ("same file and word", {"path": A.path, "texts": ("cudagraph",)}, "same file, also about `cudagraph`"),
    ("same exception and word", {"texts": ("the cudagraph",)}, "same exception, also about `cudagraph`"),
    ("a word alone", {"texts": ("cudagraph",), "exception": "TypeError"}, "also about `cudagraph`"),
    ("a piece of a name", {"texts": ("cudagraph_mode",), "exception": "E"}, "also about `cudagraph`"),
    ("a hole's name", {"exprs": ("self.cudagraph",)}, "same exception, also about `cudagraph`"),
    ("the same message", {"texts": A.texts}, "same message"),
]


@pytest.mark.parametrize("other", [r[1] for r in NOT_RELATED], ids=[r[0] for r in NOT_RELATED])
def test_what_is_not_related(other: Subject) -> None:
    assert beside(replace(A, symbols=(*A.symbols, "<module>")), other, *FAR) == []


@pytest.mark.parametrize(("more", "why"), [r[1:] for r in WHY], ids=[r[0] for r in WHY])
def test_why(more: dict[str, object], why: str) -> None:
    assert beside(A, subject("b", "another", **more), *FAR) == [("b", why)]


def test_same_class() -> None:
    a = subject("a", "one", symbols=("C.f",))
    b = subject("b", "two", path=a.path, symbols=("C.g.<locals>.h",))
    assert beside(a, b, *FAR) == [("b", "same class")]


def test_order() -> None:
    a = subject("a", "cudagraph sizes", symbols=("C.f",))
    others = [
        subject("file", "x1", path=a.path),
        subject("word", "cudagraph"),
        subject("class", "x2", path=a.path, symbols=("C.g",)),
        subject("function", "x3", path=a.path, symbols=("C.f",)),
    ]
    assert [name for name, _ in beside(a, *others, *FAR)] == ["function", "class", "file", "word"]
    words = replace(others[1], texts=("cudagraph sizes here",), exprs=())
    many = [subject(f"y{i}", f"unheard{i}") for i in range(400)]
    assert [name for name, _ in beside(a, others[0], words, *many)] == ["word", "file"]


def test_an_error_without_text_comes_last_even_from_the_same_function() -> None:
    silent = subject("0", path=A.path, symbols=A.symbols)
    assert [n for n, _ in beside(A, silent, subject("b", "other", path=A.path), *FAR)] == ["b", "0"]


def test_the_same_message_is_shown_twice_at_most_when_there_is_something_else() -> None:
    copies = [subject(f"c{i}", A.texts[0]) for i in range(6)]
    mates = [subject(f"m{i}", f"x{i}", path=A.path) for i in range(3)]
    assert [n for n, _ in beside(A, *copies, *mates, *FAR)] == ["c0", "c1", "m0", "m1", "m2"]
    assert [n for n, _ in beside(A, *copies, *FAR)] == ["c0", "c1", "c2", "c3", "c4"]


def test_a_common_word_does_not_count() -> None:
    many = [subject(f"b{i}", f"cudagraph w{i}") for i in range(60)]
    assert beside(subject("a", "cudagraph"), *many) == []


names = st.sampled_from(["a", "b", "c"])
subjects = st.lists(
    st.builds(
        lambda path, symbol, exception, texts, line: (path, symbol, exception, texts, line),
        names,
        st.sampled_from(["f", "C.f", "C.g", "<module>"]),
        names,
        st.lists(st.sampled_from(["alpha beta", "gamma", "alpha delta"]), max_size=2),
        st.integers(1, 9),
    ),
    max_size=14,
).map(
    lambda rows: [
        Subject(id=f"{i:02}", title="t", exception=e, path=p, line=n, symbols=(s,), texts=tuple(t), exprs=())
        for i, (p, s, e, t, n) in enumerate(rows)
    ]
)


@given(subjects, st.randoms())
@settings(max_examples=200)
def test_the_order_of_the_input_does_not_matter(given_: list[Subject], random: Random) -> None:
    shuffled = given_.copy()
    random.shuffle(shuffled)
    one = {s.id: r for s, r in zip(given_, related(given_), strict=True)}
    other = {s.id: r for s, r in zip(shuffled, related(shuffled), strict=True)}
    assert one == other
    for own, shown in one.items():
        assert len(shown) <= SHOWN and own not in [r.id for r in shown]
        assert len({r.id for r in shown}) == len(shown) and all(r.why for r in shown)


def test_work_grows_with_the_number_of_errors() -> None:
    def seconds(n: int) -> float:
        made = [subject(str(i), f"word{i % 97} thing{i % 1013} x{i}", path="one.py", line=i) for i in range(n)]
        started = time.perf_counter()
        related(made)
        return time.perf_counter() - started

    seconds(500)
    assert seconds(8000) < 40 * max(seconds(1000), 0.01)


def test_enriched_errors_keep_their_order_and_everything_else() -> None:
    found = errors_in({"a.py": "def f():\n    raise ValueError('Use --b.')\ndef g():\n    raise TypeError('no')\n"})
    made = tuple(map(facts.with_hints, facts.with_related(found)))
    assert [replace(e, hints=(), related=()) for e in made] == list(found)
    assert {(h.kind, h.text) for e in made for h in e.hints} == {("sentence", "Use --b."), ("flag", "--b")}
    assert [r.why for e in made for r in e.related] == ["same file", "same file"]
