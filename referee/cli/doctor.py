"""`treelings doctor`: what this machine has and lacks for sandboxed bots."""

import typer

from referee.cli.show import out, say

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "missing": ("✗", "bold red")}


def doctor() -> None:
    """Tell what this machine has and lacks for running bots in containers.

    Each line that is not ✓ says what to do. Exit code 1 if something is missing (✗); a warning (!) is only advice.
    """
    from rich.text import Text

    from referee.cli.fault import print_hanging
    from referee.cli.sandboxes import follow_build
    from referee.run import default_jobs, tables_at_once
    from referee.sandbox.choose import told_when_slow
    from referee.sandbox.doctor import examine
    from treelings.cards import MAX_PLAYERS

    with told_when_slow(follow_build):
        checks = examine(at_once=tables_at_once(default_jobs()) * MAX_PLAYERS)
    width = max(len(check.name) for check in checks)
    for check in checks:
        mark, style = _MARKS[check.level]
        print_hanging(out, Text.assemble((mark, style), f" {check.name:<{width}}  "), check.found)
        if check.advice:
            # Mostly a command, which is copied whole from where the terminal breaks it.
            out.print(f"  {'':<{width}}  → {check.advice}", markup=False, soft_wrap=True)
    if any(check.level == "missing" for check in checks):
        out.print()
        say("Bots cannot be sandboxed here yet; --trust-bots runs those that you trust as plain processes.")
        raise typer.Exit(1)
    out.print("\nThis machine can run strangers' bots in containers.")
