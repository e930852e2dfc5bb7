"""The kernel is there where it should be, is not used where it does not fit, and a wheel without it works."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from vademecum import kernel

TOP = Path(__file__).parents[2]
SAYS = "from vademecum.kernel import compiled; print(compiled is not None)"


def test_it_is_compiled_where_the_build_was_to_fail_without() -> None:
    """An accident of the build is no reason to test numpy alone."""
    if os.environ.get("VADE_KERNEL") == "needed":
        assert kernel.compiled is not None


def test_it_can_be_left_out() -> None:
    """VADE_KERNEL=off has numpy run the loops."""
    said = subprocess.run(
        [sys.executable, "-c", SAYS],
        env=os.environ | {"VADE_KERNEL": "off"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "False"


@pytest.mark.skipif(kernel.compiled is None, reason="nothing was compiled")
def test_what_was_compiled_of_other_sources_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an update of an editable installation, say, until it is built again."""
    monkeypatch.delenv("VADE_KERNEL", raising=False)
    assert kernel._found() is not None
    monkeypatch.setattr(kernel, "REVISION", kernel.REVISION + 1)
    assert kernel._found() is None


@pytest.mark.slow
@pytest.mark.parametrize(("compiler", "tag"), [("", "-cp311-abi3-"), ("false", "-py3-none-any")])
def test_a_wheel_is_built_with_and_without_a_compiler(tmp_path: Path, compiler: str, tag: str) -> None:
    """One for every Python from 3.11 on where there is a compiler, else one for every machine."""
    environment = os.environ | ({"CC": compiler} if compiler else {})
    environment.pop("VADE_KERNEL", None)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(TOP)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    wheel = next(tmp_path.glob("*.whl"))
    if kernel.compiled is not None or compiler:
        assert tag in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("vademecum/kernel/_kernel.") and not name.endswith(".pyi") for name in names) == (
        "-abi3-" in wheel.name
    )


@pytest.mark.slow
def test_a_build_that_needs_it_fails_without_a_compiler(tmp_path: Path) -> None:
    """VADE_KERNEL=needed says so instead of making a slower wheel."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(TOP)]
    environment = os.environ | {"CC": "false", "VADE_KERNEL": "needed"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode != 0
    assert not list(tmp_path.glob("*.whl"))
