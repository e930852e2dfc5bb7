"""One view of the page as a self-contained file.

Scripts, styles and the shown answers are inlined. The file makes no requests.

The scripts are the server's own, in an import map of `data:` addresses. `held.js` replaces `api.js`: it
answers from the JSON in the file. A policy forbids every request, including any that a tool's description might smuggle in.
"""

from __future__ import annotations

import base64
import html
import json
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PAGE = Path(__file__).parent / "http" / "page"
_STYLES = ("base", "parts", "views")
_IMPORT = re.compile(r'(?P<how>\bfrom |\bimport\()"(?P<path>\.[^"]+)"')
_INSTEAD = {"api.js": "held.js"}
_FILE = """<!doctype html>
<html lang="en" data-only="{view}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' data:; img-src data:">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
<script>
{theme}</script>
<script type="importmap">{scripts}</script>
</head>
<body>
<a class="skip" href="#main" id="skip">Skip to the content</a>
<header id="rail" class="rail"></header>
<main id="main" tabindex="-1"></main>
<div id="toasts" role="status" aria-live="polite"></div>
<noscript><p class="noscript">This page draws with JavaScript, which is off here.</p></noscript>
<script id="held" type="application/json">{held}</script>
<script type="module">import "vade/main.js";</script>
</body>
</html>
"""


def page_file(view: str, title: str, start: Mapping[str, str], answers: Mapping[str, Any]) -> str:
    """Return a view of the page as one file.

    It opens with the parameters `start`, and holds the server's answers by path, as `/tools/stats`.
    """
    return _FILE.format(
        view=view,
        title=html.escape(title),
        style="".join(_text(f"style/{name}.css") for name in _STYLES),
        theme=_text("theme.js"),
        scripts=json.dumps({"imports": _scripts(view)}),
        held=_embedded({"start": start, "answers": answers}),
    )


def _scripts(view: str) -> dict[str, str]:
    """Return the view's scripts and their imports, as addresses by name."""
    found: dict[str, str] = {}
    wanted = ["main.js", f"views/{view}.js"]
    while wanted:
        path = wanted.pop()
        if f"vade/{path}" in found:
            continue
        text = _text(_INSTEAD.get(path, path))
        folder = posixpath.dirname(path)

        def renamed(match: re.Match[str], folder: str = folder) -> str:
            name = posixpath.normpath(posixpath.join(folder, match["path"]))
            if match["how"] == "from ":  # a view that is imported on opening stays out
                wanted.append(name)
            return f'{match["how"]}"vade/{name}"'

        script = _IMPORT.sub(renamed, text).encode()
        found[f"vade/{path}"] = f"data:text/javascript;base64,{base64.b64encode(script).decode()}"
    return found


def _text(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")


def _embedded(data: Any) -> str:
    """Return JSON that cannot close its HTML element."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), default=str)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
