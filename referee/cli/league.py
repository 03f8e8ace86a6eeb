"""`treelings league`: a series of nights, from submitted bots to a published leaderboard."""

from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import export, options
from referee.cli.later import Group
from referee.cli.show import err, out, say, short_version, standings
from referee.errors import EngineGone, UsageError

if TYPE_CHECKING:
    from referee.league import League
    from referee.reports import RunSummary

_VOIDS_TOLD = 20
"""Reasons of void games that are told at the end of a run; `status` tells them all."""

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="""Run a league: nights of round-robin matches between submitted bots.

`init` makes one, `add` takes bots in, `remove` lets one withdraw, `run` plays a night to its end, `publish` writes the
leaderboard, `reveal` opens the night's secret so that anybody can check its decks. A run that was interrupted goes on
with `run`, and `status` says what to do next.""",
)


@app.command("init")
def init(
    folder: options.LeagueFolder,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the league; the folder's name if not given.")
    ] = None,
) -> None:
    """Make a new league: a folder with a league.toml to edit."""
    from referee.league import League

    League.create(folder, folder.resolve().name if name is None else name).close()
    out.print(f"League made: {folder}/league.toml holds its settings.", markup=False, soft_wrap=True)
    out.print(f"Next: treelings league add {quote(str(folder))} BOT…", markup=False, soft_wrap=True)


@app.command("add")
def add(
    folder: options.LeagueFolder,
    bots: Annotated[
        list[str],
        typer.Argument(metavar="BOT", help="Bots: folders, .zip or .tar.gz files, or names of sample bots."),
    ],
    sandbox: options.Sandbox = options.SandboxWish.AUTO,
    *,
    trust_bots: options.TrustBots = False,
    no_trial: Annotated[bool, typer.Option("--no-trial", help="Take bots in without a trial match.")] = False,
) -> None:
    """Take bots in: each plays a short trial match against `random`, then its files are copied and named by digest.

    A bot of a known name is a new version of it. Sample bots, and versions that were in before, play no trial match.
    Exit code 1: a bot failed its trial match; 2: one is no acceptable submission.
    """
    from referee.cli.adding import Trials, add_bots
    from referee.loop import run as run_loop

    async def add_all(league: "League") -> int:
        async with Trials(league.config, sandbox, trust=trust_bots) as trials:
            return await add_bots(league, bots, None if no_trial else trials)

    with _open(folder) as league:
        code = run_loop(add_all(league))
    if code:
        raise typer.Exit(code)


@app.command("remove")
def remove(
    folder: options.LeagueFolder,
    bot: Annotated[str, typer.Argument(metavar="BOT", help="The bot's name, as `bots` lists it.")],
) -> None:
    """Let a bot withdraw: it joins no further night, and leaves the open one if no game of it has been played.

    All that it played stays, and can be replayed and verified. Adding it again brings it back.
    """
    with _open(folder) as league:
        gone = league.remove(bot)
        name = f"{bot} {short_version(gone.submission.version)}"
        if gone.left is not None:
            say(f"{name} leaves night {gone.left} and joins no further one")
            _announce(league, gone.left)
        else:
            say(f"{name} joins no further night; what it played stays")
        if gone.plays is not None:
            say(f"It stays in night {gone.plays}: {gone.why}")


@app.command("bots")
def bots(folder: options.LeagueFolder) -> None:
    """List the bots that will play the next night."""
    from rich.table import Table
    from rich.text import Text

    with _open(folder) as league:
        table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
        for column in ("bot", "author", "version", "runtime"):
            table.add_column(column)
        for bot in league.bots():
            table.add_row(bot.name, Text(bot.author), short_version(bot.version), bot.runtime)
        out.print(table)


@app.command("open")
def open_night(folder: options.LeagueFolder) -> None:
    """Open a night: freeze its bots, its plan and a fresh secret, and publish the secret's commitment.

    `run` does this by itself where no night is open.
    """
    with _open(folder) as league:
        _announce(league, league.open_night().number)
    out.print(f"Next: treelings league run {quote(str(folder))}", markup=False, soft_wrap=True)


