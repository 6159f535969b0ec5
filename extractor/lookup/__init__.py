"""Makes `match` work in a browser: its tables and a dataset's messages as files that scripts of the site read.

`dialect` says Python's patterns in JavaScript, `tables` writes the matcher's patterns and numbers, `index` a
dataset's messages, `bundle` gives all files. The scripts (`templates/site/lookup/`) have a module for each of
`extractor/match`, with the same names in the same order, and no number or pattern of their own.
"""

from extractor.lookup.bundle import files

__all__ = ["files"]
