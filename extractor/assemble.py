"""Owns the step from linked sites to errors: one error for all sites of a file with one message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import UNSET

from extractor import entities, identity, judge, message
from extractor.expr import UnknownValue
from extractor.frames import Frame, Summaries
from extractor.guards import Handler
from extractor.model import (
    Constant,
    Context,
    Doc,
    Error,
    Guard,
    Part,
    PredicateRef,
    Provenance,
    Site,
    Tried,
    Variant,
)
from extractor.pattern import pattern
from extractor.phrasing import RawGuard
from extractor.predicates import Program
from extractor.sites import RawSite
from extractor.tree import ClassRef, Entity, External, Names, module_name
from extractor.values import Exception_, Gap, Text

MAX_MEMBERS = 200  # of a constant that is shown
CAPITALS = re.compile(r"(?<![\w.\"'])[A-Za-z_][\w.]*\b")
LAST = re.compile(r"\w+$")
NAMED_CONSTANT = re.compile(r"\b_*[A-Z][A-Z0-9_]+\b")


@dataclass(frozen=True, slots=True)
class _Linked:
    """A site and what it can raise; no variant at all for what is raised again."""

    site: Site
    message: str
    variants: tuple[Variant, ...]
    constants: dict[str, Constant]


def calls_that_leave(calls: Mapping[str, Sequence[str]], names: Names) -> dict[str, frozenset[str]]:
    """By path, those of the calls that are of functions which never return, and the context managers (`with name`)
    that may keep an exception to themselves; files without any are not in it."""
    spans = (
        (name, span)
        for index in names.indexes.values()
        for table in (index.functions, *(c.methods for c in index.classes.values()))
        for name, span in table.items()
    )
    leaving = {name for name, span in spans if span.leaves or span.swallows}
    exits = {"__exit__", "__aexit__"} & leaving
    managers = {n for i in names.indexes.values() for n, c in i.classes.items() if exits & c.methods.keys()}
    leaving |= {name.rpartition(".")[2] for name in managers}
    found: dict[str, frozenset[str]] = {}
    for path, made in calls.items():
        likely = (call for call in made if LAST.findall(call)[-1] in leaving)
        met = frozenset(call for call in likely if _goes_astray(names, path, call))
        if met:
            found[path] = met
    return found


def _goes_astray(names: Names, path: str, call: str) -> bool:
    manager = call.removeprefix("with ")
    return names.never_returns(path, call) if manager == call else names.swallows(path, manager)


@dataclass(frozen=True, slots=True)
class Assembled:
    """The errors of some files, sorted by id, and what their predicates run, by the predicates' names."""

    errors: tuple[Error, ...]
    programs: dict[str, Program]

    def packed(self) -> bytes:
        """For another process. Programs hold their code as JSON."""
        return msgspec.msgpack.encode((self.errors, msgspec.json.encode(self.programs)))

    @classmethod
    def of(cls, data: bytes) -> Assembled:
        """What `packed` gave."""
        errors, programs = msgspec.msgpack.decode(data, type=tuple[tuple[Error, ...], bytes])
        return cls(errors, msgspec.json.decode(programs, type=dict[str, Program]))


def assembled(
    files: Iterable[tuple[str, Sequence[RawSite]]], names: Names, summaries: Summaries, source: Provenance
) -> Assembled:
    """Links the sites of files, each given with its path; `names` are those of the whole tree."""
    linker = _Linker(names, summaries, source)
    groups: dict[tuple[str, str], list[_Linked]] = {}
    for path, sites in files:
        for raw in sites:
            linked = linker.link(path, raw)
            groups.setdefault((path, linked.message or linked.site.exception), []).append(linked)
    made = [_error(key, path, group, source.repo) for (path, key), group in groups.items()]
    return Assembled(_by_id(made), linker.programs)


def together(parts: Iterable[Assembled]) -> Assembled:
    """What was linked in several parts, as if it had been in one."""
    errors: list[Error] = []
    programs: dict[str, Program] = {}
    for part in parts:
        errors += part.errors
        programs |= part.programs
    return Assembled(_by_id(errors), programs)


def _by_id(errors: Iterable[Error]) -> tuple[Error, ...]:
    return tuple(sorted(errors, key=lambda e: e.id))


def _error(key: str, path: str, group: Sequence[_Linked], repo: str) -> Error:
    first = group[0].site
    variants = tuple(dict.fromkeys(v for linked in group for v in linked.variants))
    constants = {name: c for linked in group for name, c in sorted(linked.constants.items())}
    return Error(
        id=identity.error_id(repo, key, path),
        repo=repo,
        kind=first.kind,
        language="python",
        exception=first.exception,
        qualified_exception=first.qualified_exception,
        bases=first.bases,
        title=identity.title(key),
        message=group[0].message,
        http_status=first.http_status,
        variants=variants,
        pattern=pattern(variants),
        constants=constants,
        hints=(),
        related=(),
        sites=tuple(linked.site for linked in group),
    )


