"""Prints the interfaces of Go's library, each with its methods.

python go_interfaces.py $(go env GOROOT)/src

An interface with a method that no other package can have is left out.
"""

import re
import sys
from pathlib import Path

LEFT_OUT = re.compile(r"(?:^|/)(?:internal|vendor|testdata|cmd)/|_test\.go$")
INTERFACE = re.compile(r"^type ([A-Z]\w*)(?:\[[^\]]*\])? interface \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
METHOD = re.compile(r"^\t(\w+)\(", re.MULTILINE)
root = Path(sys.argv[1])
rows = set()
for file in root.rglob("*.go"):
    path = file.relative_to(root)
    if LEFT_OUT.search(path.as_posix()):
        continue
    for name, body in INTERFACE.findall(file.read_text(errors="replace")):
        methods = sorted(set(METHOD.findall(body)))
        if methods and all(method[0].isupper() for method in methods):
            rows.add(f"{path.parent.as_posix()}.{name} {' '.join(methods)}")
print("\n".join(sorted(rows)))
