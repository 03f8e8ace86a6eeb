"""What a query costs us and others, the same game and the same bot: python -m bench.query_peers.

Ours is a query as it is played: referee, connection, clock, bots in containers that rest off turn. The others are bare
processes, which isolates nothing, with no clock but their libraries' own timeouts: requests to Flask, as starter bots
of Battlesnake have it (its server closes each connection); an aiohttp client to uvicorn with ASGI written by hand;
kaggle-environments with agents as functions, and with agents behind its own HTTP server; lines of JSON over pipes.
Timed is from the first query of a game to the last answer, whatever a peer's framework does in between included. A
game follows another at once, as in a league: the first ones after a pause are slower, whichever way they are played.
"""

import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Final

import aiohttp
import requests

import referee.players  # noqa: F401 - before grpc, whose verbosity it sets

# isort: split
from bench.peers.processes import KAGGLE_AGENT, ask, ask_for_move, running, serving
from bench.peers.talk import CLOCK, Told, name_of, query
from referee.game import play_game
from referee.limits import Limits
from referee.loop import run
from referee.model import GameSpec, SeatHolder
from referee.players.grpc_player import BotLink
from referee.ports import Answer, Failure, Player
from referee.sandbox.choose import choose_sandbox
from referee.submissions import find_bot, inspect
from treelings import Move, State, View, derive_deck

TITLE: Final = "a query against those of others, the same game and bot"
ROUNDS: Final = 9
WARM_UP: Final = 1
WHILE_S: Final = 0.15

FIGURES: Final = {
    "ours_us": ("a query of ours, as it is played, bots in containers, us", ""),
    "aiohttp_uvicorn_us": ("aiohttp client to raw uvicorn, bare processes, us", ""),
    "requests_flask_us": ("requests to Flask, as Battlesnake's starter bots have it, bare processes, us", ""),
    "kaggle_functions_us": ("kaggle-environments, agents as functions in its own process, us", ""),
    "kaggle_http_us": ("kaggle-environments, agents behind its HTTP server, bare processes, us", ""),
    "json_pipes_us": ("lines of JSON over pipes, bare processes: cheapest, and isolates nothing, us", ""),
    "ours_vs_aiohttp_uvicorn": ("a query of ours / aiohttp to uvicorn", "<= 1.1"),
    "requests_flask_vs_ours": ("requests to Flask / a query of ours", ">= 3"),
    "kaggle_functions_vs_ours": ("kaggle-environments in-process / a query of ours", ">= 4"),
    "kaggle_http_vs_ours": ("kaggle-environments over HTTP / a query of ours", ">= 10"),
    "ours_vs_json_pipes": ("a query of ours / JSON over pipes", ""),
}

Way = Callable[[int], Awaitable[tuple[int, float]]]
"""Plays the deal of that number; moves, and seconds from the first query to the last answer."""


def measure() -> dict[str, float]:
    """Microseconds a query each way, medians over the rounds, and medians of the rounds' ratios.

    Raises SandboxError where no engine is: ours are bots in containers.
    """
    return run(_measure())


async def _measure() -> dict[str, float]:
    async with AsyncExitStack() as stack:
        ways: dict[str, Way] = {"ours": await _ours(stack)}
        for name, module in (("aiohttp_uvicorn", "asgi_bot"), ("requests_flask", "flask_bot")):
            urls = [f"http://127.0.0.1:{stack.enter_context(serving(module))}/move" for _ in range(2)]
            ways[name] = await _aiohttp(stack, urls) if name == "aiohttp_uvicorn" else _requests(stack, urls)
        ways["kaggle_functions"] = _kaggle(stack, ["function", "function"])
        ports = [stack.enter_context(serving("kaggle_server", "http-server", "--port")) for _ in range(2)]
        ways["kaggle_http"] = _kaggle(stack, [f"http://127.0.0.1:{port}?agents[]={KAGGLE_AGENT}" for port in ports])
        ways["json_pipes"] = _pipes(stack)
        rounds = [await _round(ways, number) for number in range(WARM_UP + ROUNDS)][WARM_UP:]
    figures = {f"{name}_us": median(each[name] for each in rounds) * 1e6 for name in ways}
    for ratio in FIGURES:
        above, _, below = ratio.partition("_vs_")
        if below:
            figures[ratio] = median(each[above] / each[below] for each in rounds)
    return figures


