import os
import signal
import time
from contextlib import suppress

from frames import serve

for number in signal.valid_signals():
    with suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
serve()
