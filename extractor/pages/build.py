"""Owns making a site, readable top to bottom: read, compare, tell, render, put in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import msgspec

from extractor import lookup
from extractor.dataset import Draft, encode
from extractor.errors import ToolError
from extractor.history.sentence import sentences
from extractor.history.store import read as read_history
from extractor.model import Error, Provenance
from extractor.pages import addresses, browse, editions, errlookup, error_page, folder, programs
from extractor.pages.folder import Writer, Written
from extractor.pages.lines import steps
from extractor.pages.shell import Shell
from extractor.pages.story import Stories, Story
from extractor.pool import Crashed, Pool, shared_out
from extractor.render import environment
from extractor.render.compose import card
from extractor.source import Progress

CHUNK = 100  # errors in a task
PRELOAD = ("extractor.pages.error_page",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a site is made. `version` is what ErrLookup's clients compare: it must grow from publish to publish."""

    out: Path
    jobs: int
    base_url: str | None = None  # where it will be published
    version: str | None = None
    history: Path | None = None  # `history.jsonl`, where there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was done. `fresh` files are new, or other than before."""

    folder: Path
    editions: tuple[str, ...]
    errors: int
    files: int
    fresh: int


def build(folders: Iterable[Path], options: Options, progress: Progress) -> Report:
    """The site of these datasets, in place of the one that was there. Raises `ToolError`."""
    with folder.draft(options.out) as draft, Pool(options.jobs, PRELOAD) as pool:
        pool.warm()
        found = editions.read(folders)
        taken = steps(found)
        past = None if options.history is None else read_history(options.history)
        drawn = past if past is not None and len(past.header.releases) > 1 else None  # a line needs two ends
        stories = Stories(found, taken, {} if past is None else sentences(past))
        shell = Shell.of(found, options.base_url)
        made = _Made(draft, Writer(draft.folder, options.out))
        records = error_pages(stories, shell, made, pool, progress)
        made.put_all(
            lambda: chain(
                lookup.files([(e.source, list(e.errors.values())) for e in found]),
                programs.api(stories, taken),
                programs.llms(shell, stories),
            ),
            lambda: chain(
                browse.pages(stories, taken, shell, environment(), chart=drawn is not None),
                browse.chart(drawn),
                browse.assets(),
                errlookup.files(found[0].source, records, found[0].counts.files, options.version),
            ),
        )
        made.put(programs.for_search(shell, made.pages()))
        folder.publish(draft, (e.source.label for e in found), made.files)
    return Report(
        folder=options.out,
        editions=tuple(e.name for e in found),
        errors=len(stories.all()),
        files=len(made.files),
        fresh=made.fresh,
    )


class _Made:
    """The files so far."""

    def __init__(self, draft: Draft, writer: Writer) -> None:
        self.files = draft.files
        self.fresh = 0
        self.writer = writer

    def put(self, files: Iterable[tuple[str, bytes]]) -> None:
        self.take(self.writer.put(name, data) for name, data in files)

    def put_all(self, *makers: Callable[[], Iterable[tuple[str, bytes]]]) -> None:
        """What each of them makes, each in a process of its own."""

        def part(make: Callable[[], Iterable[tuple[str, bytes]]]) -> bytes:
            return msgspec.msgpack.encode([self.writer.put(name, data) for name, data in make()])

        for packed in shared_out(part, makers):
            self.take(msgspec.msgpack.decode(packed, type=list[Written]))

    def take(self, written: Iterable[Written]) -> None:
        for name, digest, fresh in written:
            self.files[name] = digest
            self.fresh += fresh

    def pages(self) -> list[str]:
        """Those that a search engine should know: none that stands for another."""
        return [name for name in self.files if browse.is_own(name)]


# --- errors ----------------------------------------------------------------------------------------------


def error_pages(
    stories: Stories, shell: Shell, made: _Made, pool: Pool, progress: Progress
) -> list[tuple[dict[str, object], bytes]]:
    """Writes what there is of each error; gives what ErrLookup's files need of those in the newest edition."""
    progress.start("writing pages", sum(len(e.errors) for e in stories.editions))
    slugs = errlookup.slugs(stories.editions[0].errors.values())
    tasks = list(_tasks(stories, slugs, shell, made))
    records: dict[int, list[tuple[dict[str, object], bytes]]] = {}
    for number, result in pool.run(_write_errors, tasks):
        if isinstance(result, Crashed):
            raise ToolError("a process died while writing pages: free some memory and run again")
        if isinstance(result, OSError):
            raise ToolError(f"cannot write the site: {result.strerror}; make room or name another folder with --out")
        written, records[number] = result
        made.take(written)
        progress.advance(len(tasks[number][-1]))
    progress.done()
    return [record for number in sorted(records) for record in records[number]]


Told = tuple[Story, str | None]  # and its name in ErrLookup's files, when it is in them
Task = tuple[Writer, Shell, Provenance, bytes, list[Told]]


def _tasks(stories: Stories, slugs: dict[str, str], shell: Shell, made: _Made) -> Iterator[Task]:
    for at, edition in enumerate(stories.editions):
        errors = list(edition.errors.values())
        for start in range(0, len(errors), CHUNK):
            chunk = errors[start : start + CHUNK]
            told = [(stories.tell(at, e), slugs.get(e.id) if at == 0 else None) for e in chunk]
            yield made.writer, shell, edition.source, msgspec.msgpack.encode(chunk), told


def _write_errors(
    writer: Writer, shell: Shell, source: Provenance, chunk: bytes, told: list[Told]
) -> tuple[list[Written], list[tuple[dict[str, object], bytes]]] | OSError:
    written: list[Written] = []
    records: list[tuple[dict[str, object], bytes]] = []
    env = environment()
    try:
        for error, (story, slug) in zip(msgspec.msgpack.decode(chunk, type=tuple[Error, ...]), told, strict=True):
            view = card(error, source)
            written.append(writer.put(story.address, error_page.html(error, source, view, story, shell, env)))
            if story.main:
                written.append(writer.put(addresses.record(error.id), encode(error, indent=True)))
            if slug is not None:
                record = errlookup.encode(errlookup.record(error, source, view, slug))
                records.append((errlookup.summary(error, slug), record))
                written.append(writer.put(f"data/errors/{error.id}.json", record))
                if (cited := addresses.cited(error.repo, slug)) is not None:
                    written.append(writer.put(cited, error_page.cited(error, story, shell, cited, env)))
    except OSError as e:
        return e
    return written, records
