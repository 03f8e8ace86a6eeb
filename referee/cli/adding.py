"""Taking bots into a league: their trial matches, and what the author of one that is not accepted is told."""

import secrets
import shlex
from collections.abc import Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from rich.text import Text

from referee.cli.fault import LONGEST_PATH, print_row, told
from referee.cli.options import SandboxWish, as_typed
from referee.cli.show import err, error_lines, out, short_version
from referee.config import LeagueConfig
from referee.errors import SandboxError, SubmissionError, UsageError
from referee.league import League
from referee.model import Submission
from referee.players import connect
from referee.ports import Sandbox
from referee.reports import Added, Trial
from referee.submissions import find_bot
from referee.text import printable
from referee.trial import last_error, not_played, play_trial
from treelings.cards import SECRET_BYTES


class Trials:
    """Plays trial matches as a league plays its matches; the sandbox is chosen and opened for the first of them."""

    def __init__(self, config: LeagueConfig, wish: SandboxWish, *, trust: bool) -> None:
        self._config = config
        self._wish = wish
        self._trust = trust
        self._sandbox: Sandbox | None = None
        self._opened = False
        self._open = AsyncExitStack()

    @property
    def typed(self) -> str:
        """The options that chose the sandbox, as they are typed."""
        return as_typed(self._wish, trust=self._trust)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._open.aclose()
        except SandboxError:
            # What went wrong first names the bot; that the same engine cannot clean up either says nothing new.
            if not isinstance(error, SandboxError):
                raise

    async def play(self, bot: Submission) -> Trial:
        """Play one (league.PlayTrial). Raises UsageError where nothing isolates it here, SandboxError."""
        sandbox = self._chosen(bot)
        settings = self._config.settings()
        # Not above: sample bots need neither an engine's client nor the time that loading it takes.
        from referee.cli.sandboxes import lacking_for

        if problem := lacking_for(sandbox, [bot]).get(bot.runtime):
            return not_played(f"runtime {bot.runtime}: {problem}")
        if not self._opened:
            await sandbox.open()
            self._open.push_async_callback(sandbox.close)
            self._opened = True
        with err.status(Text(f"{bot.name}: trial match …")):
            return await play_trial(
                bot,
                sandbox=sandbox,
                connect=connect,
                secret=secrets.token_bytes(SECRET_BYTES),
                clock=settings.clock,
                refill=settings.refill,
                seats=settings.seats[0],
            )

    def _chosen(self, bot: Submission) -> Sandbox:
        if self._sandbox is None:
            from referee.cli.sandboxes import sandbox_alone

            config = self._config
            try:
                self._sandbox = sandbox_alone(
                    self._wish, [bot], config.name,
                    trust=self._trust, limits=config.limits(), at_once=config.seats[0],
                )  # fmt: skip
            except UsageError as error:
                raise UsageError(f"{error}, or --no-trial to take it in without a trial match") from error
        return self._sandbox


async def add_bots(league: League, bots: Sequence[str], trials: Trials | None) -> int:
    """Take in what each text means (submissions.find_bot) and say what became of it; the command's exit code.

    trials  None: without a trial match

    A bot that is not accepted does not stop those after it. Raises UsageError where no trial match can be played here,
    SandboxError where it failed on our side for good: then those before it are in, it and those after it are not.
    """
    unacceptable = failed = False
    for number, text in enumerate(bots):
        try:
            source = find_bot(text)
            added = league.add(source) if trials is None else await league.try_and_add(source, trials.play)
        except SubmissionError as error:
            unacceptable = True
            error_lines(str(error))
            continue
        except SandboxError as error:
            shown = printable(text, LONGEST_PATH)
            again = " ".join(
                printable(shlex.quote(each), LONGEST_PATH) for each in (str(league.folder), *bots[number:])
            )
            raise type(error)(
                f"{shown}: its trial match could not be played ({error}); nothing of it is kept. Go on with: treelings "
                f"league add {again}{trials.typed if trials else ''} (and --no-trial to take bots in without a trial "
                "match)"
            ) from error
        if added.accepted:
            out.print(outcome(added), markup=False, soft_wrap=True)
        else:
            failed = True
            explain(added, text, league.config, trials.typed if trials else "")
    return 1 if failed else 2 if unacceptable else 0


def outcome(added: Added) -> str:
    """What became of a bot, in one line."""
    bot = f"{added.submission.name} {short_version(added.submission.version)}"
    if not added.accepted:
        return f"{bot} is not accepted"
    if not added.changed:
        return f"{bot} is in already"
    line = f"{bot} joins the next night"
    if (old := added.replaced) is not None:
        line += f" in place of {short_version(old.version)}"
        if added.submission.author != old.author:
            # Nobody but the organiser can tell whether it is the same person.
            line += f" by {old.author}, as a bot by {added.submission.author}"
    if added.trial is None:
        return line
    line += f"; trial match: {added.trial.games} games, no fault"
    error = last_error(added.trial.log)
    return line if error is None else f"{line}, but its log has a traceback: {error}"


def explain(added: Added, handed_in: str, config: LeagueConfig, typed: str) -> None:
    """Tell the author on stderr what a bot failed on, or that it was our side that failed.

    typed  options that the match was played with, as fault.told takes them
    """
    trial = added.trial
    assert trial is not None
    err.print(outcome(added), style="bold red", markup=False, end=": ")
    if trial.stumble is None:
        err.print("its trial match could not be played, through no fault of its own")
        print_row(err, "why", trial.void or "")
        print_row(err, "next", "try again, or take it in without a trial match: --no-trial")
        return
    err.print(f"it made a fault in its trial match against {', '.join(trial.opponents)}", markup=False)
    report = told(trial, handed_in, config.limits(), config.settings().clock, typed)
    for name, text in report.rows():
        print_row(err, name, f"{text}; then add it again" if name == "next" else text)
