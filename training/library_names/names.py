"""Print the public methods of C++'s standard library.

    python names.py > cpp.txt

It asks libclang (the package `libclang`) and the machine's own headers; a name that begins with `_` is not meant for use.
"""

import subprocess
import textwrap

from clang.cindex import AccessSpecifier, CursorKind, Index

told = subprocess.run(["c++", "-xc++", "-E", "-v", "-"], input="", capture_output=True, text=True, check=True).stderr
folders = told.partition("search starts here:\n#include <")[2].partition("End of search")[0].split("\n")
options = ["-std=c++20", *(f"-isystem{each.strip()}" for each in folders if each.startswith(" "))]
unit = Index.create().parse("all.cpp", options, [("all.cpp", "#include <bits/stdc++.h>\n")])
methods = {CursorKind.CXX_METHOD, CursorKind.FUNCTION_TEMPLATE}
tops = [
    each for top in unit.cursor.get_children() for each in (top, *top.get_children())
]  # `extern "C++"` is around some
names, left = set(), [each for each in tops if each.spelling == "std"]
while left:
    cursor = left.pop()
    for each in cursor.get_children():
        is_method = each.kind in methods and cursor.kind is not CursorKind.NAMESPACE
        if is_method and each.access_specifier is AccessSpecifier.PUBLIC and each.spelling.isidentifier():
            names.add(each.spelling)
        elif each.kind.is_declaration() and (each.kind is CursorKind.NAMESPACE or each.spelling[:1] != "_"):
            left.append(each)
kept = sorted(name for name in names if len(name) > 2 and name[0] not in "_~" and "operator" not in name)
print(textwrap.fill(" ".join(kept), 200))
