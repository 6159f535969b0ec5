"""Owns the regular expression (RE2 syntax) that finds a message in a log: literal text, holes, any white space.

A hole matches anything, lazily, line ends included; at either end of a message it stays on its line. White
space in the text matches any white space, so that a wrapped line is found. No look-around, no back-references.
"""

import re
from collections.abc import Sequence

from msgspec import UNSET

from extractor.model import Part, Variant

MAX_LITERAL = 1_000  # characters of text in one pattern: a longer message is found by its beginning
MAX_PIECES = 100
SPACE = re.compile(r"[ \t\n\r\f]+")
INNER, OUTER = r"([\s\S]*?)", r"([^\n]*)"


def pattern(variants: Sequence[Variant]) -> str | None:
    """Finds any of the variants; None when they have no text of their own."""
    found = [p for p in (_one(v.parts) for v in variants) if p is not None]
    unique = list(dict.fromkeys(found))
    if not unique:
        return None
    return unique[0] if len(unique) == 1 else "(?:" + "|".join(unique) + ")"


def _one(parts: Sequence[Part]) -> str | None:
    pieces: list[str | None] = []  # None is a hole
    budget = MAX_LITERAL
    for part in parts[:MAX_PIECES]:
        if part.text is UNSET:
            pieces.append(None)
            continue
        text = str(part.text)
        pieces.append(text[:budget])
        budget -= len(text)
        if budget <= 0:
            break
    if not any(piece and piece.strip(" \t\n\r\f") for piece in pieces):
        return None
    return _joined(_trimmed(pieces))


def _trimmed(pieces: list[str | None]) -> list[str | None]:
    """A log may have lost the white space around a message."""
    if pieces[0] is not None:
        pieces[0] = pieces[0].lstrip(" \t\n\r\f")
    if pieces[-1] is not None:
        pieces[-1] = pieces[-1].rstrip(" \t\n\r\f")
    return [piece for piece in pieces if piece != ""]


def _joined(pieces: list[str | None]) -> str:
    out = []
    for n, piece in enumerate(pieces):
        if piece is not None:
            out.append(_literal(piece))
        elif n == 0:
            out.append(r"([^\n]*?)")
        else:
            out.append(OUTER if n == len(pieces) - 1 else INNER)
    return "".join(out)


def _literal(text: str) -> str:
    return r"\s+".join(re.escape(word) for word in SPACE.split(text)).replace("\0", r"\x00")
