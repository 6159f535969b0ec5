"""Owns what a history asks of a comparison: what became of each error from one release to the next.

Comparing two releases takes a second, so what it came to is kept by what was compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from extractor.cache import Cache
from extractor.history.fold import Pair
from extractor.model import Error

FORMAT = 1  # raise it whenever what is kept of a comparison changes

Pairing = Callable[[Sequence[Error], Sequence[Error]], Iterable[Pair]]
Kept = list[tuple[tuple[str, ...], str | None, str | None, str | None]]  # kinds, old id, new id, strictness


def pairing(old: Sequence[Error], new: Sequence[Error]) -> Iterator[Pair]:
    """Each error of both sides once; those that have not changed are left out."""
    from extractor.diff import compare  # which imports scipy: not needed for what is kept

    for change in compare(old, new):
        if change.kinds:
            yield Pair(change.kinds, change.old, change.new, change.strictness)


def kept_pairs(
    old: Mapping[bytes, Error], new: Mapping[bytes, Error], compared: Pairing, cache: Cache
) -> Sequence[Pair]:
    """The pairs of two releases, whose errors are given by their bytes: from the cache, or compared and kept."""
    key = f"pairs {FORMAT}:{_digest(old)}:{_digest(new)}"
    data = cache.get([key]).get(key)
    if data is None:
        pairs = list(compared(list(old.values()), list(new.values())))
        rows: Kept = [(p.kinds, _id(p.old), _id(p.new), p.strictness) for p in pairs]
        cache.put({key: msgspec.msgpack.encode(rows)})
        return pairs
    was, now = ({error.id: error for error in errors.values()} for errors in (old, new))
    return [
        Pair(kinds, None if before is None else was[before], None if after is None else now[after], strictness)
        for kinds, before, after, strictness in msgspec.msgpack.decode(data, type=Kept)
    ]


def _id(error: Error | None) -> str | None:
    return None if error is None else error.id


def _digest(errors: Iterable[bytes]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for row in errors:
        digest.update(row)
    return digest.hexdigest()
