from frames import CONTINUATION, HEADERS, RESPONSE, Peer, frame, header, serve


def start(peer: Peer) -> None:
    peer.send(frame(HEADERS, RESPONSE, stream=peer.stream))
    while True:
        peer.send(frame(CONTINUATION, header(b"x", b"y" * 4_000), stream=peer.stream))


serve(start=start)
