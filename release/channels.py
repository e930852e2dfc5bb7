"""Write what other channels need of a release: `python release/channels.py DIST OUT`.

    <out>/vademecum.rb      a formula for a Homebrew tap
    <out>/vademecum.json    a manifest for a Scoop bucket
    <out>/notes.md          the release's part of CHANGELOG.md

DIST holds the wheel. Both manifests install the wheel of that very content, checked by its SHA-256, into an environment of its own.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

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
    """Return the files of the release whose wheel lies in a folder: name → text."""
    (wheel,) = dist.glob("vademecum-*.whl")
    version = wheel.name.split("-")[1]
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    url = f"{WEB}/releases/download/v{version}/{wheel.name}"
    formula = FORMULA.format(said=SAID, web=WEB, url=url, digest=digest, wheel=wheel.name)
    scoop = json.dumps(scooped(version, url, digest), indent=4) + "\n"
    return {"vademecum.rb": formula, "vademecum.json": scoop, "notes.md": notes(version)}


def scooped(version: str, url: str, digest: str) -> dict[str, object]:
    """Return the manifest for Scoop, by https://raw.githubusercontent.com/ScoopInstaller/Scoop/master/schema.json."""
    return {
        "version": version,
        "description": SAID,
        "homepage": WEB,
        "license": "Apache-2.0",
        "depends": "main/uv",
        "url": url,
        "hash": digest,
        "installer": {
            "script": [
                'uv venv "$dir\\venv"',
                'uv pip install --python "$dir\\venv\\Scripts\\python.exe" "$dir\\$fname"',
            ]
        },
        "bin": "venv\\Scripts\\vade.exe",
        "checkver": {"github": WEB},
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
