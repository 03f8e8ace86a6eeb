from frames import DATA, Peer, frame, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    peer.send(b"\xff\xff\xff" + frame(DATA, stream=peer.stream)[3:] + bytes(200_000))


serve(query=query)
