"""Owns which other errors of a tree are shown beside one: those that a reader can follow to, with the reason.

Nearest first: the same function, the same class, the same message or exception about the same rare thing,
the same file.
Only rare words count and each is looked up in an inverted index, so the work grows with the number of errors,
not with its square.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from extractor.model import Related

SHOWN = 5
RARE = 24  # a word that more errors than this share says little, and costs much
MOST_COPIES = 2  # with the same message, of those shown: more of them would say nothing new
WINDOW = 24  # how many of one function, class or file are weighed: the nearest by line
MAX_WORDS = 60  # of one error: a message of a megabyte is no more related than another
MAX_TEXT = 4_000

FUNCTION, CLASS, MESSAGE, FILE = (
    1000.0,
    400.0,
    12.0,
    8.0,
)  # beside the sum of shared words: 5 for one, to about 100
EXCEPTION = 1.3  # words shared under the same exception weigh this much more
WORDLESS = -100_000.0  # an error without text is shown only when there is nothing better

_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_PIECE = re.compile(r"[A-Z]+[0-9]*(?![a-z])|[A-Z]?[a-z]+[0-9]*")
_STOP = frozenset(
    re.findall(
        r"\S+",
        """
    the and for not but with from this that must should can cannot could would will are was were
    been has have had does did doing done than then them they its you your our all any one two only
    when while which what where who why how into onto over under between within without during
    before after above below also more most less least same other others another such each every
    both either neither nor yet too very just use used uses using set sets setting get gets got
    getting given give expected expect expects received invalid unsupported supported support
    supports unknown valid error errors failed fail fails please found find missing required
    requires require need needs needed value values type types name names class instance object self
    cls len str repr int float bool list dict tuple join sorted format __name__ none true false
    exactly equal zero empty non null number numbers mode currently available implemented implement
    option options argument arguments parameter parameters instead make sure try consider see check
    ensure like because since however there here time line first last new rather wise unable invoke
    called call calls might still specified provided
        """,
    )
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What is known of one error: where it is raised, as what, and the words of its messages."""

    id: str
    title: str
    exception: str
    path: str
    line: int  # of its first site
    symbols: tuple[str, ...]  # the functions of its sites, as `co_qualname`
    texts: tuple[str, ...]  # literal pieces of its messages
    exprs: tuple[str, ...]  # the expressions of their holes


@dataclass(frozen=True, slots=True)
class _Node:
    """A subject with what is compared for each pair."""

    subject: Subject
    words: dict[str, str]  # in lower case: as it is written
    message: tuple[str, ...]
    functions: frozenset[tuple[str, str]]
    classes: frozenset[tuple[str, str]]


def related(subjects: Sequence[Subject]) -> list[tuple[Related, ...]]:
    """For each error those that are shown beside it, the nearest first."""
    nodes = [_node(s) for s in subjects]
    in_order = sorted(range(len(nodes)), key=lambda i: (subjects[i].path, subjects[i].line, subjects[i].id))
    places: dict[object, list[int]] = defaultdict(list)
    words: dict[str, list[int]] = defaultdict(list)
    for i in in_order:
        for place in _places(nodes[i]):
            places[place].append(i)
        for word in nodes[i].words:
            words[word].append(i)
    near = _near(places)
    weights = {w: math.log(len(nodes) / len(at)) for w, at in words.items() if 1 < len(at) <= RARE}
    return [_nearest(i, nodes, near[i], words, weights) for i in range(len(nodes))]


def _node(subject: Subject) -> _Node:
    functions = {s.partition(".<locals>")[0] for s in subject.symbols} - {"<module>"}
    return _Node(
        subject=subject,
        words=_words(subject),
        message=tuple(sorted({t[:MAX_TEXT] for t in subject.texts})),
        functions=frozenset((subject.path, f) for f in functions),
        classes=frozenset((subject.path, c) for f in functions if (c := f.rpartition(".")[0])),
    )


def _places(node: _Node) -> Iterator[object]:
    yield node.subject.path
    if node.message:
        yield node.message
    yield from (("function", f) for f in node.functions)
    yield from (("class", c) for c in node.classes)


def _near(places: Mapping[object, Sequence[int]]) -> dict[int, set[int]]:
    """For each error the few that stand nearest to it in its function, class, file and message."""
    near: dict[int, set[int]] = defaultdict(set)
    for members in places.values():
        for at, i in enumerate(members):
            start = max(0, min(at - WINDOW // 2, len(members) - WINDOW))
            near[i].update(members[start : start + WINDOW])
    return near


def _words(subject: Subject) -> dict[str, str]:
    """The words of an error: identifiers whole and in pieces, without those that all messages have."""
    found: dict[str, str] = {}
    for text in (*subject.texts, *subject.exprs):
        for token in _TOKEN.findall(text[:MAX_TEXT]):
            for word in (
                token,
                *(p for p in _PIECE.findall(token) if len(p) > 3 or (len(p) == 3 and p.isupper())),
            ):
                key = word.lower()
                if key not in _STOP:
                    found.setdefault(key, word)
        if len(found) > MAX_WORDS:
            break
    return found


def _nearest(
    i: int,
    nodes: Sequence[_Node],
    near: Iterable[int],
    words: Mapping[str, Sequence[int]],
    weights: Mapping[str, float],
) -> tuple[Related, ...]:
    node = nodes[i]
    scores = dict.fromkeys(near, 0.0)
    for word in node.words:
        weight = weights.get(word)
        if weight is not None:
            for j in words[word]:
                scores[j] = scores.get(j, 0.0) + weight
    scores.pop(i, None)
    ranked = ((-_score(node, nodes[j], shared), nodes[j].subject.id, j) for j, shared in scores.items())
    best = [j for _, _, j in heapq.nsmallest(2 * SHOWN, ranked)]
    copies = [j for j in best if _is_copy(node, nodes[j])][MOST_COPIES:]
    chosen = [j for j in best if j not in copies] + copies
    return tuple(_shown(node, nodes[j], weights) for j in chosen[:SHOWN])


def _score(a: _Node, b: _Node, shared: float) -> float:
    score = shared * EXCEPTION if a.subject.exception == b.subject.exception else shared
    if not b.subject.texts:
        score += WORDLESS
    elif a.message == b.message:
        score += MESSAGE
    if a.subject.path == b.subject.path:
        score += FILE
        if not a.functions.isdisjoint(b.functions):
            return score + FUNCTION
        if not a.classes.isdisjoint(b.classes):
            return score + CLASS
    return score


def _shown(a: _Node, b: _Node, weights: Mapping[str, float]) -> Related:
    subject = b.subject
    return Related(id=subject.id, title=subject.title, exception=subject.exception, why=_why(a, b, weights))


def _is_copy(a: _Node, b: _Node) -> bool:
    """Whether the same message is raised elsewhere."""
    return bool(a.message) and a.message == b.message and a.functions.isdisjoint(b.functions)


def _why(a: _Node, b: _Node, weights: Mapping[str, float]) -> str:
    if not a.functions.isdisjoint(b.functions):
        return "same function"
    if not a.classes.isdisjoint(b.classes):
        return "same class"
    if _is_copy(a, b):
        return "same message"
    place = ""
    if a.subject.path == b.subject.path:
        place = "same file"
    elif a.subject.exception == b.subject.exception:
        place = "same exception"
    shared = [w for w in a.words if w in b.words and w in weights]
    if not shared:
        return place
    about = f"also about `{a.words[max(shared, key=lambda w: (weights[w], len(w), w))]}`"
    return f"{place}, {about}" if place else about
