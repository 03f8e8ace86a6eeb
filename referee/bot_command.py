"""Whether the command of a bot starts something that is there, as far as its files tell."""

from collections.abc import Mapping, Sequence

from referee.errors import BotFileError
from referee.text import printable


def check_command(where: str, command: Sequence[str], runtime: str, files: Mapping[str, bool]) -> None:
    """Raise BotFileError unless it begins with the runtime's program and a file of the bot, or with such a file.

    where  its place, for what is said of it
    files  by path: whether it can be executed
    """
    program, *rest = command
    if program.startswith("./"):
        if program[2:] not in files:
            build = "; the folder has a Makefile: run `make` in it first" if "Makefile" in files else ""
            raise BotFileError(f"{where}: expected a file of the bot, got {program!r}, which is not there{build}")
        if not files[program[2:]]:
            raise BotFileError(
                f"{where}: {program!r} cannot be run; make it executable (chmod +x), and pack it by `treelings pack`: "
                "a .zip made on Windows does not say what is"
            )
        return
    if runtime == "native":
        raise BotFileError(
            f'{where}: runtime "native" has no programs of its own: expected a file of the bot such as "./bot" first, '
            f"got {printable(program, 60)!r}"
        )
    if program != runtime:
        raise BotFileError(
            f'{where}: expected "{runtime}" or a file of the bot such as "./run" first, got {printable(program, 60)!r}'
        )
    wanted = _wanted_by_python(rest) if program == "python" else _wanted_by_node(rest)
    if wanted is None:
        example = f'["{program}", "bot.{"py" if program == "python" else "js"}"]'
        raise BotFileError(f"{where}: expected a file for {program} to run, e.g. {example}, got none")
    if wanted and not any(path in files for path in wanted):
        raise BotFileError(f"{where}: expected {printable(' or '.join(wanted), 300)} in the folder, got no such file")


def _wanted_by_python(rest: list[str]) -> tuple[str, ...] | None:
    """The files that python's arguments may mean, one of which is enough; none if they name none, None if wrong."""
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        rest = rest[2:] if rest[0] in ("-X", "-W") else rest[1:]
    match rest:
        case ["-c", _, *_]:
            return ()
        case ["-m", module, *_]:
            base = module.replace(".", "/")
            return f"{base}.py", f"{base}/__main__.py"
        case [script, *_] if not script.startswith("-"):
            return (script.removeprefix("./"),)
    return None


def _wanted_by_node(rest: list[str]) -> tuple[str, ...] | None:
    """The same of node's arguments; options that take a value are written with "=" there."""
    while rest and rest[0].startswith("-"):
        rest = rest[1:]
    return (rest[0].removeprefix("./"),) if rest else None
