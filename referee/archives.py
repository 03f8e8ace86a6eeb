"""What a .zip or .tar.gz holds: read into memory within fixed bounds, whatever its headers say.

Nothing is written anywhere, and no name or kind of file is judged here: that is done as for a folder (submissions.py).
An archive inside an archive is a file like any other.
"""

import copy
import gzip
import stat
import struct
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Final

from referee.errors import SubmissionError
from referee.text import printable

MAX_ARCHIVE_BYTES: Final = 12_000_000
MAX_ENTRIES: Final = 5_000
MAX_UNPACKED_BYTES: Final = 40_000_000
"""Of a .tar.gz as it is unpacked, with the files that are left out of a submission."""

_MAX_EXTENDED_BYTES: Final = 1_000_000  # of all headers of a tar that only tell more of the entry after them
_CHUNK: Final = 65_536
_LONGEST_NUMBER: Final = 5
_LONGEST_NAME: Final = 200
_LONGEST_SOURCE: Final = 1_000
_LONGEST_REASON: Final = 160
_BLOCK: Final = tarfile.BLOCKSIZE
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_ZIP_ENTRY: Final = b"PK\x01\x02"
_ZIP_HEADER_BYTES: Final = 30  # of each file's own header, without its name
_ENCRYPTED: Final = 0x1
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_OTHER_METHODS: Final = {9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "xz"}
_OTHERS: Final = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\xfd7zXZ\0": "an xz file",
    b"BZh": "a bzip2 file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
}
_TYPES: Final = {
    tarfile.REGTYPE: stat.S_IFREG,
    tarfile.AREGTYPE: stat.S_IFREG,
    tarfile.CONTTYPE: stat.S_IFREG,
    tarfile.DIRTYPE: stat.S_IFDIR,
    tarfile.SYMTYPE: stat.S_IFLNK,
    tarfile.LNKTYPE: stat.S_IFLNK,
    tarfile.FIFOTYPE: stat.S_IFIFO,
    tarfile.CHRTYPE: stat.S_IFCHR,
    tarfile.BLKTYPE: stat.S_IFBLK,
}
# The archive lies in memory, so that even an OSError tells of its bytes alone.
_BROKEN: Final = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error, EOFError, OSError, ValueError, OverflowError,
    NotImplementedError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, folder or anything else that was handed in.

    path     relative, with slashes; as the archive or the file system has it, so it may be anything
    mode     as of os.stat: the kind of file and its bits
    content  empty for whatever is no plain file; None: more than there is room for, and nothing comes after it
    """

    path: str
    mode: int
    content: bytes | None


def refusal(source: Path, path: str, reason: str) -> SubmissionError:
    """What is said of one file of a submission: where, which, why."""
    return SubmissionError(f"{shown(source)}: {printable(path, _LONGEST_NAME)}: {reason}")


def shown(source: Path) -> str:
    """The path of a submission, fit to be printed: its author may have chosen the name."""
    return printable(str(source), _LONGEST_SOURCE)


def unpack(archive: Path, *, wanted: Callable[[str], bool], room: int) -> Sequence[Entry]:
    """The entries of an archive, told by its content and not by its name; `room` bytes of files at most.

    Entries that are not wanted by their path are passed over. Where everything lies in one folder, as in archives that
    file managers make, paths are relative to that. Raises SubmissionError for what is no archive, broken or unbounded.
    """
    data = _read(archive)
    if data.startswith(_ZIP):
        reader = _unzip
    elif data.startswith(_GZIP):
        reader = _untar
    else:
        got = _kind(data, archive.name)
        raise SubmissionError(f"{shown(archive)}: expected a folder, a .zip or a .tar.gz, got {got}")
    try:
        return _without_top(list(reader(archive, data, wanted, room)))
    except _BROKEN as problem:
        raise _broken(archive, problem) from problem


def _read(archive: Path) -> bytes:
    try:
        with archive.open("rb") as file:
            data = file.read(MAX_ARCHIVE_BYTES + 1)
    except OSError as problem:
        raise SubmissionError(f"{shown(archive)}: cannot be read: {problem.strerror}") from problem
    if len(data) > MAX_ARCHIVE_BYTES:
        raise SubmissionError(
            f"{shown(archive)}: expected an archive of at most {MAX_ARCHIVE_BYTES:,} bytes, got more; "
            "leave out what the bot does not need to run"
        )
    return data


def _kind(data: bytes, name: str) -> str:
    if not data:
        return "an empty file"
    if data[257:262] == b"ustar":
        return "a tar that is not compressed; pack it with: tar czf"
    known = next((kind for magic, kind in _OTHERS.items() if data.startswith(magic)), None)
    if known:
        return f"{known}; pack it as .zip or .tar.gz"
    for ending, kind in ((".zip", "zip"), (".tar.gz", "gzip"), (".tgz", "gzip")):
        if name.endswith(ending):
            return f"a file that is named {ending}, but is no {kind} archive"
    return "another file"


def _broken(archive: Path, problem: Exception) -> SubmissionError:
    reason = printable(str(problem) or type(problem).__name__, _LONGEST_REASON)
    return SubmissionError(f"{shown(archive)}: broken or cut short ({reason}); pack it again")


def _too_many(archive: Path) -> SubmissionError:
    return SubmissionError(
        f"{shown(archive)}: expected an archive of at most {MAX_ENTRIES:,} entries, got more; "
        "leave out what the bot does not need to run, also .git, .venv and caches"
    )


def _tidy(path: str) -> str:
    """The path without what means nothing in it ("./a//b/" is "a/b"); what leads out of the folder stays."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(parts)


