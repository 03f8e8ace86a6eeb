from frames import PING, Peer, answer, frame, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    peer.send(frame(PING, b"12345678") * 20_000)
    answer(peer, query)


serve(query=query)
