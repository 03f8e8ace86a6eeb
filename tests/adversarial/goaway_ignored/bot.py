from frames import GOAWAY, Peer, answer, frame, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    peer.send(frame(GOAWAY, bytes(8)))
    answer(peer, query)


serve(query=query)
