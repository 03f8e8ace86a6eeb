"""The one program in the image `native`: what it does, and that its machine code is what its source says."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from referee.errors import SandboxError
from referee.sandbox.native import launcher

SOURCES = Path(__file__).parents[1] / "support" / "launcher"
MACHINES = {
    "amd64": ("x86_64", "as", "objcopy"),
    "arm64": ("aarch64", "aarch64-linux-gnu-as", "aarch64-linux-gnu-objcopy"),
}
HERE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine())
HEADERS = 120
REFUSAL = b"the command's program cannot be run"


def run(folder: Path, *command: str) -> tuple[int, str]:
    """Its exit code, and what is in the file then."""
    assert HERE is not None
    program, output = folder / "launch", folder / "output"
    program.write_bytes(launcher(HERE))
    program.chmod(0o755)
    output.write_text("before\n")
    done = subprocess.run([program, output, *command], env={"X": "y"}, capture_output=True, timeout=30, check=False)
    assert (done.stdout, done.stderr) == (b"", b"")
    return done.returncode, output.read_text()


@pytest.mark.skipif(HERE is None, reason="there is no launcher for this machine")
def test_it_becomes_the_program_with_all_output_at_the_end_of_the_file(tmp_path: Path) -> None:
    script = 'echo "$0 $1 $X"; echo error >&2; exit 3'
    assert run(tmp_path, "/bin/sh", "-c", script, "one", "two words") == (3, "before\none two words y\nerror\n")


@pytest.mark.skipif(HERE is None, reason="there is no launcher for this machine")
def test_of_a_program_that_cannot_be_run_it_says_what_was_expected(tmp_path: Path) -> None:
    code, said = run(tmp_path, str(tmp_path / "nothing"))
    assert code == 127
    assert said.startswith("before\nthe command's program cannot be run: expected one for this machine")


def test_there_is_none_for_an_unknown_machine() -> None:
    with pytest.raises(SandboxError, match="expected one of amd64, arm64, got riscv64"):
        launcher("riscv64")


@pytest.mark.parametrize("machine", MACHINES)
def test_its_machine_code_is_its_source_assembled(machine: str, tmp_path: Path) -> None:
    name, assembler, copier = MACHINES[machine]
    if shutil.which(assembler) is None or HERE not in (machine, "amd64"):
        pytest.skip(f"no {assembler} on this machine")
    program = launcher(machine)[HEADERS:]
    code, refusal, rest = program.partition(REFUSAL)
    length = len(refusal) + len(rest)
    built, flat = tmp_path / "launch.o", tmp_path / "launch.bin"
    subprocess.run([assembler, "--defsym", f"LENGTH={length}", SOURCES / f"{name}.s", "-o", built], check=True)
    subprocess.run([copier, "-O", "binary", "-j", ".text", built, flat], check=True)
    assert code == flat.read_bytes()
