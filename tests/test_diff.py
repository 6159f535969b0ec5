"""What has become of each error between two trees: (old source, new source, kinds), the negatives first."""

from __future__ import annotations

import random
from collections.abc import Mapping
from textwrap import dedent, indent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extractor.diff import Change, compare, pairs
from extractor.diff.assign import best
from extractor.diff.implication import follow
from extractor.model import Error
from tests.trees import errors_in

Source = str | Mapping[str, str]


def errors(source: Source) -> list[Error]:
    return list(errors_in({"vllm/a.py": source} if isinstance(source, str) else source))


def changes(old: Source, new: Source) -> list[Change[Error]]:
    return [c for c in compare(errors(old), errors(new)) if c.kinds]


def told(found: list[Change[Error]]) -> list[str]:
    """Kinds with + between them, and what has become of the condition."""
    return sorted("+".join(c.kinds) + (f" {c.strictness}" if c.strictness else "") for c in found)


def function(body: str, name: str = "f") -> str:
    return f"def {name}(x, y=None):\n" + indent(dedent(body), "    ")


def method(owner: str, name: str, text: str, guard: str = "x < 0") -> str:
    return f"class {owner}:\n    def {name}(self, x):\n        if {guard}:\n            raise ValueError({text})\n"


ONE = function('if x < 0:\n    raise ValueError(f"x must not be negative, got {x}")\n')
LONG = "The attention backend does not support sliding windows on this device"
COPIED = function('if x == 1:\n    raise ValueError("Only the silu activation is supported for now")\n', "__init__")


NOTHING = [
    pytest.param(ONE, ONE, id="the same"),
    pytest.param(ONE, ONE.replace("    if", "    # why\n    if") + "\n\ny = 1\n", id="comments and lines after it"),
    pytest.param(
        function('if x and y:\n    raise ValueError("no x with y")\n'),
        function('if y:\n    if x:\n        raise ValueError("no x with y")\n'),
        id="conjuncts in another order",
    ),
    pytest.param(
        function('if x < 0:\n    raise ValueError("no")\n'),
        function('if x >= 0 or x < 0:\n    if x < 0:\n        raise ValueError("no")\n').replace("x >= 0 or x < 0", "x < 0"),
        id="a test that is made twice",
    ),
    pytest.param(
        function('if x or y:\n    raise ValueError("no")\n'),
        function('if y or x:\n    raise ValueError("no")\n'),
        id="said in another way",
    ),
    pytest.param(
        function("try:\n    y()\nexcept KeyError:\n    raise\n"),
        function("y()\n"),
        id="raised again, which is no error of its own",
    ),
    pytest.param(
        "from vllm.e import E\n" + function('raise E("no")\n'),
        "import vllm.e as e\n" + function('raise e.E("no")\n'),
        id="imported in another way",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), NOTHING)
def test_nothing_changed(old: Source, new: Source) -> None:
    assert [c for c in changes(old, new) if c.kinds != ("moved",)] == []


