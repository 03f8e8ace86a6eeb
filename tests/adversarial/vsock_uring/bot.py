import ctypes
import os
import socket

from probe import attempt, play

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER, CLONE_NEWNS = 0x1000_0000, 0x2_0000
NUMBERED = {"io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "pidfd_getfd": 438}


def call(name: str, *arguments: object) -> int:
    result = int(getattr(LIBC, name)(*arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


attempt("vsock", socket.socket, socket.AF_VSOCK, socket.SOCK_STREAM)
attempt("AF_ALG", socket.socket, socket.AF_ALG, socket.SOCK_SEQPACKET)
attempt("ptrace", call, "ptrace", 0, 0, 0, 0)
attempt("user namespace", call, "unshare", CLONE_NEWUSER)
attempt("mount namespace", call, "unshare", CLONE_NEWNS)
attempt("mount", call, "mount", b"none", b"/tmp", b"tmpfs", 0, None)
attempt("chroot", os.chroot, "/tmp")
for name, number in NUMBERED.items():
    attempt(name, call, "syscall", number, 8, ctypes.create_string_buffer(256), 0, 0)
play()
