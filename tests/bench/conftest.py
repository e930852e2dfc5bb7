"""A repository with doc comments in three languages, definitions, and a history of fixes."""

from __future__ import annotations

import pytest

THINGS = ("invoice", "shipment", "voucher", "ledger", "warehouse", "customer")
ACTIONS = {
    "invoice": "Round the amount that a customer owes to whole cents",
    "shipment": "Estimate the days until a parcel reaches its harbour",
    "voucher": "Refuse coupons whose season has already ended",
    "ledger": "Balance debits against credits before closing a month",
    "warehouse": "Reserve shelves for pallets that arrive tomorrow",
    "customer": "Merge duplicated addresses of one household",
}
FIXES = {
    "invoice": "Start invoice bonuses at two",
    "shipment": "Shift parcels one berth further along",
    "voucher": "Double what coupons grant pensioners",
    "ledger": "Carry forward cents lost by ledgers",
    "warehouse": "Leave the topmost shelf empty overnight",
    "customer": "Greet returning households by surname",
}
PYTHON = '''\
# Copyright the {thing} people. All rights reserved and licensed to nobody.


class {Thing}Desk:
    """Keeps every {thing} that clerks of the {thing} office opened today."""

    def {thing}_step(self, value):
        """{action}.

        Slowly, but surely.
        """
        first = value + 1
        second = first * 2
        return first, second

    def hook(self):
        """Tell plug-ins of {thing} offices abroad what happened meanwhile."""


def tiny_{thing}():
    """Do it."""
    return 1
'''
GO = """\
package {thing}

import "errors"

// Check{Thing} compares signed manifests of every {thing} with customs records.
// It never retries.
func Check{Thing}(limit int) error {{
\tif limit < 0 {{
\t\treturn errors.New("negative")
\t}}
\treturn nil
}}
"""
TYPESCRIPT = """\
/**
 * Paints the coloured badge beside each {thing} in the sidebar.
 * @param name what to paint
 */
export function paint{Thing}(name: string): string {{
  return `<b>${{name}}</b>`;
}}
"""


@pytest.fixture(scope="session")
def sources():
    """Path to text: six modules of Python, two of Go, two of TypeScript, a test and a page."""
    files = {
        "README.md": "# Trade\n\nMoving goods about.\n",
        "tests/test_desk.py": 'def test_one():\n    """Nothing of the product is documented by a test here."""\n',
    }
    for thing in THINGS:
        told = {"thing": thing, "Thing": thing.capitalize(), "action": ACTIONS[thing]}
        files[f"src/{thing}.py"] = PYTHON.format(**told)
        if thing in THINGS[:2]:
            files[f"go/{thing}/{thing}.go"] = GO.format(**told)
            files[f"web/{thing}.ts"] = TYPESCRIPT.format(**told)
    return files


@pytest.fixture(scope="session")
def fixes():
    """What the commits that mend something say, without tag and number."""
    return set(FIXES.values())


@pytest.fixture
def trade(repo, sources):
    """The files above as a repository whose newer commits mend one line of each module, and do other things."""
    made = repo("trade", sources)
    for thing in THINGS:
        path = f"src/{thing}.py"
        made.write(path, made.read(path).replace("value + 1", "value + 2"))
        made.write(f"tests/test_{thing}.py", f"def test_{thing}(): ...\n")
        made.commit(f"fix({thing}): {FIXES[thing]} (#12)")
    made.write("src/invoice.py", made.read("src/invoice.py").replace("first * 2", "first  *  2"))
    made.commit("Widen the gap between stars of invoice sums")  # changes blanks alone
    made.write("src/ledger.py", made.read("src/ledger.py").replace("first * 2", "first * 3"))
    made.commit("Bump ledger from 1.2 to 1.3")
    made.write("README.md", "# Trade\n\nMoving many goods about.\n")
    made.commit("Describe how harbours unload goods at night")
    for thing in THINGS:
        made.write(f"src/{thing}.py", made.read(f"src/{thing}.py").replace("return 1", "return 2"))
    made.commit("Give each miniature office twice the coffee")  # more files than one place to find
    return made
