"""Owns the card on a terminal, through rich: the same view as the Markdown card, never rich's own markup.

The only module that imports rich for cards, so that writing thousands of them does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from extractor.model import Error, Provenance
from extractor.printable import visible
from extractor.render.compose import card
from extractor.render.view import Card, Conditions, Constant, Excerpt, Guard, Listing, Place, Raised, Run

HEADING = Style(bold=True, color="cyan")
QUIET = Style(dim=True)
CODE = Style(color="magenta")
LOUD = Style(bold=True, color="red")


def renderable(error: Error, source: Provenance, history: str | None = None) -> RenderableType:
    """The card of an error for a console; `history` is a sentence about other releases, which no dataset holds."""
    view = card(error, source)
    since = (Text(visible(history), style=QUIET),) if history is not None else ()
    return Group(
        *_head(view), *since, *_meaning(view), *_source(view), *_solutions(view), *_when(view), *_related(view)
    )


def _head(view: Card) -> Iterator[RenderableType]:
    status = f" · HTTP {view.http_status}" if view.http_status else ""
    yield Text(f"{view.repo} · {view.kind} · {', '.join(view.exceptions)}{status}", style=QUIET)
    yield Text(view.title, style=LOUD)
    for message in view.messages:
        yield Panel(_excerpt(message), title=Text("Error message"), title_align="left", border_style="red")
    if view.more_messages:
        yield Text(f"… {view.more_messages} more messages", style=QUIET)
    if not view.messages:
        again = bool(view.sites) and view.sites[0].again
        yield Text(
            "Raises again what was caught; there is no message of its own." if again else "Raised without a message."
        )
    yield from (_bullet(_constant(c)) for c in view.constants)


def _meaning(view: Card) -> Iterator[RenderableType]:
    if not view.bases and not view.docs:
        return
    yield from _heading("What it means")
    if view.bases and view.qualified:
        yield Text.assemble((view.qualified, CODE), " derives from ", (", ".join(view.bases), CODE))
    for doc in view.docs:
        yield Text.assemble((doc.symbol, CODE), ", as its docstring says (", _place(doc.place), "):")
        yield Padding(_excerpt(doc.body), (0, 0, 1, 4))
    if view.more_docs:
        yield Text(f"… {view.more_docs} more docstrings", style=QUIET)


def _source(view: Card) -> Iterator[RenderableType]:
    yield from _heading("Source")
    for site in (*view.sites, *view.more_sites):
        yield _raised(site)
        if site.listing is not None:
            yield _listing(site.listing)


def _solutions(view: Card) -> Iterator[RenderableType]:
    if not view.sentences and not view.flags and not view.environment:
        return
    yield from _heading("Solutions")
    if view.sentences:
        yield Text("The message says:")
        yield from (_bullet(Text(f"“{sentence}”")) for sentence in view.sentences)
    if view.flags:
        yield Text.assemble("Flags that the message names: ", (", ".join(view.flags), CODE))
    if view.environment:
        yield Text.assemble("Environment variables that the message names: ", (", ".join(view.environment), CODE))


def _when(view: Card) -> Iterator[RenderableType]:
    if not view.conditions:
        return
    yield from _heading("When it is raised")
    for when in view.conditions:
        yield from _conditions(when, several=len(view.sites) > 1)
    if view.more_conditions:
        yield Text(f"… {view.more_conditions} more sites", style=QUIET)


def _conditions(when: Conditions, several: bool) -> Iterator[RenderableType]:
    lead = Text.assemble("Raised by ", (when.symbol, CODE), " at ", _place(when.place))
    if when.caught_by:
        yield Text.assemble("Caught in the same function by the handler of ", (when.caught_by, CODE))
    if when.guards or when.earlier:
        rest = "" if when.complete else ", and more that are not listed"
        so = "" if when.guards else "nothing has ended it before, so that "
        yield lead.append(f" when {so}all of these hold{rest}:")
        yield from _guards(when.guards)
        if when.guards and when.earlier:
            yield Text("and nothing has ended it before, so that these hold too:")
        yield from _guards(when.earlier)
    elif several or not when.complete:
        yield lead if when.complete else lead.append(", under conditions that are not listed")
    if when.definition:
        yield Text("Defined only when all of these hold:")
        yield from _guards(when.definition)
    if when.cause:
        yield Text.assemble("Raised from ", (when.cause, CODE))
    if when.validates:
        yield Text.assemble("Part of checking ", (", ".join(when.validates), CODE))
    if when.check:
        yield Text.assemble("Check it yourself: ", (when.check, CODE), f" of predicates/ ({when.precision})")


def _related(view: Card) -> Iterator[RenderableType]:
    if view.related:
        yield from _heading("Related errors")
    for other in view.related:
        yield _bullet(Text.assemble((other.id, CODE), f" {other.title} · {other.exception} · {other.why}"))
    yield Text()
    release = f" · release {view.release}" if view.release else ""
    date = f" · {view.date}" if view.date else ""
    dirty = " · with changes that are not committed" if view.dirty else ""
    yield Text(f"{view.source}{release}{date}{dirty} · {view.id}", style=QUIET)


# --- pieces ----------------------------------------------------------------------------------------------


def _heading(words: str) -> Iterator[RenderableType]:
    yield Text()
    yield Text(words, style=HEADING)


def _bullet(text: Text) -> RenderableType:
    return Padding(Text.assemble("• ", text), (0, 0, 0, 2))


def _place(place: Place) -> Text:
    return Text(place.label, style=Style(underline=True, link=place.url) if place.url else Style())


def _excerpt(excerpt: Excerpt) -> Text:
    return Text(f"{excerpt.text}\n… {excerpt.more:,} more characters" if excerpt.more else excerpt.text)


def _raised(site: Raised) -> Text:
    text = Text.assemble("Raised again" if site.again else "Raised")
    if site.exception:
        text.append(" as ").append(site.exception, style=CODE)
    text.append(" at ").append_text(_place(site.place))
    return text if site.symbol == "<module>" else text.append(" in ").append(site.symbol, style=CODE)


def _listing(listing: Listing) -> RenderableType:
    return Syntax(
        "\n".join(listing.lines),
        "python",
        theme="ansi_dark",
        background_color="default",
        line_numbers=True,
        start_line=listing.start,
        highlight_lines=set(range(listing.first, listing.last + 1)),
        word_wrap=True,
    )


def _guards(guards: tuple[Guard, ...]) -> Iterator[RenderableType]:
    for guard in guards:
        yield _bullet(Text.assemble(*map(_run, guard.words)))
        yield from (Padding(_constant(c), (0, 0, 0, 6)) for c in guard.constants)


def _run(run: Run) -> Text:
    if run.kind == "place":
        return _place(Place(run.text, run.url))
    return Text(run.text, style=CODE if run.kind == "code" else "")


def _constant(constant: Constant) -> Text:
    return Text.assemble((constant.name, CODE), " is ", (constant.value, CODE), " (", _place(constant.place), ")")
