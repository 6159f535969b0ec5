"""Cards: one whole card by hand, what is said and what is left out, and laws about any text inside."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec import UNSET, UnsetType
from rich.console import Console

from extractor.model import (
    Constant,
    Context,
    Doc,
    Error,
    Guard,
    Hint,
    Part,
    Provenance,
    Related,
    Site,
    Tried,
    Variant,
)
from extractor.printable import visible
from extractor.render import cards, environment
from extractor.render.compose import CODE_LINE, CONDITIONS, MESSAGE, MESSAGES, SITES
from extractor.render.terminal import renderable

BASE = "https://github.com/vllm-project/vllm/blob/v9.8.7"
SOURCE = Provenance(
    repo="vllm-project/vllm",
    label="v9.8.7",
    commit="abcdef0123",
    release="9.8.7",
    date="2026-08-14T10:00:00Z",
    permalink=BASE,
)
SITE = Site(
    path="vllm/pool.py",
    line=12,
    end_line=13,
    column=12,
    symbol="Pool.resize",
    permalink=f"{BASE}/vllm/pool.py#L12-L13",
    kind="raise",
    exception="PoolError",
    qualified_exception="vllm.pool.PoolError",
    bases=("vllm.base.Base", "builtins.ValueError", "builtins.Exception", "builtins.BaseException", "builtins.object"),
    http_status=400,
    cause="KeyError",
    context=Context(
        start=9,
        lines=(
            "        if self.closed:",
            "            return",
            "        if kind in KINDS:",
            "            raise PoolError(",
            '                f"no {kind}") from e',
            "",
        ),
    ),
    doc=Doc(symbol="Pool.resize", path="vllm/pool.py", line=7, text="Makes it larger.\n\nArgs:\n    kind: which"),
    exception_doc=Doc(symbol="PoolError", path="vllm/pool.py", line=3, text="Nothing is left."),
    guards=(
        Guard(kind="exit", text="not self.closed", line=9),
        Guard(kind="if", text="kind in KINDS", line=11, stale=True),
    ),
    definition_guards=(Guard(kind="if", text="sys.platform == 'linux'", line=1),),
    complete=False,
    caught_by="ValueError",
    validates=("kind",),
)
ERROR = Error(
    id="0123456789abcdef",
    repo="vllm-project/vllm",
    kind="raise",
    language="python",
    exception="PoolError",
    qualified_exception="vllm.pool.PoolError",
    bases=SITE.bases,
    title="no {kind}",
    message="no {kind}",
    http_status=400,
    variants=(
        Variant(message="no {kind}", parts=(Part(text="no "), Part(expr="kind", conversion=None, spec=None))),
        Variant(message="no kind at all. Use `--kind`.", parts=(Part(text="no kind at all. Use `--kind`."),)),
    ),
    pattern="no ",
    constants={"KINDS": Constant(value=["big", "small"], path="vllm/kinds.py", line=2)},
    hints=(
        Hint(kind="sentence", text="Use\n  `--kind`."),
        Hint(kind="flag", text="--kind"),
        Hint(kind="environment", text="VLLM_KIND"),
    ),
    related=(
        Related(id="fedcba9876543210", title="[x] is closed", exception="OSError", why="same class"),
        Related(id="1111111111111111", title="no pool", exception="OSError", why="also about `pool`"),
    ),
    sites=(SITE,),
)

CARD = f"""\
vllm-project/vllm · raise · `PoolError` · HTTP 400

# no {{kind}}

## Error message

One of 2 messages:

```text
no {{kind}}
```

```text
no kind at all. Use `--kind`.
```

## What it means

`vllm.pool.PoolError` derives from `vllm.base.Base`, `ValueError`.

