"""Owns the history of errors over releases: lines of descent, folded once and kept in `history.jsonl`."""
