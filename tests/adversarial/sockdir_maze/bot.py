import os
from pathlib import Path

from probe import attempt, play

os.chdir(Path(os.environ["TREELINGS_SOCKET"]).parent)
for name, target in (("root", "/"), ("up", ".."), ("loop", "loop"), ("engine", "/var/run/docker.sock")):
    Path(name).symlink_to(target)
attempt("a pipe", os.mkfifo, "pipe")
for odd in (b"a\nb", b"\xff\xfe", b"-rf", b"n" * 255, "\u202etxt".encode()):
    Path(os.fsdecode(odd)).touch()
closed = []
for depth in range(1_500):
    Path("d").mkdir()
    Path("file").touch()
    if depth % 100 == 0:
        closed.append(os.open("d", os.O_RDONLY))
    os.chdir("d")
for folder in closed:
    os.fchmod(folder, 0)
    os.close(folder)
os.chdir("/bot")
play()
