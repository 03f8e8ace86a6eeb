"""All figures in one run: python -m bench [PART…] (make bench), or only some parts.

Each part is measured by a process of its own, so that none finds the caches or the memory of another. The figures go
to bench/results.json and docs/performance.md; with parts named, the others keep what they had.
"""

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import import_module, metadata
from pathlib import Path
from typing import Final

from bench.results import Figure, Part, Results, load, save, shown

PARTS: Final = (
    "core",
    "query",
    "query_peers",
    "latency",
    "start",
    "league",
    "league_peers",
    "memory",
    "growth",
    "cli",
    "publish",
    "ratings",
    "env",
)
_PEERS: Final = (
    "open_spiel",
    "rlcard",
    "kaggle-environments",
    "psyleague",
    "aiohttp",
    "uvicorn",
    "flask",
    "chess",
    "pettingzoo",
)
_NO_ENGINE: Final = 3
_MEASURE: Final = """
import importlib, json, os, sys
from referee.errors import SandboxError
part = importlib.import_module("bench." + sys.argv[1])
answer = os.dup(1)
os.dup2(2, 1)  # whatever a part or a peer prints is no figure
try:
    figures = part.measure()
except SandboxError as error:
    sys.exit(f"left out: {error}")
os.write(answer, json.dumps({"title": part.TITLE, "figures": figures, "about": part.FIGURES}).encode())
"""


def main(wanted: list[str]) -> int:
    """Measure these parts, or all; 0 if all could be measured, whatever the figures are."""
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        print(f"no such part: {', '.join(unknown)}; there are: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    results = load()
    results = Results(_machine(), results.parts if results else {})
    commit = _commit()  # before the figures are written, which are files of the repository themselves
    failed = 0
    for name in wanted or PARTS:
        part = _measure(name, commit)
        if part is None:
            failed += 1
            continue
        results = results.with_part(name, part, dict.fromkeys(PARTS))
        save(results)
        _print(part)
    return 1 if failed else 0


def _measure(name: str, commit: str) -> Part | None:
    ran = subprocess.run([sys.executable, "-c", _MEASURE, name], stdout=subprocess.PIPE, check=False)
    if ran.returncode:
        print(f"{name}: could not be measured (exit code {ran.returncode})\n", file=sys.stderr)
        return None
    told = json.loads(ran.stdout)
    about: dict[str, list[str]] = told["about"]
    figures = {each: Figure(about[each][0], value, about[each][1]) for each, value in told["figures"].items()}
    return Part(told["title"], datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), commit, figures)


def _print(part: Part) -> None:
    print(part.title)
    for name, figure in part.figures.items():
        goal = f"  goal {figure.goal}" + ("" if figure.met else ": MISSED") if figure.goal else ""
        print(f"  {name:34}{shown(figure.value):>12}{goal}")
    print(flush=True)


def _commit() -> str:
    ran = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return ran.stdout.strip() or "unknown"


def _machine() -> dict[str, str]:
    """What the figures hold for, label by label."""
    cpuinfo = Path("/proc/cpuinfo")
    models = [line for line in cpuinfo.read_text().splitlines() if "model name" in line] if cpuinfo.exists() else []
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": f"{models[0].split(':')[1].strip() if models else platform.machine()}, {os.cpu_count()} cores",
        "memory": f"{memory_bytes / 2**30:.0f} GiB",
        "system": f"{platform.freedesktop_os_release().get('PRETTY_NAME', platform.system())}, {platform.release()}",
        "engine": _engine(),
        "Python": platform.python_version(),
        "peers": ", ".join(f"{name} {_version(name)}" for name in _PEERS),
    }


def _engine() -> str:
    docker = import_module("docker")
    try:
        with docker.APIClient() as client:
            return f"Docker {client.version()['Version']}"
    except docker.errors.DockerException:
        return "none"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
