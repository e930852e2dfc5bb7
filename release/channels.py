"""Write what other channels need of a release: `python release/channels.py DIST OUT`.

    <out>/vademecum.rb                a formula for a Homebrew tap
    <out>/notes.md                    the release's part of CHANGELOG.md
    <out>/vademecum.json              a manifest for a Scoop bucket
    <out>/vademecum.vademecum*.yaml   the three manifests of winget's catalogue

DIST holds the wheel, and for the last two the archive that `windows.py` made of it. Each names the file's address and SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

import yaml

TOP = Path(__file__).resolve().parents[1]
WEB = "https://github.com/vademecum/vademecum"
SAID = "Local context engine for coding agents: code search, call graph, memory"
FORMULA = """\
class Vademecum < Formula
  desc "{said}"
  homepage "{web}"
  url "{url}", using: :nounzip
  sha256 "{digest}"
  license "Apache-2.0"

  depends_on "python@3.13"

  def install
    system Formula["python@3.13"].opt_bin/"python3.13", "-m", "venv", libexec
    system libexec/"bin/python", "-m", "pip", "install", buildpath/"{wheel}"
    bin.install_symlink libexec/"bin/vade"
  end

  test do
    (testpath/"retry.py").write "def retry(call):\\n    return call()\\n"
    assert_match "retry.py", shell_output("#{{bin}}/vade search retry")
  end
end
"""


def files(dist: Path) -> dict[str, str]:
    """Return the files of the release that lies in a folder: name → text."""
    (wheel,) = dist.glob("vademecum-*.whl")
    version = wheel.name.split("-")[1]
    url, digest = published(version, wheel)
    formula = FORMULA.format(said=SAID, web=WEB, url=url, digest=digest, wheel=wheel.name)
    written = {"vademecum.rb": formula, "notes.md": notes(version)}
    for archive in dist.glob("vademecum-*-windows-x64.zip"):
        url, digest = published(version, archive)
        written["vademecum.json"] = json.dumps(scooped(version, url, digest), indent=4) + "\n"
        written |= {name: yaml.safe_dump(said, sort_keys=False) for name, said in winget(version, url, digest).items()}
    return written


def published(version: str, path: Path) -> tuple[str, str]:
    """Return the address that a file of a release will have, and its SHA-256 in hexadecimal."""
    return f"{WEB}/releases/download/v{version}/{path.name}", hashlib.sha256(path.read_bytes()).hexdigest()


def scooped(version: str, url: str, digest: str) -> dict[str, object]:
    """Return the manifest for Scoop, by https://raw.githubusercontent.com/ScoopInstaller/Scoop/master/schema.json."""
    return {
        "version": version,
        "description": SAID,
        "homepage": WEB,
        "license": "Apache-2.0",
        "architecture": {"64bit": {"url": url, "hash": digest}},
        "bin": ["bin\\vade.exe", "bin\\vademecum.exe"],
        "checkver": {"github": WEB},
    }


def winget(version: str, url: str, digest: str) -> dict[str, dict[str, object]]:
    """Return winget's manifests, by https://aka.ms/winget-manifest.installer.1.9.0.schema.json and its siblings.

    `ArchiveBinariesDependOnPath` puts the programs' folder onto the path. A link elsewhere would not find Python.
    """
    name = "vademecum.vademecum"
    installer = {
        "InstallerType": "zip",
        "NestedInstallerType": "portable",
        "NestedInstallerFiles": [{"RelativeFilePath": f"bin\\{command}.exe"} for command in ("vade", "vademecum")],
        "ArchiveBinariesDependOnPath": True,
        "Installers": [{"Architecture": "x64", "InstallerUrl": url, "InstallerSha256": digest.upper()}],
    }
    locale = {
        "PackageLocale": "en-US",
        "Publisher": "vademecum",
        "PackageName": "vademecum",
        "PackageUrl": WEB,
        "License": "Apache-2.0",
        "ShortDescription": SAID,
    }
    parts: list[tuple[str, str, dict[str, object]]] = [
        ("yaml", "version", {"DefaultLocale": "en-US"}),
        ("installer.yaml", "installer", installer),
        ("locale.en-US.yaml", "defaultLocale", {**locale}),
    ]
    head = {"PackageIdentifier": name, "PackageVersion": version}
    return {
        f"{name}.{end}": head | said | {"ManifestType": kind, "ManifestVersion": "1.9.0"} for end, kind, said in parts
    }


def notes(version: str) -> str:
    """Return what the changelog says of a version, or of what is unreleased where it is not cut."""
    text = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
    parts = dict(re.findall(r"^## \[([^\]]+)\][^\n]*\n(.*?)(?=^## \[|\Z)", text, re.MULTILINE | re.DOTALL))
    return parts.get(version, parts["Unreleased"]).strip() + "\n"


def main(arguments: list[str]) -> int:
    """Write the files of the release in the first folder into the second."""
    dist, out = map(Path, arguments)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files(dist).items():
        (out / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
