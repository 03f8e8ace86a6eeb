"""What is read out of archives, and what is answered to those that are broken or that lie."""

import bz2
import gzip
import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee import archives
from referee.archives import Entry, unpack
from referee.errors import SubmissionError

FILES = {"bot.py": b"print('a bot')\n", "data/deep/x.txt": b"1" * 2_000}
Read = Callable[[bytes], list[Entry]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Unpack bytes as an archive, with room for 10,000 bytes, leaving out what is called "out"."""

    def unpacked(data: bytes) -> list[Entry]:
        path = tmp_path / "handed-in"
        path.write_bytes(data)
        return list(unpack(path, wanted=lambda path: path != "out", room=10_000))

    return unpacked


def refusal(read: Read, data: bytes) -> str:
    with pytest.raises(SubmissionError) as caught:
        read(data)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    where, _, reason = message.partition("handed-in: ")
    assert where.startswith("/")
    return reason


def zipped(files: Iterable[tuple[str | zipfile.ZipInfo, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return file.getvalue()


def tarred(entries: Iterable[tarfile.TarInfo | tuple[str, bytes]], form: int = tarfile.PAX_FORMAT) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz", format=form) as archive:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                archive.addfile(entry)
            else:
                info = tarfile.TarInfo(entry[0])
                info.size = len(entry[1])
                archive.addfile(info, io.BytesIO(entry[1]))
    return file.getvalue()


def raw_tar(*parts: bytes) -> bytes:
    return gzip.compress(b"".join(parts) + bytes(1_024))


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.USTAR_FORMAT)


def contents(entries: Iterable[Entry]) -> dict[str, bytes | None]:
    return {entry.path: entry.content for entry in entries if not stat.S_ISDIR(entry.mode)}


# ---- what is read


@pytest.mark.parametrize("pack", [lambda files: zipped(files.items()), lambda files: tarred(files.items())])
def test_files_are_read_with_their_paths_and_contents(read: Read, pack: Callable[[dict[str, bytes]], bytes]) -> None:
    assert contents(read(pack(FILES))) == FILES


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_are_read_in_every_form_of_tar(read: Read, form: int) -> None:
    name = f"{'a' * 90}/{'b' * 90}"
    assert contents(read(tarred([(name, b"x"), ("bot.py", b"y")], form))) == {name: b"x", "bot.py": b"y"}


def test_what_is_told_of_a_whole_tar_is_passed_over(read: Read) -> None:
    body = b"52 comment=0123456789012345678901234567890123456789\n"
    data = raw_tar(header("pax_global_header", len(body), tarfile.XGLTYPE), body.ljust(512, b"\0"), header("bot.py", 0))
    assert contents(read(data)) == {"bot.py": b""}


def test_files_without_compression_are_read(read: Read) -> None:
    assert contents(read(zipped(FILES.items(), zipfile.ZIP_STORED))) == FILES


def test_modes_are_those_of_the_archive(read: Read) -> None:
    run = zipfile.ZipInfo("run")
    run.external_attr = (stat.S_IFREG | 0o755) << 16
    folder = zipfile.ZipInfo("folder/")
    modes = {entry.path: entry.mode for entry in read(zipped([(run, b""), ("bot.py", b""), (folder, b"")]))}
    assert stat.S_IMODE(modes["run"]) == 0o755
    assert not modes["bot.py"] & 0o111
    assert stat.S_ISDIR(modes["folder"])
    info = tarfile.TarInfo("run")
    info.mode = 0o4755
    (entry,) = read(tarred([info]))
    assert stat.S_IMODE(entry.mode) == 0o4755


def test_zips_that_know_no_modes_hold_plain_files(read: Read) -> None:
    info = zipfile.ZipInfo("bot.py")
    info.create_system, info.external_attr = 0, 0x20
    (entry,) = read(zipped([(info, b"x")]))
    assert stat.S_ISREG(entry.mode)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE])
def test_what_is_no_file_is_told_by_its_mode(read: Read, kind: bytes) -> None:
    info = tarfile.TarInfo("odd")
    info.type, info.linkname = kind, "/etc/passwd"
    (entry,) = read(tarred([info]))
    assert not stat.S_ISREG(entry.mode)
    assert not stat.S_ISDIR(entry.mode)
    assert entry.content == b""


def test_a_link_in_a_zip_is_told_by_its_mode(read: Read) -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    (entry,) = read(zipped([(info, b"/etc/passwd")]))
    assert stat.S_ISLNK(entry.mode)
    assert entry.content == b""


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_one_folder_that_holds_all_is_taken_for_the_root(read: Read, pack: Callable[..., bytes]) -> None:
    files = [("My Bot (1)/bot.py", b"x"), ("./My Bot (1)/data/x", b"y")]
    assert contents(read(pack(files))) == {"bot.py": b"x", "data/x": b"y"}


@pytest.mark.parametrize(
    "names", [("bot.py",), ("a/bot.py", "b/x"), ("a/bot.py", "x"), ("../bot.py", "../x"), ("/bot.py", "/x")]
)
def test_otherwise_the_root_is_the_archives_own(read: Read, names: tuple[str, ...]) -> None:
    assert [entry.path for entry in read(tarred((name, b"") for name in names))] == list(names)


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_what_is_not_wanted_is_passed_over_and_takes_no_room(read: Read, pack: Callable[..., bytes]) -> None:
    files = [("out", bytes(20_000)), ("bot.py", b"x"), ("y", b"z")]
    assert contents(read(pack(files))) == {"bot.py": b"x", "y": b"z"}


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_nothing_is_read_after_what_there_is_no_room_for(read: Read, pack: Callable[..., bytes]) -> None:
    files = [("a", bytes(6_000)), ("b", bytes(4_001)), ("c", b"")]
    assert contents(read(pack(files))) == {"a": bytes(6_000), "b": None}
    exactly = [("a", bytes(6_000)), ("b", bytes(4_000)), ("c", b"")]
    assert contents(read(pack(exactly))) == {"a": bytes(6_000), "b": bytes(4_000), "c": b""}


def test_an_archive_in_an_archive_is_a_file(read: Read) -> None:
    inner = zipped(FILES.items())
    assert contents(read(zipped([("inner.zip", inner), ("bot.py", b"")]))) == {"inner.zip": inner, "bot.py": b""}


def test_a_zip_with_a_comment_is_read(read: Read) -> None:
    file = io.BytesIO(zipped(FILES.items()))
    with zipfile.ZipFile(file, "a") as archive:
        archive.comment = b"0123456789012345678901234567890123456789"
    assert contents(read(file.getvalue())) == FILES


# ---- what is no archive


@pytest.mark.parametrize(
    ("data", "got"),
    [
        (b"", "an empty file"),
        (b"import treelings", "another file"),
        (gzip.decompress(tarred(FILES.items())), "a tar that is not compressed; pack it with: tar czf"),
        (bz2.compress(b"x"), "a bzip2 file; pack it as .zip or .tar.gz"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive; pack it as .zip or .tar.gz"),
        (b"Rar!\x1a\x07", "a RAR archive; pack it as .zip or .tar.gz"),
    ],
)
def test_what_is_no_archive_is_told_by_its_content(read: Read, data: bytes, got: str) -> None:
    assert refusal(read, data) == f"expected a folder, a .zip or a .tar.gz, got {got}"


def test_an_archive_that_is_too_large_is_not_looked_at(read: Read) -> None:
    data = b"PK\x03\x04".ljust(archives.MAX_ARCHIVE_BYTES + 1, b"\0")
    assert refusal(read, data).startswith("expected an archive of at most 12,000,000 bytes, got more")


def test_an_archive_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match=r"gone\.zip: cannot be read: No such file"):
        unpack(tmp_path / "gone.zip", wanted=lambda _: True, room=1)


# ---- zips that lie


def changed(data: bytes, field: str, value: int, *, local: bool = False) -> bytes:
    """The zip with a field of its first entry's central (or local) header set to another value."""
    form, at = {
        "flags": ("<H", 6 if local else 8),
        "method": ("<H", 8 if local else 10),
        "crc": ("<L", 14 if local else 16),
        "compressed": ("<L", 18 if local else 20),
        "size": ("<L", 22 if local else 24),
        "offset": ("<L", 42),
    }[field]
    start = data.index(b"PK\x03\x04" if local else b"PK\x01\x02")
    raw = bytearray(data)
    struct.pack_into(form, raw, start + at, value)
    return bytes(raw)


def test_an_encrypted_zip(read: Read) -> None:
    assert refusal(read, changed(zipped([("bot.py", b"x")]), "flags", 1)) == (
        "bot.py: is encrypted; pack it without a password"
    )


@pytest.mark.parametrize(("method", "name"), [(12, "bzip2"), (14, "LZMA"), (93, "Zstandard"), (77, "method 77")])
def test_a_compression_that_cannot_be_held_in_bounds(read: Read, method: int, name: str) -> None:
    said = refusal(read, changed(zipped([("bot.py", b"x")]), "method", method))
    assert said == f"bot.py: expected a zip of the common kind (deflate), got {name}"


def test_more_than_a_header_says(read: Read) -> None:
    data = zipped([("bot.py", b"x" * 500)])
    data = changed(data, "crc", zlib.crc32(b"x" * 100))  # which a reader of 100 bytes would find in order
    said = refusal(read, changed(data, "size", 100))
    assert said.startswith("bot.py: ")
    assert "expected 100 bytes as its header says, got 500" in refusal(
        read, changed(zipped([("bot.py", b"x" * 500)]), "size", 100)
    )


def test_less_than_a_header_says(read: Read) -> None:
    said = refusal(read, changed(zipped([("bot.py", b"x" * 500)]), "size", 600))
    assert said == "bot.py: expected 600 bytes as its header says, got 500"


def test_a_size_in_a_header_makes_no_room(read: Read) -> None:
    data = changed(zipped([("bot.py", bytes(5_000_000))]), "size", 10)
    assert contents(read(data)) == {"bot.py": None}


def test_a_sum_that_does_not_fit(read: Read) -> None:
    said = refusal(read, changed(zipped([("bot.py", b"x")]), "crc", 1))
    assert said.startswith("bot.py: broken or cut short (Bad CRC-32")


def test_entries_that_share_their_bytes(read: Read) -> None:
    data = zipped([("a", b"x"), ("bot.py", b"x")])
    second = data.index(b"PK\x03\x04", 4)
    assert refusal(read, changed(data, "offset", second)).endswith("got some that another entry has too")
    assert "another entry has too" in refusal(read, changed(data, "compressed", 500))


def test_a_name_that_its_own_header_has_otherwise(read: Read) -> None:
    data = zipped([("bot.py", b"x")])
    assert refusal(read, data.replace(b"bot.py", b"etc.py", 1)).startswith("bot.py: broken or cut short (File name in")


def test_a_name_is_not_cut_at_a_nul(read: Read) -> None:
    data = zipped([("bot.pyX.txt", b"x")]).replace(b"bot.pyX", b"bot.py\0")
    assert [entry.path for entry in read(data)] == ["bot.py\0.txt"]


def test_more_entries_than_anybody_needs_in_a_zip(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_ENTRIES", 3)
    read(zipped((f"f{number}", b"") for number in range(3)))
    data = zipped((f"f{number}", b"") for number in range(4))
    assert refusal(read, data).startswith("expected an archive of at most 3 entries, got more; leave out")
    # Whatever number of entries the zip claims to have.
    end = data.rindex(b"PK\x05\x06")
    lying = data[: end + 8] + struct.pack("<HH", 1, 1) + data[end + 12 :]
    assert refusal(read, lying).startswith("expected an archive of at most 3 entries")


# ---- tars that lie


def test_more_entries_than_anybody_needs_in_a_tar(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_ENTRIES", 3)
    read(tarred((f"f{number}", b"") for number in range(3)))
    data = tarred((f"f{number}", b"") for number in range(4))
    assert refusal(read, data).startswith("expected an archive of at most 3 entries, got more; leave out")


def test_a_tar_that_unpacks_to_too_much_of_what_is_left_out(read: Read) -> None:
    size = archives.MAX_UNPACKED_BYTES
    data = raw_tar(header("out", size), bytes(size), header("bot.py", 0))
    assert refusal(read, data).startswith("expected an archive that unpacks to at most 40,000,000 bytes, got more")


def test_a_tar_that_unpacks_to_as_much_as_it_may(read: Read) -> None:
    size = archives.MAX_UNPACKED_BYTES - 4 * 512  # two headers, and two blocks that end it
    read(raw_tar(header("out", size), bytes(size), header("bot.py", 0)))


def test_so_much_after_the_end_of_a_tar_too(read: Read) -> None:
    data = raw_tar(header("bot.py", 0), bytes(archives.MAX_UNPACKED_BYTES))
    assert refusal(read, data).startswith("expected an archive that unpacks to at most 40,000,000 bytes, got more")


def test_a_size_below_zero(read: Read) -> None:
    block = bytearray(header("bot.py", 0))
    block[124:136] = b"\xff" * 11 + b"\x00"  # -256 in the binary form
    block[148:156] = b"%06o\0 " % (256 + sum(block[:148]) + sum(block[156:]))
    assert refusal(read, raw_tar(bytes(block))) == "broken or cut short (a size below zero); pack it again"


def test_megabytes_of_headers_about_other_entries(read: Read) -> None:
    body = b"5 a=\n" * 60_000
    for kind in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
        more = header("x", len(body), kind) + body + bytes(-len(body) % 512)
        assert len(read(raw_tar(more * 3, header("bot.py", 0)))) == 1
        assert "broken or cut short (extended headers of more than 1,000,000 bytes)" in refusal(read, raw_tar(more * 4))


@pytest.mark.parametrize(
    "body", [b"9" * 500, b"0 path=x\n", b"-5 path=x\n", b"99 path=x\n", b"x path=y\n", b"9 path=xx"]
)
def test_an_extended_header_that_is_none(read: Read, body: bytes) -> None:
    data = raw_tar(header("x", len(body), tarfile.XHDTYPE), body.ljust(512, b"\0"), header("bot.py", 0))
    assert refusal(read, data).startswith("broken or cut short")


def test_a_size_in_an_extended_header(read: Read) -> None:
    body = b"15 size=1000000\n"
    data = raw_tar(header("x", 16, tarfile.XHDTYPE), body.replace(b"15", b"16").ljust(512, b"\0"), header("a", 0))
    assert "(a sparse file, or one of many gigabytes)" in refusal(read, data)


def test_a_kind_of_entry_that_bots_have_no_use_for(read: Read) -> None:
    said = refusal(read, raw_tar(header("bot.py", 0, b"V")))
    assert said == "bot.py: expected a plain file, got an entry of tar's type b'V'"


def test_a_gzip_of_something_else(read: Read) -> None:
    assert refusal(read, gzip.compress(b"import treelings\n" * 100)).startswith("broken or cut short")


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_an_archive_that_was_cut_short(read: Read, pack: Callable[..., bytes]) -> None:
    data = pack(list(FILES.items()))
    for end in range(4, len(data), 7):
        assert "broken or cut short" in refusal(read, data[:end])


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    packed=st.sampled_from([zipped(FILES.items()), tarred(FILES.items()), tarred(FILES.items(), tarfile.GNU_FORMAT)]),
    changes=st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 255)), max_size=4),
    inside=st.booleans(),
)
def test_whatever_the_bytes_it_is_entries_or_a_refusal(
    read: Read, packed: bytes, changes: list[tuple[int, int]], inside: bool
) -> None:
    tar = inside and packed.startswith(b"\x1f\x8b")
    data = bytearray(gzip.decompress(packed) if tar else packed)
    for at, value in changes:
        data[at % len(data)] = value
    try:
        read(gzip.compress(data) if tar else bytes(data))
    except SubmissionError as refused:
        assert len(str(refused).splitlines()) == 1  # noqa: PT017 - either is in order
