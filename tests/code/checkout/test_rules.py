"""The rules that judge names: when they change, known files are judged again."""

from __future__ import annotations

from hashlib import blake2b

from vademecum.code.checkout import ignore
from vademecum.code.checkout.walk import RULES_VERSION


def test_files_are_judged_again_when_the_tables_change() -> None:
    """The digest is of the tables, and beside it stands the number that they have."""
    tables = [sorted(value) for _, value in sorted(vars(ignore).items()) if isinstance(value, frozenset)]
    patterns = [ignore._SECRET_PATTERNS.pattern, ignore._COPY.pattern, *ignore._GENERATED_STEMS]
    digest = blake2b(repr((tables, patterns)).encode(), digest_size=8).hexdigest()
    assert (RULES_VERSION, digest) == (5, "1fd22662ded42bc2"), (
        "the tables of `ignore` changed, or RULES_VERSION did: raise RULES_VERSION in `walk` by one, so that files that are "
        "known are judged by the new tables, and write both into this test"
    )
