"""The cache: every failure is a miss, a changed tool finds nothing, and the file is bounded."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extractor.cache import Cache, fingerprint


def test_a_changed_tool_finds_nothing_of_the_old_ones(tmp_path: Path) -> None:
    Cache(tmp_path, b"one").put({"a": b"1"})
    assert Cache(tmp_path, b"two").get(["a"]) == {}
    assert Cache(tmp_path, b"one").get(["a", "b"]) == {"a": b"1"}


def test_without_a_folder_nothing_is_kept() -> None:
    cache = Cache(None, b"")
    cache.put({"a": b"1"})
    assert cache.get(["a"]) == {}


@given(st.binary(max_size=200))
def test_a_damaged_entry_is_a_miss(stored: bytes) -> None:
    folder = Path(__import__("tempfile").mkdtemp())
    cache = Cache(folder, b"")
    cache.put({"a": b"1", "b": b"2"})
    assert cache._connection is not None
    cache._connection.execute("UPDATE records SET value = ? WHERE key = ?", (stored, cache._key("a")))
    assert cache.get(["a", "b"]) == {"b": b"2"}


DAMAGE = [
    ("no database", b"this is not a database, but it is long enough to look like a file of one" * 20),
    ("empty", b""),
    ("a header and nothing else", b"SQLite format 3\0" + b"\0" * 84),
]


@pytest.mark.parametrize("data", [row[1] for row in DAMAGE], ids=[row[0] for row in DAMAGE])
def test_a_damaged_file_is_begun_anew(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "records.sqlite3").write_bytes(data)
    cache = Cache(tmp_path, b"")
    assert cache.get(["a"]) == {}
    Cache(tmp_path, b"").put({"a": b"1"})
    assert Cache(tmp_path, b"").get(["a"]) in ({"a": b"1"}, {})


def test_a_folder_that_is_a_file_is_a_miss(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file", b"")
    cache.put({"a": b"1"})
    assert cache.get(["a"]) == {}


def test_it_is_bounded_and_what_was_used_last_stays(tmp_path: Path) -> None:
    cache = Cache(tmp_path, b"", max_bytes=260_000)
    cache._day -= 10
    cache.put({f"old{n}": b"x" * 1000 for n in range(150)})
    cache._day += 10
    cache.put({f"new{n}": b"x" * 1000 for n in range(100)})
    assert len(cache.get([f"new{n}" for n in range(100)])) == 100
    assert len(cache.get([f"old{n}" for n in range(150)])) < 150


def test_the_fingerprint_is_of_the_source() -> None:
    assert fingerprint() == fingerprint() and len(fingerprint()) == 32
