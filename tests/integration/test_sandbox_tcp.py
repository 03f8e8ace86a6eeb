"""Bots in containers that are reached over TCP, as where an engine shares no Unix sockets with the host."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from docker import APIClient

from referee.limits import Limits
from referee.match import Table
from referee.model import GameRecord
from referee.sandbox.choose import choose_sandbox
from referee.sandbox.docker import LEAGUE_LABEL, RUN_LABEL, DockerSandbox
from referee.sandbox.network import HOST, PORT, WEAKER, networks
from referee.schedule import plan_match
from referee.submissions import sample_bot, take_in
from tests.support.playing import CLOCK, link_to
from tests.support.sandboxed import another_referee, ended, logged, script

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("runtime_image")]

LISTEN = f"""
import socket, time
server = socket.create_server(("0.0.0.0", {PORT}))
print("address", socket.gethostbyname("bot"), flush=True)
time.sleep(60)
"""
REFEREE = """
import asyncio, sys
from pathlib import Path
from referee.limits import Limits
from referee.model import Submission
from referee.sandbox.choose import choose_sandbox
from referee.sandbox.docker import DockerSandbox

async def main():
    sandbox = DockerSandbox(league="killed", limits=Limits(reach="tcp"))
    await sandbox.open()
    bot = await sandbox.start(Submission("b", "a", "v", Path(sys.argv[1]), ("python", "bot.py"), "python"), "m")
    print(sandbox.run, bot.id, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.fixture
async def sandbox() -> AsyncIterator[DockerSandbox]:
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}", limits=Limits(reach="tcp"))
    await sandbox.open()
    yield sandbox
    await sandbox.close()


def left(engine: APIClient, run: object) -> list[str]:
    label = f"{RUN_LABEL}={run}"
    containers = engine.containers(all=True, filters={"label": label})
    return [str(one["Id"]) for one in (*containers, *networks(engine, label))]


async def test_a_match_is_played_over_tcp_and_leaves_nothing(
    sandbox: DockerSandbox, engine: APIClient, tmp_path: Path
) -> None:
    bots = {}
    for name in ("random", "greedy"):
        sample = sample_bot(name)
        assert sample
        bots[name] = take_in(sample, tmp_path)
    spec = plan_match(league="", night=None, bots=list(bots), deals=2, refill="start")
    table = Table(spec, bots, sandbox, bytes(32), CLOCK, link_to)
    try:
        played = [game async for game in table.play(spec.games)]
    finally:
        await table.close()
    assert [(game.ended, game.faults) if isinstance(game, GameRecord) else game for game in played] == [
        ("festival", ())
    ] * 4
    assert left(engine, sandbox.run) == []


async def test_a_bot_is_reached_on_the_loopback_alone(
    sandbox: DockerSandbox, engine: APIClient, tmp_path: Path
) -> None:
    bot = await sandbox.start(script(tmp_path, LISTEN), "match")
    await logged(bot, "address")
    assert isinstance(bot.address, tuple)
    host, port = bot.address
    assert host == HOST
    published = engine.inspect_container(bot.id)["NetworkSettings"]["Ports"]
    assert published == {f"{PORT}/tcp": [{"HostIp": HOST, "HostPort": str(port)}]}


async def test_there_is_no_way_out_and_no_way_to_a_neighbour(sandbox: DockerSandbox, tmp_path: Path) -> None:
    (tmp_path / "neighbour").mkdir()
    neighbour = await sandbox.start(script(tmp_path / "neighbour", LISTEN), "match")
    address = (await logged(neighbour, "address")).split()[1]
    code = f"""
        import socket
        # A documentation address, an address of the world's, the neighbour, its port on the host.
        for host, port in (("192.0.2.1", 80), ("1.1.1.1", 53), ("{address}", {PORT}), ("127.0.0.1", {PORT})):
            with socket.socket() as out:
                out.settimeout(1)
                try:
                    out.connect((host, port))
                    print("reached", host, flush=True)
                except OSError as error:
                    print(type(error).__name__, host, flush=True)
        print("done", flush=True)
    """
    bot = await sandbox.start(script(tmp_path, code), "match")
    await ended(bot)
    log = await bot.log_tail()
    assert log.splitlines()[-1] == "done"
    assert "reached" not in log


async def test_nobody_asks_name_servers_on_a_bots_behalf(sandbox: DockerSandbox, tmp_path: Path) -> None:
    code = """
        import socket, struct
        name = b"\\x07example\\x03com\\0"
        question = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + name + struct.pack(">HH", 1, 1)
        answer = b""
        try:
            with socket.create_connection(("127.0.0.11", 53), 5) as server:
                server.sendall(struct.pack(">H", len(question)) + question)
                answer = server.recv(1024)
        except OSError as error:
            print(type(error).__name__)
        print("answers", struct.unpack(">H", answer[8:10])[0] if len(answer) > 10 else 0)
    """
    bot = await sandbox.start(script(tmp_path, code), "match")
    await ended(bot)
    assert "answers 0" in await bot.log_tail()


