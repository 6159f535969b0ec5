"""Asking a dataset before a deployment: what is raised for these values, what is not, and what else must be told."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from extractor import Typed, check, load, member
from extractor.checking import lines
from extractor.core import Core
from extractor.environments import MAX_BYTES, environment, parsed, read
from extractor.errors import ToolError
from tests.test_cli import cli
from tests.test_dataset import extract, write_tree

ROOT = Path(__file__).parent.parent
TREE = {
    "vllm/config/lora.py": """
        import enum

        class Kind(enum.Enum):
            FAST = 1
            SLOW = 2

        class LoRAConfig:
            def verify(self):
                if self.max_loras < 1:
                    raise ValueError(f"max_loras is {self.max_loras}")
                if self.cpu is not None and self.cpu.size < self.max_loras:
                    raise ValueError(f"{self.cpu.size!r} under {self.max_loras} for {self.name}")

            def kind_is(self, kind):
                if kind == Kind.FAST:
                    raise TypeError("too fast")

            def later(self):
                raise NotImplementedError
    """,
    "vllm/sizes.py": """
        def over(sizes, limit):
            for size in sizes:
                if size > limit:
                    raise ValueError(f"{size} is over {limit}")

        def lookup(table, key):
            if key not in table:
                raise KeyError(f"no {key!r}")

        def equal(first, second):
            if first == second:
                raise ValueError("the same")

        def method(thing):
            if thing.ready() and thing.size > 2:
                raise ValueError("ready")

        def of_class(thing):
            if isinstance(thing, Big):
                raise TypeError("big")

        class Big:
            pass
    """,
    # messages whose holes are not what a guard read, or not certain to be
    "vllm/changing.py": """
        def text_before(x):
            text = f"{x}"
            x = x + 1
            if x > 3:
                raise ValueError(text)

        def bound_between(x):
            if x > 3:
                x = other(x)
                raise ValueError(f"{x}")

        def bound_before(x):
            x = x + 1
            if x > 3:
                raise ValueError(f"{x}")

        def set_between(self):
            if self.x > 3:
                self.x = other(self)
                raise ValueError(f"{self.x}")

        def called_between(self):
            if self.x > 3:
                self.reset()
                raise ValueError(f"{self.x}")

        def grown_between(xs):
            if xs:
                xs.append(1)
                raise ValueError(f"{xs}")

        def called_in_the_raise(self):
            if self.x > 3:
                raise ValueError(f"{self.reset()} {self.x}")

        def in_a_loop(x, ys):
            if x > 3:
                for y in ys:
                    if y:
                        raise ValueError(f"{x}")
                    x = y

        def of_a_comprehension(x, xs):
            if any(x > 3 for x in xs):
                raise ValueError(f"{x}")

        def unguarded(x, y):
            if x > 3:
                raise ValueError(f"{x} {y}")

        def with_a_spec(x):
            if x > 3:
                raise ValueError(f"{x:.2f} {x:>99999999} {x!r}")

        def after_an_exit(x):
            if x <= 3:
                return
            raise ValueError(f"{x}")

        def otherwise(x):
            if x <= 3:
                pass
            elif x > 4:
                raise ValueError(f"{x}")
    """,
    "vllm/percent.py": """
        def percent(x):
            if x > 0:
                raise ValueError("%d and %s" % (x, x))
    """,
    "vllm/hostile.py": """
        def f(it):
            if it == 1:
                raise ValueError("\\x1b[31mred \\u202e evil [bold]rich[/bold]")
    """,
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dataset `x` under `output`."""
    folder = tmp_path_factory.mktemp("home")
    source = write_tree(folder / "tree", {path: textwrap.dedent(text) for path, text in TREE.items()})
    extract(source, folder / "output")
    return folder


@pytest.fixture(scope="module")
def core(home: Path) -> Core:
    return load(home / "output" / "x")


# --- values that are never taken for what they are not ----------------------------------------------------

