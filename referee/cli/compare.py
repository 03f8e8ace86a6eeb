"""`treelings compare`: is a change of a bot an improvement?"""

import json
import secrets
import time
from contextlib import aclosing
from itertools import islice
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options
from referee.cli.show import out
from referee.cli.verify import parse_secret
from referee.errors import RefereeError, UsageError
from treelings import Clock
from treelings.cards import MAX_PLAYERS, MIN_PLAYERS, SECRET_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from referee.comparison import Comparison
    from referee.model import GameRecord, GameSpec
    from referee.ports import Sandbox
    from referee.quick import QuickTables

_COPIES = "treelings-compare-"
_DEALS = 20_000
_MAX_DEALS = 1_000_000


def compare(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A folder, .zip or .tar.gz, or the name of a sample bot.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Likewise; it may have the same name.")],
    opponents: Annotated[
        list[str] | None,
        typer.Option(
            "--opponents", metavar="BOT", help="Sits at the table too; give it again for more, three at most."
        ),
    ] = None,
    max_deals: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=_MAX_DEALS,
            help="Give up, undecided, after so many deals, each in all rotations of the seats.",
        ),
    ] = _DEALS,
    elo0: Annotated[
        float, typer.Option(metavar="ELO", help="H0: NEW is at most so much normalised Elo stronger than OLD.")
    ] = 0.0,
    elo1: Annotated[
        float, typer.Option(metavar="ELO", help="H1: NEW is at least so much normalised Elo stronger than OLD.")
    ] = 10.0,
    alpha: Annotated[float, typer.Option(metavar="P", help="How often H1 may be accepted where H0 is true.")] = 0.05,
    beta: Annotated[float, typer.Option(metavar="P", help="How often H0 may be accepted where H1 is true.")] = 0.05,
    jobs: options.Jobs = None,
    secret: options.Secret = None,
    refill: Annotated[
        options.RefillChoice, typer.Option(help="When the market is filled up.")
    ] = options.RefillChoice.START,
    sandbox: options.Sandbox = options.SandboxWish.AUTO,
    records: Annotated[
        Path | None,
        typer.Option(
            "--records", metavar="FILE", help="Write the games there, one record a line, in place of what is there."
        ),
    ] = None,
    *,
    same: Annotated[
        bool, typer.Option("--same", help="Compare a bot with itself; a test of the test, since nothing can come out.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    trust_bots: options.TrustBots = False,
) -> None:
    """Is NEW better than OLD? Plays deals until it knows.

    Each deal is played in all rotations of the seats, and NEW's score against OLD in it is one sample. After each the
    likelihoods of H1 and H0 are compared (a sequential test, as chess engine testers use it), and the games end when
    one of them is settled. A clear improvement takes some 75 deals; one as small as elo1 three to five thousand.

    Normalised Elo measures strength against luck: 347 for a mean score that lies one standard deviation of a game
    above a half. Elo, as it is printed, follows from the score alone. Both are estimates, and where a test has stopped
    by itself they lean a little towards its verdict.

    Exit codes: 0 NEW is better (H1 accepted), 1 it is not or that stays undecided, 2 wrong use. So
    `treelings compare old new && cp -r new best` does what it says.
    """
    from referee.cli.comparing import Gauge, outcome, print_heading, print_outcome
    from referee.cli.records_file import RecordsFile
    from referee.cli.sandboxes import sandbox_for
    from referee.comparison import Comparison
    from referee.limits import Limits
    from referee.loop import run
    from referee.players import connect
    from referee.quick import QuickTables, apart, endless_deals
    from referee.run import default_jobs
    from referee.strength import Sprt, Verdict
    from referee.submissions import find_bot, take_in
    from referee.work_folder import work_folder

    others = opponents or []
    seats = MIN_PLAYERS + len(others)
    if seats > MAX_PLAYERS:
        raise typer.BadParameter(
            f"a table has {MAX_PLAYERS} seats, so expected at most three opponents, got {len(others)}"
        )
    test = Sprt(elo0, elo1, alpha, beta)
    key = parse_secret(secret) if secret is not None else secrets.token_bytes(SECRET_BYTES)
    tables = min(jobs or default_jobs(), max_deals)
    with work_folder(Path(gettempdir()), _COPIES) as copies:
        # Copies, as in a league: what plays is what was checked, whatever happens to the author's files meanwhile.
        bots = apart([take_in(find_bot(bot), copies) for bot in (old, new, *others)])
        if bots[0].version == bots[1].version and not same:
            raise UsageError(
                f"{old} and {new}: expected two versions of a bot, got the same files ({bots[0].version[:15]}…); "
                "add --same to compare a bot with itself"
            )
        box = sandbox_for(sandbox, bots, "compare", trust=trust_bots, limits=Limits(), at_once=seats * tables)
        print_heading(bots, (old, new, *others), test)
        comparison = Comparison(bots[0].name, bots[1].name, seats, test)
        deals = islice(endless_deals([bot.name for bot in bots], refill.value), max_deals)
        file = RecordsFile(records)
        broken_off: BaseException | None = None
        try:
            with file, Gauge(comparison, time.monotonic) as gauge:

                def keep(games: "Sequence[GameRecord]") -> None:
                    file.write(games)
                    gauge.deals_done()

                quick = QuickTables(bots, box, key, Clock(), connect, jobs=tables, tell=lambda _: gauge.game_over())
                run(_play(quick, box, deals, comparison, keep))
        except (KeyboardInterrupt, RefereeError, OSError) as error:
            if not comparison.deals:
                raise
            broken_off = error  # what is known by then is still worth telling
    if as_json:
        out.print(
            json.dumps({**outcome(comparison, *bots[:2]), "secret": key.hex()}, indent=1), markup=False, soft_wrap=True
        )
    else:
        print_outcome(comparison, {bots[0].name: "OLD", bots[1].name: "NEW"})
        out.print()
        file.print_next(key)
    if broken_off is not None:
        raise broken_off
    if comparison.verdict is not Verdict.H1:
        raise typer.Exit(1)


async def _play(
    tables: "QuickTables", sandbox: "Sandbox", deals: "Iterable[Sequence[GameSpec]]", comparison: "Comparison",
    keep: "Callable[[Sequence[GameRecord]], None]",
) -> None:  # fmt: skip
    await sandbox.open()
    try:
        async with aclosing(tables.play(deals)) as played:
            async for deal in played:
                keep(comparison.add(deal.number, deal.games))
                if comparison.end:
                    break
    finally:
        await sandbox.close()
