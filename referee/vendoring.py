"""A bot's packages, put into its folder: what npm or pip fetches for it, on the machine of whoever hands it in.

Nothing of a package is run meanwhile: npm leaves out lifecycle scripts, pip takes wheels alone.
"""

import errno
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from referee.errors import SubmissionError
from referee.text import printable
from referee.work_folder import work_folder

PACKAGES: Final = "node_modules"
NPM_FILE: Final = "package.json"
NPM_LOCK: Final = "package-lock.json"
PIP_FILE: Final = "requirements.txt"

_NPM: Final = (
    "npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
    "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000",
)  # fmt: skip
_PIP: Final = (
    sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-compile", "--only-binary",
    ":all:", "--implementation", "py", "--abi", "none", "--platform", "any",
)  # fmt: skip
_TIMEOUT_S: Final = 300
_NOT_RUN: Final = (".ts", ".mts", ".cts", ".map", ".md", ".markdown", ".yml", ".flow")  # types, maps of sources, texts
_TYPES: Final = "@types"
_ELSEWHERE: Final = "set XDG_CACHE_HOME to a folder that may be written"
_LONGEST: Final = 600
_LONGEST_LINE: Final = 100
# A name and what versions of it will do: what else such a file may hold, a path or an address, pip would build.
_REQUIREMENT: Final = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)\s*(\[[^\]]*\])?\s*(\(?[<>=!~][^@/]*)?(;.*)?")
_ARCHIVES: Final = (".zip", ".whl", ".gz", ".tgz", ".tar", ".bz2", ".tbz", ".xz", ".txz", ".tlz", ".lz", ".lzma")


def lacks_packages(folder: Path) -> bool:
    """Whether a bot names packages of npm that are not in its folder."""
    return (folder / NPM_FILE).is_file() and not (folder / PACKAGES).exists()


def names_packages(folder: Path, runtime: str) -> bool:
    """Whether npm fetches a bot's packages, by its package.json: what is in node_modules already is then made anew."""
    return runtime == "node" and (folder / NPM_FILE).is_file()


def add_packages(folder: Path, runtime: str) -> None:
    """Fetch what the bot's own file names: package.json with its lock for node, requirements.txt for python.

    Those of node that are there already are made anew. Raises SubmissionError saying what is amiss.
    """
    if names_packages(folder, runtime):
        if not (folder / NPM_LOCK).is_file():
            raise SubmissionError(
                f"{folder.name}: expected {NPM_LOCK} beside {NPM_FILE}, which says exactly what to fetch; "
                "`npm install --package-lock-only` in the folder writes it"
            )
        _run(folder, _NPM, "install Node.js with npm (on Debian: apt-get install npm)")
        _prune(folder / PACKAGES)
    elif runtime == "python" and (folder / PIP_FILE).is_file():
        _check_requirements(folder)
        fetched = folder / ".packages"
        command = (*_PIP, "--target", str(fetched), "--requirement", PIP_FILE)
        _run(folder, command, "install it", "only packages without code of their own for a machine can be taken along")
        # Beside bot.py, which is where Python looks first. Not bin: what pip makes there names this machine's Python.
        for each in sorted(fetched.iterdir()):
            if (folder / each.name).exists():
                raise SubmissionError(
                    f"{folder.name}: {each.name} is there already, and a package brings one; rename it"
                )
            if each.name != "bin":
                each.rename(folder / each.name)


def _check_requirements(folder: Path) -> None:
    """Only wheels may be asked for: of what pip builds, code would be run here."""
    text = (folder / PIP_FILE).read_text(encoding="utf-8", errors="replace")
    for line in text.replace("\\\n", " ").splitlines():
        asked = re.sub(r"(^|\s)#.*", "", line).strip()
        known = _REQUIREMENT.fullmatch(asked)
        if asked and (known is None or known["name"].lower().endswith(_ARCHIVES)):
            raise SubmissionError(
                f"{folder.name}: {PIP_FILE}: expected names of packages and their versions, such as toml>=0.10, got "
                f"{printable(asked, _LONGEST_LINE)!r}; what the package index does not have goes into the folder itself"
            )


def with_packages(folder: Path) -> Path:
    """A copy of a node bot's folder with its packages, kept in this user's cache. Raises SubmissionError, OSError."""
    if (there := packed_already(folder)) is not None:
        return there
    cache = _cache()
    if cache is None:
        raise SubmissionError(
            f"{folder.name}: its packages are kept in a folder of this user, who has none; {_ELSEWHERE}"
        )
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SubmissionError(
            f"{folder.name}: its packages are kept in {cache}, which cannot be made: {problem.strerror}; {_ELSEWHERE}"
        ) from problem
    home = cache / _packed(folder)
    with work_folder(cache, "packing-") as fresh:
        copy = fresh / folder.name
        shutil.copytree(folder, copy)
        add_packages(copy, "node")
        try:
            copy.rename(home)
        except OSError as problem:
            # Somebody else may have done the same at the same time.
            if problem.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
    return home


def packed_already(folder: Path) -> Path | None:
    """What `with_packages` would return if it is there; where this user may not look there is nothing."""
    cache = _cache()
    if cache is None:
        return None
    home = cache / _packed(folder)
    try:
        return home if home.exists() else None
    except OSError:  # such as the home of somebody else, which `sudo` may leave set
        return None


def _cache() -> Path | None:
    """Where this user's packages are kept; None for one without a folder of his own."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "treelings"
    except RuntimeError:  # no HOME, and no user of this number is known, as in some containers
        return None


def _packed(folder: Path) -> str:
    return f"packed-{_digest(folder)}"


def _digest(folder: Path) -> str:
    digest = hashlib.sha256(repr((_NPM, _NOT_RUN)).encode())
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:32]


def _prune(packages: Path) -> None:
    """Leave out what no bot runs: half of the files that npm puts there. Raises SubmissionError for a link."""
    for below, folders, names in os.walk(packages):
        for name in [name for name in folders if (Path(below) / name).is_symlink()]:
            raise SubmissionError(
                f"{packages.parent.name}: its package {printable(name, _LONGEST_LINE)} is a folder of this machine, "
                'which npm only links: put it into the bot\'s own, and require it by its path ("./lib")'
            )
        for name in [name for name in folders if name.startswith(".") or name == _TYPES]:
            folders.remove(name)
            shutil.rmtree(Path(below) / name)
        for name in names:
            if name.startswith(".") or name.lower().endswith(_NOT_RUN):
                (Path(below) / name).unlink()


def _run(folder: Path, command: tuple[str, ...], missing: str, rule: str = "") -> None:
    name = "pip" if command[0] == sys.executable else command[0]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=_TIMEOUT_S, check=False)
    except FileNotFoundError as error:
        raise SubmissionError(f"{folder.name}: its packages come from {name}, which is not here: {missing}") from error
    except subprocess.TimeoutExpired as error:
        raise SubmissionError(
            f"{folder.name}: {name} has not fetched its packages after {_TIMEOUT_S} s; is the registry reachable?"
        ) from error
    if done.returncode != 0:
        lines = (line.removeprefix("npm error").strip() for line in done.stderr.decode("utf-8", "replace").splitlines())
        said = printable("; ".join(line for line in lines if line), _LONGEST)
        raise SubmissionError(f"{folder.name}: {name} cannot fetch its packages{f' ({rule})' if rule else ''}: {said}")