# (name, function, environment, its message): must not be filled
UNFILLED: list[tuple[str, str, dict[str, Any], str]] = [
    ("text made before", "text_before", {"x": 7}, "{x}"),
    ("bound between", "bound_between", {"x": 7}, "{x}"),
    ("an attribute set between", "set_between", {"self": Typed(x=7)}, "{self.x}"),
    ("a call between", "called_between", {"self": Typed(x=7)}, "{self.x}"),
    ("a collection grown between", "grown_between", {"xs": [7]}, "{xs}"),
    ("a call in the raise itself", "called_in_the_raise", {"self": Typed(x=7)}, "{self.reset()} {self.x}"),
    ("bound in a later turn", "in_a_loop", {"x": 7, "ys": [0, 1]}, "{x}"),
    ("a name of a comprehension", "of_a_comprehension", {"x": 1, "xs": [7]}, "{x}"),
    ("a name that no guard reads", "unguarded", {"x": 7, "y": 8}, "7 {y}"),
    ("a width that fills the memory", "with_a_spec", {"x": 7.5}, "7.50 {x:>99999999} 7.5"),
    ("a number that %d cuts", "percent", {"x": 7.5}, "{x} and {x}"),
    ("a truth that %d counts", "percent", {"x": True}, "{x} and {x}"),
    ("a long text", "bound_before", {"x": 10**2_000}, "{x}"),
]
# (name, function, environment, its message)
FILLED: list[tuple[str, str, dict[str, Any], str]] = [
    ("bound before the guard", "bound_before", {"x": 7}, "8"),
    ("behind an exit", "after_an_exit", {"x": 7}, "7"),
    ("in an elif", "otherwise", {"x": 7}, "7"),
    ("the turn of the loop", "over", {"sizes": [1, 9], "limit": 4}, "9 is over 4"),
    ("as repr", "lookup", {"table": {"a": 1}, "key": "b'"}, 'no "b\'"'),
    ("through %", "percent", {"x": 7}, "7 and 7"),
    ("attributes", "LoRAConfig.verify", {"self": Typed(max_loras=0)}, "max_loras is 0"),
]


@pytest.mark.parametrize(("symbol", "env", "message"), [r[1:] for r in UNFILLED], ids=[r[0] for r in UNFILLED])
def test_must_not_fill_what_is_not_certain(core: Core, symbol: str, env: dict[str, Any], message: str) -> None:
    found = {one.message for one in check(core, env, symbol=symbol).raised}
    assert found <= {message}, found


@pytest.mark.parametrize(("symbol", "env", "message"), [r[1:] for r in FILLED], ids=[r[0] for r in FILLED])
def test_a_message_has_the_values_in_it(core: Core, symbol: str, env: dict[str, Any], message: str) -> None:
    assert [one.message for one in check(core, env, symbol=symbol).raised] == [message]


class Raises:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no")

    def __bool__(self) -> bool:
        raise RuntimeError("no")

    def __contains__(self, item: object) -> bool:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __lt__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]
    __gt__ = __le__ = __ge__ = __format__ = __str__ = __len__ = __iter__ = __lt__  # type: ignore[assignment]


class Leaves(Raises):
    def __eq__(self, other: object) -> bool:
        raise SystemExit(0)

    def __getattr__(self, name: str) -> Any:
        raise SystemExit(0)

    __bool__ = __contains__ = __lt__ = __gt__ = __le__ = __eq__  # type: ignore[assignment]


class Lies:
    def __eq__(self, other: object) -> bool:
        return True

    def __gt__(self, other: object) -> bool:
        return True

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__
    __hash__ = None  # type: ignore[assignment]


def _itself() -> list[Any]:
    inner: list[Any] = []
    inner.append(inner)
    return inner


