from frames import SETTINGS, Peer, frame, serve


def connected(peer: Peer) -> None:
    peer.send(frame(SETTINGS, b"\0\x04\0\0\0\0"))


serve(connected=connected)
