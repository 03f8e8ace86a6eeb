import os
import subprocess
from pathlib import Path

from probe import attempt, play

PLACES = (
    "/file", "/bot/bot.py", "/bot/new.py", "/usr/lib/file", "/etc/passwd", "/root/file", "/var/tmp/file", "/run/file",
    "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/freezer/tasks", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/dev/sda", "/dev/mem",
)  # fmt: skip
for place in PLACES:
    attempt(place, Path(place).open, "w")
for folder in ("/tmp", "/dev/shm"):
    program = Path(folder, "program")
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    attempt(str(program), subprocess.run, [program], check=True)
attempt("another name for its files", os.link, "/bot/bot.py", "/tmp/bot.py")
attempt("a lower score for the killer", Path("/proc/self/oom_score_adj").write_text, "-1000")
play()
