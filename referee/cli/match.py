"""`treelings match`: a quick table outside any league."""

import secrets
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from referee.cli import options
from referee.cli.show import err, out
from referee.cli.show import standings as print_standings
from referee.cli.verify import parse_secret
from referee.model import GameRecord, MatchSpec, Submission, VoidGame, game_id
from treelings import Clock, Refill
from treelings.cards import MAX_PLAYERS, MIN_PLAYERS, SECRET_BYTES

if TYPE_CHECKING:
    from referee.cli.progress import GameProgress
    from referee.match import Table
    from referee.ports import Sandbox

_DEALS = 10
_COPIES = "treelings-match-"
_ROOM_FOR_NUMBER = 29  # of the 32 characters that a name may have


def match(
    bots: Annotated[
        list[str],
        typer.Argument(metavar="BOT", help="Two to five: folders, .zip or .tar.gz files, or names of sample bots."),
    ],
    deals: Annotated[
        int | None, typer.Option(min=1, help="Deals, each played once in every rotation of the seats; 10 if not given.")
    ] = None,
    secret: Annotated[
        str | None,
        typer.Option(metavar="HEX", help="Secret that the decks come from, 64 hex digits; random if not given."),
    ] = None,
    deal_id: Annotated[
        str | None,
        typer.Option("--deal-id", metavar="TEXT", help="Play this one deal, e.g. one of a night whose secret is out."),
    ] = None,
    refill: Annotated[
        options.RefillChoice, typer.Option(help="When the market is filled up.")
    ] = options.RefillChoice.START,
    sandbox: options.Sandbox = options.SandboxWish.AUTO,
    records: Annotated[
        Path | None,
        typer.Option("--records", metavar="FILE", help="Write the games there, one record a line."),
    ] = None,
    logs: Annotated[
        Path | None,
        typer.Option("--logs", metavar="LOGS", help="Keep what bots print in this folder, a file for each."),
    ] = None,
    *,
    trust_bots: options.TrustBots = False,
) -> None:
    """Let bots play each other now, outside any league.

    Example: `treelings match random greedy --deals 20 --records games.jsonl`, then `treelings replay games.jsonl`.
    """
    from referee.cli.progress import GameProgress
    from referee.cli.sandboxes import sandbox_for
    from referee.limits import Limits
    from referee.logs import LogKeeper
    from referee.loop import run
    from referee.match import Table
    from referee.players import connect
    from referee.records import MAX_DEAL_ID
    from referee.standings import standings
    from referee.submissions import find_bot, is_sample, take_in
    from referee.work_folder import work_folder

    if not MIN_PLAYERS <= len(bots) <= MAX_PLAYERS:
        raise typer.BadParameter(f"a table has {MIN_PLAYERS} to {MAX_PLAYERS} bots, got {len(bots)}")
    if deal_id is not None and deals is not None:
        raise typer.BadParameter("--deal-id names one deal; leave out --deals")
    if deal_id is not None and len(deal_id) > MAX_DEAL_ID:
        raise typer.BadParameter(f"--deal-id has at most {MAX_DEAL_ID} characters, got {len(deal_id)}")
    key = parse_secret(secret) if secret is not None else secrets.token_bytes(SECRET_BYTES)
    with work_folder(Path(gettempdir()), _COPIES) as copies:
        # Copies, as in a league: what plays is what was checked, whatever happens to the author's files meanwhile.
        submissions = _apart([take_in(find_bot(bot), copies) for bot in bots])
        spec = _spec([bot.name for bot in submissions], deals or _DEALS, deal_id, refill.value)
        strangers = [bot for bot in submissions if not is_sample(bot)]
        box = sandbox_for(sandbox, strangers, "match", trust=trust_bots, limits=Limits(), at_once=len(bots))
        versions = {bot.name: bot.version for bot in submissions}
        keeper = LogKeeper(logs, versions=versions, most_bytes=Limits().log_bytes) if logs else None
        keep_log = keeper.keep if keeper else None
        table = Table(spec, {bot.name: bot for bot in submissions}, box, key, Clock(), connect, keep_log)
        output = records.open("w", encoding="utf-8") if records else nullcontext()
        with output as file, keeper or nullcontext(), GameProgress(spec.id) as progress:
            played, voids = run(_play(spec, table, box, progress, file))
    if played:
        print_standings(spec.id, standings(played), {bot.name: bot.author for bot in submissions})
    if logs:
        out.print(f"Logs of the bots: {logs / spec.id}", markup=False, soft_wrap=True)
    if records:
        out.print(f"Show a game:  treelings replay {records} --game 1", markup=False, soft_wrap=True)
        out.print(f"Check all:    treelings verify {records} --secret {key.hex()}", markup=False, soft_wrap=True)
    else:
        out.print(f"Secret of the decks: {key.hex()}", style="dim", soft_wrap=True)
    if voids:
        err.print(f"Not played, games: {len(voids)}; the first: {voids[0].reasons[-1]}", style="yellow", markup=False)
        raise typer.Exit(1)


def _apart(bots: Sequence[Submission]) -> list[Submission]:
    """The same bot may sit at a table twice here: its second seat is called name-2."""
    names: set[str] = set()
    apart = []
    for bot in bots:
        numbered = (f"{bot.name[:_ROOM_FOR_NUMBER]}-{number}" for number in count(2))
        name = next(name for name in chain([bot.name], numbered) if name not in names)
        names.add(name)
        apart.append(replace(bot, name=name))
    return apart


def _spec(names: list[str], deals: int, deal_id: str | None, refill: Refill) -> MatchSpec:
    from referee.schedule import plan_match

    if deal_id is None:
        return plan_match(league="", night=None, bots=names, deals=deals, refill=refill)
    spec = plan_match(league="", night=None, bots=names, deals=1, refill=refill)
    games = (replace(game, deal_id=deal_id, id=game_id(deal_id, game.rotation)) for game in spec.games)
    return replace(spec, games=tuple(games))


async def _play(
    spec: MatchSpec, table: "Table", sandbox: "Sandbox", progress: "GameProgress", file: TextIO | None
) -> tuple[list[GameRecord], list[VoidGame]]:
    from referee.records import to_json

    played: list[GameRecord] = []
    voids: list[VoidGame] = []
    progress.begin(0, len(spec.games))
    await sandbox.open()
    try:
        async for result in table.play(spec.games):
            if isinstance(result, VoidGame):
                voids.append(result)
                progress.game_void(result)
                continue
            played.append(result)
            progress.game_done(result)
            if file:
                file.write(to_json(result) + "\n")
    finally:
        await table.close()
        await sandbox.close()
    return played, voids