APART = [
    pytest.param(
        {"vllm/a.py": method("ASampler", "run", '"Unknown mode"')},
        {"vllm/b.py": method("BLoader", "load", '"Unknown mode"')},
        id="a few words elsewhere",
    ),
    pytest.param(
        {"vllm/a.py": function('raise ValueError(f"{x}")\n', "parse")},
        {"vllm/b.py": function('raise ValueError(f"{x}")\n', "render")},
        id="a hole elsewhere",
    ),
    pytest.param(
        {"vllm/a.py": function("raise NotImplementedError\n", "one")},
        {"vllm/b.py": function("raise NotImplementedError\n", "two")},
        id="no message elsewhere",
    ),
    pytest.param(
        function('if x > 1:\n    raise ValueError("The prompt is too long for this model")\n'),
        function('if y is None:\n    raise ValueError("A tokenizer is needed to count tokens")\n'),
        id="another text under another condition in one function",
    ),
    pytest.param(
        {"vllm/a.py": method("A", "f", '"Weight transfer group is not initialized"', "self.group is None")},
        {"vllm/a.py": method("A", "g", '"Dense engine is not initialized"', "self.engine is None")},
        id="alike about something else",
    ),
    pytest.param(
        {"vllm/hermes.py": method("HermesParser", "__init__", '"The Hermes parser could not find its start token in the tokenizer"')},
        {"vllm/qwen.py": method("QwenParser", "__init__", '"The Qwen parser could not find its start token in the tokenizer"')},
        id="each about what it stands in",
    ),
    pytest.param(
        {f"vllm/{n}.py": COPIED.replace("f(", f"{n}(") for n in ("one", "two", "three", "four")},
        {f"vllm/{n}.py": COPIED.replace("__init__", n) for n in ("one", "two", "three", "five")},
        id="copied from file to file",
    ),
    pytest.param(
        {"vllm/a.py": method("A", "get_kv_cache_shape", '"Block size must be a multiple of 16."', "x % 16")},
        {"vllm/b.py": method("B", "get_size", '"Head size must be a multiple of 8."', "x % 8")},
        id="half of the words",
    ),
    pytest.param(
        {"vllm/a.py": method("A", "f", '"Context parallelism needs the new runner. Unset VLLM_NEW_RUNNER=0."', "self.context > 1")},
        {"vllm/a.py": method("A", "g", '"Sparse swapping needs the new runner; unset VLLM_NEW_RUNNER=0."', "self.sparse")},
        id="the same advice for something else",
    ),
    pytest.param(
        {"vllm/a.py": method("A", "f", "'Traced annotations must assign a value: ' + self.source + '. Supported are names, constants, attributes, tuples, lists, comparisons, boolean operators, unary minus, arithmetic, and calls.'", "self.value is None")},
        {"vllm/a.py": method("A", "g", "'Warmup cases require one final return: ' + self.source + '. Supported are names, constants, attributes, tuples, lists, comparisons, boolean operators, unary minus, arithmetic, and calls.'", "self.end is None")},
        id="the same advice behind another refusal",
    ),
    pytest.param(
        {"vllm/a.py": "class A:\n    def all_special(self):\n        raise NotImplementedError\n"},
        {"vllm/b.py": "class B:\n    def all_special(self):\n        raise NotImplementedError\n"},
        id="no message in a method by a name of its own",
    ),
    pytest.param(
        {"vllm/a/utils.py": function("if x:\n    raise NotImplementedError\n", "quantize")},
        {"vllm/b/utils.py": function("if y:\n    raise ValueError\n", "validate")},
        id="no message in a file of the same name",
    ),
    pytest.param(
        {f"vllm/{n}.py": method(n.title(), "__init__", 'f"Parallel size {self.tp} is greater than {self.experts}"', "self.tp > 1") for n in ("one", "two", "three", "four")},
        {f"vllm/{n}.py": method(n.title(), "__init__", 'f"Parallel size {self.tp} is greater than {self.experts}"', "self.tp > 1") for n in ("one", "two", "three", "five")},
        id="copied from class to class",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), APART)
def test_a_pair_that_a_reader_would_deny_is_none(old: Source, new: Source) -> None:
    found = [kind for c in changes(old, new) for kind in c.kinds]
    assert set(found) - {"relocated", "moved"} == {"added", "removed"}


