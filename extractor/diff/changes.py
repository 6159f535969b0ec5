"""Owns what has become of each error: the kinds of change, site by site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from extractor.diff.assign import best
from extractor.diff.implication import follow
from extractor.diff.pairing import pairs
from extractor.diff.shape import E, ErrorLike, SiteLike, sites_of
from extractor.model import Guard

ADDED, REMOVED, REWORDED, RETYPED = "added", "removed", "reworded", "retyped"
REGUARDED, RELOCATED, MOVED = "reguarded", "relocated", "moved"
KINDS = (ADDED, MOVED, REGUARDED, RELOCATED, REMOVED, RETYPED, REWORDED)
STRICTER, LOOSER, OTHER = "stricter", "looser", "other"
TELLING = 6  # letters and digits of a message, by which a site is known in another function


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Generic[E]):
    """One error on both sides, or on one. `kinds` is sorted, and empty when nothing has changed.

    `old_site` and `new_site` are what changed most visibly, else the first. `strictness` is of the condition as a
    whole: a stricter one raises in fewer cases. `earlier_only`: of the condition, only what other raises and asserts
    before it in the function let through has changed, so what is no longer refused here is refused there.
    """

    kinds: tuple[str, ...]
    old: E | None
    new: E | None
    old_site: SiteLike | None = None
    new_site: SiteLike | None = None
    strictness: str | None = None
    earlier_only: bool = False
    guards_added: tuple[str, ...] = ()
    guards_removed: tuple[str, ...] = ()
    sites_added: tuple[SiteLike, ...] = ()
    sites_removed: tuple[SiteLike, ...] = ()
    variants_added: tuple[str, ...] = ()
    variants_removed: tuple[str, ...] = ()

    @property
    def error(self) -> E:
        """The error as it is, or as it was when it is gone."""
        found = self.new if self.new is not None else self.old
        assert found is not None
        return found

    @property
    def site(self) -> SiteLike:
        """Where it is, or was."""
        found = self.new_site or self.old_site
        assert found is not None
        return found


def compare(old: Sequence[E], new: Sequence[E]) -> list[Change[E]]:
    """What has become of each raised error, the unchanged ones too: each of `old` and of `new` in one change."""
    refusals = _refusals(old), _refusals(new)
    return [_change(one, other, refusals) for one, other in pairs(old, new)]


Refusals = frozenset[tuple[str, int]]  # file and line of each test that decides about a raise


def _refusals(errors: Sequence[ErrorLike]) -> Refusals:
    """Where functions are left by raising."""
    return frozenset((site.path, site.guards[-1].line) for e in errors for site in sites_of(e) if site.guards)


def _change(old: E | None, new: E | None, refusals: tuple[Refusals, Refusals]) -> Change[E]:
    if old is not None and new is not None:
        return _changed(old, new, refusals)
    if new is not None:
        site = sites_of(new)[0]
        return Change(kinds=(ADDED,), old=None, new=new, new_site=site, guards_added=_guards(site))
    assert old is not None
    site = sites_of(old)[0]
    return Change(kinds=(REMOVED,), old=old, new=None, old_site=site, guards_removed=_guards(site))


def _changed(old: E, new: E, refusals: tuple[Refusals, Refusals]) -> Change[E]:
    before, after = sites_of(old), sites_of(new)
    both = _sites(before, after, telling=sum(map(str.isalnum, new.message)) >= TELLING)
    left, right = {o for o, _ in both}, {n for _, n in both}
    removed = tuple(s for n, s in enumerate(before) if n not in left)
    added = tuple(s for n, s in enumerate(after) if n not in right)
    same = [(before[o], after[n]) for o, n in both]
    variants = [dict.fromkeys(v.message for v in e.variants) for e in (old, new)]
    strictness = _together([_strictness(o, n) for o, n in same], bool(added), bool(removed))
    kinds = {
        REWORDED: old.message != new.message or set(variants[0]) != set(variants[1]),
        RETYPED: any(_type(o) != _type(n) for o, n in same),
        REGUARDED: strictness is not None,
        RELOCATED: any((o.path, o.symbol) != (n.path, n.symbol) for o, n in same),
    }
    found = tuple(sorted(kind for kind, holds in kinds.items() if holds))
    if not found and any(o.line != n.line for o, n in same):
        found = (MOVED,)
    shown = max(same, key=lambda pair: _visible(*pair), default=(before[0], after[0]))
    return Change(
        kinds=found,
        old=old,
        new=new,
        old_site=shown[0],
        new_site=shown[1],
        strictness=strictness,
        earlier_only=strictness is not None and not added and not removed and _earlier_only(same, refusals),
        guards_added=_more(same, 1),
        guards_removed=_more(same, 0),
        sites_added=added,
        sites_removed=removed,
        variants_added=tuple(v for v in variants[1] if v not in variants[0] and v != new.message),
        variants_removed=tuple(v for v in variants[0] if v not in variants[1] and v != old.message),
    )


# --- sites -----------------------------------------------------------------------------------------------


def _sites(old: Sequence[SiteLike], new: Sequence[SiteLike], telling: bool) -> list[tuple[int, int]]:
    """Which site is which, by place."""
    if len(old) == len(new) and all(
        o.symbol == n.symbol and _guards(o) == _guards(n) for o, n in zip(old, new, strict=True)
    ):
        return [(n, n) for n in range(len(old))]
    if len(old) == len(new) == 1:
        return [(0, 0)]
    scores = {
        (o, n): 1 / (1 + abs(o - n)) + score
        for o, one in enumerate(old)
        for n, other in enumerate(new)
        if (score := _likeness(one, other, telling)) > 0
    }
    return best(scores)


def _likeness(old: SiteLike, new: SiteLike, telling: bool) -> float:
    """How well one site of a message is another; 0: it is not."""
    guards = set(_guards(old)), set(_guards(new))
    share = len(guards[0] & guards[1]) / len(guards[0] | guards[1]) if guards[0] or guards[1] else 1.0
    if old.symbol == new.symbol:
        return 8 + 4 * share
    name = old.symbol.rpartition(".")[2] == new.symbol.rpartition(".")[2]
    if not telling and not name and not (guards[0] and share == 1.0):
        return 0.0
    return 1 + 2 * name + 2 * share


def _visible(old: SiteLike, new: SiteLike) -> int:
    """How much of a change a site shows; of equals, `max` takes the first."""
    return (
        4 * ((old.path, old.symbol) != (new.path, new.symbol))
        + 2 * (_type(old) != _type(new))
        + (set(_guards(old)) != set(_guards(new)))
    )


def _type(site: SiteLike) -> tuple[str, int | None]:
    """What is raised, whatever it is imported as."""
    return site.exception.rpartition(".")[2], site.http_status


# --- conditions ------------------------------------------------------------------------------------------


def _guards(site: SiteLike) -> tuple[str, ...]:
    return tuple(dict.fromkeys(g.text for g in (*site.definition_guards, *site.guards)))


def _strictness(old: SiteLike, new: SiteLike) -> str | None:
    """What has become of a site's condition; None: it is the same."""
    before, after = _guards(old), _guards(new)
    if set(before) == set(after):
        return None
    if not (old.complete and new.complete):
        return OTHER
    fewer, more = follow(before, after), follow(after, before)
    if fewer and more:
        return None  # said in another way
    return STRICTER if fewer else LOOSER if more else OTHER


