"""Build the documentation as a site of versions: `python website/build.py [--out build/site]`.

    <out>/<version>/       the site of this version
    <out>/versions.html    the versions that are there, the newest first
    <out>/index.html       leads to the newest

Versions that are there already stay. Fails where Sphinx warns of anything, or where a page would fetch something from elsewhere.
The pages are those of docs: here they get a table of contents, and links to files that are no pages lead to the repository.
"""

from __future__ import annotations

import argparse
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).parents[1]
SOURCE = "https://github.com/vademecum/vademecum/blob/main"
# The pages by reader, in the order in which one reads them; what is not named here comes last.
SECTIONS = {
    "Start": ("tutorial", "install", "plugins", "editor"),
    "Do a task": ("howto", "privacy", "faq", "bench"),
    "Look something up": (
        *("cli", "python", "mcp", "config", "errors", "glossary", "providers"),
        *("gateway", "sources", "page", "http", "docker", "postgres", "vectors"),
    ),
    "Understand": ("codebase", "graph", "context", "memory", "tools", "ranking", "compare"),
    "Maintain": ("architecture", "storage", "faults", "scale", "roadmap"),
}
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
NAMED = re.compile(r"\[([\w-]+)\.md\]\(")  # a link whose words are the name of a file
FIRST_PAGE = (
    '<!doctype html><meta charset="utf-8"><title>vademecum</title>'
    '<meta http-equiv="refresh" content="0; url={0}/index.html"><a href="{0}/index.html">vademecum {0}</a>\n'
)
VERSIONS_PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><title>vademecum: versions</title>\n<h1>Versions</h1>\n<ul>\n{}</ul>\n'
# What a browser fetches by itself when it shows a page or reads a style.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc\s*=\s*["']?(?:https?:)?//"""
    r"""|<link\b(?![^>]*rel=["']?(?:canonical|prev|next))[^>]*\bhref\s*=\s*["']?(?:https?:)?//"""
    r"""|url\(\s*["']?(?:https?:)?//|@import\s+["'](?:https?:)?//""",
    re.IGNORECASE,
)


def main() -> int:
    """Stage the pages, build, check, and write down which versions there are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=TOP / "build" / "site")
    out: Path = parser.parse_args().out
    version = version_of(TOP / "src" / "vademecum" / "version.py")
    site = out / version
    if site.exists():
        shutil.rmtree(site)
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder, "docs")
        stage(TOP / "docs", pages)
        build(pages, site, Path(folder, "doctrees"), version)
    if found := fetched(site):
        print("\n".join(f"fetches from elsewhere: {each}" for each in found), file=sys.stderr)
        return 1
    versions = write_versions(out)
    print(f"{site}: {len(list(site.rglob('*.html')))} pages; versions: {', '.join(versions)}")
    return 0


def version_of(source: Path) -> str:
    """Return the version that a module states."""
    found = re.search(r'^__version__ = "([^"]+)"', source.read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    return found[1]


def stage(docs: Path, pages: Path) -> None:
    """Copy the pages, with a table of contents and with links that lead somewhere."""
    shutil.copytree(docs, pages)
    titles = {path.stem: title(path) for path in pages.glob("*.md")}
    for path in pages.rglob("*.md"):
        folder = posixpath.join("docs", path.parent.relative_to(pages).as_posix())
        text = LINK.sub(lambda match, folder=folder: link(match, folder), path.read_text(encoding="utf-8"))
        text = NAMED.sub(lambda match: f"[{titles.get(match[1], match[1])}](", text)
        path.write_text(text, encoding="utf-8")
    names = set(titles) - {"index"}
    known = {name for section in SECTIONS.values() for name in section}
    sections = {section: [name for name in order if name in names] for section, order in SECTIONS.items()}
    sections["More"] = sorted(names - known)
    contents = [
        contents_of(section, [f"{titles[name]} <{name}>" for name in order]) for section, order in sections.items()
    ]
    contents.append(contents_of("Decisions", ["decisions/index"]))
    with (pages / "index.md").open("a", encoding="utf-8") as file:
        file.write("".join(contents))
    (pages / "decisions" / "index.md").write_text(
        "# Decisions\n\nWhy things are as they are, one page each.\n\n```{toctree}\n:glob:\n\n0*\n```\n",
        encoding="utf-8",
    )


def title(path: Path) -> str:
    """Return the first heading of a page, up to its colon."""
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").partition(":")[0].replace("`", "")


def contents_of(section: str, names: list[str]) -> str:
    """Return a part of the table of contents; "" for one that has no pages."""
    return f"\n```{{toctree}}\n:hidden:\n:caption: {section}\n\n" + "\n".join(names) + "\n```\n" if names else ""


def link(match: re.Match[str], folder: str) -> str:
    """Return a link of a page in a folder: to the repository where it leads to no page."""
    opening, target, closing = match.groups()
    if "://" in target or target.startswith("mailto:"):
        return match[0]
    path = posixpath.normpath(posixpath.join(folder, target))
    if not path.startswith("docs/"):
        return f"{opening}{SOURCE}/{path}{closing}"
    return f"{opening}{target.rstrip('/')}/index.md{closing}" if target.endswith("/") else match[0]


def build(pages: Path, site: Path, doctrees: Path, version: str) -> None:
    """Have Sphinx build the site; a warning is a failure."""
    options = ["--fail-on-warning", "--keep-going", "--quiet", "--nitpicky", "-b", "html", "-d", str(doctrees)]
    command = [sys.executable, "-m", "sphinx", *options, "-c", str(TOP / "website"), str(pages), str(site)]
    env = os.environ | {"VADEMECUM_VERSION": version, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode or done.stderr.strip():
        raise SystemExit(f"the documentation could not be built:\n{done.stdout}{done.stderr}")


def fetched(site: Path) -> list[str]:
    """Return what pages and styles would fetch from another host."""
    return [
        f"{path.relative_to(site)}: {match[0]}"
        for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")])
        for match in FETCHED.finditer(path.read_text(encoding="utf-8"))
    ]


def write_versions(out: Path) -> list[str]:
    """Write which versions there are, newest first, and the page that leads to the newest."""
    names = [path.parent.name for path in out.glob("*/index.html")]
    names.sort(key=lambda name: [int(part) for part in re.findall(r"\d+", name)], reverse=True)
    rows = "".join(f'<li><a href="{name}/index.html">vademecum {name}</a></li>\n' for name in names)
    (out / "versions.html").write_text(VERSIONS_PAGE.format(rows), encoding="utf-8")
    (out / "index.html").write_text(FIRST_PAGE.format(names[0]), encoding="utf-8")
    return names


if __name__ == "__main__":
    sys.exit(main())
