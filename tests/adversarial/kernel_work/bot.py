import ctypes
import mmap
import os
import threading

import probe

import treelings

HELD = 64 << 20
libc = ctypes.CDLL(None, use_errno=True)
page = (ctypes.c_char * mmap.PAGESIZE).from_buffer(mmap.mmap(-1, mmap.PAGESIZE))


def mincore() -> None:
    """Over the whole address space it takes seconds for each call."""
    if libc.mincore(ctypes.byref(page), ctypes.c_size_t(mmap.PAGESIZE), ctypes.byref(page)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def read() -> None:
    """One call at a time, of as much as may be."""
    buffer = mmap.mmap(-1, 1 << 20)
    while True:
        os.preadv(holes, [buffer] * 1_000, 0)


holes = os.open(os.path.dirname(os.environ["TREELINGS_SOCKET"]) + "/holes", os.O_RDWR | os.O_CREAT)  # noqa: PTH120
probe.attempt("mincore", mincore)
probe.attempt("a file of holes", os.ftruncate, holes, 1 << 33)
os.ftruncate(holes, HELD)


class Hostile(probe.Honest):
    def choose(self, view: treelings.View) -> treelings.Move:
        if view.turn < 2:
            for _ in range(10):
                threading.Thread(target=read, daemon=True).start()
        return super().choose(view)


probe.play(Hostile)
