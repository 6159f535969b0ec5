"""Owns the pages beside those of errors: the front page, lists, releases, what the site is; and the files they load."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jinja2

from extractor.marks import Piece, marked
from extractor.model import Error
from extractor.pages import addresses, catalogue
from extractor.pages.catalogue import Directory
from extractor.pages.editions import Edition
from extractor.pages.lines import Step
from extractor.pages.shell import LOOKUP_POLICY, Shell, one_line, render
from extractor.pages.story import Stories
from extractor.printable import visible
from extractor.render import templates

if TYPE_CHECKING:
    from extractor.diff import Change, SiteLike
    from extractor.history.record import History

MOVED = "moved"  # only to another line
SECTIONS = {  # each difference under the first of its kinds
    "reguarded": "Under other conditions",
    "retyped": "As another exception",
    "reworded": "With other words",
    "relocated": "In another place",
}
LONG = 800  # characters of a message or condition
CHART = "assets/history.svg"
FEW = 8  # exceptions and packages on the front page


@dataclass(frozen=True, slots=True)
class Taken:
    """The step to a release from the one before it, in figures and addresses."""

    old: str
    added: int
    removed: int
    address: str
    new_address: str
    gone_address: str


@dataclass(frozen=True, slots=True)
class Release:
    """An edition as pages show it."""

    name: str
    address: str
    repo: str
    commit: str | None
    date: str | None
    archive: str | None
    sha256: str | None
    dirty: bool
    errors: int
    raises: int
    files: int
    skipped: tuple[tuple[str, str], ...]
    step: Taken | None


@dataclass(frozen=True, slots=True)
class Difference:
    """An error that is in both of two releases, not the same."""

    address: str
    path: str
    kinds: tuple[str, ...]
    where: str
    text: str
    words: tuple[Piece, ...]  # of both messages, when they differ
    before_address: str
    before_where: str | None  # when it stood in another file or function
    exceptions: tuple[str, str] | None  # before and after
    strictness: str | None
    guards_added: tuple[str, ...]
    guards_removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Differences of one kind."""

    anchor: str
    title: str
    rows: tuple[Difference, ...]


def assets() -> Iterator[tuple[str, bytes]]:
    """The files that pages load, as they are."""
    folder = templates() / "site" / "assets"
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield f"assets/{path.relative_to(folder).as_posix()}", path.read_bytes()


def chart(history: History | None) -> Iterator[tuple[str, bytes]]:
    """The picture of how many errors there were in each release, where that is known."""
    if history is not None:
        from extractor.history.chart import drawn  # which imports a library for drawing

        yield CHART, drawn(history)


def pages(
    stories: Stories, taken: Sequence[Step], shell: Shell, env: jinja2.Environment, *, chart: bool = False
) -> Iterator[tuple[str, bytes]]:
    """All pages but those of errors; `chart`: there is a picture of the history."""
    releases = tuple(
        release(edition, taken[n] if n < len(taken) else None) for n, edition in enumerate(stories.editions)
    )
    newest = stories.editions[0]
    lists = list(catalogue.pages(stories))
    exceptions, packages = (one for one in lists if isinstance(one, Directory))
    about: dict[str, Any] = {"releases": releases, "newest": newest}
    named = f"{newest.counts.errors:,} errors that {shell.repo} raises"

    def page(template: str, address: str, title: str, description: str, **more: Any) -> tuple[str, bytes]:
        return address, render(env, template, shell, address, title, description, **(about | more))

    yield page(
        "index.html",
        addresses.HOME,
        f"{shell.title}: every error that vLLM raises, and when",
        f"{named} in {newest.name}: the message, exactly when it is raised, where, and what it says to do.",
        policy=LOOKUP_POLICY,
        lookup={"releases": [e.label for e in shell.editions]},
        exceptions=_few(exceptions),
        packages=_few(packages),
    )
    yield page("about.html", addresses.ABOUT, f"About · {shell.title}", "What is derived how, and what is not known.")
    yield page("programs.html", addresses.PROGRAMS, f"For programs · {shell.title}", "The same errors as data.")
    yield page(
        "missing.html",
        addresses.MISSING,
        f"No such page · {shell.title}",
        "There is no such page.",
        root=shell.path,
    )
    for one in lists:
        template = "directory" if isinstance(one, Directory) else "list"
        yield page(f"{template}.html", one.address, f"{one.title} · {shell.title}", one.intro, **{template: one})
    yield page(
        "releases.html",
        addresses.section(addresses.RELEASES),
        f"Releases · {shell.title}",
        f"What is new and gone in {', '.join(e.name for e in shell.editions)}.",
        chart=CHART if chart else None,
    )
    for n, one_release in enumerate(releases):
        yield page(
            "release.html",
            one_release.address,
            f"{one_release.name} · {shell.title}",
            f"{one_release.errors:,} errors of {one_release.raises:,} raise statements.",
            release=one_release,
        )
        if one_release.step is not None:
            yield from _changes(n, stories, taken[n], one_release, page)


