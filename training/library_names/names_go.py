"""Prints the names of methods of Go's library.

python names_go.py $(go env GOROOT)/src
"""

import re
import sys
from pathlib import Path

LEFT_OUT = re.compile(r"(?:^|/)(?:internal|vendor|testdata|cmd)/|_test\.go$")
METHOD = re.compile(r"^func \(\w*\s*\*?[A-Z]\w*(?:\[[^\]]*\])?\) ([A-Z]\w*)\(", re.MULTILINE)
INTERFACE = re.compile(r"^type [A-Z]\w*(?:\[[^\]]*\])? interface \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
files = (
    file for file in Path(sys.argv[1]).rglob("*.go") if not LEFT_OUT.search(file.relative_to(sys.argv[1]).as_posix())
)
texts = [file.read_text(errors="replace") for file in files]
asked = (
    name
    for text in texts
    for body in INTERFACE.findall(text)
    for name in re.findall(r"^\t([A-Z]\w*)\(", body, re.MULTILINE)
)
print("\n".join(sorted({*asked, *(name for text in texts for name in METHOD.findall(text))})))
