"""`treelings match`: a quick table outside any league."""

import secrets
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TextIO

import typer

from referee.cli import options
from referee.cli.show import err, out, standings
from referee.cli.verify import parse_secret
from referee.errors import UsageError
from referee.model import GameRecord, MatchSpec, Submission, VoidGame
from treelings import Clock
from treelings.cards import MAX_PLAYERS, MIN_PLAYERS


def match(
    bots: Annotated[
        list[str],
        typer.Argument(metavar="BOT BOT…", help="Two to five bots: folders, or names of sample bots."),
    ],
    deals: Annotated[int, typer.Option(min=1, help="Deals; each is played once in every rotation of the seats.")] = 10,
    secret: Annotated[
        str | None,
        typer.Option(metavar="HEX", help="Secret that the decks come from, 64 hex digits; random if not given."),
    ] = None,
    deal_id: Annotated[
        str | None,
        typer.Option("--deal-id", metavar="TEXT", help="Id of the deal; with several deals, /0, /1 … is added."),
    ] = None,
    refill: Annotated[
        options.RefillChoice, typer.Option(help="When the market is filled up.")
    ] = options.RefillChoice.START,
    sandbox: options.Sandbox = options.SandboxWish.AUTO,
    records: Annotated[
        Path | None,
        typer.Option("--records", metavar="FILE", help="Write the games there, one record a line."),
    ] = None,
    *,
    trust_bots: options.TrustBots = False,
) -> None:
    """Let bots play each other now, outside any league.

    Example: `treelings match random greedy --deals 20 --records games.jsonl`, then `treelings replay games.jsonl`.
    """
    from referee.cli.progress import GameProgress
    from referee.cli.sandboxes import sandbox_for
    from referee.loop import run
    from referee.sandbox.limits import Limits
    from referee.schedule import plan_match
    from referee.submissions import find_bot, inspect

    if not MIN_PLAYERS <= len(bots) <= MAX_PLAYERS:
        raise typer.BadParameter(f"a table has {MIN_PLAYERS} to {MAX_PLAYERS} bots, got {len(bots)}")
    submissions = _apart([inspect(find_bot(bot)) for bot in bots])
    key = parse_secret(secret) if secret else secrets.token_bytes(32)
    spec = plan_match(
        league="",
        night=None,
        bots=[bot.name for bot in submissions],
        deals=deals,
        refill=refill.value,
        deal_prefix=deal_id,
    )
    box = sandbox_for(sandbox, submissions, Limits(), "match", trust=trust_bots)
    with (
        records.open("w", encoding="utf-8") if records else nullcontext() as file,
        GameProgress(spec.id) as progress,
    ):
        played, voids = run(_play(spec, submissions, box, key, progress, file))
    standings(spec.id, _standings(played), {bot.name: bot.author for bot in submissions})
    out.print(f"secret {key.hex()}", style="dim", soft_wrap=True)
    if records:
        out.print(f"Games: {records}; show one with: treelings replay {records}", markup=False, soft_wrap=True)
    if voids:
        err.print(f"{len(voids)} games could not be played: {voids[0].reasons[-1]}", style="yellow", markup=False)
        raise typer.Exit(1)
