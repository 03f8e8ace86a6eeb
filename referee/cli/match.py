"""`treelings match`: a quick table outside any league."""

import json
import secrets
from collections.abc import Collection, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import gettempdir
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer

from referee.cli import options
from referee.cli.show import err, out
from referee.cli.verify import parse_secret
from referee.errors import RefereeError
from referee.model import GameRecord, GameSpec, VoidGame, game_id
from treelings import Clock, Refill
from treelings.cards import MAX_PLAYERS, MIN_PLAYERS, SECRET_BYTES

if TYPE_CHECKING:
    from referee.cli.progress import GameProgress
    from referee.cli.records_file import RecordsFile
    from referee.model import Outcome
    from referee.ports import Connect, Sandbox
    from referee.quick import QuickTables

_DEALS = 10
_MOST = 100_000  # deals or games: all of them are kept in mind
_COPIES = "treelings-match-"
_HOUR_MS = 3_600_000


def match(
    bots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BOT",
            help="Two to five, with those that are attached: folders, .zip or .tar.gz files, or names of sample bots.",
            show_default=False,
        ),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=_MOST,
            help="So many games, and as many more as make whole deals in every rotation of the seats.",
        ),
    ] = None,
    deals: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=_MOST,
            help="Deals, each played once in every rotation of the seats; 10 if not given.",
        ),
    ] = None,
    secret: options.Secret = None,
    deal_id: Annotated[
        str | None,
        typer.Option("--deal-id", metavar="TEXT", help="Play this one deal, e.g. one of a night whose secret is out."),
    ] = None,
    refill: Annotated[
        options.RefillChoice, typer.Option(help="When the market is filled up.")
    ] = options.RefillChoice.START,
    jobs: options.Jobs = None,
    move_ms: Annotated[
        int | None,
        typer.Option(
            "--move-ms",
            metavar="MS",
            min=10,
            max=_HOUR_MS,
            help="Milliseconds for each move; without it, the clock is a league's.",
        ),
    ] = None,
    attach: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=HOST:PORT", help="A bot that you run yourself, e.g. in a debugger, and that listens there."
        ),
    ] = None,
    sandbox: options.Sandbox = options.SandboxWish.AUTO,
    records: Annotated[
        Path | None,
        typer.Option(
            "--records", metavar="FILE", help="Write the games there, one record a line, in place of what is there."
        ),
    ] = None,
    logs: Annotated[
        Path | None,
        typer.Option("--logs", metavar="DIR", help="Keep what bots print in this folder, a file for each."),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON, for programs.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No board and no bar while the games are played.")] = False,
    trust_bots: options.TrustBots = False,
) -> None:
    """Let bots play each other now, outside any league.

    Example: `treelings match random greedy --games 40 --records games.jsonl`, then `treelings replay games.jsonl`.

    Sample bots, about from weak to strong: random, greedy, neighbour, rollout, mcts. There is also javascript, as
    strong as greedy.

    On a terminal, a board shows one of the games while they are played.

    To see a bot think in a debugger, start it yourself, with `treelings.serve(MyBot, listen="127.0.0.1:50051")` at the
    end of its file, and let it play by `treelings match random --attach mybot=127.0.0.1:50051`.
    """
    from referee.cli.attach import attached_bots
    from referee.cli.board import progress_for
    from referee.cli.records_file import RecordsFile
    from referee.cli.sandboxes import sandbox_for
    from referee.limits import Limits
    from referee.logs import LogKeeper
    from referee.loop import run
    from referee.players.attached import WithAttached, attached_submission
    from referee.quick import QuickTables, apart
    from referee.run import default_jobs
    from referee.sandbox.process import ProcessSandbox
    from referee.schedule import match_id
    from referee.submissions import find_bot, take_in
    from referee.work_folder import work_folder

    attached = attached_bots(attach or [])
    seats = len(bots or []) + len(attached)
    if not MIN_PLAYERS <= seats <= MAX_PLAYERS:
        raise typer.BadParameter(
            f"a table has {MIN_PLAYERS} to {MAX_PLAYERS} bots, got {seats}; such as: treelings match random greedy"
        )
    if attached and jobs not in (None, 1):
        raise typer.BadParameter(f"--jobs: a bot that is attached plays one game at a time, so 1 table; got {jobs}")
    count = _count(seats, games, deals, deal_id)
    key = parse_secret(secret) if secret is not None else secrets.token_bytes(SECRET_BYTES)
    tables = 1 if attached else min(jobs or default_jobs(), count)
    with work_folder(Path(gettempdir()), _COPIES) as copies:
        # Copies, as in a league: what plays is what was checked, whatever happens to the author's files meanwhile.
        own = [take_in(find_bot(bot), copies) for bot in bots or []]
        seated = apart([*(attached_submission(name) for name in attached), *own])
        names = [bot.name for bot in seated]
        plan = _plan(names, count, deal_id, refill.value)
        box: Sandbox = ProcessSandbox()
        if own:
            box = sandbox_for(sandbox, own, "match", trust=trust_bots, limits=Limits(), at_once=tables * seats)
        if attached:
            box = WithAttached(box, attached, _note)
        versions = {bot.name: bot.version for bot in seated}
        keeper = LogKeeper(logs, versions=versions, most_bytes=Limits().log_bytes, tables=tables) if logs else None
        progress, watch = progress_for(match_id(names), quiet=quiet)
        file = RecordsFile(records)
        outcomes = _Outcomes(plan, file, progress)
        broken_off: BaseException | None = None
        if logs:
            logs.mkdir(parents=True, exist_ok=True)  # before the games, not where the first of them is over
        try:
            with file, keeper or nullcontext(), outcomes, progress:
                table = QuickTables(
                    seated, box, key, _clock(move_ms), _connect_to(attached), keeper.keep if keeper else None,
                    jobs=tables, tell=outcomes.take, watch=watch,
                )  # fmt: skip
                run(_play(table, box, plan))
        except (KeyboardInterrupt, RefereeError, OSError) as error:
            if not outcomes.records:
                raise
            broken_off = error  # what was played by then is still worth telling
    if as_json:
        _print_json(outcomes, match_id(names), key)
    else:
        _print(outcomes, match_id(names), logs)
        file.print_next(key)
    if broken_off is not None:
        raise broken_off
    if outcomes.voids:
        void = outcomes.voids[0]
        err.print(
            f"Not played, games: {len(outcomes.voids)}; the first: {void.reasons[-1]}", style="yellow", markup=False
        )
        raise typer.Exit(1)


