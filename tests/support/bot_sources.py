"""Source text of bots for tests: well-behaved ones on the kit, and any others on the bare wire."""

from textwrap import dedent

KIT = """
import os, signal, sys, time
import treelings

class TestBot(treelings.Bot):
    def start(self, game):
        pass

    def choose(self, view):
        return view.legal_moves[-1]

    def end(self, result):
        print("the end:", result.outcome, result.ranks, result.scores, flush=True)
"""

WIRE = """
import os, sys, time
from concurrent.futures import ThreadPoolExecutor
import grpc
from treelings import codec
from treelings.v1.game_pb2 import BotMessage, RefereeMessage

READY = codec.ready_message().SerializeToString()

def reply(turn, move):
    message = BotMessage()
    message.reply.turn = turn
    message.reply.move = move
    return message.SerializeToString()

def first(query):
    return reply(query.turn, query.legal[0])

def queries(requests):
    for data in requests:
        message = RefereeMessage.FromString(data)
        if message.HasField("query"):
            yield message.query
"""

WIRE_SERVER = """
server = grpc.server(ThreadPoolExecutor(4))
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
    codec.SERVICE, {codec.METHOD: grpc.stream_stream_rpc_method_handler(play)}),))
server.add_insecure_port("unix:" + os.environ["TREELINGS_SOCKET"])
server.start()
server.wait_for_termination()
"""


def kit_bot(methods: str = "") -> str:
    """A bot on the kit that plays the last legal move, with these methods in place of the usual ones."""
    body = "".join("    " + line + "\n" for line in dedent(methods).strip("\n").splitlines())
    return f"{KIT}\n{body}\ntreelings.serve(TestBot)\n"


def wire_bot(play: str) -> str:
    """A bot whose `play(requests, context)` is this body: yields the bytes of each message that it sends."""
    body = "".join("    " + line + "\n" for line in dedent(play).strip("\n").splitlines())
    return f"{WIRE}\ndef play(requests, context):\n{body}\n{WIRE_SERVER}"
