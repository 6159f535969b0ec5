"""Owns the methods of text that are followed: `format`, `join`, stripping, and what works on plain text."""

from __future__ import annotations

from extractor import values
from extractor.values import Series, Table, Text, Value, shown, text


def call(value: Text, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value | None:
    if name == "format":
        return values.formatted(value, args, kwargs)
    if name == "format_map" and len(args) == 1 and isinstance(args[0], Table):
        return values.formatted(
            value, (), {k.literal: v for k, v in args[0].items if isinstance(k, Text) and k.literal}
        )
    if name == "join":
        return _join(value, args)
    plain = [a.literal for a in args if isinstance(a, Text) and a.literal is not None]
    if len(plain) != len(args) or kwargs:
        return None
    if name in ("strip", "lstrip", "rstrip", "removeprefix", "removesuffix"):
        return values.apply(value, lambda t: str(getattr(t, name)(*plain)))
    if name == "split" and not plain:
        whole, gaps = values.masked(value)
        return Series("list", tuple(values.unmasked(word, gaps) for word in whole.split()), "...")
    if value.literal is not None and name in (
        "lower",
        "upper",
        "title",
        "capitalize",
        "casefold",
        "replace",
        "expandtabs",
    ):
        try:
            return text(str(getattr(value.literal, name)(*plain)))
        except TypeError:
            return None
    return None


def _join(value: Text, args: tuple[Value, ...]) -> Text | None:
    if len(args) != 1 or not isinstance(args[0], Series) or args[0].kind == "set":
        return None
    pieces: list[values.Piece] = []
    for n, item in enumerate(args[0].items):
        pieces += (*(value.pieces if n else ()), *shown(item).pieces)
    return text(*pieces)
