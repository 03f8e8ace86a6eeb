from frames import SETTINGS, Peer, frame, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    while True:
        peer.send(frame(SETTINGS) * 100)


serve(query=query)
