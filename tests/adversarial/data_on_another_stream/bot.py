from frames import Peer, answer, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    peer.stream, stream = peer.stream + 2, peer.stream
    answer(peer, query)
    peer.stream = stream


serve(query=query)
