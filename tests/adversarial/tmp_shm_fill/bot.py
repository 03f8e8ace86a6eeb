import itertools
import sys
from contextlib import suppress
from pathlib import Path

from probe import play

MB = 1 << 20
for folder, most in ((Path("/tmp"), 17), (Path("/dev/shm"), 2)):
    written = 0
    with suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        while written <= 400 * MB:
            written += file.write(bytes(MB // 4))
    if written > most * MB:
        sys.exit(f"ESCAPED: {written} bytes in {folder}")
    print(f"{folder}: {written / MB:.0f} MB", flush=True)
files = 0
with suppress(OSError):
    for number in itertools.count():
        Path(f"/tmp/file{number}").touch()
        files = number
        if files > 2_000:
            sys.exit(f"ESCAPED: {files} files in /tmp")
print(f"/tmp: {files} files", flush=True)
play()