# (name, value, whether `equal(first=value, second=1)` is raised)
HOSTILE: list[tuple[str, Any, bool | None]] = [
    ("raises", Raises(), None),
    ("leaves the process", Leaves(), None),
    ("lies, and is believed", Lies(), True),
    ("holds itself", _itself(), None),
    ("a large collection", [0] * 10**6, False),
    ("a large number", 10**5_000, False),
    ("a class", Raises, None),
]


@pytest.mark.parametrize(("value", "answer"), [r[1:] for r in HOSTILE], ids=[r[0] for r in HOSTILE])
def test_hostile_values_do_not_stop_the_answers(core: Core, value: Any, answer: bool | None) -> None:
    report = check(core, {"first": value, "second": 1}, symbol="equal")
    assert (len(report.raised), report.cannot) in {True: [(1, 0)], False: [(0, 1)], None: [(0, 0), (0, 1)]}[answer]
    names = ("self", "x", "xs", "sizes", "limit", "table", "key", "first", "second", "kind", "thing", "ys")
    everywhere = check(core, dict.fromkeys(names, value))
    assert len(everywhere.raised) + everywhere.cannot + everywhere.unknown == 24
    assert list(lines(everywhere, "x", 100))


# --- answers ----------------------------------------------------------------------------------------------

# (name, environment as JSON, filters, messages that are raised, cannot, unknown)
ANSWERS: list[tuple[str, Any, dict[str, str], list[str], int, int]] = [
    ("nothing is told", {}, {}, [], 0, 24),
    ("what is raised anyway is not listed", {"self": {}}, {"path": "*lora*"}, [], 0, 4),
    ("but it is where it is asked for", {}, {"symbol": "LoRAConfig.later"}, [""], 0, 0),
    ("an object", {"self": {"max_loras": 2, "cpu": None}}, {"symbol": "LoRAConfig.verify"}, [], 2, 0),
    (
        "an object in an object",
        {"self": {"max_loras": 2, "cpu": {"size": 1}}},
        {"symbol": "LoRAConfig"},
        ["1 under 2 for {self.name}", ""],
        1,
        1,
    ),
    ("a member", {"kind": {"$enum": "Kind.FAST"}}, {"path": "vllm/*/lora.py"}, ["too fast"], 0, 3),
    ("another member", {"kind": {"$enum": "Kind.SLOW"}}, {"symbol": "LoRAConfig.kind_is"}, [], 1, 0),
    ("a mapping", {"table": {"$dict": {"not a name": 1}}, "key": "x"}, {"symbol": "lookup"}, ["no 'x'"], 0, 0),
    ("a key of a mapping", {"table": {"$dict": {"x": 1}}, "key": "x"}, {"symbol": "lookup"}, [], 1, 0),
    ("a namespace is no mapping", {"table": {"x": 1}, "key": "x"}, {"symbol": "lookup"}, [], 0, 1),
    ("a class", {"thing": {"$type": "Big"}}, {"symbol": "of_class"}, ["big"], 0, 0),
    ("no class", {"thing": {"size": 1}}, {"symbol": "of_class"}, [], 0, 1),
    ("a list", {"sizes": [1, 5], "limit": 4}, {"path": "vllm/sizes.py"}, ["5 is over 4"], 0, 4),
]


@pytest.mark.parametrize("row", ANSWERS, ids=[r[0] for r in ANSWERS])
def test_answers(core: Core, row: tuple[str, Any, dict[str, str], list[str], int, int]) -> None:
    _, env, filters, messages, cannot, unknown = row
    report = check(core, environment(env), **filters)
    assert ([one.message for one in report.raised], report.cannot, report.unknown) == (messages, cannot, unknown)


def settling(core: Core, env: Any, **filters: str) -> dict[str, int]:
    return {s.name: s.count for s in check(core, environment(env), **filters).settle}


