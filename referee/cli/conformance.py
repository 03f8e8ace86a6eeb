"""`treelings check --protocol`: what of the protocol a bot gets wrong that its author runs, corner by corner."""

import json
from contextlib import aclosing
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from referee.cli.attach import host_and_port
from referee.cli.show import err, out, say
from referee.text import printable

if TYPE_CHECKING:
    from referee.conformance import Step
    from referee.players.attached import HostPort

_FORMAT = "treelings-conformance/1"
_SHOWN = 100
_SHOWN_AGAIN = 45  # of what came, where an earlier step has shown such in full: a line of 80 columns
_ENDED = "the end of the stream with "  # and all that tells one from another comes after it
_MARKS = {"passed": ("✓", "green"), "failed": ("✗", "bold red"), "not reached": ("–", "dim")}


def check_protocol(place: str, *, as_json: bool) -> None:
    """Drive the bot that listens there through the protocol and print each step. Raises typer.Exit if one failed."""
    from referee.loop import run

    address = host_and_port(place)
    if address is None:
        raise typer.BadParameter(
            f"--protocol: expected HOST:PORT, such as 127.0.0.1:50051, got {printable(place, _SHOWN)!r}"
        )
    steps = run(_follow(address, silent=as_json), fair=True)
    failed = [step for step in steps if step.outcome == "failed"]
    if as_json:
        typer.echo(json.dumps(_as_json(place, steps), indent=1))
    else:
        _conclude(place, steps, failed)
    if failed:
        raise typer.Exit(1)


async def _follow(address: "HostPort", *, silent: bool) -> "list[Step]":
    """All steps; each is shown when it is done, and meanwhile, on a terminal, which one is at work."""
    from referee.conformance import CORNERS, conformance

    names = [corner.name for corner in CORNERS]
    done: list[Step] = []
    at_work = err.status("")
    async with aclosing(conformance(address)) as steps:
        for name in names:
            at_work.update(Text(f"{name} …", style="dim"))
            # Off while a step is printed: that goes to another stream of the same terminal.
            with at_work:
                done.append(await anext(steps))
            if not silent:
                _show(len(done), done[-1], max(map(len, names)))
    return done


def _show(number: int, step: "Step", width: int) -> None:
    from referee.cli.fault import print_hanging, print_row

    mark, style = _MARKS[step.outcome]
    if step.outcome == "not reached":
        out.print(Text(f"{mark} {number:2} {step.name}", style="dim"))
        return
    lead = Text.assemble((mark, style), f" {number:2} {step.name:<{width}}  ")
    if step.outcome == "passed":
        print_hanging(out, lead, step.fact)
        return
    if step.as_in:
        came = printable(step.got.removeprefix(_ENDED), _SHOWN_AGAIN)
        print_hanging(out, lead, f"as in step {step.as_in}: {came}")
        return
    out.print(Text.assemble((mark, style), f" {number:2} {step.name}"))
    for name, text in (
        *((("sent", step.sent),) if step.sent else ()),
        ("expected", step.expected),
        ("got", step.got),
        ("read", _where(step)),
    ):
        print_row(out, name, text)


def _where(step: "Step") -> str:
    from referee.conformance import PAGE

    return f"{PAGE}, {step.section}"


def _conclude(place: str, steps: "list[Step]", failed: "list[Step]") -> None:
    out.print()
    if failed:
        ways = [step for step in failed if not step.as_in]
        again = len(ways) < len(failed)
        how = f" in {'one way' if len(ways) == 1 else f'{len(ways)} ways'}" if again else ""
        missed = sum(step.outcome == "not reached" for step in steps)
        rest = f"; {missed} were not reached, since it plays no more" if missed else ""
        every = "; --json has all of each step" if again else ""
        say(
            Text.assemble(
                (f"The bot on {place} gets {len(failed)} of {len(steps)} steps wrong{how}", "bold red"),
                f" ({'first in ' if again else ''}{', '.join(step.name for step in ways)}){rest}{every}.",
            )
        )
        out.print(f"Next: mend the first one, then treelings check --protocol {place}", markup=False, soft_wrap=True)
    else:
        out.print(Text.assemble((f"The bot on {place} speaks the protocol", "bold green"), "."), soft_wrap=True)
        out.print(f"Next: treelings match greedy --attach mybot={place}", markup=False, soft_wrap=True)


def _as_json(place: str, steps: "list[Step]") -> dict[str, object]:
    """The run in JSON's types (docs/protocol.md, Check your bot)."""
    return {
        "format": _FORMAT,
        "address": place,
        "verdict": "bad" if any(step.outcome == "failed" for step in steps) else "good",
        "steps": [
            {
                "number": number,
                "name": step.name,
                "outcome": step.outcome,
                "fact": step.fact,
                "sent": step.sent,
                "expected": step.expected,
                "got": step.got,
                "read": _where(step),
                "as_in": step.as_in or None,
            }
            for number, step in enumerate(steps, 1)
        ],
    }
