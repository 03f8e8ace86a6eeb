"""What is printed in a terminal does nothing there but be read."""

import io

import pytest
from rich.table import Table
from rich.text import Text

from referee.cli.show import SafeConsole, error_lines, print_row

HOSTILE = "\x1b]0;pwned\x1b[2J\u202e\u2028\x9b31m\ud800"
HARMLESS = r"\x1b]0;pwned\x1b[2J\u202e\u2028\x9b31m\ud800"


def printed(*what: object, terminal: bool = False) -> str:
    file = io.StringIO()
    SafeConsole(file=file, width=200, force_terminal=terminal, color_system=None, highlight=False).print(*what)
    return file.getvalue()


def table(cell: str | Text) -> Table:
    found = Table(title=HOSTILE)
    found.add_column("bot")
    found.add_row(cell)
    return found


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("what", [HOSTILE, Text(HOSTILE), table(HOSTILE), table(Text(HOSTILE))])
def test_whatever_is_printed_is_escaped(what: object, terminal: bool) -> None:
    shown = printed(what, terminal=terminal)
    assert HARMLESS in shown
    assert all(line.isprintable() for line in shown.split("\n"))


def test_accents_do_not_pile_up_into_other_lines() -> None:
    assert printed("a" + 9 * "\u0301") == "a" + 4 * "\u0301" + 5 * r"\u0301" + "\n"


def test_line_ends_stay() -> None:
    assert printed("a\nb") == "a\nb\n"


def test_no_line_ends_in_blanks_but_on_a_terminal() -> None:
    rows = Table("bot", title="season", title_justify="left", box=None, pad_edge=False)
    rows.add_row("a long name")
    assert printed(rows, "x " * 150) == f"season\nbot\na long name\n{'x ' * 99}x\n{'x ' * 49}x\n"
    assert "bot        \n" in printed(rows, terminal=True)


def test_styles_are_no_text() -> None:
    file = io.StringIO()
    SafeConsole(file=file, force_terminal=True, color_system="standard").print(f"[bold]{HOSTILE[:1]}[/]")
    assert file.getvalue() == "\x1b[1m\\x1b\x1b[0m\n"


def test_each_line_of_an_error_is_marked_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    error_lines("a.toml: unknown key [b]\na.toml: name: missing")
    assert capsys.readouterr().err == "error: a.toml: unknown key [b]\nerror: a.toml: name: missing\n"


@pytest.mark.parametrize(("terminal", "lines"), [(True, ["ann   R1  O12", "      Y3"]), (False, ["ann   R1  O12  Y3"])])
def test_a_row_goes_on_below_its_first_column_where_a_terminal_ends(terminal: bool, lines: list[str]) -> None:
    file = io.StringIO()
    narrow = SafeConsole(file=file, width=15, force_terminal=terminal, color_system=None)
    print_row(Text("ann  "), [Text(" R1 "), Text(" O12 "), Text(" Y3 ")], to=narrow)
    assert [line.rstrip() for line in file.getvalue().splitlines()] == lines
