from frames import END_HEADERS, END_STREAM, HEADERS, RESPONSE, STATUS_OK, Peer, frame, serve


def start(peer: Peer) -> None:
    peer.send(frame(HEADERS, RESPONSE + STATUS_OK, flags=END_HEADERS | END_STREAM, stream=peer.stream))


serve(start=start)
