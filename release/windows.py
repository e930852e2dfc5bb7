r"""Pack what runs on Windows without an installed Python: `python release/windows.py DIST`, on Windows.

    DIST\vademecum-VERSION-windows-x64.zip
        bin\vade.exe, bin\vademecum.exe     start python\python.exe beside them
        python\                             the Python that runs this script, with the wheel in DIST and what it needs

winget and Scoop install this file. Only `bin` comes onto the path, so that no other Python is hidden.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

from distlib.resources import finder

TOP = Path(__file__).resolve().parents[1]
PYTHON = r"<launcher_dir>\..\python\python.exe"  # distlib's launcher puts its own folder for the first word
# Parts of a Python that nothing here imports.
LEFT_OUT = ("Doc", "Scripts", "Tools", "ensurepip", "idlelib", "include", "libs", "site-packages", "tcl", "test")
LEFT_OUT += ("tkinter", "turtledemo", "__pycache__", "_tkinter.pyd", "tcl*.dll", "tk*.dll")


def main(arguments: list[str]) -> int:
    """Pack the wheel of a folder with the Python that runs this script."""
    (dist,) = map(Path, arguments)
    print(pack(Path(sys.base_prefix), dist))
    return 0


def pack(base: Path, dist: Path) -> Path:
    """Return the archive made of a folder's wheel and the Python in the folder `base`."""
    (wheel,) = dist.glob("vademecum-*.whl")
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        shutil.copytree(base, top / "python", ignore=shutil.ignore_patterns(*LEFT_OUT))
        packages = top / "python" / "Lib" / "site-packages"
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--target", str(packages), str(wheel)], check=True)
        shutil.rmtree(packages / "bin", ignore_errors=True)  # launchers that name the Python of this machine
        name = "python{}{}._pth".format(*sys.version_info)
        # The only folders this Python imports from, whatever PYTHONHOME and PYTHONPATH say.
        (top / "python" / name).write_text("Lib\nDLLs\nLib\\site-packages\nimport site\n", encoding="ascii")
        (top / "bin").mkdir()
        for command, function in commands().items():
            (top / "bin" / f"{command}.exe").write_bytes(launcher(function))
        return Path(shutil.make_archive(str(dist / f"vademecum-{version(wheel)}-windows-x64"), "zip", top))


def version(wheel: Path) -> str:
    """Return the version that a wheel's name states."""
    return wheel.name.split("-")[1]


def commands() -> dict[str, str]:
    """Return the commands of the package: name → `module:function`."""
    with (TOP / "pyproject.toml").open("rb") as file:
        return dict(tomllib.load(file)["project"]["scripts"])


def launcher(function: str) -> bytes:
    """Return a program for Windows that runs `module:function`: distlib's launcher, a Python's path, a zipped script."""
    module, name = function.split(":")
    script = io.BytesIO()
    with zipfile.ZipFile(script, "w") as archive:
        archive.writestr("__main__.py", f"import sys\nfrom {module} import {name}\nsys.exit({name}())\n")
    return bytes(finder("distlib").find("t64.exe").bytes) + f"#!{PYTHON}\r\n".encode() + script.getvalue()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