async def test_of_all_sockets_only_unix_and_tcp_ones_can_be_made(sandbox: DockerSandbox, tmp_path: Path) -> None:
    code = """
        import socket as s
        STREAM = s.SOCK_STREAM | s.SOCK_CLOEXEC | s.SOCK_NONBLOCK
        made = []
        for family, kind, protocol in [
            (s.AF_UNIX, STREAM, 0), (s.AF_UNIX, s.SOCK_DGRAM, 0), (s.AF_INET, STREAM, 0), (s.AF_INET, STREAM, 6),
            (s.AF_INET6, STREAM, 0), (s.AF_INET, s.SOCK_DGRAM, 0), (s.AF_INET6, s.SOCK_DGRAM, 0),
            (s.AF_INET, s.SOCK_RAW, 1), (s.AF_INET, STREAM, 132), (s.AF_INET, STREAM, 262),
            (s.AF_NETLINK, s.SOCK_RAW, 0),
            (s.AF_PACKET, s.SOCK_RAW, 0), (s.AF_VSOCK, STREAM, 0), (s.AF_ALG, s.SOCK_SEQPACKET, 0),
        ]:
            try:
                s.socket(family, kind, protocol).close()
                made.append((int(family), kind & 15, protocol))
            except OSError:
                pass
        print(made)
    """
    bot = await sandbox.start(script(tmp_path, code), "match")
    await ended(bot)
    assert json.loads((await bot.log_tail()).replace("(", "[").replace(")", "]")) == [
        [1, 1, 0], [1, 2, 0], [2, 1, 0], [2, 1, 6], [10, 1, 0],
    ]  # fmt: skip


def test_a_runs_first_lines_say_what_is_weaker() -> None:
    for limits in (Limits(), Limits(reach="tcp")):
        _, note = choose_sandbox("docker", league="x", limits=limits, report=print)
        assert (WEAKER in (note or "")) is (limits.reach == "tcp")


async def test_many_bots_can_have_a_network_each(engine: APIClient, sandbox: DockerSandbox, tmp_path: Path) -> None:
    submission = script(tmp_path, LISTEN)
    bots = [await sandbox.start(submission, "match") for _ in range(3)]
    ports = {bot.address for bot in bots}
    assert len(ports) == 3
    found = networks(engine, f"{RUN_LABEL}={sandbox.run}")
    assert len({network["IPAM"]["Config"][0]["Subnet"] for network in found}) == 3
    for bot in bots:
        await bot.stop()
    assert left(engine, sandbox.run) == []


async def test_a_bot_that_cannot_be_started_leaves_no_network(
    engine: APIClient, sandbox: DockerSandbox, tmp_path: Path
) -> None:
    bot = await sandbox.start(script(tmp_path, "", command=("/no-such-program",)), "match")
    assert (await ended(bot)).exit_code == 127
    await bot.stop()
    assert left(engine, sandbox.run) == []


async def test_what_a_killed_referee_left_is_swept_by_the_next(engine: APIClient, tmp_path: Path) -> None:
    folder = script(tmp_path, LISTEN).folder
    with another_referee(REFEREE, str(folder)) as referee:
        assert referee.stdout is not None
        run = referee.stdout.readline().split()[0]
        assert len(left(engine, run)) == 2
        referee.kill()  # and from now on the referees of other tests sweep too

    sandbox = DockerSandbox(league="after")
    await sandbox.open()
    await sandbox.close()

    assert left(engine, run) == []


async def test_two_runs_that_start_at_once_sweep_the_same_leftovers_and_both_go_on(
    engine: APIClient, tmp_path: Path
) -> None:
    folder = script(tmp_path, LISTEN).folder
    with another_referee(REFEREE, str(folder)) as referee:
        assert referee.stdout is not None
        run = referee.stdout.readline().split()[0]
        referee.kill()

    sandboxes = [DockerSandbox(league=f"after-{n}") for n in range(4)]
    await asyncio.gather(*(sandbox.open() for sandbox in sandboxes))
    assert left(engine, run) == []

    for sandbox in sandboxes:
        await sandbox.close()


async def test_the_sweep_leaves_networks_of_others_alone(engine: APIClient, sandbox: DockerSandbox) -> None:
    name = f"treelings-{secrets.token_hex(4)}"
    made = engine.create_network(name, labels={LEAGUE_LABEL: "x", RUN_LABEL: "somebody else's"})["Id"]
    try:
        another = DockerSandbox(league="another")
        await another.open()
        await another.close()
        assert [network["Id"] for network in engine.networks(ids=[made])] == [made]
    finally:
        engine.remove_network(made)
