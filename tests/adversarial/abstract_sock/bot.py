import socket
from pathlib import Path

from bait import NAME, PATH
from probe import attempt, play

attempt("abstract name", socket.socket(socket.AF_UNIX).connect, "\0" + NAME)
attempt("path", socket.socket(socket.AF_UNIX).connect, PATH)
for line in Path("/proc/net/unix").read_text(encoding="utf-8").splitlines():
    name = line.split()[-1]
    if name.startswith("@"):
        attempt("a name of the list", socket.socket(socket.AF_UNIX).connect, "\0" + name[1:])
play()
