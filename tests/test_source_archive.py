"""Archives: hostile ones first, each ends in a sentence or a listed skip; none writes or crashes."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from extractor.errors import ToolError
from extractor.source import archive, listing, members
from extractor.source.names import blob_id

GOOD = {"vllm-1/PKG-INFO": b"Name: vllm\n", "vllm-1/vllm/a.py": b"a = 1\n", "vllm-1/setup.py": b"s = 1\n"}


def tar_bytes(*items: tuple[tarfile.TarInfo, bytes], compress: bool = True) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz" if compress else "w") as tar:
        for info, data in items:
            info.size = info.size or len(data)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def member(
    name: str, data: bytes = b"x = 1\n", kind: bytes = tarfile.REGTYPE, target: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, data if kind == tarfile.REGTYPE else b""


def good() -> list[tuple[tarfile.TarInfo, bytes]]:
    return [member(name, data) for name, data in GOOD.items()]


def scan(tmp_path: Path, data: bytes, name: str = "vllm-1.tar.gz", **bounds: int) -> listing.Listing:
    (tmp_path / name).write_bytes(data)
    found = archive.scan(tmp_path / name, **bounds)
    assert [p.name for p in tmp_path.iterdir()] == [name]  # nothing was unpacked
    return found


def paths(found: listing.Listing) -> list[str]:
    return [entry.path for entry in found.entries]


# --- not read at all -------------------------------------------------------------------------------------


def _bomb() -> bytes:
    return gzip.compress(tar_bytes(*good(), member("vllm-1/zeros.bin", bytes(8 << 20)), compress=False))


def _cut(by: int) -> bytes:
    data = tar_bytes(*good(), member("vllm-1/z.py", bytes(range(256)) * 50))
    return data[:-by]


def _header_bomb() -> bytes:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 40
    return gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(4096))


def _negative_size() -> bytes:
    raw = bytearray(tar_bytes(*good(), compress=False))
    raw[124:136] = b"\xff" * 12  # base-256 for -1
    checksum = sum(raw[:148]) + 32 * 8 + sum(raw[156:512])
    raw[148:156] = b"%06o\0 " % checksum
    return gzip.compress(bytes(raw))


def _damaged_header() -> bytes:
    raw = bytearray(tar_bytes(*good(), compress=False))
    raw[1024] ^= 0xFF  # the first byte of the second member
    return gzip.compress(bytes(raw))


CASES_BROKEN = [
    pytest.param(lambda: b"", "damaged", id="empty"),
    pytest.param(lambda: b"<html>", "damaged", id="not an archive"),
    pytest.param(lambda: gzip.compress(b"hello" * 1000), "damaged", id="gzip of something else"),
    pytest.param(lambda: _cut(20), "damaged", id="cut off at the end"),
    pytest.param(lambda: _cut(200), "damaged", id="cut off"),
    pytest.param(lambda: gzip.compress(tar_bytes(*good(), compress=False)[:2048]), "damaged", id="no end mark"),
    pytest.param(_damaged_header, "damaged", id="a damaged member in the middle"),
    pytest.param(_negative_size, "damaged", id="a negative size"),
    pytest.param(_bomb, "holds more than 4 MiB", id="gzip bomb"),
    pytest.param(_header_bomb, "claims a header of unreasonable size", id="a header of a terabyte"),
]


@pytest.mark.parametrize(("make", "message"), CASES_BROKEN)
def test_broken(tmp_path: Path, make: Callable[[], bytes], message: str) -> None:
    with pytest.raises(ToolError, match=message):
        scan(tmp_path, make(), max_total=4 << 20)


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MAX_MEMBERS", 2)
    with pytest.raises(ToolError, match="more than 2 members"):
        scan(tmp_path, tar_bytes(*good()))


def _zip(files: dict[str, bytes], change: Callable[[zipfile.ZipInfo], None] = lambda info: None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            change(info)
            file.writestr(info, data)
    return buffer.getvalue()


CASES_BROKEN_ZIP = [
    pytest.param(lambda: b"PK", "damaged", id="not an archive"),
    pytest.param(lambda: _zip(GOOD)[:-30], "damaged", id="cut off"),
    pytest.param(lambda: _zip({"a.py": bytes(3 << 20), "b.py": bytes(3 << 20)}), "holds more than 4 MiB", id="bomb"),
    pytest.param(lambda: _zip(GOOD).replace(b"vllm-1/vllm/a.py", b"vllm-1/vllm/b.py", 1), "damaged", id="two names"),
]


@pytest.mark.parametrize(("make", "message"), CASES_BROKEN_ZIP)
def test_broken_wheel(tmp_path: Path, make: Callable[[], bytes], message: str) -> None:
    with pytest.raises(ToolError, match=message):
        scan(tmp_path, make(), "vllm-1-py3-none-any.whl", max_total=4 << 20)


# --- members that are skipped ----------------------------------------------------------------------------

CASES_SKIPPED = [
    pytest.param(member("../evil.py"), "../evil.py", "its name leaves the archive", id="above"),
    pytest.param(
        member("vllm-1/../../evil.py"),
        "vllm-1/../../evil.py",
        "its name leaves the archive",
        id="above, below",
    ),
    pytest.param(member("/etc/evil.py"), "etc/evil.py", "its name is absolute", id="absolute"),
    pytest.param(member("other/evil.py"), "other/evil.py", "outside the archive's top folder", id="another top"),
    pytest.param(member("vllm-1/l.py", kind=tarfile.SYMTYPE, target="/etc/passwd"), "l.py", "symbolic link", id="link"),
    pytest.param(
        member("vllm-1/l.py", kind=tarfile.LNKTYPE, target="vllm-1/setup.py"),
        "l.py",
        "hard link",
        id="hard link",
    ),
    pytest.param(member("vllm-1/d.py", kind=tarfile.CHRTYPE), "d.py", "not a regular file", id="device"),
    pytest.param(member("vllm-1/d.py", kind=tarfile.BLKTYPE), "d.py", "not a regular file", id="disk"),
    pytest.param(member("vllm-1/p.py", kind=tarfile.FIFOTYPE), "p.py", "not a regular file", id="pipe"),
    pytest.param(member("vllm-1/b.py", b"x" * 2000), "b.py", "larger than 0 MiB", id="large"),
    pytest.param(member("vllm-1/a\nb\x1b.py", kind=tarfile.SYMTYPE), "a\\nb\\x1b.py", "symbolic link", id="odd name"),
]


@pytest.mark.parametrize(("odd", "path", "reason"), CASES_SKIPPED)
def test_skipped(
    tmp_path: Path,
    odd: tuple[tarfile.TarInfo, bytes],
    path: str,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(members, "MAX_FILE", 1000)
    items = good()
    found = scan(tmp_path, tar_bytes(*items[:2], odd, *items[2:]))
    assert paths(found) == ["setup.py", "vllm/a.py"]
    assert [(skip.path, skip.reason) for skip in found.skipped] == [(path, reason)]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_what_is_no_python_is_no_skip(tmp_path: Path, kind: bytes) -> None:
    name = "vllm-1/folder.py" if kind == tarfile.DIRTYPE else "vllm-1/x.txt"
    assert scan(tmp_path, tar_bytes(*good(), member(name, kind=kind))).skipped == ()


CASES_SKIPPED_ZIP = [
    pytest.param(lambda i: setattr(i, "external_attr", 0o120777 << 16), "symbolic link", id="link"),
    pytest.param(lambda i: setattr(i, "external_attr", 0o010777 << 16), "not a regular file", id="pipe"),
]


@pytest.mark.parametrize(("change", "reason"), CASES_SKIPPED_ZIP)
def test_skipped_in_a_wheel(tmp_path: Path, change: Callable[[zipfile.ZipInfo], None], reason: str) -> None:
    found = scan(tmp_path, _zip({"vllm/a.py": b"1"}, change), "vllm-1-py3-none-any.whl")
    assert [(skip.path, skip.reason) for skip in found.skipped] == [("vllm/a.py", reason)]


def test_encrypted_in_a_wheel(tmp_path: Path) -> None:
    data = bytearray(_zip({"vllm/a.py": b"1"}))
    for mark, flags in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        data[data.index(mark) + flags] |= 1
    found = scan(tmp_path, bytes(data), "vllm-1-py3-none-any.whl")
    assert [skip.reason for skip in found.skipped] == ["encrypted"]


# --- what is read ----------------------------------------------------------------------------------------


def test_the_last_of_two_counts(tmp_path: Path) -> None:
    twice = [member("vllm-1/vllm/a.py", b"first"), *good(), member("vllm-1/./vllm//a.py", b"last")]
    found = scan(tmp_path, tar_bytes(*twice))
    assert [entry.digest for entry in found.entries if entry.path == "vllm/a.py"] == [blob_id(b"last")]
    assert [(s.path, s.reason) for s in found.skipped] == [("vllm/a.py", "in the archive twice: the last one is read")]
    wanted = dict(zip(found.members, paths(found), strict=True))
    assert dict(archive.read(tmp_path / "vllm-1.tar.gz", wanted)) == {
        "vllm/a.py": b"last",
        "setup.py": b"s = 1\n",
    }


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param("x-1.tar.gz", tar_bytes(*good()), id="tar.gz"),
        pytest.param("x-1.tar", tar_bytes(*good(), compress=False), id="tar"),
        pytest.param("x-1.zip", _zip(GOOD), id="zip"),
        pytest.param("x-1.whl", _zip({k.removeprefix("vllm-1/"): v for k, v in GOOD.items()}), id="wheel"),
    ],
)
def test_every_kind_gives_the_same(tmp_path: Path, name: str, data: bytes) -> None:
    found = scan(tmp_path, data, name)
    assert [(e.path, e.digest) for e in found.entries] == [
        ("setup.py", blob_id(b"s = 1\n")),
        ("vllm/a.py", blob_id(b"a = 1\n")),
    ]
    last = archive.read(tmp_path / name, {found.members[1]: "vllm/a.py"})
    assert list(last) == [("vllm/a.py", b"a = 1\n")]
    assert list(archive.read(tmp_path / name, {})) == []


def test_names_that_are_no_text(tmp_path: Path) -> None:
    odd = [member("vllm-1/" + name) for name in ("\udcff.py", "a b'\".py", "x" * 252 + ".py", "ä.py", "..a..py")]
    assert paths(scan(tmp_path, tar_bytes(*odd))) == sorted(
        ["\\xff.py", "a b'\".py", "x" * 252 + ".py", "ä.py", "..a..py"]
    )


def test_listing_survives_only_whole(tmp_path: Path) -> None:
    found = scan(tmp_path, tar_bytes(*good()))
    listing.save(tmp_path / "kept", "ab", found)
    (kept,) = (tmp_path / "kept").iterdir()
    assert listing.load(tmp_path / "kept", "ab") == found
    assert listing.load(tmp_path / "kept", "cd") is None
    whole = kept.read_bytes()
    for damaged in (b"", whole[:-1], whole.replace(b"setup", b"setvp"), b"\xff" + whole, b"{}"):
        kept.write_bytes(damaged)
        assert listing.load(tmp_path / "kept", "ab") is None


def test_a_listing_that_cannot_be_kept_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    listing.save(tmp_path / "kept", "ab", listing.Listing(entries=(), members=(), skipped=(), commit=None))
    assert listing.load(tmp_path / "kept", "ab") is None
