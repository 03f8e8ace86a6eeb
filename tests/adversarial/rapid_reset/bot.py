from frames import RST_STREAM, Peer, frame, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    peer.send(frame(RST_STREAM, b"\0\0\0\x02", stream=peer.stream) * 1_000)


serve(query=query)
