from frames import RESPONSE, Peer, number, ready, serve


def start(peer: Peer) -> None:
    once = b"\x40" + number(1) + b"x" + number(3_000) + b"y" * 3_000
    peer.open(RESPONSE + once + b"\xbe" * 3_000)
    ready(peer)


serve(start=start)
