"""Builds the hostile submissions that cases.toml tells of; only bytes, nothing on any disk."""

import gzip
import io
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable

from tests.support.submissions import CODE, bot_toml

_TOML = ("bot.toml", bot_toml("ann").encode())
_BOT = (_TOML, ("bot.py", CODE.encode()))
_ZEROS = 500_000_000
_CHUNK = bytes(1_000_000)


def zipped(*files: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    """A zip of files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return file.getvalue()


def tarred(*files: tuple[str, bytes] | tarfile.TarInfo) -> bytes:
    """A .tar.gz of files, and of whatever else there is in a tar."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for entry in files:
            if isinstance(entry, tarfile.TarInfo):
                archive.addfile(entry)
            else:
                info = tarfile.TarInfo(entry[0])
                info.size = len(entry[1])
                archive.addfile(info, io.BytesIO(entry[1]))
    return file.getvalue()


def _info(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def _special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.devmajor, info.devminor = kind, target, 8, 0
    return info


def _raw_zip(name: bytes, stream: bytes, size: int, crc: int, *, entries: int = 1) -> bytes:
    """A zip of one deflated stream, under a header that says anything, and listed any number of times."""
    fields = struct.pack("<HHHHLLLHH", 0, 8, 0, 0x21, crc, len(stream), size, len(name), 0)
    local = b"PK\x03\x04" + struct.pack("<H", 20) + fields + name + stream
    central = (b"PK\x01\x02" + struct.pack("<HH", 20, 20) + fields + bytes(14) + name) * entries
    count = min(entries, 0xFFFF)
    return local + central + b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0, count, count, len(central), len(local), 0)


def _zeros() -> bytes:
    """500 MB of zeros, deflated: a piece that is the same each time, so that making it takes no time."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    piece = deflate.compress(_CHUNK) + deflate.flush(zlib.Z_FULL_FLUSH)
    return piece * (_ZEROS // len(_CHUNK)) + deflate.flush()


def _zip_bomb() -> bytes:
    crc = 0
    for _ in range(_ZEROS // len(_CHUNK)):
        crc = zlib.crc32(_CHUNK, crc)
    return _raw_zip(b"bot.py", _zeros(), _ZEROS, crc)


def _zip_bomb_that_lies() -> bytes:
    return _raw_zip(b"bot.py", _zeros(), 10, zlib.crc32(bytes(10)))


def _zip_bomb_that_overlaps() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(*_TOML)
        archive.writestr("f0", bytes(9_000_000))
        kernel = archive.getinfo("f0")
        for number in range(1, 100):
            twin = zipfile.ZipInfo(f"f{number}")
            for field in ("header_offset", "compress_size", "file_size", "CRC", "compress_type"):
                setattr(twin, field, getattr(kernel, field))
            archive.filelist.append(twin)
    return file.getvalue()


def _tar_bomb(name: str) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = _ZEROS
    # A gzip may have many parts.
    return gzip.compress(info.tobuf()) + gzip.compress(_CHUNK) * (_ZEROS // len(_CHUNK)) + gzip.compress(bytes(1_024))


def _many_entries_zip() -> bytes:
    return _raw_zip(b"f", b"\x03\0", 0, 0, entries=100_000)


def _many_entries_tar() -> bytes:
    head = tarfile.TarInfo("f").tobuf()
    return gzip.compress(head * 100_000 + bytes(1_024), 1)


def _slow_header() -> bytes:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 60_000
    body = b"9" * info.size
    return gzip.compress((info.tobuf() + body.ljust(60_416, b"\0")) * 100 + bytes(1_024))


def _encrypted() -> bytes:
    data = bytearray(zipped(_TOML, ("bot.py", b"x")))
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def _twice() -> bytes:
    return tarred(*_BOT, ("./bot.py", b"import os"))


def _files(names: Iterable[str]) -> bytes:
    return zipped(*_BOT, *((name, b"") for name in names))


ARCHIVES: dict[str, Callable[[], bytes]] = {
    "zip_bomb": _zip_bomb,
    "zip_bomb_that_lies": _zip_bomb_that_lies,
    "zip_bomb_that_overlaps": _zip_bomb_that_overlaps,
    "tar_bomb": lambda: _tar_bomb("bot.py"),
    "tar_bomb_in_a_hidden_file": lambda: _tar_bomb(".cache"),
    "100k_entries": _many_entries_zip,
    "100k_entries_tar": _many_entries_tar,
    "tar_slow_header": _slow_header,
    "tar_escape_parent": lambda: tarred(*_BOT, ("../../etc/cron.d/x", b"")),
    "tar_escape_absolute": lambda: tarred(*_BOT, ("/etc/cron.d/x", b"")),
    "tar_escape_link": lambda: tarred(*_BOT, _special("data", tarfile.SYMTYPE, "/etc"), ("data/x", b"")),
    "tar_escape_hard_link": lambda: tarred(*_BOT, _special("passwd", tarfile.LNKTYPE, "/etc/passwd")),
    "tar_escape_device": lambda: tarred(*_BOT, _special("disk", tarfile.BLKTYPE)),
    "tar_pipe": lambda: tarred(*_BOT, _special("pipe", tarfile.FIFOTYPE)),
    "zip_escape_parent": lambda: zipped(*_BOT, ("../../etc/cron.d/x", b"")),
    "zip_escape_link": lambda: zipped(*_BOT, (_info("data", stat.S_IFLNK | 0o777), b"/etc")),
    "setuid": lambda: zipped(*_BOT, (_info("run", stat.S_IFREG | 0o4755), b"#!")),
    "encrypted": _encrypted,
    "twice": _twice,
    "file_and_folder": lambda: tarred(*_BOT, ("data", b""), ("data/x", b"")),
    "case_twins": lambda: _files(["BOT.py"]),
    "unicode_twins": lambda: _files(["é.py", "e\u0301.py"]),
    "unicode_newline_name": lambda: _files(["x\nann joins the next night\u202e.py"]),
    "escape_code_name": lambda: _files(["\x1b[2J.py"]),
    "xss_name": lambda: _files(["<img src=x onerror=alert(1)>"]),
    "nul_name": lambda: _files(["bot.pyX.txt"]).replace(b"bot.pyX", b"bot.py\0"),
    "backslash_name": lambda: _files(["data\\x.py"]),
    "huge_file": lambda: zipped(*_BOT, ("weights.bin", os.urandom(1_000) * 20_000)),
    "huge_archive": lambda: zipped(*_BOT, ("weights.bin", os.urandom(12_000_000))),
    "many_files": lambda: _files(f"f{number}" for number in range(1_999)),
    "many_folders": lambda: _files(f"d{number}/x" for number in range(301)),
    "deep_name": lambda: _files(["x/" * 30_000 + "x"]),
    "missing_entry": lambda: zipped(("bot.toml", _TOML[1].replace(b"bot.py", b"main.py")), ("other.py", b"")),
    "missing_toml": lambda: zipped(("bot.py", b"")),
    "not_a_toml": lambda: zipped(("bot.toml", b"\x89PNG\r\n\x1a\n"), ("bot.py", b"")),
    "bomb_in_an_archive": lambda: zipped(*_BOT, ("inner.zip", zipped(*_BOT) + os.urandom(1_000) * 20_000)),
}
"""By the name of the case."""
