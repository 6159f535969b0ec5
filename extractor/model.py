"""Owns the shape of a dataset: frozen dataclasses, written by orjson and read back by msgspec.

Lines count from 1, columns from 0 in characters, paths are relative to the source tree with `/`.
No syntax tree is kept in here, and nothing of the package is imported.
"""

from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET, UnsetType

SCHEMA_VERSION = 1
DEFAULT_REPO = "vllm-project/vllm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of a message: either `text`, or a hole (`expr` with its conversion and format spec)."""

    text: str | UnsetType = UNSET
    expr: str | UnsetType = UNSET
    conversion: str | UnsetType | None = UNSET
    spec: str | UnsetType | None = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One of the messages that a site can produce; `message` is `parts` written out with `{holes}`."""

    message: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What a handler is for: the lines of its `try`, and the first imports and calls in them, or a statement."""

    line: int
    end_line: int
    code: tuple[str, ...]
    more: bool  # there are others


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A condition that must hold for control to reach the site from the start of its function."""

    kind: str  # if, assert, for, while, except, case, exit
    text: str
    line: int
    stale: bool = False  # a name in it may have been rebound between the test and the site
    tried: Tried | UnsetType = UNSET  # of a handler


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """What a name in a message or a guard stands for."""

    value: Any
    path: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Doc:
    """A docstring of the tree, cited: whose it is and where it stands."""

    symbol: str
    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The source lines around a site; `start` is the number of the first of them."""

    start: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PredicateRef:
    """Where the executable form of a site's guards is in the dataset's `predicates` package."""

    name: str
    params: tuple[str, ...]
    precision: str  # exact, partial


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One place in the source that produces an error."""

    path: str
    line: int
    end_line: int
    column: int
    symbol: str  # as `co_qualname`: Class.method, f.<locals>.g, <module>
    permalink: str | None
    kind: str  # raise, reraise
    exception: str
    qualified_exception: str | None  # None: cannot be known from the source
    bases: tuple[str, ...]  # qualified, nearest first, as far as the tree and the builtins tell
    http_status: int | None
    cause: str | None  # what `from` names; the handler's types when it is the handler's name
    context: Context
    doc: Doc | None  # of the function or class that the site is in
    exception_doc: Doc | None
    guards: tuple[Guard, ...] = ()
    definition_guards: tuple[Guard, ...] = ()
    complete: bool = True  # the guards are the whole condition, not only a part that must hold
    caught_by: str | None = None
    validates: tuple[str, ...] = ()
    predicate: PredicateRef | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """Something the message itself tells its reader to do, quoted."""

    kind: str  # sentence, flag, environment
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """Another error of the tree, and the word why it is near."""

    id: str
    title: str
    exception: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """All sites of one file with one message. `kind`, `exception` and `http_status` are the first site's."""

    id: str
    repo: str
    kind: str
    language: str
    exception: str
    qualified_exception: str | None
    bases: tuple[str, ...]
    title: str
    message: str
    http_status: int | None
    variants: tuple[Variant, ...]
    pattern: str | None  # RE2 syntax; None when the message has no text of its own to look for
    constants: dict[str, Constant]
    hints: tuple[Hint, ...]
    related: tuple[Related, ...]
    sites: tuple[Site, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """A file that was not read, with the reason; `raises` is how many raise statements it seems to hold."""

    path: str
    reason: str
    raises: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Which source tree this is. `commit` may be the short one that a release names of itself."""

    repo: str  # owner/name
    label: str
    commit: str | None = None
    release: str | None = None
    date: str | None = None  # ISO 8601, UTC, to the second: of the commit, or of the release's upload
    dirty: bool = False
    archive: str | None = None  # the file name of a release's archive
    sha256: str | None = None  # of that archive
    permalink: str | None = None  # https://github.com/OWNER/NAME/blob/REV; None: no revision to point at


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the dataset holds. `merged` sites share their error with an earlier site of the file."""

    files: int
    raises: int
    sites: int
    errors: int
    merged: int
    skipped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The dataset's own description, `manifest.json`."""

    schema: int
    tool: str
    source: Provenance
    counts: Counts
    inputs: str  # one hash over the tree and the tool: equal inputs, equal dataset
    files: dict[str, str] = field(default_factory=dict)  # path in the dataset: sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Everything extracted from one source tree, in memory."""

    source: Provenance
    counts: Counts
    errors: tuple[Error, ...]
    skipped: tuple[Skip, ...]
    inputs: str
