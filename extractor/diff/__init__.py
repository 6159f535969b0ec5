"""Owns what has changed between two trees: which error is which, and what has become of it."""

from extractor.diff.changes import KINDS, Change, compare
from extractor.diff.pairing import pairs
from extractor.diff.shape import ErrorLike, SiteLike

__all__ = ["KINDS", "Change", "ErrorLike", "SiteLike", "compare", "pairs"]
