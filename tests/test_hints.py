"""Tables of advice: what a message tells its reader to do, and what only looks like it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractor.facts.hints import hints, sentences
from extractor.model import Part, Variant


def variant(message: str) -> Variant:
    """`{x}` is a hole with the expression `x`."""
    parts = []
    for i, piece in enumerate(message.replace("}", "{").split("{")):
        if piece:
            parts.append(Part(expr=piece, conversion=None, spec=None) if i % 2 else Part(text=piece))
    return Variant(message=message, parts=tuple(parts))


def found(message: str, kind: str = "sentence") -> list[str]:
    return [h.text for h in hints([variant(message)]) if h.kind == kind]


NOT_ADVICE = [
    ("what cannot be done", "Cannot use the fast path here."),
    ("two that cannot be done", "cannot both enable and disable the same op"),
    ("a noun at the start", "Use of eager mode is not supported."),
    ("a noun that failed", "Check failed: {name}"),
    ("in use", "The port is already in use."),
    ("a state", "The rank is not set."),
    ("a setting", "mode is set to {mode}."),
    ("a purpose", "This is needed to ensure order."),
    ("a call", "remove() called on a free block"),
    ("a list of names", "Known actions are load, remove, update."),
    ("a count", "tracker has {n} groups, update has {m}"),
    ("instead of what was expected", "got a list instead."),
    ("only one may", "You can only use one of them."),
    ("you cannot", "You cannot pass text here."),
    ("it would be code", "bad value {please.use(this)} here"),
    ("a file", "too long (file holds {n} frames)"),
]

ADVICE = [
    ("please", "No plan. Please give a plan.", ["Please give a plan."]),
    ("an imperative", "Bad size. Use a smaller one.", ["Use a smaller one."]),
    ("please anywhere", "Plans are off, please turn them on", ["Plans are off, please turn them on"]),
    ("a clause behind a semicolon", "stop is a list; pass a string", ["pass a string"]),
    ("behind a comma", "To go on, set the limit.", ["To go on, set the limit."]),
    ("either, or", "Either install foo or set bar.", ["Either install foo or set bar."]),
    ("you must", "You must pass a prompt.", ["You must pass a prompt."]),
    ("make sure", "Make sure it runs.", ["Make sure it runs."]),
    ("one of", "kind must be one of {kinds}", ["kind must be one of {kinds}"]),
    ("must be set", "`a` must be set with `b`", ["`a` must be set with `b`"]),
    ("consider", "No room. You could consider shrinking it.", ["You could consider shrinking it."]),
    ("do not", "Do not pass both.", ["Do not pass both."]),
    ("did you mean", "No `ab`. Did you mean `abc`?", ["Did you mean `abc`?"]),
    ("no space behind the dot", "is not known here.Use `other()` now.", ["Use `other()` now."]),
    ("no space behind a hole", "Cannot load: {e}.Please install it.", ["Please install it."]),
    (
        "dots in names and versions",
        "Use a.b.C with 0.4.1 from x.py, please.",
        ["Use a.b.C with 0.4.1 from x.py, please."],
    ),
    ("e.g.", "Set a size, e.g. `4`. Then more.", ["Set a size, e.g. `4`."]),
    ("an ellipsis", "Use f(x=..., y=...) here. Bad.", ["Use f(x=..., y=...) here."]),
    ("a link", "See https://example.org/a.html#b for more.", ["See https://example.org/a.html#b for more."]),
    ("a bullet list", "Wrong.\n- Use one\n- nothing\n* Set two", ["Use one", "Set two"]),
    (
        "a list that is announced",
        "Check that:\n1. it runs\n2. it is there\n\nBye.",
        ["Check that:\n1. it runs\n2. it is there"],
    ),
    ("a wrapped sentence", "Please use\n    the other one.", ["Please use\n    the other one."]),
    ("dots of a hole", "Use {a.b. c} now. Bad.", ["Use {a.b. c} now."]),
    ("said twice", "Use one. Use one.", ["Use one."]),
]

FLAGS = [
    ("none in a hole", "{args --x} is bad", []),
    ("not a dash", "a -- b, a--b, -x", []),
    ("not half a name", "--data-* and --size-{n}", []),
    ("not of another command", "run pip install --upgrade foo", []),
    ("a flag", "Pass `--max-len`.", ["--max-len"]),
    ("with a value", "--a-b=4 and --c.d_e.", ["--a-b", "--c.d_e"]),
    ("behind another command", "pip install foo, or pass --kind", ["--kind"]),
]

ENVIRONMENT = [
    ("a constant", "MAX_SIZE is too small", []),
    ("a reported value", "BLOCK_M={block}, BLOCK_N == 4", []),
    ("in a hole", "{envs.VLLM_PORT}", []),
    ("a mode of compilation", "mode must be VLLM_COMPILE", []),
    ("a name of a backend", "use TRITON_ATTN", []),
    ("vLLM's", "Set VLLM_PORT.", ["VLLM_PORT"]),
    ("CUDA's", "CUDA_VISIBLE_DEVICES is empty", ["CUDA_VISIBLE_DEVICES"]),
    ("assigned", "Set MY_SWITCH=1.", ["MY_SWITCH"]),
    ("said to be one", "environment variable 'FOO_PATH' is not set", ["FOO_PATH"]),
    ("said behind it", "the `FOO_DIR` environment variable", ["FOO_DIR"]),
]


@pytest.mark.parametrize("message", [r[1] for r in NOT_ADVICE], ids=[r[0] for r in NOT_ADVICE])
def test_what_is_not_advice(message: str) -> None:
    assert found(message) == []


@pytest.mark.parametrize(("message", "expected"), [r[1:] for r in ADVICE], ids=[r[0] for r in ADVICE])
def test_advice(message: str, expected: list[str]) -> None:
    assert found(message) == expected


@pytest.mark.parametrize(("message", "expected"), [r[1:] for r in FLAGS], ids=[r[0] for r in FLAGS])
def test_flags(message: str, expected: list[str]) -> None:
    assert found(message, "flag") == expected


@pytest.mark.parametrize(("message", "expected"), [r[1:] for r in ENVIRONMENT], ids=[r[0] for r in ENVIRONMENT])
def test_environment(message: str, expected: list[str]) -> None:
    assert found(message, "environment") == expected


def test_order_is_sentences_then_flags_then_environment_over_all_variants() -> None:
    made = hints([variant("Set --a to {x}."), variant("Set --a to {x}. VLLM_B=1 helps. Use --c.")])
    assert [(h.kind, h.text) for h in made] == [
        ("sentence", "Set --a to {x}."),
        ("sentence", "Use --c."),
        ("flag", "--a"),
        ("flag", "--c"),
        ("environment", "VLLM_B"),
    ]


def test_a_long_message_is_quick() -> None:
    assert len(hints([variant("Use a. " * 200_000)])) == 1
    assert hints([variant("(" * 300_000)]) == ()


words = st.sampled_from(
    ["use", "Use", "please", ".", "; ", "e.g.", "\n", "- ", "1. ", "--a", "VLLM_A", "...", " ", "(", ")", "x"]
)


@given(st.lists(words, max_size=40).map("".join))
def test_every_hint_stands_in_the_message(message: str) -> None:
    assert all(h.text in message for h in hints([variant(message)]))


@given(st.lists(words, max_size=40).map("".join))
def test_sentences_stand_one_after_the_other(message: str) -> None:
    spans = list(sentences(message))
    assert all(start < end for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
