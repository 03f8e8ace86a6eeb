import time

from frames import DATA, Peer, frame, reply, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    message = reply(query)
    whole = frame(DATA, b"\0" + len(message).to_bytes(4, "big") + message, stream=peer.stream)
    peer.send(whole[:-3])
    time.sleep(600)  # a ping's answer would complete the reply


serve(query=query)