def _count(seats: int, games: int | None, deals: int | None, deal_id: str | None) -> int:
    """How many deals are to be played."""
    from referee.records import MAX_DEAL_ID

    if games is not None and deals is not None:
        raise typer.BadParameter("--games and --deals say the same in two ways; leave out one of them")
    if deal_id is not None and (deals is not None or games is not None):
        raise typer.BadParameter("--deal-id names one deal; leave out --deals and --games")
    if deal_id is not None and len(deal_id) > MAX_DEAL_ID:
        raise typer.BadParameter(f"--deal-id has at most {MAX_DEAL_ID} characters, got {len(deal_id)}")
    if deal_id is not None:
        return 1
    if games is None:
        return deals or _DEALS
    count = -(-games // seats)
    if count * seats != games:
        _note(f"{count * seats} games: each deal is played in all {seats} rotations of the seats.")
    return count


def _plan(names: Sequence[str], deals: int, deal_id: str | None, refill: Refill) -> list[tuple[GameSpec, ...]]:
    """The games to play, deal by deal."""
    from referee.schedule import plan_deal

    plan = [plan_deal(league="", night=None, bots=names, deal=deal, refill=refill) for deal in range(deals)]
    if deal_id is None:
        return plan
    return [tuple(replace(game, deal_id=deal_id, id=game_id(deal_id, game.rotation)) for game in plan[0])]


def _clock(move_ms: int | None) -> Clock:
    return Clock() if move_ms is None else Clock(move_ms=move_ms, bank_ms=move_ms, increment_ms=move_ms)


def _connect_to(attached: Collection[str]) -> "Connect":
    """The way to bots of which these are attached: a debugger stops the world, so these are waited for."""
    from referee.players import connect

    if attached:
        _note(f"{', '.join(attached)} attached: told a league's limits, but waited for up to an hour a move.")
    return lambda bot: connect(bot, patience_ms=_HOUR_MS if bot.submission.name in attached else 0)


def _note(line: str) -> None:
    err.print(line, style="yellow", markup=False, soft_wrap=True)


async def _play(tables: "QuickTables", sandbox: "Sandbox", plan: Sequence[Sequence[GameSpec]]) -> None:
    try:
        await sandbox.open()
        async with aclosing(tables.play(plan)) as deals:
            async for _ in deals:  # whose games have been told of already
                pass
    finally:
        await sandbox.close()


class _Outcomes:
    """The games of a match as they come: shown, and written and kept in the order of their deals and rotations."""

    def __init__(
        self, plan: Sequence[Sequence[GameSpec]], file: "RecordsFile", progress: "GameProgress"
    ) -> None:  # fmt: skip
        self._places = {game.id: place for place, game in enumerate(chain.from_iterable(plan))}
        self._file = file
        self._progress = progress
        self._outcomes: dict[int, Outcome] = {}
        self._written = 0  # games up to which nothing is missing
        progress.begin(0, len(self._places))

    @property
    def records(self) -> list[GameRecord]:
        """Of the games that were played."""
        return [outcome for _, outcome in sorted(self._outcomes.items()) if isinstance(outcome, GameRecord)]

    @property
    def voids(self) -> list[VoidGame]:
        """The games that our side failed to play."""
        return [outcome for _, outcome in sorted(self._outcomes.items()) if isinstance(outcome, VoidGame)]

    def take(self, outcome: "Outcome") -> None:
        """A game has been played, or is void."""
        if isinstance(outcome, VoidGame):
            self._outcomes[self._places[outcome.game]] = outcome
            self._progress.game_void(outcome)
        else:
            self._outcomes[self._places[outcome.id]] = outcome
            self._progress.game_done(outcome)
        while self._written in self._outcomes:
            self._write(self._outcomes[self._written])
            self._written += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Where the match was broken off, games lie beyond a gap: they are kept too."""
        for place, outcome in sorted(self._outcomes.items()):
            if place > self._written:
                self._write(outcome)

    def _write(self, outcome: "Outcome") -> None:
        if isinstance(outcome, GameRecord):
            self._file.write([outcome])


def _print(outcomes: _Outcomes, match: str, logs: Path | None) -> None:
    from referee.cli.summary import print_summary

    if outcomes.records:
        print_summary(match, outcomes.records)
    if logs:
        out.print(f"Logs of the bots: {logs / match}", markup=False, soft_wrap=True)


def _print_json(outcomes: _Outcomes, match: str, key: bytes) -> None:
    from referee.summary import as_json, summary

    value = {
        "format": "treelings-match/1",
        "match": match,
        "games": len(outcomes.records),
        "deals": len({record.deal for record in outcomes.records}),
        "secret": key.hex(),
        "bots": as_json(summary(outcomes.records)),
        "voids": [{"game": void.game, "reasons": list(void.reasons)} for void in outcomes.voids],
    }
    typer.echo(json.dumps(value, indent=1))
