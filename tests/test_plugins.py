"""Providers by name: found without being imported, never silently replaced, and clear about what is missing."""

from __future__ import annotations

import importlib
import json
import sys
import tomllib
from pathlib import Path

import pytest

from vademecum import plugins
from vademecum.errors import MissingExtraError, PluginError, UnknownProviderError


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution that declares providers, as pip would leave it."""

    def install(name, entries, module="", kind="embedder"):
        site = tmp_path / name
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = "\n".join(f"{key} = {value}" for key, value in entries.items())
        (info / "entry_points.txt").write_text(f"[vademecum.{kind}]\n{lines}\n")
        (site / f"{name}.py").write_text(module)
        monkeypatch.syspath_prepend(site)
        monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        return site

    return install


PROJECT = Path(__file__).parents[1] / "pyproject.toml"
PROVIDER = "class Mine:\n    def __init__(self, model='base', dim=1):\n        self.model, self.dim = model, dim\n"


@pytest.mark.parametrize(("kind", "name"), [(k, n) for k, table in plugins.BUILT_IN.items() for n in table])
def test_every_built_in_provider_can_be_found(kind, name):
    """It is there, or the extra that it needs and that has a row in pyproject.toml is named."""
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    extra = plugins.BUILT_IN[kind][name][1]
    try:
        found = plugins.find(kind, name)
    except MissingExtraError as missing:
        found, said = None, str(missing)
    assert callable(found) or (extra in extras and f"vademecum[{extra}]" in said)


def test_a_third_party_provider_is_loaded_by_name_with_model_and_arguments(install):
    install("acme_a", {"acme": "acme_a:Mine"}, PROVIDER)
    assert plugins.load("embedder", "acme").model == "base"
    made = plugins.load("embedder", "acme:large:v2", dim=3)
    assert (made.model, made.dim) == ("large:v2", 3)


def test_listing_names_imports_nobody(install):
    install("acme_b", {"acme": "acme_b:Mine"}, "raise RuntimeError('imported')")
    assert set(plugins.names("embedder")) == {"acme", *plugins.BUILT_IN["embedder"]}
    assert "acme_b" not in sys.modules


@pytest.mark.parametrize(
    ("name", "said"),
    [("hashign", "did you mean 'hashing'"), ("qqq", "there are .*hashing, .*static"), ("", "no embedder")],
)
def test_an_unknown_name_gets_the_nearest(name, said):
    with pytest.raises(UnknownProviderError, match=said):
        plugins.load("embedder", name)


def test_a_missing_package_is_named_with_what_to_type(install):
    install("acme_c", {"acme": "acme_c:Mine"}, "import surely_not_installed.thing\n")
    with pytest.raises(MissingExtraError, match="needs the package 'surely_not_installed': pip install 'surely_not"):
        plugins.load("embedder", "acme")


def test_our_own_provider_names_the_extra(monkeypatch, install):
    install("acme_d", {}, "import surely_not_installed\n")
    monkeypatch.setitem(plugins.BUILT_IN, "demo", {"x": ("acme_d:Mine", "acme")})
    with pytest.raises(MissingExtraError, match=r"pip install 'vademecum\[acme\]'"):
        plugins.load("demo", "x")


@pytest.mark.parametrize("target", ["acme_e:Missing", "acme_gone:Mine"])
def test_a_broken_provider_says_so(install, target):
    install("acme_e", {"acme": target}, PROVIDER)
    with pytest.raises(PluginError, match=r"embedder 'acme' is broken: .*reinstall"):
        plugins.load("embedder", "acme")


def test_two_third_parties_of_one_name_clash(install):
    install("acme_f", {"same": "acme_f:Mine"}, PROVIDER)
    install("acme_g", {"same": "acme_g:Mine"}, PROVIDER)
    with pytest.raises(PluginError, match=r"two embedders are called 'same': .*acme_.*uninstall one"):
        plugins.load("embedder", "same")


def test_a_third_party_that_takes_a_built_in_name_is_found_out(install):
    install("acme_h", {"static": "acme_h:Mine"}, PROVIDER)
    with pytest.raises(PluginError, match="a built-in one and acme_h:Mine"):
        plugins.names("embedder")


def test_one_distribution_seen_twice_is_no_clash(install, monkeypatch):
    site = install("acme_i", {"acme": "acme_i:Mine"}, PROVIDER)
    copy = site.parent / "copy"
    (site).rename(copy)
    site.symlink_to(copy)
    monkeypatch.syspath_prepend(copy)
    assert "acme" in plugins.names("embedder")


def test_entry_points_are_not_asked_for_a_built_in_name(monkeypatch):
    monkeypatch.setitem(plugins.BUILT_IN, "demo", {"json": ("json:JSONEncoder", "")})
    monkeypatch.setattr(plugins, "_entry_points", lambda kind: pytest.fail("asked"))
    assert plugins.find("demo", "json") is json.JSONEncoder
