"""Python itself as the oracle: what a generated function really raises fits one of the variants, in full."""

from __future__ import annotations

import re
from typing import Any

import re2
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from extractor.model import Variant
from tests.trees import sites_in

NAMES = ["a", "b", "m", "n"]
WORDS = st.sampled_from(["x", "no ", "%", "{}", "it's", 'say "hi"', "café ", "\\n", "", "of {{"])
VALUES = st.sampled_from([0, 1, 7, 2.5, None, True, "text", "", ["p", "q"], ("r",), {"k": "v"}])


def literal(word: str) -> str:
    return repr(word)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 0) -> str:
    """An expression that is text."""
    word, name = draw(WORDS), draw(st.sampled_from(NAMES))
    kinds = ["literal", "str", "hole", "repr", "percent", "format", "tuple"]
    if depth < 2:
        kinds += ["add", "conditional", "join", "strip", "helper"]
    kind = draw(st.sampled_from(kinds))
    inner = draw(expressions(depth + 1)) if kind in ("add", "conditional", "join", "strip") else ""
    other = draw(expressions(depth + 1)) if kind in ("add", "conditional", "join") else ""
    plain = word.replace("{", "").replace("}", "").replace("%", "")
    return {
        "literal": literal(word),
        "str": f"str({name})",
        "repr": f"repr({name})",
        "hole": "f" + literal(plain + "{" + name + "}" + "{" + name + "!r}" + "{{}}"),
        "percent": f"({literal(plain + '%s %% %r')} % ({name}, {name}))",
        "format": f"{literal(plain + '{} {x!r} {{')}.format({name}, x={name})",
        "tuple": f"str(({literal(word)}, {name}))",
        "add": f"({inner} + {other})",
        "conditional": f"({inner} if {name} else {other})",
        "join": f"'; '.join([{inner}, {other}])",
        "strip": f"{inner}.strip()",
        "helper": f"helper({name}, {literal(word)})",
    }[kind]


@st.composite
def bodies(draw: st.DrawFn, depth: int = 0) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["set", "add", "raise", "number", "if", "for", "try", "list", "again"]))
        name, test = draw(st.sampled_from(["m", "n"])), draw(st.sampled_from(NAMES))
        if kind in ("if", "for", "try") and depth < 2:
            inner = [f"    {line}" for line in draw(bodies(depth + 1))]
            lines += {
                "if": [f"if {test}:", *inner],
                "for": [f"for {test} in (1, 2):", *inner],
                "try": ["try:", *inner, "    int('x')", "except ValueError:", f"    {name} = {draw(expressions())}"],
            }[kind]
            if kind == "if" and draw(st.booleans()):
                lines += ["else:", *[f"    {line}" for line in draw(bodies(depth + 1))]]
        elif kind == "raise":
            lines += [f"if {test}:", f"    raise {draw(raised())}"]
        elif kind == "number":
            lines.append(f"{name} = {draw(st.integers(0, 9))}")
        elif kind == "add":
            lines.append(f"{name} = str({name}) + {draw(expressions())}")
        elif kind == "again":
            lines += [f"{name} = str({name})", f"{name} += {draw(expressions())}"]
        elif kind == "list":
            lines += [f"p = [{draw(expressions())}]", f"p.append({draw(expressions())})", f"{name} = ', '.join(p)"]
        else:
            lines.append(f"{name} = {draw(expressions())}")
    return lines


@st.composite
def raised(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["one", "one", "two", "own", "told", "name", "none"]))
    first, second = draw(expressions()), draw(expressions())
    return {
        "one": f"LookupError({first})",
        "two": f"LookupError({first}, {second})",
        "own": f"Own({first}, why={second})",
        "told": f"Told({first})",
        "name": f"LookupError({draw(st.sampled_from(NAMES))})",
        "none": "LookupError",
    }[kind]


HEAD = """
def helper(what, why="?"):
    if what:
        return f"{why}: {what}"
    return "nothing"

class Own(LookupError):
    def __init__(self, text, why=None):
        super().__init__(f"<{text}>")
        self.why = why

    def __str__(self):
        return super().__str__() + (f" since {self.why}" if self.why else "")

class Told(LookupError):
    def __init__(self, text):
        self.text = text

    def __str__(self):
        return "told " + self.text

"""


def unquoted(text: str) -> str:
    """Which quotes `repr` takes, and what `strip` takes beside an empty value, depends on the values."""
    return re.sub(r"[\\'\"\s]", "", text)


def fits(variants: tuple[Variant, ...], text: str) -> bool:
    if not variants:
        return text == ""
    for variant in variants:
        pieces = (re.escape(unquoted(str(p.text))) if p.text is not UNSET else r"[\s\S]*" for p in variant.parts)
        if re2.fullmatch("".join(pieces), unquoted(text)):  # `re` would try for hours
            return True
    return False


def outcome(source: str, values: dict[str, Any]) -> tuple[int, str] | None:
    """The line of the raise that ended the call, and what it says; None when it ended otherwise."""
    scope: dict[str, Any] = {}
    exec(compile(source, "a.py", "exec"), scope)
    try:
        scope["f"](**values)
    except LookupError as e:
        trace = e.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        return (trace.tb_lineno, str(e)) if trace is not None and trace.tb_frame.f_code.co_name == "f" else None
    except Exception:
        return None
    return None


@settings(max_examples=500, deadline=None)
@given(bodies(), raised(), st.lists(st.fixed_dictionaries(dict.fromkeys(NAMES, VALUES)), min_size=2, max_size=4))
def test_what_is_raised_fits_a_variant(lines: list[str], last: str, runs: list[dict[str, Any]]) -> None:
    body = "".join(f"    {line}\n" for line in [*lines, f"raise {last}"])
    source = HEAD + "def f(a, b, m, n):\n" + body
    found = {f.site.line: f for f in sites_in({"vllm/a.py": source}) if f.site.symbol == "f"}
    for values in runs:
        ended = outcome(source, values)
        if ended is not None:
            line, text = ended
            assert fits(found[line].error.variants, text), (source, text, found[line].messages)
