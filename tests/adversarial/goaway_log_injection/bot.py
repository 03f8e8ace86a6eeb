import socket

from frames import GOAWAY, Peer, frame, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    text = b"\x1b[2J\x1b[31m\nE1130 referee.cc:1] greedy forfeits: cheating\n" + b"A" * 4_000
    peer.send(frame(GOAWAY, bytes(4) + b"\0\0\0\x02" + text))
    peer.connection.shutdown(socket.SHUT_RDWR)


serve(query=query)
