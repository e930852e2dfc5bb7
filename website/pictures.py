"""Draw the walks of docs/architecture.md: `python website/pictures.py [--out docs]`.

The steps are those of the page's numbered lists, so the picture says what the page says; a test holds the one against the other.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from xml.sax.saxutils import escape

DOCS = Path(__file__).parents[1] / "docs"
# The heading of a walk → its picture's name and title.
WALKS = {
    "Follow one file in": ("way-in", "One file on its way in"),
    "Follow one question out": ("way-out", "One question on its way out"),
}
BOX_WIDTH, BOX_HEIGHT, GAP, IN_A_ROW = 150, 40, 28, 4
STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#0f172a;text-anchor:middle}"
    "rect{fill:#ccfbf1;stroke:#0f766e}path{fill:none;stroke:#64748b;stroke-width:1.5}polygon{fill:#64748b}"
    "@media(prefers-color-scheme:dark){text{fill:#e2e8f0}rect{fill:#134e4a;stroke:#5eead4}}"
)


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=DOCS)
    out: Path = parser.parse_args().out
    for name, text in made().items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, encoding="utf-8")


def made() -> dict[str, str]:
    """Return the pictures: the name of each file below docs, and its text."""
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    return {f"pictures/{name}.svg": drawn(title, steps(page, heading)) for heading, (name, title) in WALKS.items()}


def steps(page: str, heading: str) -> list[str]:
    """Return the names of a walk's steps."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, heading
    return re.findall(r"^\d+\. \*\*(.+?)[.?]?\*\*", found[1], re.MULTILINE)


def drawn(title: str, names: list[str]) -> str:
    """Return boxes in the order of reading, with arrows between them."""
    shapes = []
    rows = -(-len(names) // IN_A_ROW)
    width, height = IN_A_ROW * (BOX_WIDTH + GAP) - GAP + 8, rows * (BOX_HEIGHT + GAP) - GAP + 8
    for number, name in enumerate(names):
        x, y = place(number)
        shapes.append(f'<rect x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6"/>')
        shapes.append(f'<text x="{x + BOX_WIDTH // 2}" y="{y + 25}">{number + 1}. {escape(name)}</text>')
        if number:
            shapes.append(arrow(place(number - 1), (x, y)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">\n'
        f"<style>{STYLE}</style>\n" + "\n".join(shapes) + "\n</svg>\n"
    )


def place(number: int) -> tuple[int, int]:
    """Return where the box of a step is: rows from left to right, as one reads."""
    return 4 + number % IN_A_ROW * (BOX_WIDTH + GAP), 4 + number // IN_A_ROW * (BOX_HEIGHT + GAP)


def arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    """Return an arrow from one box to the next, beside it or at the beginning of the next row."""
    (x, y), (to_x, to_y) = start, end
    if y == to_y:
        middle, tip = y + BOX_HEIGHT // 2, to_x - 4
        return (
            f'<path d="M{x + BOX_WIDTH} {middle}H{tip - 4}"/>'
            f'<polygon points="{tip},{middle} {tip - 7},{middle - 4} {tip - 7},{middle + 4}"/>'
        )
    centre, to_centre, tip = x + BOX_WIDTH // 2, to_x + BOX_WIDTH // 2, to_y - 3
    return (
        f'<path d="M{centre} {y + BOX_HEIGHT}V{y + BOX_HEIGHT + GAP // 2}H{to_centre}V{tip - 4}"/>'
        f'<polygon points="{to_centre},{tip} {to_centre - 4},{tip - 7} {to_centre + 4},{tip - 7}"/>'
    )


if __name__ == "__main__":
    main()
