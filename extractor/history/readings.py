"""Owns the errors of many trees, as far as a history needs them: linked in parallel, kept by what was read.

A process takes several releases that follow each other, so what one of them reads the next finds in the cache.
Without sources, docstrings and predicates the errors of a release are a tenth of its dataset.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from extractor import pipeline
from extractor.cache import Cache
from extractor.errors import ToolError
from extractor.model import Context, Error
from extractor.pool import Crashed, Executor, Here, apart
from extractor.source import Silent, SourceOptions, open_tree

FORMAT = 1  # raise it whenever what is kept of an error changes
TOGETHER = 6  # trees that one process takes, one after the other: the last ones leave no processor idle for long
FEW = 2  # trees that are worth being spread over all processes, one after the other
NOTHING = Context(start=0, lines=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A tree to read, under the name that the history has for it."""

    name: str
    date: str | None
    inputs: str  # an archive's sha256, or a commit
    whole: bool
    source: SourceOptions
    trouble: str | None = None  # why it cannot be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read of a tree, packed; or the trouble with it."""

    data: bytes = b""
    files: int = 0
    parsed: int = 0
    trouble: str | None = None

    def errors(self, known: Mapping[bytes, Error]) -> dict[bytes, Error]:
        """The raised errors, sorted by id, by their bytes: what is `known` by the same bytes is the same object."""
        rows = msgspec.msgpack.decode(zlib.decompress(self.data), type=list[msgspec.Raw])
        return {row: known.get(row) or msgspec.msgpack.decode(row, type=Error) for row in map(bytes, rows)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What trees are read with. With `ahead`, files are read there first, and the pool only links them.

    Few trees are linked by this process, their files read in the pool: a task each would leave processors idle.
    """

    cache: Cache
    keep: Path | None  # the folder of the cache
    tool: bytes
    pool: Executor
    ahead: Executor | None = None
    jobs: int = 1  # processes that link one of few trees


def at_hand(wanted: Iterable[Wanted], cache: Cache) -> set[str]:
    """The names of those whose errors are kept, so that their trees need not be there."""
    keys = {_key(one): one.name for one in wanted}
    return {keys[key] for key in cache.has(keys)}


def readings(wanted: Iterable[Wanted], means: Means) -> Iterator[tuple[Wanted, Reading]]:
    """The errors of each tree in the order given, from the cache or read in the pool."""
    asked: list[list[Wanted]] = []
    known: dict[int, dict[str, Reading]] = {}
    parsed: dict[str, int] = {}  # ahead
    done: dict[int, list[Reading]] = {}
    at = 0

    def tasks() -> Iterator[tuple[tuple[Wanted, ...], Path | None, bytes]]:
        for together in _together(wanted):
            found = {one.name: r for one in together if (r := _kept(one, means.cache)) is not None}
            todo = [one for one in together if one.name not in found]
            if len(todo) <= FEW:
                reader = means.ahead or means.pool
                found |= {one.name: _read(one, means.cache, reader, means.jobs) for one in todo}
                todo = []
            elif means.ahead is not None and means.keep is not None:
                parsed.update((one.name, pipeline.read_ahead(one.source, means.cache, means.ahead)) for one in todo)
            known[len(asked)] = found
            asked.append(together)
            yield tuple(todo), means.keep, means.tool

    for number, result in means.pool.run(read_all, tasks()):
        todo = [one for one in asked[number] if one.name not in known[number]]
        if isinstance(result, Crashed):  # once more as a single extraction, which finds the file that did it
            result = [_read(one, means.cache, means.pool) for one in todo]
        done[number] = [replace(r, parsed=r.parsed + parsed.get(o.name, 0)) for o, r in zip(todo, result, strict=True)]
        while at in done:
            fresh = iter(done.pop(at))
            yield from ((one, known[at].get(one.name) or next(fresh)) for one in asked[at])
            at += 1


def _together(wanted: Iterable[Wanted]) -> Iterator[list[Wanted]]:
    """Neighbours, so that each is read with what the one before it left in the cache."""
    group: list[Wanted] = []
    for one in wanted:
        group.append(one)
        if len(group) == TOGETHER:
            yield group
            group = []
    if group:
        yield group


def _key(one: Wanted) -> str:
    return f"history {FORMAT}:{one.inputs}"


def _kept(one: Wanted, cache: Cache) -> Reading | None:
    if one.trouble is not None:
        return Reading(trouble=one.trouble)
    data = cache.get([_key(one)]).get(_key(one))
    return None if data is None else replace(msgspec.msgpack.decode(data, type=Reading), parsed=0)


def read_all(wanted: tuple[Wanted, ...], keep: Path | None, tool: bytes) -> list[Reading]:
    """The task of one process."""

    def read(one: Wanted) -> bytes:
        return msgspec.msgpack.encode(_read(one, Cache(keep, tool), Here()))

    return [msgspec.msgpack.decode(apart(read, one), type=Reading) for one in wanted]


def _read(one: Wanted, cache: Cache, executor: Executor, jobs: int = 1) -> Reading:
    """Links a tree, and keeps what was found."""
    try:
        tree = open_tree(one.source, Silent())
        linked = pipeline.linked(tree, cache, executor, Silent(), jobs)
    except ToolError as e:
        return Reading(trouble=str(e))
    errors = tuple(_spare(error) for error in linked.made.errors if error.kind == "raise")
    data = zlib.compress(msgspec.msgpack.encode(errors), 1)
    reading = Reading(data=data, files=len(tree.entries), parsed=linked.parsed)
    cache.put({_key(one): msgspec.msgpack.encode(reading)})
    return reading


def _spare(error: Error) -> Error:
    """An error without what a history does not tell."""
    sites = tuple(
        replace(site, context=NOTHING, doc=None, exception_doc=None, predicate=None, permalink=None)
        for site in error.sites
    )
    return replace(error, sites=sites, constants={}, hints=(), related=(), pattern=None)
