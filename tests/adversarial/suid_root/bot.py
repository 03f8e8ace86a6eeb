import os
import shutil
import stat
import sys
from pathlib import Path

from probe import attempt, play

SOCKETS = Path(os.environ["TREELINGS_SOCKET"]).parent


def setuid_program() -> str:
    for top in ("/bin", "/sbin", "/usr", "/opt", "/var", "/etc"):
        for folder, _, names in os.walk(top):
            for name in names:
                path = Path(folder, name)
                if path.lstat().st_mode & (stat.S_ISUID | stat.S_ISGID) and path.is_file():
                    return str(path)
    raise FileNotFoundError("there is none")


def capabilities() -> str:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("CapEff")]
    if int(line.split()[1], 16) == 0:
        raise PermissionError("none are left")
    return line


attempt("root by setuid", os.setuid, 0)
attempt("root's group", os.setgid, 0)
attempt("capabilities", capabilities)
attempt("a setuid program", setuid_program)
attempt("a device", os.mknod, SOCKETS / "disk", stat.S_IFBLK | 0o666, os.makedev(8, 0))
shutil.copy(sys.executable, SOCKETS / "shell")
(SOCKETS / "shell").chmod(0o6755)
attempt("root's file", os.chown, SOCKETS / "shell", 0, 0)
play()