KINDS = [
    pytest.param("", ONE, ["added"], id="added"),
    pytest.param(ONE, "", ["removed"], id="removed"),
    pytest.param(ONE, "\n\n" + ONE, ["moved"], id="moved"),
    pytest.param(ONE, ONE.replace("must not be negative", "must be zero or more"), ["reworded"], id="reworded"),
    pytest.param(ONE, ONE.replace("x must not be negative, got {x}", "x must not be negative"), ["reworded"], id="shorter"),
    pytest.param(ONE, ONE.replace("Value", "Type"), ["retyped"], id="retyped"),
    pytest.param(
        "from fastapi import HTTPException\n" + function('raise HTTPException(status_code=400, detail="no such model")\n'),
        "from fastapi import HTTPException\n" + function('raise HTTPException(status_code=404, detail="no such model")\n'),
        ["retyped"],
        id="another status",
    ),
    pytest.param(ONE, ONE.replace("x < 0", "x < 0 and y"), ["reguarded stricter"], id="a conjunct more"),
    pytest.param(ONE.replace("x < 0", "x < 0 and y"), ONE, ["reguarded looser"], id="a conjunct less"),
    pytest.param(ONE, ONE.replace("x < 0", "x < 0 or y"), ["reguarded looser"], id="an alternative more"),
    pytest.param(ONE, ONE.replace("x < 0", "x < -5"), ["reguarded stricter"], id="a lower bound"),
    pytest.param(ONE, ONE.replace("x < 0", "x <= 0"), ["reguarded looser"], id="the bound too"),
    pytest.param(
        ONE.replace("x < 0", 'x not in ("a", "b")'), ONE.replace("x < 0", 'x not in ("a", "b", "c")'),
        ["reguarded stricter"], id="one more that is let through",
    ),
    pytest.param(ONE, ONE.replace("x < 0", "y < 0"), ["reguarded other"], id="another condition"),
    pytest.param(ONE, ONE.replace("if x < 0", "if y:\n        return\n    if x < 0"), ["reguarded stricter"], id="left before"),
    pytest.param(
        function('for n in x:\n    if n:\n        break\n    raise ValueError("a first one that is not")\n'),
        function('for n in x:\n    if n:\n        break\n    if y:\n        raise ValueError("a first one that is not")\n'),
        ["reguarded stricter"], id="within a loop",
    ),
    pytest.param(ONE, ONE.replace("def f", "def g"), ["relocated"], id="another function"),
    pytest.param({"vllm/a.py": ONE}, {"vllm/b.py": ONE}, ["relocated"], id="another file"),
    pytest.param({"vllm/a/b.py": COPIED}, {"vllm/a/b/__init__.py": COPIED}, ["relocated"], id="become a package"),
    pytest.param(
        {"vllm/a.py": method("A", "f", f'"{LONG}"')},
        {"vllm/c/d.py": function(f'raise RuntimeError("{LONG}")\n', "checked")},
        ["reguarded+relocated+retyped looser"], id="all but the words",
    ),
    pytest.param(
        {"vllm/a.py": method("A", "f", f'"{LONG}"')},
        {"vllm/c/d.py": method("B", "g", f'"{LONG}."')},
        ["relocated+reworded"], id="a full stop, and elsewhere",
    ),
    pytest.param(
        function('if x:\n    raise ValueError("both")\n') + "\n" + function('if y:\n    raise ValueError("both")\n', "g"),
        function('if x:\n    raise ValueError("both")\n'),
        ["reguarded stricter"], id="raised at one place less",
    ),
    pytest.param(
        function('if x:\n    raise ValueError("both")\n'),
        function('if x:\n    raise ValueError("both")\n') + "\n" + function('if y:\n    raise ValueError("both")\n', "g"),
        ["reguarded looser"], id="raised at one place more",
    ),
    pytest.param(
        function('m = "an odd x"\nraise ValueError(m)\n'),
        function('m = "an odd x"\nif y:\n    m = "a bad y"\nraise ValueError(m)\n'),
        ["reworded"], id="a variant more",
    ),
    pytest.param(
        function('if x < 0:\n    raise ValueError("x is bad")\n'),
        function('if x < 0:\n    raise ValueError("the first argument has to be zero or more, and is not bad")\n'),
        ["reworded"], id="other words under the same condition",
    ),
    pytest.param(
        function('if x == 1:\n    raise ValueError("x is one")\nif y:\n    raise ValueError("a y was given")\n'),
        function('if x == 1:\n    raise ValueError("x is now one")\nif y:\n    raise ValueError("a y was given to it")\n'),
        ["reguarded+reworded stricter", "reworded"][1:] * 2, id="two at once",
    ),
    pytest.param(
        method("A", "f", '"SPARSE_MLA on this device requires the sparse decode kernels."', "not has_kernels()"),
        method("A", "f", 'f"SPARSE_MLA on this device requires a build of the sparse decode kernels for {x.heads} heads and {x.topk} '
               'tokens. Install one that is newer than the first of May."', "not has_kernels_for(x.heads, x.topk)"),
        ["reguarded+reworded other"], id="refused in fewer cases, with more said",
    ),
    pytest.param(
        function('if x != 4:\n    raise ValueError(f"one_sided dispatch takes fp4, mxfp8, and bf16 (x=None) today; got x={x!r}")\n'),
        function('if x != 4 and not y:\n    raise ValueError(f"one_sided dispatch takes fp4, mxfp8, blocks of fp8 (with scales of 1x128), '
                 'and bf16 (x=None) today; got x={x!r}, y={y!r}, and the shape {y.shape!r}")\n', "layout"),
        ["reguarded+relocated+reworded stricter"], id="with more said in another function",
    ),
    pytest.param(
        {"vllm/a.py": method("A", "_check", 'f"Token id {x} is out of vocabulary"', "x < 0")},
        {"vllm/b/c.py": method("B", "validate", 'f"Token id {x} is out of vocabulary (parameter={self.name})"', "x < 0")},
        ["relocated+reworded"], id="with more said in another file",
    ),
    pytest.param(
        {"vllm/a.py": method("A", "_raise_if_padded", '"Speculation with drafts only takes padded batches. Please do not pass --disable-padded in the config."', "not self.c.padded")},
        {"vllm/b.py": method("B", "_raise_if_padded", '"Speculation with drafts or in parallel only takes padded batches. Please unset disable_padded in the config."', "not self.padded")},
        ["reguarded+relocated+reworded other"], id="in a method by a name of its own",
    ),
    pytest.param(
        {f"vllm/{n}.py": f"def {n}():\n    def get():\n        raise ValueError('The body is not JSON')\n" for n in ("a", "b", "c")},
        {f"vllm/{n}.py": f"def {n}():\n    def {m}():\n        raise ValueError('The body is not JSON')\n" for n, m in (("a", "get"), ("b", "get"), ("d", "get"))},
        ["relocated"], id="in a function inside a function, of copies",
    ),
    pytest.param(
        method("Engine", "_validate_inputs", '"Prompt cannot be empty"', "x is None or len(x) == 0"),
        method("Engine", "_validate_input", 'f"The {self.kind} prompt cannot be empty"', "not x and self.kind"),
        ["reguarded+relocated+reworded other"], id="in a method that was renamed",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "kinds"), KINDS)
