"""Where jedi says that calls lead: run by `graph.py` in an environment that has jedi.

    python graph_jedi.py ROOT < sites.json > found.json

Sites are [path, line, column of the called name]; the answer gives for each a list of [path, line, name] of
definitions below the root, or null where jedi knows of none at all.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jedi

jedi.settings.fast_parser = True


def main() -> None:
    """Ask for every site."""
    root = Path(sys.argv[1]).resolve()
    # the repository's own packages come before those installed: a suite's environment may hold a release of the same package
    project = jedi.Project(str(root), sys_path=[str(root / "src"), str(root), *sys.path[1:]], smart_sys_path=False)
    scripts: dict[str, jedi.Script] = {}
    found = []
    for path, line, column in json.load(sys.stdin):
        if path not in scripts:
            scripts = {path: jedi.Script(path=str(root / path), project=project)}
        try:
            names = scripts[path].goto(line, column, follow_imports=True, follow_builtin_imports=True)
        except Exception:  # noqa: BLE001 - jedi raises whatever its parser raises; the site is left out
            found.append(None)
            continue
        places = [
            [str(name.module_path.resolve().relative_to(root)), name.line, name.name, name.type]
            if name.module_path and name.module_path.resolve().is_relative_to(root) else ["", 0, name.name, name.type]
            for name in names
        ]  # fmt: skip
        found.append(places or None)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