def release(edition: Edition, step: Step | None) -> Release:
    """What pages show of an edition."""
    source = edition.source
    return Release(
        name=edition.name,
        address=addresses.section(addresses.RELEASES, edition.slug),
        repo=visible(source.repo),
        commit=visible(source.commit) if source.commit else None,
        date=visible(source.date[:10]) if source.date else None,
        archive=visible(source.archive) if source.archive else None,
        sha256=visible(source.sha256) if source.sha256 else None,
        dirty=source.dirty,
        errors=edition.counts.errors,
        raises=edition.counts.raises,
        files=edition.counts.files,
        skipped=tuple((visible(s.path), visible(s.reason)) for s in edition.skipped),
        step=None if step is None else _taken(step),
    )


def _taken(step: Step) -> Taken:
    base = f"{addresses.RELEASES}/{step.new.slug}"
    return Taken(
        old=step.old.name,
        added=len(step.added),
        removed=len(step.removed),
        address=addresses.section("diffs", f"{step.old.slug}...{step.new.slug}"),
        new_address=addresses.section(base, "new"),
        gone_address=addresses.section(base, "gone"),
    )


def _changes(
    n: int, stories: Stories, step: Step, one: Release, page: Callable[..., tuple[str, bytes]]
) -> Iterator[tuple[str, bytes]]:
    """The pages of what changed since the release before: in all, and what is new and gone."""
    assert one.step is not None
    up = (("Releases", addresses.section(addresses.RELEASES)), (one.name, one.address))
    differing = [_difference(stories, n, c) for c in step.changes if c.old and c.new and set(c.kinds) - {MOVED}]
    title = f"From {one.step.old} to {one.name}"
    yield page(
        "diff.html",
        one.step.address,
        f"{title} · what vLLM raises",
        f"{one.step.added:,} errors are new in {one.name}, {one.step.removed:,} are gone, "
        f"{len(differing):,} are raised otherwise.",
        release=one,
        heading=title,
        up=up,
        differing=len(differing),
        sections=tuple(_sections(differing)),
    )
    added = [(n, error) for error in step.added]
    removed = [(n + 1, error) for error in step.removed]
    for address, name, found in (
        (one.step.new_address, f"New in {one.name}", added),
        (one.step.gone_address, f"Gone in {one.name}", removed),
    ):
        for part in catalogue.split(stories, address, name, found, up):
            yield page("list.html", part.address, f"{part.title} · {part.intro}", part.intro, list=part)


def _sections(differing: Sequence[Difference]) -> Iterator[Section]:
    """Each difference once, under what matters most of it."""
    left = sorted(differing, key=lambda d: (d.path, d.address))
    for kind, title in SECTIONS.items():
        rows = tuple(d for d in left if kind in d.kinds)
        left = [d for d in left if kind not in d.kinds]
        if rows:
            yield Section(kind, title, rows)


def _difference(stories: Stories, n: int, change: Change[Error]) -> Difference:
    assert change.old is not None and change.new is not None
    entry = stories.entry(n, change.new)
    return Difference(
        address=entry.address,
        path=change.new.sites[0].path,
        kinds=change.kinds,
        where=entry.where,
        text=entry.text,
        words=_words(change.old, change.new),
        before_address=stories.address(n + 1, change.old.id),
        before_where=_place(change.old_site) if "relocated" in change.kinds else None,
        exceptions=_exceptions(change) if "retyped" in change.kinds else None,
        strictness=change.strictness if "reguarded" in change.kinds else None,
        guards_added=tuple(map(_guard, change.guards_added)),
        guards_removed=tuple(map(_guard, change.guards_removed)),
    )


def _words(old: Error, new: Error) -> tuple[Piece, ...]:
    if old.message == new.message:
        return ()
    return tuple(Piece(kind, visible(text)) for kind, text in marked(old.message[:LONG], new.message[:LONG]))


def _place(site: SiteLike | None) -> str | None:
    return None if site is None else visible(f"{site.path}:{site.line} in {site.symbol}")


def _exceptions(change: Change[Error]) -> tuple[str, str] | None:
    if change.old_site is None or change.new_site is None:
        return None
    return visible(change.old_site.exception), visible(change.new_site.exception)


def _guard(text: str) -> str:
    return one_line(visible(text), LONG)


def _few(directory: Directory) -> list[tuple[str, str, int]]:
    """The longest of its lists."""
    return sorted(directory.rows, key=lambda row: (-row[2], row[0]))[:FEW]


def is_own(name: str) -> bool:
    """Whether a search engine should list a file: a page that stands for itself."""
    first, *rest = name.split("/")
    if not name.endswith(addresses.INDEX):
        return False
    return (first != "errors" or len(rest) == 2) and (first in addresses.OURS or not rest)
