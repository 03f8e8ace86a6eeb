"""`treelings play`: a person at a table of bots."""

import secrets
import shlex
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Annotated, Final

import typer

from referee.cli import options
from referee.cli.show import out, say
from referee.cli.verify import parse_secret
from referee.model import GameRecord, GameSpec, SeatHolder, Submission, game_id
from referee.text import printable
from treelings import Clock, Move, Refill
from treelings.cards import MAX_PLAYERS, SECRET_BYTES, commitment, derive_deck

if TYPE_CHECKING:
    from referee.ports import Player, Sandbox

PERSON: Final = "sha256:" + 64 * "0"
"""The version of a person in a record: no files have this digest (records.md)."""

_COPIES: Final = "treelings-play-"
_ID_DIGITS: Final = 8
_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class _Table:
    """Who plays which game. `bots` by name, without the person and without the bot that gives hints."""

    spec: GameSpec
    seat: int
    bots: dict[str, Submission]
    hints: Submission | None
    secret: bytes

    @property
    def deck(self) -> str:
        assert self.spec.deal_id is not None
        return derive_deck(self.secret, self.spec.deal_id)

    @property
    def holders(self) -> list[SeatHolder]:
        """Who sits on each seat."""
        return [SeatHolder(bot, self.bots[bot].version if bot in self.bots else PERSON) for bot in self.spec.bots]


def play(
    bots: Annotated[
        list[str],
        typer.Argument(metavar="BOT", help="One to four: folders, .zip or .tar.gz files, or names of sample bots."),
    ],
    seat: Annotated[
        int | None, typer.Option(min=0, metavar="S", help="Your seat, from 0, which begins; drawn by lot if not given.")
    ] = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="What you are called, also in the record.")
    ] = "you",
    hint: Annotated[
        str | None, typer.Option("--hint", metavar="BOT", help="The key h asks this bot what it would do, and why.")
    ] = None,
    secret: options.Secret = None,
    deal_id: Annotated[
        str | None, typer.Option("--deal-id", metavar="TEXT", help="Play this deal of the secret, to have known cards.")
    ] = None,
    refill: Annotated[
        options.RefillChoice, typer.Option(help="When the market is filled up.")
    ] = options.RefillChoice.START,
    sandbox: options.Sandbox = options.SandboxWish.AUTO,
    records: Annotated[
        Path | None, typer.Option("--records", metavar="FILE", help="Add the game to this file, once it is over.")
    ] = None,
    *,
    trust_bots: options.TrustBots = False,
) -> None:
    """Play against bots yourself, here in the terminal.

    You have all the time that you want; bots have their usual clock and sandbox. `?` shows rules and keys, `q` leaves.

    Example: `treelings play greedy rollout --hint mcts --records mine.jsonl`.
    """
    from referee.cli.sandboxes import sandbox_for
    from referee.limits import Limits
    from referee.loop import run
    from referee.quick import apart
    from referee.record_file import append_record
    from referee.records import MAX_DEAL_ID, read_records
    from referee.submissions import check_name, find_bot, take_in
    from referee.work_folder import work_folder

    if not 1 <= len(bots) < MAX_PLAYERS:
        raise typer.BadParameter(f"you play against 1 to {MAX_PLAYERS - 1} bots, got {len(bots)}")
    if seat is not None and seat > len(bots):
        raise typer.BadParameter(f"--seat: seats count from 0, so yours is 0 to {len(bots)}, got {seat}")
    if deal_id is not None and len(deal_id) > MAX_DEAL_ID:
        raise typer.BadParameter(f"--deal-id has at most {MAX_DEAL_ID} characters, got {len(deal_id)}")
    try:
        check_name(name)
    except ValueError as error:
        raise typer.BadParameter(f"--name: {error}, got {printable(name, _SHOWN)}") from None
    key = parse_secret(secret) if secret is not None else secrets.token_bytes(SECRET_BYTES)
    # Before the game, so that nobody finds out after it that there is no place for it.
    before = sum(1 for _ in read_records(records)) if records and records.exists() else 0
    with work_folder(Path(gettempdir()), _COPIES) as copies:
        you = Submission(name, "", PERSON, copies, (), "")
        _, *submissions = apart([you, *(take_in(find_bot(bot), copies) for bot in bots)])
        adviser = take_in(find_bot(hint), copies) if hint is not None else None
        names = [name, *(bot.name for bot in submissions)]
        spec = _game(names, secrets.randbelow(len(names)) if seat is None else seat, deal_id, key, refill.value)
        table = _Table(spec, spec.bots.index(name), {bot.name: bot for bot in submissions}, adviser, key)
        started = [*submissions, *([adviser] if adviser else [])]
        box = sandbox_for(sandbox, started, "play", trust=trust_bots, limits=Limits(), at_once=len(started))
        if records:
            records.open("a", encoding="utf-8").close()
        record = run(_play(table, box))
    if record is None:
        return
    _show_end(record, table.seat)
    out.print()
    if records:
        append_record(records, record)
        look = ["treelings", "replay", str(records), "--game", str(before + 1)]
        out.print(f"Look at it again:  {shlex.join(look)}", markup=False, soft_wrap=True)
    again = ["treelings", "play", *bots, "--seat", str(table.seat), "--refill", refill.value]
    again += ["--deal-id", str(spec.deal_id), "--secret", key.hex()]
    out.print(f"The same cards:    {shlex.join(again)}", style="dim", markup=False, soft_wrap=True)


