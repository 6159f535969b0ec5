"""Owns what a dataset's `predicates` package runs on: the standard library alone, copied as it is.

`values` says what may be unknown, `machine` runs the part of a function that decides about a raise, and
`registry` offers the predicates by name. Nothing here knows the rest of `extractor`.
"""
