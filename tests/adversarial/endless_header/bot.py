from frames import HEADERS, RESPONSE, Peer, frame, serve


def start(peer: Peer) -> None:
    peer.send(frame(HEADERS, RESPONSE, stream=peer.stream))


serve(start=start)
