from pathlib import Path

from probe import attempt, play

OPPONENT = b"greedy"
FILES = ("mountinfo", "environ", "cmdline", "cgroup", "maps", "status", "net/unix", "limits")


def look(path: Path) -> bytes:
    text = path.read_bytes()
    at = text.find(OPPONENT)
    if at < 0:
        raise FileNotFoundError("the name is not there")
    return text[max(0, at - 60) : at + 60]


def name_in(folder: Path) -> Path:
    for path in folder.rglob(f"*{OPPONENT.decode()}*"):
        return path
    raise FileNotFoundError("the name is not there")


for process in (path for path in Path("/proc").iterdir() if path.name.isdigit() or path.name == "self"):
    for name in FILES:
        attempt(f"{process.name}'s {name}", look, process / name)
for name in ("mounts", "keys", "locks", "sched_debug", "timer_list", "sysvipc/shm", "kcore", "kmsg"):
    attempt(name, look, Path("/proc") / name)
for folder in ("/run", "/tmp", "/dev/shm", "/var", "/bot", "/home", "/mnt", "/srv"):
    attempt(f"a name in {folder}", name_in, Path(folder))
play()
