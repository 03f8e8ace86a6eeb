from frames import RST_STREAM, Peer, answer, frame, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    peer.send(frame(RST_STREAM, b"\0\0\0\x08", stream=peer.stream + 2) * 20_000)
    answer(peer, query)


serve(query=query)
