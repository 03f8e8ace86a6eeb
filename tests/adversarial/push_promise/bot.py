from frames import END_HEADERS, PUSH_PROMISE, RESPONSE, Peer, answer, frame, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    promise = b"\0\0\0\x02" + RESPONSE
    peer.send(frame(PUSH_PROMISE, promise, flags=END_HEADERS, stream=peer.stream))
    answer(peer, query)


serve(query=query)
