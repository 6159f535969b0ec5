"""Owns the run: source tree -> records -> linked errors -> dataset on disk. One call for each stage."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapreplace
from pathlib import Path
from typing import NamedTuple

import msgspec

from extractor import __version__, dataset, facts, predicates
from extractor.assemble import Assembled, assembled, calls_that_leave, together
from extractor.cache import Cache
from extractor.dataset import Draft, encode
from extractor.errors import ToolError
from extractor.model import SCHEMA_VERSION, Counts, Error, Manifest, Provenance, Skip
from extractor.pool import Crashed, Executor, Pool, shared_out
from extractor.predicates import Program
from extractor.raises import PackedRecord, extract, summary, unpacked
from extractor.render import cards, environment
from extractor.source import Progress, Silent, SourceOptions, Tree, open_tree
from extractor.symbolic import Function
from extractor.tree import Names

BATCH_BYTES = 200_000  # of source in one task
CARDS = 100  # in one task


@dataclass(frozen=True, slots=True)
class Report:
    """What a run came to."""

    folder: Path
    counts: Counts
    skipped: tuple[Skip, ...]
    source: Provenance
    unchanged: bool = False


def run(
    tree: Tree,
    out: Path,
    cache: Cache,
    tool: bytes,
    jobs: int,
    progress: Progress,
    reader: Executor | None = None,
) -> Report:
    """Extracts a tree into `out/<label>`, its files read by `reader`, or else in the pool. Raises `ToolError`."""
    folder = out / tree.provenance.label
    inputs = fingerprint(tree, tool)
    if dataset.is_intact(folder, inputs):
        manifest = dataset.read_manifest(folder)
        return Report(folder, manifest.counts, dataset.read_skipped(folder), manifest.source, unchanged=True)
    if not tree.entries and not tree.skipped:
        raise ToolError("there is no Python file in this tree: give the folder that holds vllm/")
    preload = ("extractor.raises", "extractor.render.cards")
    with Pool(jobs, preload) as pool, Draft(folder) as draft:
        pool.warm()
        records, made, _ = linked(tree, cache, reader or pool, progress, jobs)
        found = facts.with_related(made.errors)
        write(found, tree.provenance, draft, pool, progress)
        write_predicates(found, made.programs, draft)
        skipped = skips(tree, records)
        counts = count(records, found, skipped)
        draft.write(dataset.SKIPPED, encode(skipped, indent=True))
        draft.write(dataset.SCHEMA, encode(dataset.schema(), indent=True))
        draft.publish(
            Manifest(
                schema=SCHEMA_VERSION,
                tool=f"vllm-errors {__version__}",
                source=tree.provenance,
                counts=counts,
                inputs=inputs,
                files=dict(sorted(draft.files.items())),
            )
        )
    return Report(folder, counts, skipped, tree.provenance)


class Linked(NamedTuple):
    """What a run finds before anything is written."""

    records: dict[str, PackedRecord]  # by path
    made: Assembled
    parsed: int  # distinct files that were not in the cache


def linked(tree: Tree, cache: Cache, pool: Executor, progress: Progress, jobs: int = 1) -> Linked:
    """The record of each file, and all errors: files are read in the pool, and linked in `jobs` processes."""
    files = _Files(tree)
    records, parsed = read(tree, files, cache, pool, progress)
    names = Names({path: record.index for path, record in records.items() if record.index is not None})
    records |= reread(tree, files, records, names, cache)
    return Linked(records, link(tree, files, records, names, cache, jobs), parsed)


def read_ahead(source: SourceOptions, cache: Cache, executor: Executor) -> int:
    """Reads the files of a tree into the cache, and gives how many; what cannot be opened is for its user to say."""
    try:
        tree = open_tree(source, Silent())
        return read(tree, _Files(tree), cache, executor, Silent())[1]
    except ToolError:
        return 0


def fingerprint(tree: Tree, tool: bytes) -> str:
    """One hash over everything that the dataset depends on."""
    digest = hashlib.sha256(tool + msgspec.msgpack.encode(tree.provenance) + msgspec.msgpack.encode(tree.skipped))
    for entry in tree.entries:
        digest.update(f"{entry.path}\0{entry.digest}\0".encode())
    return digest.hexdigest()


# --- reading ---------------------------------------------------------------------------------------------


class _Files:
    """The bytes of the tree's files, each read once in a run."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._data: dict[str, bytes] = {}

    def get(self, paths: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """These files as they are read, and no others."""
        if not paths:
            return
        for path, data in self._tree.read([e.path for e in self._tree.entries] if self._tree.in_one else paths):
            self._data[path] = data
            if path in paths:
                yield path, data

    def any(self, path: str) -> bytes:
        """One file, when more of them are likely to be asked for."""
        if path not in self._data:
            self._data.update(self._tree.read([entry.path for entry in self._tree.entries]))
        return self._data.get(path, b"")


def read(
    tree: Tree, files: _Files, cache: Cache, pool: Executor, progress: Progress
) -> tuple[dict[str, PackedRecord], int]:
    """The record of each file by path: from the cache, or read in the pool and kept; and how many were read."""
    progress.start("reading files", len(tree.entries))
    digests = {entry.path: entry.digest for entry in tree.entries}
    kept = cache.get(set(digests.values()))
    records: dict[str, PackedRecord] = {}
    missing: dict[str, list[str]] = {}
    for path, digest in digests.items():
        if digest in kept:
            records[path] = msgspec.msgpack.decode(kept[digest], type=PackedRecord)
            progress.advance(1)
        else:
            missing.setdefault(digest, []).append(path)
    batches: list[list[tuple[str, bytes]]] = []
    functions_of = cache if pool.near and cache.is_there else None
    tasks = _tasks(files.get({p[0] for p in missing.values()}), batches, functions_of)
    for number, result in pool.run(_extract_all, tasks):
        made, functions = _one_by_one(pool, batches[number]) if isinstance(result, Crashed) else result
        cache.put(functions | {digests[path]: data for path, data in made if data})
        for path, data in made:
            for same in missing[digests[path]]:
                records[same] = msgspec.msgpack.decode(data, type=PackedRecord) if data else CRASHED
                progress.advance(1)
    progress.done()
    return dict(sorted(records.items())), len(missing)


CRASHED = PackedRecord(msgspec.Raw(b"\x90"), 0, None, "reading it needs more memory or stack than a process has")


def _tasks(
    files: Iterator[tuple[str, bytes]], batches: list[list[tuple[str, bytes]]], kept: Cache | None
) -> Iterator[tuple[list[tuple[str, bytes]], Cache | None]]:
    """A task for each batch as soon as it is read; `batches` keeps them, should a process die on one."""
    for batch in _batches(files):
        batches.append(batch)
        yield batch, kept


def _batches(files: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    batch: list[tuple[str, bytes]] = []
    size = 0
    for path, data in files:
        batch.append((path, data))
        size += len(data)
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Functions:
    """What functions told before, and, for one process to keep it, what they tell now."""

    def __init__(self, before: Cache) -> None:
        self._before = before
        self.new: dict[str, bytes] = {}

    def get(self, names: Iterable[str]) -> dict[str, bytes]:
        return self._before.get(names)

    def put(self, values: Mapping[str, bytes]) -> None:
        self.new |= values


Made = tuple[list[tuple[str, bytes]], dict[str, bytes]]  # records by path, and what is kept of functions


def _extract_all(files: Sequence[tuple[str, bytes]], kept: Cache | None) -> Made:
    functions = None if kept is None else _Functions(kept)
    made = [(path, msgspec.msgpack.encode(extract(data, kept=functions))) for path, data in files]
    return made, {} if functions is None else functions.new


def _one_by_one(pool: Executor, files: Sequence[tuple[str, bytes]]) -> Made:
    """After a crash: the file that did it is told apart from those that stood beside it."""
    made: list[tuple[str, bytes]] = []
    for number, result in pool.run(_extract_all, [([file], None) for file in files]):
        made += [(files[number][0], b"")] if isinstance(result, Crashed) else result[0]
    return made, {}


def reread(
    tree: Tree, files: _Files, records: dict[str, PackedRecord], names: Names, cache: Cache
) -> dict[str, PackedRecord]:
    """The records of the files that call functions which never return, read with that knowledge."""
    digests = {entry.path: entry.digest for entry in tree.entries}
    made: dict[str, PackedRecord] = {}
    new: dict[str, bytes] = {}
    for path, leaving in calls_that_leave({path: r.calls for path, r in records.items()}, names).items():
        key = f"{digests[path]}:{' '.join(sorted(leaving))}"
        data = cache.get([key]).get(key)
        if data is None:
            data = new[key] = msgspec.msgpack.encode(extract(files.any(path), leaving, cache))
        made[path] = msgspec.msgpack.decode(data, type=PackedRecord)
    cache.put(new)
    return made


# --- linking ---------------------------------------------------------------------------------------------


def link(
    tree: Tree, files: _Files, records: dict[str, PackedRecord], names: Names, cache: Cache, jobs: int
) -> Assembled:
    """All errors and predicates, with what other files say about them."""

    def part(paths: Sequence[str]) -> bytes:
        summaries = _Summaries(tree, files, cache.anew())
        found = assembled(((p, unpacked(records[p].sites)) for p in paths), names, summaries, tree.provenance)
        summaries.keep()
        return found.packed()

    raising = {path: r.raises for path, r in sorted(records.items()) if r.raises and r.index is not None}
    parts = shared_out(part, [sorted(paths) for paths in _evenly(raising, jobs)])
    return together(map(Assembled.of, parts))


def _evenly(sizes: Mapping[str, int], count: int) -> list[list[str]]:
    """So many groups of names whose sizes come to about the same."""
    groups: list[list[str]] = [[] for _ in range(count)]
    filled = [(0, number) for number in range(count)]  # a heap
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        least, number = filled[0]
        groups[number].append(name)
        heapreplace(filled, (least + size, number))
    return groups


class _Summaries:
    """The functions that messages are built by: read when one is first asked for, and kept."""

    def __init__(self, tree: Tree, files: _Files, cache: Cache) -> None:
        self._files = files
        self._cache = cache
        self._digests = {entry.path: entry.digest for entry in tree.entries}
        self._known: dict[tuple[str, int], Function | None] = {}
        self._new: dict[str, bytes] = {}

    def __call__(self, path: str, first: int, last: int) -> Function | None:
        key = (path, first)
        if key not in self._known:
            name = f"{self._digests[path]}:{first}:{last}"
            kept = self._cache.get([name]).get(name)
            if kept is None:
                function = summary(self._files.any(path), first, last)
                kept = self._new[name] = msgspec.msgpack.encode(function)
            self._known[key] = msgspec.msgpack.decode(kept, type=Function | None)
        return self._known[key]

    def keep(self) -> None:
        self._cache.put(self._new)


# --- writing ---------------------------------------------------------------------------------------------


def write(found: Sequence[Error], source: Provenance, draft: Draft, pool: Executor, progress: Progress) -> None:
    """`errors.jsonl`, and a JSON and a Markdown file for each error."""
    progress.start("writing cards", len(found))
    (draft.folder / "errors").mkdir()
    chunks = [found[start : start + CARDS] for start in range(0, len(found), CARDS)]
    lines: dict[int, bytes] = {}
    tasks = [(str(draft.folder), msgspec.msgpack.encode(chunk), source) for chunk in chunks]
    for number, result in pool.run(_write_chunk, tasks):
        if isinstance(result, Crashed):
            raise ToolError("a process died while writing cards: free some memory and run again")
        if isinstance(result, OSError):
            raise ToolError(
                f"cannot write {draft.target}: {result.strerror}; make room or name another folder with --out"
            )
        lines[number], digests = result
        draft.files.update(digests)
        progress.advance(len(chunks[number]))
    draft.write(dataset.ERRORS, b"".join(lines[number] for number in range(len(chunks))))
    progress.done()


def _write_chunk(folder: str, chunk: bytes, source: Provenance) -> tuple[bytes, dict[str, str]] | OSError:
    environment_ = environment()
    lines: list[bytes] = []
    digests: dict[str, str] = {}
    try:
        for error in map(facts.with_hints, msgspec.msgpack.decode(chunk, type=tuple[Error, ...])):
            lines.append(encode(error))
            card = cards.markdown(error, source, environment_).encode()
            for name, data in (
                (f"errors/{error.id}.json", encode(error, indent=True)),
                (f"errors/{error.id}.md", card),
            ):
                digests[name] = dataset.write(f"{folder}/{name}", data)
    except OSError as e:
        return e
    return b"".join(lines), digests


def write_predicates(found: Sequence[Error], programs: Mapping[str, Program], draft: Draft) -> None:
    """The package of executable guards."""
    (draft.folder / predicates.FOLDER).mkdir()
    for name, data in predicates.package(found, programs):
        draft.write(name, data)


def skips(tree: Tree, records: dict[str, PackedRecord]) -> tuple[Skip, ...]:
    """Each file that was not read, with the reason."""
    unread = [
        Skip(path=path, reason=record.reason, raises=record.raises)
        for path, record in records.items()
        if record.reason is not None
    ]
    return tuple(sorted((*tree.skipped, *unread), key=lambda s: s.path))


def count(records: dict[str, PackedRecord], found: Sequence[Error], skipped: Sequence[Skip]) -> Counts:
    """The figures of the manifest. `raises` are statements met in files that could be read."""
    sites = sum(len(error.sites) for error in found)
    return Counts(
        files=len(records),
        raises=sum(record.raises for record in records.values() if record.reason is None),
        sites=sites,
        errors=len(found),
        merged=sites - len(found),
        skipped=len(skipped),
    )