class _Linker:
    def __init__(self, names: Names, summaries: Summaries, source: Provenance) -> None:
        self._names = names
        self._summaries = summaries
        self._source = source
        self.programs: dict[str, Program] = {}

    def link(self, path: str, raw: RawSite) -> _Linked:
        """Evaluates what the site raises with the whole tree at hand."""
        if raw.raised is None:
            types = (raw.types or "BaseException").split(" | ")
            entities = [self._names.resolve(path, t) for t in types]
            shown = " | ".join(dict.fromkeys(t.rpartition(".")[2] for t in types))
            site = self._site(path, raw, "reraise", shown, entities, None)
            return _Linked(site, "", (), self._constants(path, self._owner(path, raw), raw, ()))
        owner = self._owner(path, raw)
        frame = Frame(path, self_name=raw.owner[0] if raw.owner else None, owner=owner)
        none = judge.told_of_none(guard.text for guard in raw.conditions.guards if not guard.stale)
        made = message.results(raw.raised, frame, self._names, self._summaries, raw.assumed, none)
        best = max(made, key=_weight)
        shown = " | ".join(dict.fromkeys(e.name for e in (best, *made)))
        site = self._site(path, raw, "raise", shown, [e.entity for e in made], best.http_status)
        variants = tuple(dict.fromkeys(_variant(e.text) for e in made if e.text.pieces))
        return _Linked(site, written(best.text), variants, self._constants(path, owner, raw, made))

    def _owner(self, path: str, raw: RawSite) -> ClassRef | None:
        """The class whose method the site is in; a class inside a function is not known."""
        known = raw.owner is not None and raw.owner[1] in self._names.indexes[path].classes
        return ClassRef(path, raw.owner[1]) if raw.owner is not None and known else None

    def _site(
        self,
        path: str,
        raw: RawSite,
        kind: str,
        exception: str,
        entities: Iterable[Entity | None],
        http_status: int | None,
    ) -> Site:
        unique = list(dict.fromkeys(entities))
        entity = unique[0] if len(unique) == 1 and isinstance(unique[0], ClassRef | External) else None
        return Site(
            path=path,
            line=raw.line,
            end_line=raw.end_line,
            column=raw.column,
            symbol=raw.symbol,
            permalink=_permalink(self._source, path, raw.line, raw.end_line),
            kind=kind,
            exception=exception,
            qualified_exception=self._qualified(entity),
            bases=self._names.bases(entity) if entity is not None else (),
            http_status=http_status,
            cause=raw.cause,
            context=Context(start=raw.context_start, lines=tuple(raw.context.split("\n"))),
            doc=Doc(symbol=raw.doc.symbol, path=path, line=raw.doc.line, text=raw.doc.text) if raw.doc else None,
            exception_doc=self._class_doc(entity),
            guards=tuple(map(_guard, raw.conditions.guards)),
            definition_guards=tuple(map(_guard, raw.conditions.definition)),
            complete=raw.conditions.complete,
            caught_by=self._caught_by(path, unique, raw.conditions.tries),
            validates=raw.conditions.validates or self._initialised(path, raw),
            predicate=self._predicate(path, raw),
        )

    def _predicate(self, path: str, raw: RawSite) -> PredicateRef:
        program, params, precision = entities.linked(self._names, path, raw.program)
        name = f"{module_name(path)}:{raw.symbol}:{raw.line}"
        if name in self.programs:  # two on one line
            name = f"{name}:{raw.column}"
        self.programs[name] = program
        return PredicateRef(name=name, params=params, precision=precision)

    def _caught_by(self, path: str, raised: Sequence[Entity | None], tries: Sequence[Sequence[Handler]]) -> str | None:
        """The types of the handler in the same function that keeps all that is raised; None where that is not sure."""
        for handlers in tries:
            for handler in handlers:
                caught = [self._catches(path, handler, entity) for entity in raised]
                if caught and all(caught):
                    if handler.again is False:
                        return handler.types
                    if handler.again is None:
                        return None
                    break
                if any(c is not False for c in caught):
                    return None
        return None

    def _catches(self, path: str, handler: Handler, raised: Entity | None) -> bool | None:
        """Whether a handler takes what is raised; None when that cannot be told."""
        types = [self._names.resolve(path, t) for t in handler.types.split(" | ")]
        if External("builtins.BaseException") in types:
            return True
        if not isinstance(raised, ClassRef | External):
            return None
        names = {self._qualified(t) for t in types if isinstance(t, ClassRef | External)}
        if names & {self._qualified(raised), *self._names.bases(raised)}:
            return True
        return False if None not in types and self._names.is_known(raised) else None

    def _initialised(self, path: str, raw: RawSite) -> tuple[str, ...]:
        """The dataclass whose `__post_init__` the site is in."""
        for decorator in raw.conditions.post_init if raw.owner is not None else ():
            if self._names.makes_dataclass(path, decorator):
                assert raw.owner is not None
                return (raw.owner[1],)
        return ()

    def _qualified(self, entity: ClassRef | External | None) -> str | None:
        if isinstance(entity, ClassRef):
            return self._names.qualified(entity)
        return entity.name if entity is not None else None

    def _class_doc(self, entity: ClassRef | External | None) -> Doc | None:
        if not isinstance(entity, ClassRef):
            return None
        span = self._names.class_(entity).span
        return (
            None if span.doc is None else Doc(symbol=entity.name, path=entity.path, line=span.doc_line, text=span.doc)
        )

    def _constants(
        self, path: str, owner: ClassRef | None, raw: RawSite, made: Sequence[Exception_]
    ) -> dict[str, Constant]:
        """What the names in guards, and those in capitals in the holes, stand for."""
        found: dict[str, Constant] = {}
        for guard in (*raw.conditions.guards, *raw.conditions.definition):
            for name in guard.names:
                constant = self._constant(path, owner, raw, name) if name not in found else None
                if constant is not None:
                    found[name] = constant
        for gap in {p for e in made for p in e.text.pieces if isinstance(p, Gap)}:
            if not NAMED_CONSTANT.search(gap.expr):
                continue
            for name in CAPITALS.findall(gap.expr):
                if name not in found and NAMED_CONSTANT.search(name):
                    constant = self._constant(path, owner, raw, name)
                    if constant is not None:
                        found[name] = constant
        return found

    def _constant(self, path: str, owner: ClassRef | None, raw: RawSite, name: str) -> Constant | None:
        own, _, attribute = name.partition(".")
        try:
            if owner is not None and raw.owner is not None and own == raw.owner[0]:
                if not attribute or not self._names.is_fixed(owner, attribute):
                    return None
                name = f"{owner.name}.{attribute}"
            value, ref = self._names.constant(path, name)
            if ref is not None and value not in ([], {}, set()):  # what begins empty is filled by somebody
                return Constant(value=plain(value), path=ref.path, line=ref.value.line)
        except UnknownValue:
            pass
        return None


