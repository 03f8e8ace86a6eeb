import threading
from contextlib import suppress

from frames import PING, Peer, frame, ready, serve


def flood(peer: Peer) -> None:
    with suppress(OSError):
        while True:
            peer.send(frame(PING, b"12345678") * 100)


def start(peer: Peer) -> None:
    ready(peer)
    threading.Thread(target=flood, args=(peer,)).start()


serve(start=start)