def test_what_would_settle_the_most_comes_first(core: Core) -> None:
    assert next(iter(settling(core, {}, path="*/sizes.py").items())) == ("thing", 2)
    assert settling(core, {"self": {}}, symbol="LoRAConfig.verify") == {"self.max_loras": 2, "self.cpu": 1}
    assert settling(core, {"self": {"max_loras": 2, "cpu": {}}}, symbol="LoRAConfig.verify") == {"self.cpu.size": 1}
    assert settling(core, {"sizes": [1]}, symbol="over") == {"limit": 1}


def test_a_method_is_nothing_that_json_can_tell(core: Core) -> None:
    assert "thing.ready" not in settling(core, {"thing": {}}, symbol="method")


def test_must_not_read_modules_that_no_filter_needs(home: Path) -> None:
    core = load(home / "output" / "x")
    check(core, {}, symbol="over")
    assert list(core._read) == ["vllm_sizes"]


def test_real_objects_are_asked_themselves(core: Core) -> None:
    config = SimpleNamespace(max_loras=0, cpu=None)
    (one,) = check(core, {"self": config}, symbol="LoRAConfig.verify").raised
    assert (one.message, one.exception, one.path) == ("max_loras is 0", "ValueError", "vllm/config/lora.py")
    assert [(g.text, g.answer) for g in one.guards] == [("self.max_loras < 1", True)]
    assert check(core, {"kind": member("Kind.FAST")}, symbol="LoRAConfig.kind_is").raised


