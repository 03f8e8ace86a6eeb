"""The build of the kit: wheels carry the pure modules compiled by mypyc, where a C compiler is at hand.

The same sources lie beside what is compiled, so a Python that the wheel was not built for runs them as they are. An
editable install never compiles: it would go on running what was compiled when its sources have changed.
TREELINGS_COMPILE=0 compiles nothing; TREELINGS_COMPILE=1 makes an error of whatever keeps a wheel from being compiled.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling import build as standard
from hatchling.build import *  # noqa: F403  # this is the build's backend, hatchling with one more wish for wheels
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TOOLS = ["mypy>=2.0,<3", "setuptools>=77"]


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What hatchling needs for a wheel, and what compiling needs."""
    return [*standard.get_requires_for_build_wheel(config_settings), *(TOOLS if _obstacle() is None else [])]


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # its name is hatchling's choice
    """Puts the compiled modules into a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, unless the wheel is for an editable install or cannot be compiled."""
        if self.target_name != "wheel" or version != "standard":
            return
        obstacle = _obstacle() or self._compile(build_data)
        if obstacle and _wish() == "1":
            self.app.abort(f"treelings must be compiled (TREELINGS_COMPILE=1), but {obstacle}")
        elif obstacle:
            self.app.display_warning(f"treelings runs as plain Python, which is slower: {obstacle.splitlines()[-1]}")

    def _compile(self, build_data: dict[str, Any]) -> str | None:
        """Compile and add what came of it to the wheel; what was said if it failed."""
        self._folder = tempfile.TemporaryDirectory()
        sources, made = Path(self.root, "src/treelings"), Path(self._folder.name)
        done = subprocess.run(
            [sys.executable, "-P", sources / "compiling.py", sources, made],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode != 0:
            return f"it does not compile:\n{done.stdout.decode(errors='replace').strip()}"
        build_data["force_include"] |= {str(path): str(path.relative_to(made)) for path in made.rglob("*.so")}
        build_data |= {"pure_python": False, "infer_tag": True}
        return None

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled: it is in the wheel."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def _wish() -> str:
    wish = os.environ.get("TREELINGS_COMPILE", "")
    if wish not in ("", "0", "1"):
        raise SystemExit(f"TREELINGS_COMPILE: expected 0 or 1 or nothing, got {wish!a}")
    return wish


def _obstacle() -> str | None:
    """Why nothing can be compiled here; None if all that it takes seems to be here."""
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if _wish() == "0":
        return "TREELINGS_COMPILE=0"
    if sys.implementation.name != "cpython":
        return f"mypyc compiles for CPython alone, not for {sys.implementation.name}"
    if shutil.which(compiler) is None:
        return f"there is no C compiler ({compiler})"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return f"Python's headers are missing ({sysconfig.get_path('include')}/Python.h)"
    return None
