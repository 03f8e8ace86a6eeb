"""The kit's core, compiled for the runtime image `python`: a layer on its base, which only new rules ask for.

It is compiled by what compiles the kit's wheels (treelings/compiling.py), in a container with the base's own Python
and a C compiler: so bots get it wherever the image can be made, whatever this machine has, and all leagues' bots alike.
"""

import hashlib
import tempfile
from pathlib import Path
from typing import Final

from docker import APIClient

from referee.sandbox.base import Base, with_compiler
from referee.sandbox.engine import find_image
from referee.sandbox.layer import Archive, Report, build_layer, made_by
from referee.sandbox.wheels import fetch_wheels
from referee.work_folder import work_folder
from treelings.compiling import BESIDE, COMPILED

REPOSITORY: Final = "treelings-core-python"
TOOLS: Final = (
    "mypy==2.4.1", "setuptools==84.2.1",
    "ast_serialize==0.13.1", "librt==0.17.0", "mypy_extensions==1.2.0", "pathspec==1.1.1", "typing_extensions==4.16.0",
)  # fmt: skip
"""What compiles, and all that it needs: exact, so that the same sources are compiled alike everywhere."""

_TRY: Final = r"""
import random, sys
import treelings.rules
from treelings.cards import derive_deck

if treelings.rules.__file__.endswith(".py"):
    sys.exit("what was compiled does not fit this Python: " + sys.version.split()[0])
state = treelings.rules.State.deal(derive_deck(bytes(32), "try/0"), 2)
state.playout(random.Random(0))
sys.exit(not state.over)
"""

_BUILD: Final = "/build"

RECIPE: Final = hashlib.sha256(repr((TOOLS, _TRY)).encode()).hexdigest()[:8]


def core_name(base: Base, sdk: dict[str, bytes], machine: str) -> str:
    """Name and tag of the image of the base with the core of this kit compiled for a machine."""
    digest = hashlib.sha256(repr((RECIPE, base, machine, sorted(_sources(sdk).items()))).encode()).hexdigest()
    return f"{REPOSITORY}:{digest[:12]}"


def _sources(sdk: dict[str, bytes]) -> dict[str, bytes]:
    return {name: sdk[name] for name in (f"{module}.py" for module in (*COMPILED, *BESIDE, "compiling"))}


def compiled_core(
    engine: APIClient, base: Base, sdk: dict[str, bytes], machine: str, *, report: Report, fresh: bool
) -> str:
    """The name of an image of the base with the core compiled, made if it is not there yet, or wherever if `fresh`.

    `sdk` is the kit: contents by paths below its package's folder. Raises SandboxError saying what failed, EngineGone.
    """
    sources, wanted = _sources(sdk), core_name(base, sdk, machine)
    if fresh or find_image(engine, wanted) is None:
        made = _compile(engine, base, sources, machine, report, fresh=fresh)
        layer = Archive()
        for name, content in made.items():
            layer.add(f"{base.packages}/{name}", content, 0o755)
        for name, content in sources.items():  # what is compiled needs some of them
            layer.add(f"{base.packages}/treelings/{name}", content)
        build_layer(engine, parent=base.name, script=_TRY, name=wanted, files=layer.bytes())
    return wanted


def _compile(
    engine: APIClient, base: Base, sources: dict[str, bytes], machine: str, report: Report, *, fresh: bool
) -> dict[str, bytes]:
    """The extension modules by their paths below the folder of packages."""
    archive = Archive()
    archive.add_folder(f"{_BUILD}/made")
    for name, content in sources.items():
        archive.add(f"{_BUILD}/treelings/{name}", content)
    with work_folder(Path(tempfile.gettempdir()), "treelings-compiler-") as folder:
        report(f"getting {' and '.join(TOOLS[:2])} to compile the kit's core")
        for name, content in fetch_wheels(folder / "tools", TOOLS, base.python, machine, "--no-deps"):
            archive.add(f"{_BUILD}/tools/{name}", content)
    compiler = with_compiler(engine, base, report, fresh=fresh)
    report("compiling the kit's core")
    return made_by(
        engine,
        compiler,
        ["env", f"PYTHONPATH={_BUILD}/tools", "python3", "-P", f"{_BUILD}/treelings/compiling.py",
         f"{_BUILD}/treelings", f"{_BUILD}/made"],
        doing="compiling the kit's core",
        files=archive.bytes(),
        folder=f"{_BUILD}/made",
    )  # fmt: skip
