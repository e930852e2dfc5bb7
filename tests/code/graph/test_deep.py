"""Long chains of declarations: following one to its end is bounded, so that no repository can end the graph."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.once

LONG = 200
CHAINS = {
    "py": (
        lambda i: f"def f{i}():\n    x = f{i + 1}()\n    return x\n\ndef use{i}():\n    f{i}().last()\n",
        f"class End:\n    def last(self): ...\n\ndef f{LONG}(): return End()\n",
    ),
    "rb": (
        lambda i: f"module M{i}\n  include M{i + 1}\n  def use{i}\n    last\n  end\nend\n",
        f"module M{LONG}\n  def last\n  end\nend\n",
    ),
}


@pytest.mark.parametrize("ending", CHAINS)
def test_a_long_chain_is_followed_near_its_end_and_told_of_beyond(repo, engine, ending):
    step, end = CHAINS[ending]
    files = {f"chain.{ending}": "".join(map(step, range(LONG))) + end}
    found = engine(repo("chain", files)).codebase.callers("last")
    assert found.verdict == "found"
    assert {f"use{LONG - 1}", f"use{LONG - 2}"} <= {each.name.rpartition(".")[2] for each in found.found}


def test_a_module_that_many_files_reopen_has_the_bases_of_all(repo, engine):
    files = {f"part{i}.rb": f"module N\n  extend Support{i}\n  class C{i}\n  end\nend\n" for i in range(60)}
    files |= {"support.rb": "module Support59\n  def register\n  end\nend\n"}
    files |= {"use.rb": "class Use\n  def run\n    N.register\n  end\nend\n"}
    found = engine(repo("reopened", files)).codebase.callers("register")
    assert [each.name for each in found.found] == ["Use.run"]


RUBY = {
    "base.rb": "class Base\n  def settle\n  end\nend\nmodule Near\n  def near\n  end\nend\n",
    "shop/base.rb": "module Shop\n  class Base\n    def settle\n    end\n  end\nend\n",
    "shop/order.rb": "module Shop\n  class Order < Base\n    include Near\n    def run\n      settle\n      near\n    end\n  end\nend\n",
    "shop/near.rb": "module Shop\n  class Order\n    module Near\n      def near\n      end\n    end\n  end\nend\n",
}


@pytest.mark.parametrize(("name", "path"), [("settle", "shop/base.rb"), ("near", "shop/near.rb")])
def test_a_base_is_looked_up_in_its_class_of_any_file_and_then_around_the_class(repo, engine, name, path):
    found = engine(repo("ruby", RUBY)).codebase.callees("Shop.Order.run")
    assert {(each.name.rpartition(".")[2], each.path) for each in found.found} >= {(name, path)}
    assert (name, "base.rb") not in {(each.name.rpartition(".")[2], each.path) for each in found.found}
