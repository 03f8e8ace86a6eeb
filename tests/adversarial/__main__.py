"""`make hostile`: plays every kind of the collection and prints a table; ends with 1 if any is not as it must be."""

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from rich.console import Console
from rich.table import Table

from referee.sandbox.engine import connect
from referee.sandbox.runtimes import build_image
from referee.text import printable
from tests.adversarial.alone import play_alone
from tests.support.hostile import kinds, load, overloaded, problems, verdict

_AT_ONCE: Final = 3  # most of a case is waiting
_MB: Final = 1_000_000


def main(asked: list[str]) -> int:
    """Play these kinds, or all of them."""
    engine = connect()
    try:
        build_image(engine, report=lambda line: print(line, file=sys.stderr))
    finally:
        engine.close()
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table("kind", "verdict", "time", "memory", "CPU", "left behind", "besides", "result")
    table.columns[0].no_wrap = True  # the name is what one runs again
    for column, justify in ((2, "right"), (3, "right"), (4, "right")):
        table.columns[column].justify = justify  # type: ignore[assignment]  # a literal that the loop widens
    wrong: list[str] = []
    unfair: list[str] = []
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        for kind, outcome in zip(names := asked or kinds(), pool.map(play_alone, names), strict=True):
            case = load(kind)
            found = problems(case, outcome)
            if overloaded(outcome):
                unfair.append(kind)
                result = "machine too busy"
            else:
                wrong += [f"{kind}: {problem}" for problem in found]
                result = "WRONG" if found else "as expected"
            table.add_row(
                kind,
                verdict(outcome),
                f"{outcome.seconds:.1f} s",
                f"{outcome.peak_bytes / _MB:.0f} MB",
                f"{outcome.cpu_s:.2f} s",
                ", ".join(outcome.left) or "nothing",
                ", ".join(f"{what} {figure}" for what, figure in outcome.found.items()),
                result,
            )
            print(f"{kind}: {result} ({case.does})", file=sys.stderr)
    finally:
        pool.shutdown(cancel_futures=True)  # Ctrl-C ends those that play, and the others never begin
        console.print(table)
    console.print("Memory and CPU are the referee's own: its peak, and its time for the match without its imports.")
    if unfair:
        again = f"make hostile KINDS='{' '.join(unfair)}'"
        console.print(f"The machine was too busy for a fair game of {len(unfair)}. Again: {again}", highlight=False)
    for line in wrong:
        console.print(printable(line, 1_000), markup=False, highlight=False, style="red")
    return 1 if wrong or unfair else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
