from frames import DATA, Peer, frame, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    peer.send(frame(DATA, b"\0\xff\xff\xff\xff", stream=peer.stream))


serve(query=query)
