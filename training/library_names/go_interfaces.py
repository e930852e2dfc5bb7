"""Prints the interfaces of Go's library, each with its methods.

python go_interfaces.py $(go env GOROOT)/src

The methods of an interface within it count as its own; one with no method of its own is left out, and so is one with a method
that no other package can have.
"""

import re
import sys
from pathlib import Path

LEFT_OUT = re.compile(r"(?:^|/)(?:_gen|internal|vendor|testdata|cmd)/|_test\.go$")
INTERFACE = re.compile(r"^type ([A-Z]\w*)(?:\[[^\]]*\])? interface \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
METHOD = re.compile(r"^\t(\w+)\(", re.MULTILINE)
WITHIN = re.compile(r"^\t((?:\w+\.)?[A-Z]\w*)$", re.MULTILINE)
root = Path(sys.argv[1])
bodies: dict[str, str] = {}
for file in root.rglob("*.go"):
    path = file.relative_to(root)
    if not LEFT_OUT.search(path.as_posix()):
        found = INTERFACE.findall(file.read_text(errors="replace"))
        bodies |= {f"{path.parent.as_posix()}.{name}": body for name, body in found}
by_package = {(name.rpartition("/")[2]): name for name in sorted(bodies, reverse=True)}


def methods_of(name: str) -> set[str]:
    """Return the methods of an interface, and of those within it."""
    package, own = name.rpartition(".")[0], set(METHOD.findall(bodies[name]))
    for within in WITHIN.findall(bodies[name]):
        other = by_package.get(within, "") if "." in within else f"{package}.{within}"
        own |= methods_of(other) if other in bodies else set()
    return own


for name in sorted(bodies):
    if METHOD.search(bodies[name]) and all(method[0].isupper() for method in methods_of(name)):
        print(name, *sorted(methods_of(name)))