async def _round(ways: dict[str, Way], number: int) -> dict[str, float]:
    """Seconds a move each way."""
    played = {name: await _steadily(way, number) for name, way in ways.items()}
    if len({moves for moves, _ in played.values()}) != 1:
        raise RuntimeError(f"deal {number} was not the same game each way: {played}")
    return {name: a_move for name, (_, a_move) in played.items()}


async def _steadily(way: Way, number: int) -> tuple[int, float]:
    """Moves of the game, and seconds a move: over a while of it again and again, after as long to get into step."""
    for _ in range(2):
        began = perf_counter()
        timed = [await way(number)]
        while perf_counter() - began < WHILE_S:
            timed.append(await way(number))
    moves = sum(moves for moves, _ in timed)
    return timed[0][0], sum(seconds for _, seconds in timed) / moves


async def _ours(stack: AsyncExitStack) -> Way:
    """The referee with two bots in containers."""
    sandbox, note = choose_sandbox("docker", league="bench", limits=Limits(), report=_to_stderr)
    if note:
        _to_stderr(note)
    await sandbox.open()
    stack.push_async_callback(sandbox.close)
    links = []
    for _ in range(2):
        link = BotLink(await sandbox.start(inspect(find_bot("random")), "bench"))
        stack.push_async_callback(link.close)
        links.append(link)

    async def way(number: int) -> tuple[int, float]:
        deal = f"bench/{number}"
        spec = GameSpec(name_of(deal), "bench", None, "a-vs-b", deal, 0, "start", ("a", "b"))
        watch = _Watch()
        seats = [SeatHolder(bot, "") for bot in spec.bots]
        players = [_Watched(link.player(), watch) for link in links]
        record = await play_game(spec, derive_deck(bytes(32), deal), seats, players, CLOCK)
        return len(record.moves), watch.answered - watch.began

    return way


@dataclass
class _Watch:
    """When a game's first query was made and its last one answered."""

    began: float = 0.0
    answered: float = 0.0


class _Watched:
    """A player under the watch."""

    def __init__(self, player: Player, watch: _Watch) -> None:
        self._player = player
        self._watch = watch
        self.start = player.start
        self.end = player.end

    async def ask(self, view: View) -> Answer | Failure:
        self._watch.began = self._watch.began or perf_counter()
        answer = await self._player.ask(view)
        self._watch.answered = perf_counter()
        return answer


async def _aiohttp(stack: AsyncExitStack, urls: list[str]) -> Way:
    session = await stack.enter_async_context(aiohttp.ClientSession())

    async def move(seat: int, told: Told) -> str:
        async with session.post(urls[seat], json=told) as response:
            text: str = (await response.json())["move"]
            return text

    return lambda number: _game(number, move)


def _requests(stack: AsyncExitStack, urls: list[str]) -> Way:
    session = stack.enter_context(requests.Session())  # keeps the connection of a server that keeps it

    async def move(seat: int, told: Told) -> str:
        text: str = session.post(urls[seat], json=told).json()["move"]
        return text

    return lambda number: _game(number, move)


def _pipes(stack: AsyncExitStack) -> Way:
    bots = [stack.enter_context(running("lines_bot")) for _ in range(2)]

    async def move(seat: int, told: Told) -> str:
        return ask_for_move(bots[seat], told)

    return lambda number: _game(number, move)


def _kaggle(stack: AsyncExitStack, agents: list[str]) -> Way:
    games = stack.enter_context(running("kaggle_games"))

    async def way(number: int) -> tuple[int, float]:
        moves, seconds = ask(games, f"bench/{number} {' '.join(agents)}").split()
        return int(moves), float(seconds)

    return way


async def _game(number: int, ask: Callable[[int, Told], Awaitable[str]]) -> tuple[int, float]:
    """Play the deal with a referee that only asks and plays."""
    deal = f"bench/{number}"
    game = name_of(deal)
    state = State.deal(derive_deck(bytes(32), deal), 2)
    history: list[Move] = []
    began = perf_counter()
    while True:
        move = state.parse(await ask(state.seat, query(game, state, history)))
        answered = perf_counter()
        state.play(move)
        history.append(move)
        if state.over:
            return len(history), answered - began


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