def test_kinds(old: Source, new: Source, kinds: list[str]) -> None:
    assert told(changes(old, new)) == sorted(kinds)


def test_the_best_total_not_the_best_first() -> None:
    old = {
        "vllm/a.py": function(
            'if x == 1:\n    raise ValueError("one two three four five six")\nraise ValueError("one two three four five ten")\n'
        )
    }
    new = {
        "vllm/a.py": function(
            'if x == 1:\n    raise ValueError("one two three four five ten eleven")\nraise ValueError("zero two three four five ten")\n'
        )
    }
    assert sorted((c.old.message[-3:], c.new.message[-3:]) for c in changes(old, new) if c.old and c.new) == [
        ("six", "ven"),
        ("ten", "ten"),
    ]
    assert best({(0, 0): 1.0, (0, 1): 0.9, (1, 0): 0.9}) == [(0, 1), (1, 0)]
    assert best({}) == [] and best({(0, 0): 0.0}) == []


def paired(old: Source, new: Source) -> list[tuple[str, str]]:
    """Where each error was, and where it is."""
    found = [(c.old_site, c.new_site) for c in changes(old, new)]
    return sorted((f"{o.path} {o.symbol}", f"{n.path} {n.symbol}") for o, n in found if o is not None and n is not None)


def test_what_stands_in_place_comes_before_its_copy_elsewhere() -> None:
    old = {"vllm/gpu.py": method("Worker", "profile", '"Profiler is not enabled."', "self.profiler is None")}
    new = {
        "vllm/gpu.py": method("Worker", "profile", '"Profiling is not enabled."', "self.profiler is None"),
        "vllm/cpu.py": method("CpuWorker", "profile", '"Profiler is not enabled."', "self.profiler is None"),
    }
    assert paired(old, new) == [("vllm/gpu.py Worker.profile", "vllm/gpu.py Worker.profile")]


def test_a_verbatim_move_comes_before_what_is_alike_in_the_class() -> None:
    text = '"encode() only runs pooling models. Pass --runner pooling to use the model for that."'
    old = {"vllm/llm.py": method("LLM", "_verify_task", text, 'self.runner != "pooling"')}
    new = {
        "vllm/llm.py": method(
            "LLM", "chat", text.replace("pooling", "generative").replace("encode", "chat"), "self.runner"
        ),
        "vllm/pooling.py": method("PoolingMixin", "_verify_task", text, 'self.runner != "pooling"'),
    }
    assert paired(old, new) == [("vllm/llm.py LLM._verify_task", "vllm/pooling.py PoolingMixin._verify_task")]


