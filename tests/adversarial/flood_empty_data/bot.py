from frames import DATA, Peer, answer, frame, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    peer.send(frame(DATA, stream=peer.stream) * 20_000)
    answer(peer, query)


serve(query=query)