`PoolError`, as its docstring says ([`vllm/pool.py:3`]({BASE}/vllm/pool.py#L3)):

```text
Nothing is left.
```

`Pool.resize`, as its docstring says ([`vllm/pool.py:7`]({BASE}/vllm/pool.py#L7)):

```text
Makes it larger.

Args:
    kind: which
```

## Source

Raised at [`vllm/pool.py:12`]({BASE}/vllm/pool.py#L12-L13) in `Pool.resize`

```python
   9 |         if self.closed:
  10 |             return
  11 |         if kind in KINDS:
> 12 |             raise PoolError(
> 13 |                 f"no {{kind}}") from e
  14 |
```

## Solutions

The message says:

- “Use \\`--kind\\`.”

Flags that the message names: `--kind`

Environment variables that the message names: `VLLM_KIND`

## When it is raised

Caught in the same function by the handler of `ValueError`

Raised by `Pool.resize` when all of these hold, and more that are not listed:

- `kind in KINDS` ([`vllm/pool.py:11`]({BASE}/vllm/pool.py#L11)); what it is about may have changed since
  - `KINDS` is `['big', 'small']` ([`vllm/kinds.py:2`]({BASE}/vllm/kinds.py#L2))

and nothing has ended it before, so that these hold too:

- `not self.closed` ([`vllm/pool.py:9`]({BASE}/vllm/pool.py#L9))

Defined only when all of these hold:

- `sys.platform == 'linux'` ([`vllm/pool.py:1`]({BASE}/vllm/pool.py#L1))

Raised from `KeyError`

Part of checking `kind`

## Related errors

- [\\[x\\] is closed](fedcba9876543210.md) · `OSError` · same class
- [no pool](1111111111111111.md) · `OSError` · also about `pool`

---

vllm-project/vllm@abcdef0123 · release 9.8.7 · 2026-08-14 · [0123456789abcdef.json](0123456789abcdef.json)
"""

BARE_SITE = replace(
    SITE,
    qualified_exception="builtins.ValueError",
    exception="ValueError",
    bases=("builtins.Exception",),
    http_status=None,
    cause=None,
    doc=None,
    exception_doc=None,
    guards=(),
    definition_guards=(),
    complete=True,
    caught_by=None,
    validates=(),
)
BARE = replace(
    ERROR,
    exception="ValueError",
    qualified_exception="builtins.ValueError",
    bases=BARE_SITE.bases,
    http_status=None,
    title="bad",
    message="bad",
    variants=(Variant(message="bad", parts=(Part(text="bad"),)),),
    constants={},
    hints=(),
    related=(),
    sites=(BARE_SITE,),
)


def made(error: Error, source: Provenance = SOURCE) -> str:
    return cards.markdown(error, source, environment())


def shown(error: Error, source: Provenance = SOURCE, width: int = 200) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, force_terminal=True, legacy_windows=False).print(renderable(error, source))
    return stream.getvalue()


PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tokens(card: str) -> Iterator[Any]:
    for token in PARSER.parse(card):
        yield token
        yield from token.children or ()


def headings(card: str) -> list[tuple[str, str]]:
    parsed = PARSER.parse(card)
    return [
        (token.tag, "".join(c.content for c in parsed[i + 1].children or ()))
        for i, token in enumerate(parsed)
        if token.type == "heading_open"
    ]


def test_a_whole_card() -> None:
    assert made(ERROR) == CARD


def test_nothing_is_said_when_there_is_nothing_to_say() -> None:
    assert [name for _, name in headings(made(BARE))] == ["bad", "Error message", "Source"]
    bare = made(BARE, Provenance(repo="a/b", label="here", dirty=True))
    assert bare.endswith(
        "\n---\n\nhere · with changes that are not committed · [0123456789abcdef.json](0123456789abcdef.json)\n"
    )
    assert "\n\n\n" not in bare and "\n\n\n" not in made(ERROR)


def guard(kind: str, text: str, tried: Tried | UnsetType = UNSET) -> Error:
    site = replace(BARE_SITE, guards=(Guard(kind=kind, text=text, line=9, tried=tried),), permalink=None)
    return replace(BARE, sites=(site,))


SAID = [
    ("a re-raise", replace(BARE, kind="reraise", message="", variants=(), sites=(replace(BARE_SITE, kind="reraise"),)),
     ["· raised again ·", "Raises again what was caught; there is no message of its own.", "\nRaised again at "]),
    ("a bare class", replace(BARE, message="", variants=()), ["\nRaised without a message.\n"]),
    ("a loop", guard("for", "for x in xs"), ["- for some `x` in `xs` (["]),
    ("a handler", guard("except", "except KeyError"), ["- while handling `KeyError` (["]),
    ("a handler of all", guard("except", "except"), ["- while handling any exception (["]),
    ("a handler and what was tried", guard("except", "except KeyError", Tried(line=4, end_line=4, code=("f(x)",), more=False)),
     ["- while handling `KeyError` from line 4, where `f(x)` was tried (["]),
    ("a handler and much that was tried", guard("except", "except KeyError", Tried(line=4, end_line=6, code=("f(x)", "g()"), more=True)),
     ["- while handling `KeyError` from lines 4–6, where `f(x)`, `g()` and more were tried (["]),
    ("a handler of what calls nothing", guard("except", "except KeyError", Tried(line=4, end_line=4, code=(), more=False)),
     ["- while handling `KeyError` from line 4 (["]),
    ("an early exit alone", guard("exit", "not x"), ["when nothing has ended it before, so that all of these hold:\n\n- `not x` (["]),
    ("another loop", guard("while", "while x"), ["- in the loop `while x` (["]),
    ("the last case", guard("case", "case _"), ["- no earlier case matched (["]),
    ("a case", guard("case", "case [x]"), ["- `case [x]` matched (["]),
    ("an assertion", guard("assert", "x"), ["when nothing has ended it before, so that all of these hold:", "- `x`, as is asserted (["]),
    ("a cause alone", replace(BARE, sites=(replace(BARE_SITE, cause="OSError"),)),
     ["## When it is raised\n\nRaised from `OSError`\n"]),
    ("conditions that are not known", replace(BARE, sites=(replace(BARE_SITE, complete=False),)),
     [" under conditions that are not listed\n"]),
    ("another exception of another site", replace(BARE, sites=(BARE_SITE, replace(BARE_SITE, exception="KeyError"))),
     ["· `ValueError`, `KeyError`\n", "\nRaised as `KeyError` at "]),
    ("a constant of the message", replace(BARE, constants=ERROR.constants), ["- `KINDS` is `['big', 'small']` (["]),
    ("a line end in a title", replace(BARE, title="a\nb"), ["# a\\\\nb\n"]),
    ("no title", replace(BARE, title=" "), ["# ValueError\n"]),
]  # fmt: skip


@pytest.mark.parametrize(("error", "texts"), [r[1:] for r in SAID], ids=[r[0] for r in SAID])
def test_what_is_said(error: Error, texts: list[str]) -> None:
    card = made(error)
    assert [text for text in texts if text not in card] == []
    assert "\n\n\n" not in card


def test_a_tree_without_an_address_has_no_links_but_those_between_cards() -> None:
    error = replace(ERROR, sites=(replace(SITE, permalink=None),))
    card = made(error, replace(SOURCE, permalink=None))
    hrefs = {t.attrs["href"] for t in tokens(card) if t.type == "link_open"}
    assert hrefs == {"fedcba9876543210.md", "1111111111111111.md", "0123456789abcdef.json"}


def test_many_sites_are_all_there_the_first_with_their_source() -> None:
    sites = tuple(replace(BARE_SITE, line=12 + i, guards=(Guard(kind="if", text=f"x{i}", line=1),)) for i in range(20))
    card = made(replace(BARE, sites=sites))
    assert card.count("```python") == SITES
    assert all(f"`vllm/pool.py:{12 + i}`" in card for i in range(20))
    assert card.count("when all of these hold") == CONDITIONS
    assert f"… {20 - CONDITIONS} more sites in [" in card


CUT = [
    ("a message", replace(BARE, message="x" * 1_000_000, variants=()), f"… {1_000_000 - MESSAGE:,} more characters; whole in [0"),
    ("a docstring", replace(BARE, sites=(replace(BARE_SITE, doc=Doc(symbol="f", path="a", line=1, text="d " * 9000)),)),
     "… 15,000 more characters; whole in [0"),
    ("a line of source", replace(BARE, sites=(replace(BARE_SITE, context=Context(start=9, lines=("y" * 9_000,))),)),
     f"… {9_000 - CODE_LINE:,} more characters"),
    ("a constant", replace(BARE, constants={"A": Constant(value=["z" * 50] * 200, path="a", line=1)}), " more characters` (["),
    ("messages", replace(BARE, variants=tuple(Variant(message=f"m{i}", parts=()) for i in range(40))),
     f"… {41 - MESSAGES} more in [0"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "text"), [r[1:] for r in CUT], ids=[r[0] for r in CUT])
def test_what_is_long_is_cut_and_says_so(error: Error, text: str) -> None:
    assert text in made(error)
    assert len(made(error)) < 20_000


NASTY = ["```", "````", "`", "~~~", "\n", "\r\n", "\n\n", "# ", "\n# x\n", "---", "\n---\n", "===", "> ", "- ", "1. ",
         "<script>alert(1)</script>", "<!--", "<a@b.c>", "<http://x>", "](", "[a](b)", "![a](b)", "[a]: b", "|", "| - |",
         "&lt;", "&#60;", "{{", "{% raw %}", "$x$", "\\", "*a*", "__b__", "_c_", "~~d~~", "    ", "\t", "[bold]", "[/]",
         "\x1b[31m", "\x1b]8;;x\x07", "\u202e", "\u200b", "\ud800", "\x00", "❌", "a"]  # fmt: skip
nasty = st.lists(st.one_of(st.sampled_from(NASTY), st.text(st.characters(), max_size=4)), max_size=8).map("".join)
WHOLE = [
    ("h1", None),
    *[
        ("h2", name)
        for name in ("Error message", "What it means", "Source", "Solutions", "When it is raised", "Related errors")
    ],
]


def with_text(text: str) -> tuple[Error, Provenance]:
    """An error in which everything that is others' is this text."""
    guards = tuple(Guard(kind=k, text=text, line=9) for k in ("if", "exit", "for", "case", "except", text))
    site = replace(
        SITE,
        path=text,
        symbol=text,
        exception=text,
        permalink=f"{BASE}/{text}",
        cause=text,
        context=Context(start=9, lines=tuple(text.split("\n"))),
        doc=Doc(symbol=text, path=text, line=7, text=f"d{text}"),
        exception_doc=Doc(symbol=text, path=text, line=3, text=f"e{text}"),
        guards=guards,
        definition_guards=guards,
        caught_by=text,
        validates=(text,),
    )
    error = replace(
        ERROR,
        exception=f"E{text}",
        qualified_exception=text,
        bases=(text, f"x{text}"),
        title=text,
        message=f"m{text}",
        variants=(Variant(message=text, parts=()),),
        constants={text: Constant(value={text: text}, path=text, line=1)},
        hints=tuple(Hint(kind=k, text=text) for k in ("sentence", "flag", "environment")),
        related=(Related(id="0" * 16, title=text, exception=text, why=text),),
        sites=(site, replace(site, line=99)),
    )
    return error, replace(SOURCE, commit=None, label=f"v{text}", release=text, date=text, permalink=f"{BASE}/{text}")


@given(nasty)
@example("```\n# x\n<script>")
@example("\n")
@example("](x) <b> `")
@settings(max_examples=150, deadline=None)
def test_no_text_breaks_out_of_its_place(text: str) -> None:
    error, source = with_text(text)
    card = made(error, source)
    card.encode()
    found = headings(card)
    assert [(tag, name if tag == "h2" else None) for tag, name in found] == WHOLE
    assert found[0][1] == (visible(text).strip() or visible(f"E{text}").strip())
    seen = list(tokens(card))
    assert {t.type for t in seen} & {
        "html_block",
        "html_inline",
        "image",
        "em_open",
        "strong_open",
        "s_open",
        "table_open",
    } == set()
    for token in seen:
        if token.type == "link_open":
            assert token.attrs["href"].startswith(BASE) or token.attrs["href"].endswith((".md", ".json"))
    fences = [t.content for t in seen if t.type == "fence"]
    assert fences[:2] == [visible(f"m{text}", multiline=True) + "\n", visible(text, multiline=True) + "\n"]
    assert all(c in "\n\t\u200d" or c.isprintable() or visible(c) == c for c in card)


@given(nasty)
@example("[bold]x[/bold] [link=http://a]b[/link]")
@settings(max_examples=60, deadline=None)
def test_a_terminal_sees_no_markup_and_no_control_characters_of_others(text: str) -> None:
    error, source = with_text(text)
    plain = io.StringIO()
    Console(file=plain, width=4000, color_system=None, legacy_windows=False).print(renderable(error, source))
    out = plain.getvalue()
    assert all(c == "\n" or visible(c) == c or c == "\u200d" for c in out.replace("\t", " "))
    assert f"“{' '.join(visible(' '.join(text.split())).split())}”" in " ".join(out.split())
    assert "\x1b]8;;x\x07" not in shown(error, source)


def test_the_terminal_says_what_the_card_says() -> None:
    out = " ".join(shown(ERROR).split())
    for words in (
        "What it means",
        "Source",
        "Solutions",
        "When it is raised",
        "Related errors",
        "derives from",
        "0123456789abcdef",
    ):
        assert words in out


def test_thousands_of_cards_take_seconds() -> None:
    env = environment()
    started = time.perf_counter()
    for _ in range(500):
        cards.markdown(ERROR, SOURCE, env)
    assert time.perf_counter() - started < 2  # 0.1 s when the machine is free


def test_the_same_error_gives_the_same_bytes() -> None:
    assert made(ERROR) == made(replace(ERROR))


def test_html_is_escaped_by_itself_and_markdown_is_not() -> None:
    env = environment()
    assert callable(env.autoescape) and env.autoescape("page.html") and not env.autoescape("card.md")
