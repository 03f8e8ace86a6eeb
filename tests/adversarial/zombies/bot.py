import os
from contextlib import suppress

from frames import serve

with suppress(OSError):
    while True:
        if os.fork() == 0:
            os._exit(0)
for _ in range(4):  # room for threads that play
    os.wait()
serve()
