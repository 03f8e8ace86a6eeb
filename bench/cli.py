"""How long the command line takes to answer, against the import of typer alone: python -m bench.cli.

All are processes of the same Python, from their start to their end.
"""

import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

TITLE: Final = "the command line, from start to end"
ROUNDS: Final = 15

FIGURES: Final = {
    "help_vs_typer": ("`treelings --help` / `python -c 'import typer'`", "<= 1.5"),
    "version_vs_typer": ("`treelings --version` / the same", ""),
    "match_help_vs_typer": ("`treelings match --help` / the same", ""),
    "status_vs_typer": ("`treelings league status` of a new league / the same", ""),
    "typer_ms": ("`python -c 'import typer'`, ms", ""),
}


def measure() -> dict[str, float]:
    """Medians of all rounds; in each of them all commands come in turn."""
    treelings = str(Path(sys.executable).with_name("treelings"))
    with TemporaryDirectory(prefix="treelings-bench-") as folder:
        league = str(Path(folder) / "league")
        _run_s(treelings, "league", "init", league)
        commands = {
            "typer": (sys.executable, "-c", "import typer"),
            "help": (treelings, "--help"),
            "version": (treelings, "--version"),
            "match_help": (treelings, "match", "--help"),
            "status": (treelings, "league", "status", league),
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                seconds[name].append(_run_s(*command))
    typer = median(seconds.pop("typer"))
    return {f"{name}_vs_typer": median(took) / typer for name, took in seconds.items()} | {"typer_ms": 1_000 * typer}


def _run_s(*command: str) -> float:
    began = perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return perf_counter() - began


if __name__ == "__main__":
    for figure, value in measure().items():
        print(f"{figure:32}{value:10.2f}")
