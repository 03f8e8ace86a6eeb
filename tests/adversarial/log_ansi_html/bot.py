import sys

import treelings


class Hostile(treelings.Bot):
    def choose(self, view: treelings.View) -> treelings.Move:
        sys.stderr.buffer.write(b"\x1b[2J\x1b]0;rogue\x07\xff\xfe\0\r\n=cmd|' /C calc'!A0\n" * 100)
        sys.stderr.flush()
        raise RuntimeError("\x1b[31m</td><script>alert(1)</script>\u202e")


treelings.serve(Hostile)
