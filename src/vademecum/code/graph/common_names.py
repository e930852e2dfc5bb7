"""Names of methods that libraries have: such a name alone says nothing of whose method is called.

The tables are the public methods of each language's built-in types and of what nearly every program uses beside them.
"""

from __future__ import annotations

from functools import cache

from vademecum.code.checkout.classify import words

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
_JAVA = words(
    "getName getId getValue getKey getClass getMessage hashCode compareTo containsKey entrySet keySet putAll addAll orElse"
    " orElseThrow ifPresent isPresent stream collect toList toArray charAt substring startsWith endsWith hasNext iterator build"
    " builder getBytes valueOf parseInt println printf accept test apply compare let also takeIf to until forEach"
    " mapNotNull firstOrNull joinToString use onEach launch async await emit collect"
)
_SCRIPT = words(
    "addEventListener appendChild bind charCodeAt concat createElement every findIndex flatMap getAttribute getItem includes"
    " json lastIndexOf localeCompare now off once padStart pipe querySelector removeEventListener repeat setAttribute setItem"
    " some splice startsWith endsWith substring toFixed toLowerCase toUpperCase trimEnd unshift catch finally toEqual toBe"
    " toThrow toHaveBeenCalled mockReturnValue describe it expect text toJSON valueOf hasOwnProperty entries assign freeze"
)
_CSHARP = words(
    "Add AddRange Any Append AppendLine All Clear Close Contains ContainsKey Copy CopyTo Count Create Dispose Equals First"
    " FirstOrDefault Format Get GetHashCode GetType GetValue IndexOf Insert Invoke Join Parse Read ReadLine Remove Replace Select"
    " Set Single Skip Split StartsWith EndsWith Substring Sum Take ToArray ToList ToLower ToString ToUpper Trim TryGetValue TryParse"
    " Where Write WriteLine Wait ConfigureAwait Add Start Stop Run Open Flush Load Save Send"
)
_GO = words(
    "Add Close Err Error Errorf Fatal Fatalf Get Len Less Lock Unlock Log Logf Name New Next Open Print Printf Println Put Read"
    " ReadAll Reset Run Scan Set Start Stop String Swap Wait Write WriteString Done Equal Is As Unwrap Bytes Value Values Key"
    " Header Helper Cleanup Skip Parallel Fprintf Sprintf Marshal Unmarshal Decode Encode Context Method Seek Flush Send Type Kind"
)
_RUST = words(
    "as_bytes as_mut as_ref as_slice as_str borrow borrow_mut chars cloned collect default deref drain drop enumerate eq err"
    " expect flat_map fmt fold from from_str get_mut insert into into_iter is_empty is_err is_none is_ok is_some iter_mut lines"
    " map_err ok ok_or poll position push_str read_to_end retain starts_with ends_with to_owned to_string to_vec try_from try_into"
    " unwrap_or unwrap_or_default unwrap_or_else with_capacity zip spawn block_on await then_some and_then or_else"
)
_RUBY = words(
    "to_s to_a to_h to_sym to_i inspect nil? empty? include? key? is_a? respond_to? freeze dup merge! map! each_with_index"
    " each_with_object inject tap gsub sub start_with? end_with? puts raise attr_reader define_method instance_variable_get"
    " method_missing public_send send class superclass expect eq to receive and_return be_a subject let call any? all? none?"
)
_PHP = words(
    "getMessage getCode getName getValue setName setValue getId __toString __construct toArray jsonSerialize count current key"
    " valid rewind getIterator offsetGet offsetSet willReturn expects method with assertEquals assertSame assertTrue"
)
_C = words(
    "push_back begin end c_str data front back emplace emplace_back at substr find_first_of reserve resize str what good eof"
)


@cache
def _method_names(*kinds: type) -> frozenset[str]:
    return frozenset(name for kind in kinds for name in dir(kind))


def _python() -> frozenset[str]:
    import io
    import pathlib
    import re
    import threading
    from collections import OrderedDict, defaultdict, deque

    return _method_names(
        str, bytes, list, dict, set, tuple, int, float, object, BaseException, io.StringIO, io.BytesIO, pathlib.Path,
        re.Pattern, re.Match, threading.Thread, threading.Event, OrderedDict, defaultdict, deque,
    )  # fmt: skip


_TABLES = {
    "java": _JAVA,
    "javascript": _SCRIPT,
    "csharp": _CSHARP,
    "go": _GO,
    "rust": _RUST,
    "ruby": _RUBY,
    "php": _PHP,
    "c": _C,
}


@cache
def is_common(name: str, family: str) -> bool:
    """Tell whether libraries of a family of languages have methods of this name.

    >>> is_common("TryParse", "csharp"), is_common("join", "python"), is_common("parse_mission_log", "python")
    (True, True, False)
    """
    if name in _EVERYWHERE or len(name) < 3 or (name.startswith("__") and name.endswith("__")):
        return True
    return name in (_python() if family == "python" else _TABLES.get(family, frozenset()))
