"""Every verb of the command line, and how each is asked of a repository that has src/total.py and src/price.py."""

from __future__ import annotations

# How each verb is asked, {} being a place to write to. A new verb has to be put here, or below with the reason.
ASKED = {
    "search": [["total"], ["price", "--commit", "HEAD"], ["price", "--commit", "HEAD~1"]],
    "symbol": [["total"]],
    "open": [["src/total.py:1-3"], ["src/total.py", "--commit", "HEAD"]],
    "context": [["why is the total of prices wrong"], ["the total", "--commit", "HEAD"]],
    "map": [[]],
    "callers": [["price"]],
    "callees": [["total"]],
    "impact": [["price"], ["--diff", "HEAD"], ["--diff", "HEAD~1"], ["--diff", "HEAD~1..HEAD"], ["--diff", "HEAD~1..."]],
    "path": [["test_total", "price"]],
    "related": [["src/total.py:4"]],
    "graph": [["total", "--html", "{}/graph.html"]],
    "memory": [["record", "prices are whole"], ["sync"], ["recall", "prices"], ["timeline"], ["context", "prices"],
               ["prefs"], ["consolidate"], ["export", "{}/memory.jsonl"]],
    "tools": [["stats"]],
    "index": [[], ["--full"], ["--commit", "HEAD~1"]],
    "status": [[]],
    "hooks": [[], ["install"], ["run"], ["uninstall"]],
    "sync": [[]],
    "gc": [[]],
    "install": [["claude", "--scope", "project", "--dry-run"]],
    "uninstall": [["claude", "--scope", "project", "--dry-run"]],
    "doctor": [[]],
    "savings": [[]],
    "repos": [[]],
    "config": [[]],
    "bench": [["--questions", "2"]],
    "completions": [["bash"]],
    "help": [["codebase"]],
}  # fmt: skip
ASKED_OTHERWISE = {
    "mcp": "every tool is called below",
    "serve": "every route is asked below",
    "watch": "watched below",
    "worker": "needs a server; what it does is to clone, below, and to index",
    "db": "of a server, and of no repository",
    "enrich": "needs a language model; it reads the index alone",
}