def _without_top(entries: list[Entry]) -> Sequence[Entry]:
    tops = {entry.path.partition("/")[0] for entry in entries}
    inside = [entry for entry in entries if "/" in entry.path]
    outside = [entry for entry in entries if "/" not in entry.path]
    if len(tops) != 1 or tops & {"", ".."} or not all(stat.S_ISDIR(entry.mode) for entry in outside):
        return entries
    return [replace(entry, path=entry.path.partition("/")[2]) for entry in inside]


# ---- zip


def _unzip(source: Path, data: bytes, wanted: Callable[[str], bool], room: int) -> Iterator[Entry]:
    # Before zipfile makes an object of each entry, and whatever number of them the end of the file claims.
    if data.count(_ZIP_ENTRY) > MAX_ENTRIES:
        raise _too_many(source)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        _check_apart(source, archive)
        for info in archive.infolist():
            # Not `filename`, which zipfile cuts at a NUL.
            path = _tidy(info.orig_filename)
            if not path or not wanted(path):
                continue
            mode = _zip_mode(info)
            content: bytes | None = b""
            if stat.S_ISREG(mode):
                content = _zip_content(source, archive, info, room)
            yield Entry(path, mode, content)
            if content is None:
                return
            room -= len(content)


def _check_apart(source: Path, archive: zipfile.ZipFile) -> None:
    """Files that share their bytes are how a small archive unpacks to petabytes."""
    infos = sorted(archive.infolist(), key=lambda info: info.header_offset)
    for info, end in zip(infos, [*(info.header_offset for info in infos[1:]), archive.start_dir], strict=True):
        if info.header_offset + _ZIP_HEADER_BYTES + info.compress_size > end:
            raise refusal(source, info.orig_filename, "expected bytes of its own, got some that another entry has too")


def _zip_mode(info: zipfile.ZipInfo) -> int:
    mode = info.external_attr >> 16
    kind = stat.S_IFMT(mode)
    if info.orig_filename.endswith("/") and kind in (0, stat.S_IFREG):
        return stat.S_IFDIR | stat.S_IMODE(mode)
    return mode if kind else stat.S_IFREG | mode


def _zip_content(source: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, room: int) -> bytes | None:
    if info.flag_bits & _ENCRYPTED:
        raise refusal(source, info.orig_filename, "is encrypted; pack it without a password")
    if info.compress_type not in _METHODS:
        method = _OTHER_METHODS.get(info.compress_type, f"method {info.compress_type}")
        raise refusal(source, info.orig_filename, f"expected a zip of the common kind (deflate), got {method}")
    if info.file_size > room:
        return None
    # zipfile would stop at the size that the header claims, and never tell that there is more.
    unbounded = copy.copy(info)
    unbounded.file_size = sys.maxsize
    try:
        with archive.open(unbounded) as file:
            content = file.read(room + 1)
    except _BROKEN as problem:
        reason = printable(str(problem) or type(problem).__name__, _LONGEST_REASON)
        raise refusal(source, info.orig_filename, f"broken or cut short ({reason}); pack it again") from problem
    if len(content) > room:
        return None
    if len(content) != info.file_size:
        raise refusal(
            source, info.orig_filename, f"expected {info.file_size:,} bytes as its header says, got {len(content):,}"
        )
    return content