def _weight(made: Exception_) -> tuple[int, bool]:
    """How well a reader would know the message: by the text that is always there, then by what is not."""
    written = [piece for piece in made.text.pieces if isinstance(piece, str)]
    return sum(map(len, written)), len(written) < len(made.text.pieces)


def _guard(raw: RawGuard) -> Guard:
    tried = UNSET if raw.tried is None else Tried(**msgspec.structs.asdict(raw.tried))
    return Guard(kind=raw.kind, text=raw.text, line=raw.line, stale=raw.stale, tried=tried)


def written(text: Text) -> str:
    """The message: text with `{expression!conversion:spec}` where a value goes."""
    return "".join(map(str, text.pieces))


def _variant(text: Text) -> Variant:
    parts = tuple(
        Part(text=p) if isinstance(p, str) else Part(expr=p.expr, conversion=p.conversion, spec=p.spec)
        for p in text.pieces
    )
    return Variant(message=written(text), parts=parts)


def plain(value: Any) -> Any:
    """A constant as JSON: tuples and sets as lists, sets in order. Raises `UnknownValue` when it is too large."""
    match value:
        case set() | frozenset():
            return plain(sorted(value, key=lambda v: (type(v).__name__, str(v))))
        case tuple() | list():
            if len(value) > MAX_MEMBERS:
                raise UnknownValue("too large")
            return [plain(v) for v in value]
        case dict():
            if len(value) > MAX_MEMBERS:
                raise UnknownValue("too large")
            return {str(k): plain(v) for k, v in value.items()}
        case str() | bool() | int() | None:
            return value
        case float() if value == value and abs(value) != float("inf"):
            return value
    return repr(value)


def _permalink(source: Provenance, path: str, line: int, end: int) -> str | None:
    if source.permalink is None:
        return None
    lines = f"L{line}-L{end}" if end > line else f"L{line}"
    return f"{source.permalink}/{quote(path)}#{lines}"
