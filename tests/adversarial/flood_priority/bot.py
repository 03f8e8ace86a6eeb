from frames import PRIORITY, Peer, answer, frame, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    peer.send(frame(PRIORITY, b"\0\0\0\0\x10", stream=peer.stream) * 20_000)
    answer(peer, query)


serve(query=query)
