"""Which test files are to be run after a change, and in which order."""

from __future__ import annotations

import pytest

TIDY = "def tidy(text):\n    return text.strip()\n"
CASES = {
    # name of the case: files, the name that changes, the tests to run, each with its reason and how sure that is
    "eight steps away": (
        {
            "app/chain.py": "def step0():\n    return 0\n" + "".join(f"\n\ndef step{n}():\n    return step{n - 1}()\n" for n in range(1, 8)),
            "tests/test_chain.py": "from app.chain import step7\n\n\ndef test_it():\n    assert step7() == 0\n",
        },
        "step0",
        [("tests/test_chain.py", "calls", "exact")],
    ),
    "a fixture beside the tests is no test": (
        {
            "app/tidy.py": TIDY,
            "tests/conftest.py": "import pytest\n\nfrom app.tidy import tidy\n\n\n@pytest.fixture\ndef clean():\n    return tidy(' a ')\n",
            "tests/made.py": "from app.tidy import tidy\n\n\ndef make():\n    return tidy(' b ')\n",
            "tests/test_clean.py": "def test_it(clean):\n    assert clean == 'a'\n",
            "tests/test_made.py": "from tests.made import make\n\n\ndef test_it():\n    assert make() == 'b'\n",
            "tests/test_other.py": "def test_it():\n    assert 1\n",
        },
        "tidy",
        [("tests/test_clean.py", "calls", "exact"), ("tests/test_made.py", "calls", "exact")],
    ),
    "a parameter of a parametrised test": (
        {
            "app/tidy.py": TIDY,
            "tests/test_each.py": "import pytest\n\nfrom app.tidy import tidy\n\n\n@pytest.mark.parametrize('clean', [tidy, str.strip])\ndef test_it(clean):\n    assert clean(' a ') == 'a'\n",
        },
        "tidy",
        [("tests/test_each.py", "calls", "exact")],
    ),
    "a constructor does not stand for that of its base": (
        {
            "app/shelf.py": "class Shelf:\n    def __init__(self):\n        self.all = []\n\n\nclass High(Shelf):\n    def __init__(self):\n        super().__init__()\n",
            "tests/test_shelf.py": "from app.shelf import Shelf\n\n\ndef test_it():\n    assert Shelf().all == []\n",
            "tests/test_high.py": "from app.shelf import High\n\n\ndef test_it():\n    assert High().all == []\n",
        },
        "High.__init__",
        [("tests/test_high.py", "calls", "exact")],
    ),
    "a method that the language calls": (
        {
            "app/price.py": "class Price:\n    def __init__(self, cents):\n        self.cents = cents\n\n    def __eq__(self, other):\n        return self.cents == other.cents\n\n\nclass Coin:\n    pass\n",
            "tests/test_price.py": "from app.price import Price\n\n\ndef test_it():\n    assert Price(1) == Price(1)\n",
            "tests/test_coin.py": "from app.price import Coin\n\n\ndef test_it():\n    assert Coin()\n",
        },
        "Price.__eq__",
        [("tests/test_price.py", "calls", "guess")],
    ),
    "a call on something unknown, in a file that imports the code": (
        {
            "lib/shelf.js": "class Shelf { put(one) { return one } }\nclass Box { put(one) { return one } }\nmodule.exports = { Shelf, Box }\n",
            "index.js": "module.exports = require('./lib/shelf')\n",
            "test/help.js": "module.exports = (shelf) => shelf.put(2)\n",
            "test/put.js": "const shelves = require('..')\ndescribe('put', () => { it('puts', () => { shelves.make().put(1) }) })\n",
            "test/other.js": "const { it } = require('mocha')\nit('puts too', () => { globalThis.box.put(1) })\n",
        },
        "Shelf.put",
        [("test/put.js", "calls", "guess")],
    ),
    "nothing is seen to call it: tests that import it": (
        {
            "app/tidy.py": TIDY,
            "app/all.py": "from app import tidy\n",
            "tests/test_all.py": "from app import all\n\n\ndef test_it():\n    assert all\n",
            "tests/test_other.py": "def test_it():\n    assert 1\n",
        },
        "tidy",
        [("tests/test_all.py", "imports", "guess")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_tests_to_run(repo, engine, case):
    files, name, tests = CASES[case]
    answer = engine(repo("app", files)).codebase.impact(name)
    assert [(test.path, test.because, test.tier) for test in answer.tests] == tests


def test_the_surest_tests_come_first(repo, engine):
    """A test that changed itself, then those that calls lead to, nearest first, then guesses."""
    files = {
        "app/tidy.py": "def tidy(text):\n    return text.strip()\n\n\nclass Price:\n    def __eq__(self, other):\n        return tidy('a') == tidy(other)\n",
        "app/use.py": "from app.tidy import tidy\n\n\ndef use():\n    return tidy('a')\n",
        "tests/test_a.py": "from app.tidy import Price\n\n\ndef test_it():\n    assert Price() == 'a'\n",
        "tests/test_b.py": "from app.use import use\n\n\ndef test_it():\n    assert use()\n",
        "tests/test_c.py": "from app.tidy import tidy\n\n\ndef test_it():\n    assert tidy('a')\n",
        "tests/test_d.py": "def test_it():\n    assert 1\n",
    }
    made = repo("app", files, git=True)
    made.write("tests/test_d.py", "def test_it():\n    assert 2\n")
    made.write("app/tidy.py", files["app/tidy.py"].replace("text.strip()", "text.lstrip()"))
    answer = engine(made).codebase.impact(diff="HEAD")
    assert [(test.path[-4:-3], test.because) for test in answer.tests] == [
        ("d", "changed"),
        ("c", "calls"),
        ("b", "calls"),
        ("a", "calls"),
    ]