def _together(each: Sequence[str | None], added: bool, removed: bool) -> str | None:
    """Of the whole error, which is raised wherever one of its sites is: a site more raises in more cases."""
    found = (
        {one for one in each if one is not None} | ({LOOSER} if added else set()) | ({STRICTER} if removed else set())
    )
    return None if not found else found.pop() if len(found) == 1 else OTHER


def _earlier_only(same: Sequence[tuple[SiteLike, SiteLike]], refusals: tuple[Refusals, Refusals]) -> bool:
    """Whether the guards that differ are all what another raise or an assert let through."""
    for pair in same:
        for side in (0, 1):
            there = set(_guards(pair[1 - side]))
            for guard in (*pair[side].definition_guards, *pair[side].guards):
                if guard.text not in there and not _passed(guard, pair[side].path, refusals[side]):
                    return False
    return True


def _passed(guard: Guard, path: str, refusals: Refusals) -> bool:
    """Whether the guard says that another raise, or an assert, was not met."""
    return guard.kind == "assert" or (guard.kind == "exit" and (path, guard.line) in refusals)


def _more(same: Sequence[tuple[SiteLike, SiteLike]], side: int) -> tuple[str, ...]:
    """The guards that only one side of the sites has."""
    found: dict[str, None] = {}
    for pair in same:
        there = set(_guards(pair[1 - side]))
        found |= dict.fromkeys(g for g in _guards(pair[side]) if g not in there)
    return tuple(found)
