import os
import socket
from contextlib import suppress
from pathlib import Path

from frames import reply
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived
from h2.settings import SettingCodes

from treelings import codec
from treelings.v1.game_pb2 import RefereeMessage


def converse(connection: socket.socket) -> None:
    h2 = H2Connection(H2Configuration(client_side=False))
    h2.initiate_connection()
    connection.sendall(h2.data_to_send())
    text = b""
    while data := connection.recv(65_536):
        for event in h2.receive_data(data):
            if isinstance(event, RequestReceived):
                text = b""
                h2.send_headers(event.stream_id, [(":status", "200"), ("content-type", "application/grpc")])
            elif isinstance(event, DataReceived):
                h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                text += event.data
                while len(text) >= 5 and len(text) >= (end := 5 + int.from_bytes(text[1:5], "big")):
                    answer(h2, event.stream_id, RefereeMessage.FromString(text[5:end]))
                    text = text[end:]
        connection.sendall(h2.data_to_send())


def answer(h2: H2Connection, stream: int, message: RefereeMessage) -> None:
    if message.HasField("end"):
        h2.send_headers(stream, [("grpc-status", "0")], end_stream=True)
        return
    said = codec.ready_message().SerializeToString() if message.HasField("start") else reply(message.query)
    for byte in b"\0" + len(said).to_bytes(4, "big") + said:
        h2.send_data(stream, bytes((byte,)))
    h2.ping(b"12345678")
    h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: 100})


with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(os.environ["TREELINGS_SOCKET"])
    Path(os.environ["TREELINGS_SOCKET"]).chmod(0o666)
    listener.listen()
    while True:
        with suppress(ConnectionError):  # who merely looks whether somebody listens hangs up at once
            converse(listener.accept()[0])