def test_two_errors_tell_what_their_file_became() -> None:
    def backend(name: str, *texts: str) -> str:
        checks = "".join(
            f"        if self.a{n}:\n            raise ValueError({text!r})\n" for n, text in enumerate(texts)
        )
        return f"class {name}:\n    def __init__(self):\n{checks}"

    sure = [f"The number of {what} has to be a multiple of sixteen here" for what in ("heads", "layers")]
    old = {"vllm/rocm.py": backend("Rocm", *sure, "Rocm does not support block-sparse attention.")}
    new = {"vllm/triton.py": backend("Triton", *sure, "Triton does not support block-sparse attention.")}
    assert len(paired(old, new)) == 3


def test_one_message_in_several_files_goes_to_the_nearest() -> None:
    text = method("Worker", "load_model", f'"{LONG}"')
    old = {
        "vllm/worker/gpu.py": text.replace("Worker", "GpuWorker"),
        "vllm/worker/cpu.py": text.replace("Worker", "CpuWorker"),
    }
    new = {"vllm/v1/worker/cpu.py": old["vllm/worker/cpu.py"], "vllm/v1/worker/gpu.py": old["vllm/worker/gpu.py"]}
    assert [(c.old_site.path[-6:], c.new_site.path[-6:]) for c in changes(old, new) if c.old_site and c.new_site] == [
        ("cpu.py", "cpu.py"),
        ("gpu.py", "gpu.py"),
    ]


def test_a_message_of_many_functions_goes_where_most_of_them_went() -> None:
    def abstract(owner: str, *names: str) -> str:
        return f"class {owner}:\n" + "".join(f"    def {n}(self):\n        raise NotImplementedError\n" for n in names)

    old = {"vllm/chat.py": abstract("Parser", "text", "image", "audio", "video") + abstract("Tracker", "create")}
    new = {
        "vllm/chat/a.py": abstract("Tracker", "create") + abstract("Own", "run"),
        "vllm/chat/b.py": abstract("Parser", "text", "image", "audio", "video"),
    }
    paired = [c.new.sites[0].path for c in changes(old, new) if c.old is not None and c.new is not None]
    assert paired == ["vllm/chat/b.py"]


def test_what_only_other_checks_changed_is_told_apart() -> None:
    check = 'if x < 0:\n    raise ValueError("x must not be negative")\n'
    (before,) = [
        c
        for c in changes(function(check), function('if y == 1:\n    raise TypeError("not this y")\n' + check))
        if c.old
    ]
    (left,) = [c for c in changes(function(check), function("if y == 1:\n    return\n" + check)) if c.old]
    (asserted,) = [c for c in changes(function(check), function("assert y\n" + check)) if c.old]
    assert (before.earlier_only, left.earlier_only, asserted.earlier_only) == (True, False, True)
    assert before.guards_added == ("y != 1",) == left.guards_added


def test_a_condition_that_is_not_all_known_is_neither_stricter_nor_looser() -> None:
    body = 'while y:\n    try:\n        y = x()\n    finally:\n        if y.done:\n            break\n    if y.bad{}:\n        raise ValueError("y is bad now")\n'
    (change,) = changes(function(body.format("")), function(body.format(" and x")))
    sites = [s for e in (change.old, change.new) if e for s in e.sites]
    assert change.strictness == ("stricter" if all(s.complete for s in sites) else "other")


