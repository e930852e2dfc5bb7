"""Names of methods that libraries have, and that decide nothing alone.

The names are the public methods of each language's built-in types and of what nearly every program uses beside them. Those
below are common in every language; each language has its own in `Language.common_names`.
"""

from __future__ import annotations

from functools import cache

from vademecum.code.checkout.classify import words
from vademecum.code.languages import rules_of

_EVERYWHERE = words(
    "add all any append apply assert call clear clone close commit connect contains copy count create delete description"
    " each emit empty encode decode end equals error exec execute exists exit extend fetch fill filter find finish first"
    " flatten flush format forEach get getattr group has hash head id index indexOf info init insert invoke isEmpty items"
    " iter join keys last len length limit list listen load lock log loads dump dumps lower main map match max merge message"
    " min name new next notify of on open order parse path peek ping pop post print process publish push put raise read"
    " receive reduce register reject release remove render replace request reset resolve result reverse run save search select"
    " send set setUp setup shutdown size skip sleep slice sort split start status step stop strip submit subscribe sum swap"
    " sync take tell test then toString trim truncate type unlock unwrap update upper url use validate value values visit wait"
    " walk warn warning where with wrap write writeln yield zip"
)


@cache
def is_common(name: str, language: str) -> bool:
    """Return whether libraries of a language have such a method.

    Those of its family's head count too.

    >>> is_common("TryParse", "csharp"), is_common("join", "python"), is_common("parse_mission_log", "python")
    (True, True, False)
    """
    if name in _EVERYWHERE or len(name) < 3 or (name.startswith("__") and name.endswith("__")):
        return True
    rules = rules_of(language)
    return name in rules.common_names or name in rules_of(rules.family).common_names