def test_the_use_from_python_in_the_readme_is_three_lines_that_run(home: Path) -> None:
    text = (ROOT / "README.md").read_text()
    (block,) = (b for b in text.split("```") if b.startswith("python\nfrom extractor import"))
    code = block.removeprefix("python\n").replace("0.28.0", "x")
    assert len([line for line in code.splitlines() if line]) == 3
    done = subprocess.run(
        [sys.executable, "-c", f"from types import SimpleNamespace\nconfig = SimpleNamespace()\n{code}"],
        cwd=home, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


# --- bad input --------------------------------------------------------------------------------------------

# (name, the text of the environment, what the sentence says)
BAD: list[tuple[str, bytes, str]] = [
    ("nothing", b"", "not JSON"),
    ("not JSON", b"{'a': 1}", "line 1 column 2"),
    ("not UTF-8", b'{"a": "\xff"}', "not UTF-8"),
    ("a list", b"[1]", "not an object"),
    ("a number", b"1", "not an object"),
    ("NaN", b'{"a": NaN}', "NaN"),
    ("infinity", b'{"a": -Infinity}', "-Infinity"),
    ("more than a float holds", b'{"a": 1e999}', "1e999"),
    ("more digits than Python reads", b'{"a": ' + b"1" * 5_000 + b"}", "digits"),
    ("deep lists", b'{"a": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", "deeper than 100"),
    ("deep objects", b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "deeper than 100"),
    ("rather deep", b'{"a":' * 102 + b"1" + b"}" * 102, "deeper than 100"),
    ("a key twice", b'{"a": {"b": 1, "b": 2}}', "'b' twice"),
    ("a key that is no name", b'{"a b": 1}', "'a b'"),
    ("a key inside that is no name", b'{"a": {"0": 1}}', "'0' of a"),
    ("a word of Python", b'{"a": {"class": 1}}', "'class' of a"),
    ("what Python keeps for itself", b'{"a": {"__class__": 1}}', "'__class__' of a"),
    ("another word with a dollar", b'{"a": {"$set": []}}', "'$set' of a"),
    ("a word at the top", b'{"$enum": "A.B"}', "'$enum'"),
    ("an enum that is no text", b'{"a": {"$enum": 1}}', '{"$enum": "Class.NAME"}'),
    ("an enum without a class", b'{"a": {"$enum": "NAME"}}', '{"$enum": "Class.NAME"}'),
    ("an enum with more", b'{"a": {"$enum": "A.B", "c": 1}}', '{"$enum": "Class.NAME"}'),
    ("a class that is no text", b'{"a": {"$type": null}}', '{"$type": "Class", '),
    ("a mapping that is none", b'{"a": {"$dict": []}}', '{"$dict": {'),
    ("a mapping with more", b'{"a": {"$dict": {}, "b": 1}}', '{"$dict": {'),
]


@pytest.mark.parametrize(("data", "sentence"), [r[1:] for r in BAD], ids=[r[0] for r in BAD])
def test_a_bad_environment_is_one_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(ToolError) as told:
        parsed(data)
    assert sentence in str(told.value) and len(str(told.value)) < 400 and "\n" not in str(told.value)
    assert told.value.exit_code == 2


def test_a_large_file_is_refused_without_reading_it(tmp_path: Path) -> None:
    with open(tmp_path / "large", "wb") as stream:
        stream.truncate(100 << 20)
    for path in (tmp_path / "large", Path("/dev/zero")):
        with pytest.raises(ToolError, match=f"larger than {MAX_BYTES >> 20} MB"):
            read(str(path))


# (name, filters, what the sentence says)
UNKNOWN: list[tuple[str, dict[str, str], str]] = [
    ("a symbol", {"symbol": "LoraConfig.verify"}, "LoRAConfig.verify"),
    ("half a symbol", {"symbol": "LoRAConfig.ver"}, "LoRAConfig.verify"),
    ("no symbol", {"symbol": ""}, "none"),
    ("a path", {"path": "vllm/size.py"}, "vllm/sizes.py"),
    ("an id", {"id": "ffffffffffffffff"}, "nearest"),
    ("a symbol elsewhere", {"symbol": "over", "path": "*lora*"}, "leave one of them out"),
]


@pytest.mark.parametrize(("filters", "sentence"), [r[1:] for r in UNKNOWN], ids=[r[0] for r in UNKNOWN])
def test_what_is_not_there_names_the_nearest(core: Core, filters: dict[str, str], sentence: str) -> None:
    with pytest.raises(ToolError, match=sentence) as told:
        check(core, {}, **filters)
    assert told.value.exit_code == 2


# --- datasets that are not what they should be ------------------------------------------------------------


def _rewritten(folder: Path, name: str, data: bytes | None) -> None:
    """A file of the dataset replaced, by somebody who keeps the manifest right."""
    manifest = json.loads((folder / "manifest.json").read_text())
    if data is None:
        del manifest["files"][name]
    else:
        (folder / name).write_bytes(data)
        manifest["files"][name] = hashlib.sha256(data).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


def _schema(version: int) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps(manifest | {"schema": version}))

    return change


def _module(source: str) -> Callable[[Path], None]:
    return lambda folder: _rewritten(folder, "predicates/vllm_sizes.py", source.encode())


def _predicate(**changes: Any) -> Callable[[Path], None]:
    """The predicate of `equal` with other data."""
    data = {
        "name": "vllm.sizes:equal:12", "id": "0" * 16, "params": ["first"], "precision": "exact",
        "path": "vllm/sizes.py", "line": 12, "symbol": "equal", "exception": "E", "message": "m", "permalink": None,
        "guards": [], "start": ["first"], "code": [], "site": 0, "globals": {},
    } | changes  # fmt: skip
    return _module(f"PREDICATES = ({json.dumps(data)!r},)\n")


RUN = [["e", ["v()", ["g", 0], [["k", "raise SystemExit('ran')"]], []]]]
# (name, what is done to the dataset, what the sentence says)
DAMAGED: list[tuple[str, Callable[[Path], None], str]] = [
    ("a module that runs", _module("raise SystemExit('ran')\n"), "extract"),
    ("a module that computes", _module("PREDICATES = (print('ran'),)\n"), "extract"),
    ("a function of Python's own", _predicate(globals={"0": ["b", "exec"]}, code=RUN), "extract"),
    ("one inside a tuple", _predicate(globals={"0": ["t", [["b", "open"]]]}, code=RUN), "extract"),
    ("no syntax", _module("PREDICATES = ("), "extract"),
    ("a null byte", _module("PREDICATES = ('\x00',)"), "extract"),
    ("deep brackets", _module("PREDICATES = " + "(" * 5_000), "extract"),
    ("no JSON", _module("PREDICATES = ('{',)"), "extract"),
    ("deep JSON", _module(f"PREDICATES = ('{'[' * 100_000}',)"), "extract"),
    ("no predicates in a module", _module("PREDICATES = ()\n"), "extract"),
    ("other kinds of values", _predicate(line="x"), "extract"),
    ("an id that leaves the folder", _predicate(id="../../../etc/passwd"), "extract"),
    ("guards without text", _predicate(guards=[{"line": 1}]), "extract"),
    ("an index that is none", lambda f: _rewritten(f, "predicates/index.json", b"[]"), "extract"),
    ("no predicates", lambda f: _rewritten(f, "predicates/index.json", None), "no predicates"),
    ("a changed file", lambda f: (f / "predicates/vllm_sizes.py").write_bytes(b""), "not what its manifest lists"),
    ("a missing file", lambda f: (f / "predicates/vllm_sizes.py").unlink(), "cannot be read"),
    ("an older schema", _schema(0), "vllm-errors extract"),
    ("a newer schema", _schema(99), "newer"),
]  # fmt: skip


@pytest.fixture
def copy(home: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "x"
    subprocess.run(["cp", "-r", str(home / "output" / "x"), str(folder)], check=True)
    return folder


@pytest.mark.parametrize(("change", "sentence"), [r[1:] for r in DAMAGED], ids=[r[0] for r in DAMAGED])
def test_must_not_run_or_trust_what_is_in_a_dataset(
    copy: Path, change: Callable[[Path], None], sentence: str, capfd: pytest.CaptureFixture[str]
) -> None:
    change(copy)
    with pytest.raises(ToolError, match=sentence) as told:
        check(load(copy), {"first": 1, "second": 1}, path="vllm/sizes.py")
    assert told.value.exit_code == 2 and "vllm-errors extract" in str(told.value)
    assert capfd.readouterr().out == ""


# (name, a program that is none): unknown, whatever it makes the machine say
PROGRAMS: list[tuple[str, Any]] = [
    ("no such statement", [["frobnicate"]]),
    ("too short", [["="]]),
    ("no list", [1]),
    ("deep", json.loads('["e",' * 400 + "1" + "]" * 400)),
    ("no such global", [["e", ["g", 7]]]),
]


@pytest.mark.parametrize("code", [r[1] for r in PROGRAMS], ids=[r[0] for r in PROGRAMS])
def test_a_program_that_is_none_is_unknown(copy: Path, code: Any) -> None:
    index = {"vllm_sizes": ["vllm/sizes.py", ["vllm.sizes:equal:12"]]}
    _rewritten(copy, "predicates/index.json", json.dumps(index).encode())
    _predicate(code=code if isinstance(code[0], list) else [code])(copy)
    report = check(load(copy), {"first": 1})
    assert (report.raised, report.cannot, report.unknown) == ((), 0, 1)


# --- the command ------------------------------------------------------------------------------------------


def asked(home: Path, env: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (home / "env.json").write_text(env)
    return cli(home, "check", "--env", "env.json", *arguments)


# (name, environment, arguments, exit code)
EXITS: list[tuple[str, str, list[str], int]] = [
    ("raised", '{"self": {"max_loras": 0}}', ["--symbol", "LoRAConfig.verify"], 1),
    ("not raised", '{"self": {"max_loras": 1, "cpu": null}}', ["--symbol", "LoRAConfig.verify"], 0),
    ("unknown", "{}", [], 0),
]  # fmt: skip


@pytest.mark.parametrize(("env", "arguments", "code"), [r[1:] for r in EXITS], ids=[r[0] for r in EXITS])
def test_the_exit_code_says_whether_anything_is_raised(home: Path, env: str, arguments: list[str], code: int) -> None:
    for more in ([], ["--json"], ["--limit", "0"]):
        done = asked(home, env, *arguments, *more)
        assert (done.returncode, done.stderr) == (code, "") and done.stdout


# (name, environment, arguments, what the sentence says)
USE: list[tuple[str, str, list[str], str]] = [
    ("not JSON", "{", [], "not JSON"),
    ("deep", "[" * 10_000, [], "deeper"),
    ("an unknown symbol", "{}", ["--symbol", "LoRAConfig.verfy"], "LoRAConfig.verify"),
    ("an unknown id", "{}", ["--id", "ffffffffffffffff"], "nearest"),
    ("an unknown dataset", "{}", ["--dataset", "v9"], "no dataset"),
    ("a file that is not there", "{}", ["--env", "nowhere.json"], "nowhere.json"),
    ("a folder", "{}", ["--env", "."], "Is a directory"),
    ("a negative limit", "{}", ["--limit", "-1"], "--limit"),
    ("hostile text", '{"\\u001b[31m": 1}', [], "\\x1b[31m"),
]


@pytest.mark.parametrize(("env", "arguments", "sentence"), [r[1:] for r in USE], ids=[r[0] for r in USE])
def test_bad_use_is_one_sentence_and_exit_code_2(home: Path, env: str, arguments: list[str], sentence: str) -> None:
    done = asked(home, env, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr and "Traceback" not in done.stderr and "\x1b" not in done.stderr


def test_the_json_is_the_contract(home: Path) -> None:
    done = asked(home, '{"sizes": [9], "limit": 4, "first": 1}', "--path", "vllm/sizes.py", "--json")
    report = json.loads(done.stdout)
    (one,) = report["raised"]
    assert cli(home, "show", one["id"], "--json").returncode == 0
    assert report == {
        "raised": [
            {
                "id": one["id"],
                "exception": "ValueError",
                "message": "9 is over 4",
                "path": "vllm/sizes.py",
                "line": 5,
                "symbol": "over",
                "guards": [
                    {"text": "for size in sizes", "line": 3, "answer": one["guards"][0]["answer"]},
                    {"text": "size > limit", "line": 4, "answer": True},
                ],
            }
        ],
        "cannot": 0,
        "unknown": 4,
        "settle": [
            {"name": "thing", "count": 2},
            {"name": "key", "count": 1},
            {"name": "second", "count": 1},
            {"name": "table", "count": 1},
        ],
    }
    assert json.loads(asked(home, '{"sizes": [9], "limit": 4}', "--json", "--limit", "0").stdout)["raised"] == []


def test_from_the_standard_input_and_by_the_beginning_of_an_id(home: Path) -> None:
    (one,) = check(load(home / "output" / "x"), {"self": Typed(max_loras=0)}, symbol="LoRAConfig.verify").raised
    command = [sys.executable, "-m", "extractor", "check", "--env", "-", "--id", one.id[:7]]
    done = subprocess.run(command, cwd=home, input='{"self": {"max_loras": 0}}', capture_output=True, text=True)
    assert done.returncode == 1 and "ValueError: max_loras is 0" in done.stdout
    assert "- self.max_loras < 1   (line 10: holds)" in done.stdout
    assert done.stdout.endswith("x: 1 raised, 0 cannot be raised, 0 unknown\n")


def test_hostile_text_comes_out_as_visible_text(home: Path) -> None:
    done = asked(home, '{"it": 1, "key": "\\ud800\\u001b[31m", "table": []}')
    assert done.returncode == 1 and "\\x1b[31mred \\u202e evil [bold]rich[/bold]" in done.stdout
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout
    found = json.loads(asked(home, '{"key": "\\ud800\\u001b[31m", "table": []}', "--json").stdout)
    assert found["raised"][0]["message"] == "no '\\ud800\\x1b[31m'"
