"""Keys: made, kept as digests, found again."""

from __future__ import annotations

import pytest

from vademecum.errors import ConfigError, UsageError
from vademecum.http.auth import find_key, new_key, read_keys, visitor
from vademecum.http.serve import check_reach
from vademecum.wiring.roots import OpenedRoot

ROOTS = (OpenedRoot("app", "/srv/app"), OpenedRoot("lib", "/srv/lib"))


def test_a_key_is_kept_as_its_digest():
    key, entry = new_key("ci", "app")
    assert key not in entry
    assert key.removeprefix("vade_") not in entry
    assert len(key) > 40
    assert find_key(read_keys(entry), key).name == "ci"
    assert new_key("ci")[0] != key
    assert entry.split(":")[1] not in repr(read_keys(entry))


def test_what_a_key_opens():
    app, everything, by_path = read_keys(
        " ".join(new_key(name, of)[1] for name, of in (("a", "app"), ("b", "*"), ("c", "/srv/lib,app")))
    )
    assert (visitor(app, ROOTS).paths, visitor(app, ROOTS).personal) == (("/srv/app",), False)
    assert (visitor(everything, ROOTS).paths, visitor(everything, ROOTS).personal) == (("/srv/app", "/srv/lib"), True)
    assert visitor(by_path, ROOTS).paths == ("/srv/lib", "/srv/app")


@pytest.mark.parametrize("entry", ["ci", "ci:abc:*", f"ci:{'0' * 64}:", f"c i:{'0' * 64}:*", f":{'0' * 64}:*"])
def test_an_entry_that_is_none_is_refused_without_being_shown(entry):
    with pytest.raises(ConfigError, match="--new-key") as refused:
        read_keys(entry)
    assert "0000" not in str(refused.value)


def test_two_keys_of_one_name_or_for_what_is_not_served_are_refused():
    with pytest.raises(ConfigError, match="several keys called 'ci'"):
        read_keys(f"{new_key('ci')[1]} {new_key('ci')[1]}")
    with pytest.raises(ConfigError, match="'other', which is not served"):
        visitor(read_keys(new_key("ci", "other")[1])[0], ROOTS)
    for name, of in (("", "*"), ("a b", "*"), ("a:b", "*"), ("a", ""), ("a", "x y"), ("a", "x:y")):
        with pytest.raises(UsageError):
            new_key(name, of)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.org"])
def test_nobody_else_is_listened_to_without_a_key(host):
    with pytest.raises(UsageError, match="--new-key"):
        check_reach(host, [])
    check_reach(host, read_keys(new_key("ci")[1]))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_this_machine_needs_no_key(host):
    check_reach(host, [])
