"""Make the pictures of these pages: the page over this repository, in a real browser, saved as small PNG files.

    python docs/pictures.py            # into docs/pictures
    python docs/pictures.py --to /tmp  # elsewhere, to look at them first

It needs what `make peers` sets up, and Chromium. Nothing of the machine it runs on is in them: it serves a copy of this
repository, with an index of its own that is thrown away.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TOP = Path(__file__).parents[1]
sys.path.insert(0, str(TOP / "tests"))

from chromium import Page  # noqa: E402 - it lies beside the tests

WIDTH, HEIGHT = 980, 600
MOST_BYTES = 300_000  # of all pictures together
# Name, address, dark, and what has to be there before the picture is taken.
PICTURES = (
    ("search", "#/search?q=where is the token budget split", False, "document.querySelectorAll('.card').length > 1"),
    ("map", "#/map?in=src/vademecum", False, "document.querySelector('canvas')?.dataset.cells"),
    ("graph", "#/graph?symbol=Engine.context", True, "document.querySelectorAll('.node').length > 3"),
)


def copied(to: Path) -> Path:
    """Return a copy of this repository's files as a repository of its own."""
    listed = subprocess.run(["git", "-C", TOP, "ls-files", "-z"], capture_output=True, check=True).stdout.split(b"\0")
    for name in filter(None, map(os.fsdecode, listed)):
        if (TOP / name).is_file() and not name.startswith("docs/pictures/"):
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, to / name)
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*author, "commit", "-q", "-m", "as it is"]):
        subprocess.run(["git", "-C", to, *command], check=True)
    return to


@contextmanager
def served(root: Path, home: Path) -> Iterator[str]:
    """Serve a repository for as long as it is needed, and give the address."""
    log = home.with_suffix(".log")
    environ = os.environ | {"VADE_HOME": str(home), "XDG_CONFIG_HOME": str(home), "PYTHONPATH": str(TOP / "src")}
    subprocess.run([sys.executable, "-m", "vademecum", "index"], cwd=root, env=environ, check=True, capture_output=True)
    with log.open("w") as said:
        command = [sys.executable, "-m", "vademecum", "serve", str(root), "--port", "0"]
        server = subprocess.Popen(command, env=environ, stderr=said)
    try:
        while not (found := re.search(r"at (http://\S+/)\n", log.read_text())):
            if server.poll() is not None:
                raise SystemExit(f"the server did not start: {log.read_text()}")
            time.sleep(0.1)
        yield found[1]
    finally:
        server.terminate()
        server.wait(60)


def main() -> None:
    """Make them, and refuse to make them large."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", type=Path, default=TOP / "docs" / "pictures", help="the folder they are written to")
    to = parser.parse_args().to
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        top = Path(temporary)
        with served(copied(top / "vademecum"), top / "home") as url:
            page = Page(top / "profile")
            try:
                for name, address, dark, ready in PICTURES:
                    page.go(url + address, width=WIDTH, height=HEIGHT, dark=dark)
                    page.until(f"{ready} && !document.querySelector('[aria-busy]')", 120)
                    page.until("!document.getElementById('standing').hidden")
                    page.picture(to / f"{name}.png")
            finally:
                page.close()
    sizes = {path.name: path.stat().st_size for path in sorted(to.glob("*.png"))}
    print(*(f"{name}: {size // 1000} kB" for name, size in sizes.items()), sep="\n")
    if sum(sizes.values()) > MOST_BYTES:
        raise SystemExit(f"together more than {MOST_BYTES // 1000} kB: make them smaller")


if __name__ == "__main__":
    main()
