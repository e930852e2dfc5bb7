"""Compile the kernel into the wheel, where there is a C compiler; without one the wheel is pure Python and slower.

`VADE_KERNEL=off` leaves it out, `VADE_KERNEL=needed` has the build fail without it. One wheel serves every Python from 3.11
on, since the kernel keeps to the stable interface; builds of Python without the interpreter's lock go without it.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src", "vademecum", "kernel")
MODULE = "_kernel.pyd" if sys.platform == "win32" else "_kernel.abi3.so"


class KernelHook(BuildHookInterface[Any]):
    """Puts `vademecum/kernel/_kernel` into the wheel, or beside its sources where the installation is editable."""

    scratch = ""  # where it is compiled

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say what the wheel is for."""
        wish = os.environ.get("VADE_KERNEL", "")
        if wish == "off" or sysconfig.get_config_var("Py_GIL_DISABLED"):
            return
        self.scratch = tempfile.mkdtemp(prefix="vademecum-kernel-")
        try:
            module = compile_kernel(Path(self.root), self.scratch)
        except Exception as error:  # whatever a compiler, or the lack of one, comes to
            shutil.rmtree(self.scratch, ignore_errors=True)
            if wish == "needed":
                raise
            self.app.display_warning(f"the kernel was not compiled, so searches take longer: {error}")
            return
        if version == "editable":
            beside = Path(self.root, FOLDER, f".{MODULE}.{os.getpid()}")
            shutil.copyfile(module, beside)
            beside.replace(beside.with_name(MODULE))  # at once: another process may have the old one open
        else:
            build_data["force_include"][module] = f"vademecum/kernel/{MODULE}"
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatchling's signature
        """Leave nothing behind."""
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)


def compile_kernel(root: Path, into: str) -> str:
    """Compile the kernel's sources into a folder; return the path of the module.

    Raises:
        setuptools.errors.BaseError: there is no compiler, or no headers of Python, or the compiler said no.
    """
    from setuptools import Distribution, Extension

    sources = sorted(str(path) for path in (root / FOLDER).glob("*.c"))
    options = [] if sys.platform == "win32" else ["-O3", "-ffp-contract=off", "-fvisibility=hidden"]
    extension = Extension("_kernel", sources, extra_compile_args=options, py_limited_api=True)
    command = Distribution({"ext_modules": [extension]}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = into, os.path.join(into, "objects")
    command.ensure_finalized()
    command.run()
    return os.path.join(into, command.get_ext_filename(extension.name))


def platform() -> str:
    """Return the platform of the wheel, as tags have it."""
    from packaging.tags import sys_tags

    return next(iter(sys_tags())).platform
