from frames import WINDOW_UPDATE, Peer, answer, frame, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    peer.send(frame(WINDOW_UPDATE, b"\0\0\0\1") * 20_000)
    answer(peer, query)


serve(query=query)