@app.command("run")
def run(
    folder: options.LeagueFolder,
    jobs: options.Jobs = None,
    sandbox: options.Sandbox = options.SandboxWish.AUTO,
    *,
    until_decided: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            min=1,
            help="Go on with the deals that matter until the order of the first K places is decided.",
        ),
    ] = None,
    at_most_deals: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="But with no more deals a match than this; 400, or more for a long plan."
        ),
    ] = None,
    trust_bots: options.TrustBots = False,
) -> None:
    """Play the open night to its end; opens one if none is open. Interrupted? Run it again: nothing is played twice.

    With --until-decided the night goes on after its round robin: bots whose places among the first K cannot be told
    apart at 95 % play more deals, at all of their tables. The night remembers this.
    """
    from referee.cli.deciding import Deciding, show_decision
    from referee.cli.progress import GameProgress
    from referee.cli.sandboxes import absent_from, sandbox_alone
    from referee.loop import run as run_loop
    from referee.run import default_jobs, tables_at_once

    if at_most_deals and not until_decided:
        raise UsageError("--at-most-deals: expected together with --until-decided")
    with _open(folder) as league:
        # Before a night is opened: whoever may not run it should not freeze its bots.
        aim = league.aim(until_decided, at_most_deals) if until_decided else None
        night = league.current_night()
        seats = (night.settings if night else league.config.settings()).seats
        at_once = tables_at_once(jobs or league.config.jobs or default_jobs()) * max(seats)
        bots = league.playing()
        box = sandbox_alone(
            sandbox, bots, league.name, trust=trust_bots, limits=league.config.limits(), at_once=at_once
        )  # fmt: skip
        absent = absent_from(box, bots)
        typed = quote(str(folder))
        again = f"treelings league run {typed}{options.as_typed(sandbox, trust=trust_bots)}"
        number = (night or league.open_night()).number
        _announce(league, number)
        try:
            with GameProgress(f"night {number}") as progress:
                summary = run_loop(
                    league.run(box, jobs=jobs, progress=progress, aim=aim, tell=Deciding(), absent=absent)
                )  # fmt: skip
        except KeyboardInterrupt:
            err.print(f"Interrupted; finished games are kept. Go on with: {again}", markup=False, soft_wrap=True)
            raise typer.Exit(1) from None
        except EngineGone as error:
            raise EngineGone(f"{error}; finished games are kept, run again when it is back") from error
        _show_standings(league, number)
        if decision := league.decision(number):
            show_decision(decision)
        if not summary.finished:
            _show_voids(summary)
            say(f"Next, once that is mended: {again}", to=err)
            say(f"Or end the night without these games: treelings league reveal {typed} --night {number}", to=err)
            raise typer.Exit(1)
        out.print(f"Night {number} is complete: {summary.total} games.", markup=False)
        following = f"treelings league publish {typed}; treelings league reveal {typed}"
        out.print(f"Next: {following}", markup=False, soft_wrap=True)


@app.command("status")
def status(folder: options.LeagueFolder) -> None:
    """Tell how far the league is and what to do next."""
    with _open(folder) as league:
        for line in league.status().lines():
            say(line)


@app.command("standings")
def show_standings(
    folder: options.LeagueFolder,
    night: options.Night = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Print the standings of the season or of one night."""
    with _open(folder) as league:
        if as_json:
            typer.echo(league.standings_json(night), nl=False)
        else:
            _show_standings(league, night)


@app.command("logs")
def show_logs(
    folder: options.LeagueFolder,
    bot: Annotated[str, typer.Argument(metavar="BOT", help="The bot's name.")],
    match: Annotated[str | None, typer.Option("--match", metavar="MATCH", help="From this match only.")] = None,
    night: Annotated[int | None, typer.Option("--night", metavar="N", min=1, help="From this night only.")] = None,
) -> None:
    """Show what a bot wrote to stdout and stderr; whatever could act on a terminal is escaped.

    If there are logs of several matches, lists them: name one with --match.
    """
    with _open(folder) as league:
        logs = league.logs(bot, match=match, night=night)
    if match is not None or len(logs) == 1:
        for log in logs:
            typer.echo(log.text().removesuffix("\n"))
        return
    for log in logs:
        out.print(f"night {log.night}  {log.match}  {log.size_bytes:,} bytes", markup=False, soft_wrap=True)
    again = f"treelings league logs {quote(str(folder))} {bot} --match {logs[-1].match}"
    out.print(f"Show one: {again}", markup=False, soft_wrap=True)


@app.command("publish")
def publish(
    folder: options.LeagueFolder,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="SITE", help="Folder to publish to; league.toml's `site` if not given."),
    ] = None,
) -> None:
    """Write the leaderboard as a static site; readers see the old one until the new one is whole."""
    with _open(folder) as league:
        site = league.publish(to)
    out.print(f"Leaderboard published: {site / 'index.html'}", markup=False, soft_wrap=True)


app.command("export")(export.export)


@app.command("reveal")
def reveal(
    folder: options.LeagueFolder,
    night: Annotated[
        int | None, typer.Option("--night", metavar="N", min=1, help="Which night; the last finished one if not given.")
    ] = None,
) -> None:
    """Publish a finished night's secret, so that anybody can check its decks; the last night's if none is named.

    A night whose missing games are all void is finished by this.
    """
    with _open(folder) as league:
        shown = league.reveal(night)
        out.print(f"Night {shown.number}: secret {shown.secret}", markup=False, soft_wrap=True)
        out.print(f"Published in {league.site}; publish --to again for other places.", markup=False, soft_wrap=True)
        out.print(f"Check everything: treelings verify {quote(str(league.site))}", markup=False, soft_wrap=True)


def _open(folder: Path) -> "League":
    from referee.league import League

    return League.open(folder)


def _announce(league: "League", number: int) -> None:
    from referee.schedule import count_matches

    night = league.night(number)
    matches = count_matches(len(night.bots), night.settings)
    out.print(f"Night {number}: {len(night.bots)} bots, matches: {matches}", markup=False, soft_wrap=True)
    out.print(f"Commitment {night.commitment}", style="dim", markup=False, soft_wrap=True)


def _show_voids(summary: "RunSummary") -> None:
    from referee.reports import voids_in_words

    games = f"{summary.done} of {summary.total} games, void: {len(summary.voids)}"
    say(f"Night {summary.night} is not complete: {games}", style="bold red", to=err)
    for words in islice(voids_in_words(summary.voids), _VOIDS_TOLD):
        say(words, indent=2, to=err)


def _show_standings(league: "League", night: int | None) -> None:
    title = f"{league.name}, {'season' if night is None else f'night {night}'}"
    standings(title, league.standings(night), league.authors())