def _game(names: list[str], seat: int, deal_id: str | None, secret: bytes, refill: Refill) -> GameSpec:
    """The game in which the first of these names has this seat; all sit as in some rotation of a match of theirs."""
    from referee.schedule import match_id, plan_deal

    # Secrets differ from game to game in a file, so their deals may not share an id (verify).
    prefix = f"{match_id(names)}/{commitment(secret)[:_ID_DIGITS]}"
    games = plan_deal(league="", night=None, bots=names, deal=0, refill=refill, deal_prefix=prefix)
    game = next(game for game in games if game.bots[seat] == names[0])
    return game if deal_id is None else replace(game, deal_id=deal_id, id=game_id(deal_id, game.rotation))


async def _play(table: _Table, sandbox: "Sandbox") -> GameRecord | None:
    """The game's record; None if the person asked to leave. Raises Left where the input has ended."""
    from referee.adviser import Adviser
    from referee.cli.keyboard import Keyboard
    from referee.cli.person import Hints, Left, Narrator, Person
    from referee.game import play_game
    from referee.players import connect

    names, clock = table.spec.bots, Clock()
    narrator = Narrator(names)
    async with AsyncExitStack() as stack:
        await sandbox.open()
        stack.push_async_callback(sandbox.close)

        def adviser(bot: Submission) -> Adviser:
            found = Adviser(bot, table.spec.match, sandbox, connect)
            stack.push_async_callback(found.close)
            return found

        hints = Hints(table.hints.name, adviser(table.hints), clock) if table.hints else None
        person = Person(names, Keyboard(), time.monotonic, hints)
        players: list[Player] = [
            narrator.hearing(adviser(table.bots[bot]) if bot in table.bots else person) for bot in names
        ]
        _show_begin(table)
        try:
            record = await play_game(table.spec, table.deck, table.holders, players, clock)
        except Left as left:
            if not left.asked:
                raise
            out.print(str(left))
            return None
    narrator.up_to([Move.parse(played.move) for played in record.moves])
    return record


def _show_begin(table: _Table) -> None:
    names = table.spec.bots
    order = ", ".join(f"{number} {name}" for number, name in enumerate(names))
    out.print(f"Seats: {order}; turns go to the left. ? shows the rules.", markup=False, soft_wrap=True)


def _show_end(record: GameRecord, seat: int) -> None:
    from referee.cli.seated import ring
    from referee.records import states

    names = [holder.bot for holder in record.seats]
    *_, last = states(record)
    out.print("\nThe end", style="bold")
    for line in ring(last, names, seat):
        out.print(line, soft_wrap=True)
    out.print()
    for fault in record.faults:
        detail = printable(fault.detail, _SHOWN)
        say(f"turn {fault.turn}: {names[fault.seat]} forfeits, {fault.kind}: {detail}")
    width = max(map(len, names))
    for each in sorted(range(len(names)), key=lambda each: record.ranks[each]):
        points = f"{record.scores[each]:>3} points, margin {last.margin(each):+.1f}" if record.scores else "no score"
        rank = f"{record.ranks[each]}. {names[each]:<{width}}  {points}"
        out.print(rank, style="bold" if each == seat else "", markup=False, soft_wrap=True)
