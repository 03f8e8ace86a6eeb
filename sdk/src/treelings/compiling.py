"""How the core is compiled by mypyc, which no bot needs: `python -P compiling.py SOURCES INTO`.

SOURCES is the package's folder, INTO where the package with nothing but its extension modules is to be, beside the
folder of which they are parts. Whoever runs it has mypy, setuptools, a C compiler and Python's headers: the build of a
wheel (hatch_build.py), and a league that makes the image its bots run in.
"""

import ast
import json
import os
import re
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

COMPILED: Final = ("cards", "moves", "offers", "rules")
BESIDE: Final = ("errors", "native")
"""What these import and is not compiled itself."""


def compile_core(sources: Path, into: Path) -> None:
    """Compile the core, and leave its extension modules in a folder as a package's folder would have them."""
    from mypyc.build import mypycify
    from setuptools import Distribution  # type: ignore[import-untyped]

    into = into.absolute()
    with tempfile.TemporaryDirectory() as folder:
        _lay_out(sources, Path(folder, "treelings"))
        os.chdir(folder)
        files = [f"treelings/{name}.py" for name in COMPILED]
        extensions = mypycify(["--strict", "--python-version", "3.11", *files], group_name="treelings", debug_level="0")
        for generated in Path("build").glob("*.c"):
            generated.write_text(_with_docstrings(generated.read_text(), files))
        distribution = Distribution({"name": "treelings", "ext_modules": extensions})
        command = distribution.get_command_obj("build_ext")
        command.build_lib = str(into)
        command.ensure_finalized()
        command.run()
        os.chdir(into)


def _lay_out(sources: Path, package: Path) -> None:
    """The modules to compile as a package of their own, so that mypy looks at nothing else."""
    package.mkdir()
    (package / "__init__.py").touch()
    for name in (*COMPILED, *BESIDE):
        shutil.copy(sources / f"{name}.py", package)


def _with_docstrings(generated: str, files: list[str]) -> str:
    """mypyc's C with the docstrings that it leaves out, so that help() shows the same of either build."""
    for file in files:
        module = Path(file).stem
        for node in ast.parse(Path(file).read_text()).body:
            if isinstance(node, ast.FunctionDef):
                generated = _with_docstring(generated, _pointer(module, node.name), node)
            elif isinstance(node, ast.ClassDef):
                generated = _with_docstring(generated, rf'\.tp_doc = PyDoc_STR\("{node.name}\(', node)
                for method in (each for each in node.body if isinstance(each, ast.FunctionDef)):
                    generated = _with_docstring(generated, _pointer(module, f"{node.name}___{method.name}"), method)
                    getter = rf"(\(getter\){module}___{node.name}_get_{method.name},\s*NULL, )NULL"
                    generated = re.sub(getter, partial(_after, _in_c(method)), generated)
    return generated


def _pointer(module: str, name: str) -> str:
    return rf"\(PyCFunction\)CPyPy_{module}___{name},[^(]*PyDoc_STR\(\""


def _with_docstring(generated: str, begin: str, node: ast.ClassDef | ast.FunctionDef) -> str:
    return re.sub(rf'({begin}[^\n]*?--\\n\\n")', partial(_after, f" {_in_c(node)}"), generated)


def _after(text: str, found: re.Match[str]) -> str:
    return found[1] + text


def _in_c(node: ast.ClassDef | ast.FunctionDef) -> str:
    text = json.dumps(ast.get_docstring(node) or "")  # a string of JSON in ASCII is one of C, but for \uXXXX
    return re.sub(
        r"\\u([0-9a-f]{4})", lambda found: "".join(f"\\{b:03o}" for b in chr(int(found[1], 16)).encode()), text
    )


if __name__ == "__main__":
    compile_core(Path(sys.argv[1]), Path(sys.argv[2]))
