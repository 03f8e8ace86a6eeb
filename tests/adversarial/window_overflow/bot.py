from frames import WINDOW_UPDATE, Peer, answer, frame, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    peer.send(frame(WINDOW_UPDATE, b"\x7f\xff\xff\xff", stream=peer.stream) * 3)
    peer.send(frame(WINDOW_UPDATE, b"\x7f\xff\xff\xff") * 3)
    answer(peer, query)


serve(query=query)