@pytest.mark.parametrize(
    ("premises", "conclusion", "follows"),
    [
        pytest.param(["a"], "b", False, id="something else"),
        pytest.param(["a or b"], "a", False, id="one of two"),
        pytest.param(["x > 3"], "x > 5", False, id="a weaker bound"),
        pytest.param(["x != 1"], "x == 2", False, id="not one, so another"),
        pytest.param(["x in y"], "x in z", False, id="in an unknown list"),
        pytest.param(["x in ('a', [])"], "x == 'a'", False, id="no hashable values"),
        pytest.param(["not a"], "a", False, id="the opposite"),
        pytest.param(["not (a and b)"], "not a", False, id="not both"),
        pytest.param(["x == True"], "x > 0", False, id="a truth is no number"),
        pytest.param(["except KeyError"], "except LookupError", False, id="no expression"),
        pytest.param(["a", "b"], "b", True, id="one of the premises"),
        pytest.param(["a"], "a or b", True, id="an alternative"),
        pytest.param(["a or b"], "b or c or a", True, id="alternatives"),
        pytest.param(["x > 5"], "x > 3", True, id="a bound"),
        pytest.param(["x >= 5"], "x != 4", True, id="a bound and a value"),
        pytest.param(["x == 7"], "x >= 7", True, id="a value and a bound"),
        pytest.param(["x == 'a'"], "x in ('a', 'b')", True, id="one of a list"),
        pytest.param(["x in ('a', 'b')"], "x not in ('c',)", True, id="in one list, so not in another"),
        pytest.param(["x not in ('a', 'b')"], "x != 'a'", True, id="none of a list"),
        pytest.param(["not a"], "not (a and b)", True, id="not one, so not both"),
        pytest.param(["not x < 1"], "not x < 0", True, id="not below"),
    ],
)  # fmt: skip
def test_what_follows(premises: list[str], conclusion: str, follows: bool) -> None:
    assert follow([conclusion], premises) == follows


# --- laws ------------------------------------------------------------------------------------------------

WORDS = ("block", "size", "must", "be", "positive", "the", "model", "does", "not", "support", "{x}", "cache")


@st.composite
def trees(draw: st.DrawFn) -> dict[str, str]:
    """A few files of functions with a few errors each, so that many are alike."""
    found = {}
    for name in draw(st.sets(st.sampled_from(["vllm/a.py", "vllm/b.py", "vllm/c/d.py"]), min_size=1)):
        functions = []
        for function_name in draw(st.sets(st.sampled_from("fgh"), min_size=1)):
            lines = [f"def {function_name}(x):"]
            for guard in draw(st.lists(st.sampled_from(["x", "x > 1", "x > 2", "not x"]), min_size=1, max_size=3)):
                words = " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=7)))
                exception = draw(st.sampled_from(["ValueError", "TypeError"]))
                lines += [f"    if {guard}:", f"        raise {exception}(f{words!r})"]
            functions.append("\n".join(lines))
        found[name] = "\n\n".join(functions) + "\n"
    return found


@given(trees())
@settings(max_examples=15, deadline=None)
def test_a_tree_and_itself(tree: dict[str, str]) -> None:
    assert changes(tree, tree) == []


@given(trees(), trees())
@settings(max_examples=40, deadline=None)
def test_each_error_of_both_sides_once_and_swapping_swaps(old: dict[str, str], new: dict[str, str]) -> None:
    before, after = errors(old), errors(new)
    there = compare(before, after)
    assert sorted(c.old.id for c in there if c.old) == sorted(e.id for e in before)
    assert sorted(c.new.id for c in there if c.new) == sorted(e.id for e in after)
    assert [(c.old, c.new) for c in there] == pairs(before, after)
    for change in there:
        assert change.kinds == tuple(sorted(change.kinds))
        assert (change.old is None) == (change.kinds == ("added",)) and (change.new is None) == (
            change.kinds == ("removed",)
        )
        assert ("reguarded" in change.kinds) == (change.strictness is not None)
    back = compare(after, before)
    count = [sum("added" in c.kinds for c in there), sum("removed" in c.kinds for c in there)]
    assert count == [sum("removed" in c.kinds for c in back), sum("added" in c.kinds for c in back)]


@given(trees())
@settings(max_examples=15, deadline=None)
def test_renaming_the_one_file_changes_only_paths(tree: dict[str, str]) -> None:
    text = next(iter(tree.values()))
    assert {c.kinds for c in changes({"vllm/a.py": text}, {"vllm/other/a.py": text})} <= {("relocated",)}


@given(st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.floats(0.01, 2), max_size=16))
@settings(max_examples=80, deadline=None)
def test_no_other_pairing_adds_up_to_more(scores: dict[tuple[int, int], float]) -> None:
    chosen = best(scores)
    assert len({o for o, _ in chosen}) == len(chosen) == len({n for _, n in chosen})
    total = sum(scores[pair] for pair in chosen)
    for seed in range(20):
        tried, rows, columns = 0.0, set(), set()
        for pair in random.Random(seed).sample(sorted(scores), len(scores)):
            if pair[0] not in rows and pair[1] not in columns:
                rows.add(pair[0])
                columns.add(pair[1])
                tried += scores[pair]
        assert tried <= total + 1e-9
