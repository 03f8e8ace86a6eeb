"""Commands whose modules are imported when they are called: the list of all commands needs none of them."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

_WHOLE: Final = 10_000


class Later(TyperCommand):
    """Stands for a command, or for a group of commands, until that is called, completed or asked for its own help."""

    def __init__(self, name: str, where: str, summary: str) -> None:
        """`where` is "package.module:attribute", a function or a Typer; `summary` the first sentence of its help."""
        super().__init__(name, help=summary)
        self.name: str = name
        self.where = where

    def load(self) -> TyperCommand | TyperGroup:
        """The command itself."""
        module, _, attribute = self.where.partition(":")
        found = getattr(import_module(module), attribute)
        if not isinstance(found, typer.Typer):
            alone = typer.Typer(add_completion=False, rich_markup_mode=None)
            alone.command(self.name)(found)
            found = alone
        command = typer.main.get_command(found)
        assert isinstance(command, (TyperCommand, TyperGroup))
        command.name = self.name
        return command

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """From here on the command itself is at work: a context is its own command's."""
        return self.load().make_context(info_name, args, parent, **extra)


class Group(TyperGroup):
    """A group that lists its commands with whole sentences: what is too long goes on in the next line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(_WHOLE)) for name, each in self.commands.items()])


def group_of(commands: Sequence[Later]) -> type[Group]:
    """A class of group, for `Typer(cls=…)`, that has these commands before any others."""

    class These(Group):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.commands = {command.name: command for command in commands} | dict(self.commands)

    return These
