"""Owns the lists of errors: by exception, by folder and file of the tree; a long one is cut where its folders are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from extractor.model import Error
from extractor.pages import addresses
from extractor.pages.story import Entry, Stories, names, package
from extractor.printable import visible

MOST = 800  # errors on one page

Known = tuple[int, Error]  # in which edition, and the error


@dataclass(frozen=True, slots=True)
class Group:
    """Some errors of a list under a heading, or the way to the page that has them."""

    title: str
    count: int
    entries: tuple[Entry, ...]
    address: str | None = None


@dataclass(frozen=True, slots=True)
class List:
    """A page that lists errors. `up` is where it hangs: names and addresses, the nearest last."""

    address: str
    title: str
    intro: str
    count: int
    groups: tuple[Group, ...]
    up: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Directory:
    """A page that lists lists."""

    address: str
    title: str
    intro: str
    rows: tuple[tuple[str, str, int], ...]  # name, address, how many


def pages(stories: Stories) -> Iterator[List | Directory]:
    """All lists over all editions: an error counts as the newest that has it says."""
    by_exception: dict[str, list[Known]] = defaultdict(list)
    by_package: dict[str, list[Known]] = defaultdict(list)
    for at, error in stories.all():
        by_package[package(error)].append((at, error))
        for name in names(error):
            by_exception[name].append((at, error))
    yield Directory(
        addresses.section(addresses.EXCEPTIONS),
        "Errors by exception",
        "What is raised, the commonest first. A name that is no class is the expression that is raised.",
        tuple(
            (visible(name), stories.exception(name), len(found))
            for name, found in sorted(by_exception.items(), key=lambda item: (-len(item[1]), item[0]))
        ),
    )
    yield Directory(
        addresses.section(addresses.FILES),
        "Errors by package and file",
        "The folders of the source tree that hold Python files with errors.",
        tuple((visible(name), stories.package(name), len(found)) for name, found in sorted(by_package.items())),
    )
    up = (("Exceptions", addresses.section(addresses.EXCEPTIONS)),)
    for name, found in sorted(by_exception.items()):
        yield from split(stories, stories.exception(name), visible(name), found, up)
    up = (("Files", addresses.section(addresses.FILES)),)
    for name, found in sorted(by_package.items()):
        groups = _groups(stories, found, lambda error: error.sites[0].path)
        yield List(stories.package(name), visible(name), _counted(found), len(found), groups, up)


def split(
    stories: Stories, address: str, title: str, found: Sequence[Known], up: tuple[tuple[str, str], ...]
) -> Iterator[List]:
    """One page, or one for each folder and one that leads to them."""
    groups = _groups(stories, found, package)
    intro = _counted(found)
    if len(found) <= MOST:
        yield List(address, title, intro, len(found), groups, up)
        return
    base = address.removesuffix(f"/{addresses.INDEX}")
    parts = [
        List(
            addresses.section(base, stories.packages[name]),
            f"{title} in {group.title}",
            f"{group.count:,} errors.",
            group.count,
            (Group(group.title, group.count, group.entries),),
            (*up, (title, address)),
        )
        for name, group in zip(_folders(found), groups, strict=True)
    ]
    ways = tuple(Group(g.title, g.count, (), part.address) for g, part in zip(groups, parts, strict=True))
    yield List(address, title, intro, len(found), ways, up)
    yield from parts


def _folders(found: Iterable[Known]) -> list[str]:
    return sorted({package(error) for _, error in found})


def _groups(stories: Stories, found: Iterable[Known], key: Callable[[Error], str]) -> tuple[Group, ...]:
    grouped: dict[str, list[Known]] = defaultdict(list)
    for at, error in found:
        grouped[key(error)].append((at, error))
    return tuple(
        Group(visible(name), len(some), tuple(stories.entry(at, e) for at, e in sorted(some, key=_by_place)))
        for name, some in sorted(grouped.items())
    )


def _by_place(known: Known) -> tuple[str, int, str]:
    at, error = known
    return error.sites[0].path, error.sites[0].line, f"{error.id}{at}"


def _counted(found: Sequence[Known]) -> str:
    gone = sum(1 for at, _ in found if at)
    noun = "error" if len(found) == 1 else "errors"
    return f"{len(found):,} {noun}." + (f" {gone:,} of them are not in the newest release." if gone else "")
