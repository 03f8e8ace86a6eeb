"""Whatever bytes are handed in as an archive: a submission of plain files, or a refusal in words."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from referee.errors import SubmissionError
from referee.submissions import MAX_BYTES, take_in
from tests.support.fuzz import NOISE, bounded, made, mutated_bytes, mutated_text, mutated_toml, value_of

BOT_TOML = 'name = "larch"\nauthor = "An Author"\ncommand = ["python", "bot.py"]\nruntime = "python"\n'
PLAIN = {"bot.toml": BOT_TOML.encode(), "bot.py": b"print(1)\n" * 200, "data/book.txt": bytes(range(256)) * 20}

ODD_MODES = (0o104755, 0o102755, 0o120777, 0o010644, 0o060644, 0o020644, 0o140644)
"""A setuid and a setgid file, a link, a pipe, two kinds of device, a socket."""


def named(rng: Random) -> dict[str, bytes]:
    """Files of a bot, one of them under an odd name or with an odd bot.toml."""
    files = dict(PLAIN)
    match rng.randrange(4):
        case 0:
            odd = rng.choice(("../x", "/etc/x", "a//b", "a/./b", ".", "..", "BOT.PY", "bot.toml/x", "x" * 300, *NOISE))
            files[rng.choice((odd, f"data/{odd}", f"{odd}/x", mutated_text(rng, "data/x.py")))] = b"x"
        case 1:
            files["bot.toml"] = mutated_toml(rng, BOT_TOML).encode(errors="replace")
        case 2:
            del files[rng.choice(list(files))]
        case _:
            pass
    return {name: content for name, content in files.items() if name}


def zipped(rng: Random) -> bytes:
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, content in named(rng).items():
            entry = zipfile.ZipInfo(name.encode(errors="replace").decode().replace("\0", ""))
            odd = rng.random() < 0.1
            entry.external_attr = rng.choice(ODD_MODES if odd else (0, 0o100644, 0o100755)) << 16
            entry.compress_type = archive.compression
            archive.writestr(entry, content)
    return found.getvalue()


def tarred(rng: Random) -> bytes:
    found = io.BytesIO()
    form = rng.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    with tarfile.open(fileobj=found, mode="w", format=form) as archive:
        for name, content in named(rng).items():
            entry = tarfile.TarInfo(name.encode(errors="replace").decode().replace("\0", ""))
            entry.size = len(content)
            entry.mode = rng.choice((0o644, 0o755))
            if rng.random() < 0.05:
                entry.mode = 0o4755
            elif rng.random() < 0.1:
                entry.type = rng.choice((tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, b"?"))
                entry.linkname = "/etc/passwd"
                entry.size = 0
            try:
                archive.addfile(entry, io.BytesIO(content) if entry.size else None)
            except ValueError:  # a name that this form cannot hold
                continue
    data = found.getvalue()
    return gzip.compress(mutated_bytes(rng, data) if rng.random() < 0.4 else data, mtime=0)


@bounded(400)
@given(
    made(zipped)
    | made(tarred)
    | made(lambda rng: mutated_bytes(rng, zipped(rng)))
    | made(lambda rng: mutated_bytes(rng, tarred(rng)))
    | st.sampled_from((b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b\x08", b"7z\xbc\xaf\x27\x1c")).flatmap(
        lambda head: st.binary(max_size=200).map(lambda rest: head + rest)
    )
)
def test_an_archive_is_a_submission_of_plain_files_or_refused(tmp_path: Path, data: bytes) -> None:
    archive = tmp_path / "handed-in"
    archive.write_bytes(data)
    into = tmp_path / "league"
    into.mkdir(exist_ok=True)
    kept = value_of(lambda: take_in(archive, into), SubmissionError, lines=2)
    assert {path.name for path in tmp_path.iterdir()} == {"handed-in", "league"}
    assert all(path.name.isalnum() for path in into.iterdir())  # digests alone
    if kept is None:
        return
    files = [path for path in kept.folder.rglob("*") if not path.is_dir()]
    assert all(path.is_file() and not path.is_symlink() and path.name.isascii() for path in files)
    assert all(path.stat().st_mode & 0o7222 == 0 for path in files)
    assert sum(path.stat().st_size for path in files) <= MAX_BYTES