# ---- tar


def _untar(source: Path, data: bytes, wanted: Callable[[str], bool], room: int) -> Iterator[Entry]:
    """Reads headers one by one, each with tarfile: as a whole, tarfile takes minutes for some of those that are forged.

    (Extended headers of any size, searched by regular expressions in quadratic time; sizes below zero.)
    """
    with gzip.GzipFile(fileobj=BytesIO(data)) as unzipped:
        stream = _Blocks(source, unzipped)
        long_name: str | None = None
        for _ in range(MAX_ENTRIES + 1):  # and the block that ends them
            block = stream.take(_BLOCK)
            if not any(block):
                break
            head = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
            if head.size < 0:
                raise tarfile.ReadError("a size below zero")
            match head.type:
                case tarfile.XHDTYPE | tarfile.SOLARIS_XHDTYPE:
                    long_name = _pax_path(stream.extended(head.size)) or long_name
                    continue
                case tarfile.GNUTYPE_LONGNAME:
                    long_name = stream.extended(head.size).partition(b"\0")[0].decode("utf-8", "surrogateescape")
                    continue
                case tarfile.XGLTYPE | tarfile.GNUTYPE_LONGLINK:
                    stream.extended(head.size)
                    continue
            path, long_name = _tidy(long_name or head.name), None
            if head.type not in _TYPES:
                raise refusal(source, path, f"expected a plain file, got an entry of tar's type {head.type!r}")
            mode = _TYPES[head.type] | stat.S_IMODE(head.mode)
            size = head.size if stat.S_ISREG(mode) else 0  # whatever a header says, only files have content
            if not path or not wanted(path):
                stream.skip(size)
                continue
            if size > room:
                yield Entry(path, mode, None)
                return
            content = stream.content(size)
            room -= size
            yield Entry(path, mode, content)
        else:
            raise _too_many(source)
        stream.drain()  # which checks the sum over all of it


class _Blocks:
    """The unpacked bytes of a .tar.gz, so many at most; everything in a tar fills whole blocks."""

    def __init__(self, source: Path, stream: gzip.GzipFile) -> None:
        self._source = source
        self._stream = stream
        self._left = MAX_UNPACKED_BYTES
        self._extended = 0

    def take(self, size: int) -> bytes:
        """Exactly so many bytes. Raises EOFError where the archive ends before."""
        data = self._next(size)
        if len(data) < size:
            raise EOFError("the end of the archive is missing")
        return data

    def content(self, size: int) -> bytes:
        """Content of so many bytes, and what fills up its last block."""
        data = self.take(size)
        self.take(-size % _BLOCK)
        return data

    def extended(self, size: int) -> bytes:
        """The content of a header that only tells more of the entry after it."""
        self._extended += size
        if self._extended > _MAX_EXTENDED_BYTES:
            raise tarfile.ReadError(f"extended headers of more than {_MAX_EXTENDED_BYTES:,} bytes")
        return self.content(size)

    def skip(self, size: int) -> None:
        """Pass over content."""
        size += -size % _BLOCK
        while size > 0:
            size -= len(self.take(min(size, _CHUNK)))

    def drain(self) -> None:
        """Read what is left."""
        while self._next(_CHUNK):
            pass

    def _next(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise SubmissionError(
                f"{shown(self._source)}: expected an archive that unpacks to at most {MAX_UNPACKED_BYTES:,} bytes, "
                "got more; leave out what the bot does not need to run"
            )
        return data


def _pax_path(body: bytes) -> str | None:
    """The path that an extended header gives to the entry after it. Raises ValueError where it is none."""
    path = None
    at = 0
    while at < len(body):
        space = body.find(b" ", at, at + _LONGEST_NUMBER + 1)
        length = body[at:space] if space > 0 else b""
        end = at + int(length) if length.isdigit() else 0  # the length counts itself: "12 key=text\n"
        if end <= space or body[end - 1 : end] != b"\n":
            raise ValueError("an extended header that is none")
        key, _, value = body[space + 1 : end - 1].partition(b"=")
        if key == b"size" or key.startswith(b"GNU.sparse."):
            raise ValueError("a sparse file, or one of many gigabytes")
        if key == b"path":
            path = value.decode("utf-8", "surrogateescape")
        at = end
    return path
