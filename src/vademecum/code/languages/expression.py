r"""The spelling of an expression or a type, one for all languages.

A *chain* is the spelling the graph resolves: names joined by dots, `()` after what is called, `[]` after what is
subscripted. Expressions that are no such path (operators, lambdas) have no chain, or one that begins with `?`; a chain
that begins with `'` goes on from a literal.
"""

from __future__ import annotations

import re
from functools import lru_cache

_PLAIN = re.compile(r"[A-Za-z_$@][\w$]*(?:\.[A-Za-z_$#][\w$]*)*")
_NAME = re.compile(
    r"[@$#\\]*[A-Za-z_][\w$]*(?:\\[\w$]+)*(?:[?!](?=[^\w.!?\[-]|$))?(?=\W|$)|[@$#\\]*[A-Za-z_][\w$]*(?:\\[\w$]+)*|\$\b"
)
_AWAIT = re.compile(r"await\b(?!\s*\()")  # Rust's, which is read as a method
_NUMBER = re.compile(r"\d+(?!\w)")  # the name of a tuple's field
_GAP = r"(?:\s+|//[^\n]*\n|#(?:[ \t][^\n]*)?\n|/\*(?:[^*]|\*(?!/))*\*/)*+"  # blanks and comments between two calls of a chain
_JOINT = re.compile(rf"{_GAP}(?:\?\.(?![(\[])|!!\.|!\.|\.|\?->|->|::|&\.){_GAP}")
_LEAD = re.compile(
    r"(?:await\s+|new\s+|yield\s+from\s+|yield\s+|&mut\s+|&\s*|\*+\s*|throw\s+|async\s+|::(?=[A-Z]\w*(?:::|\.)))+"
)
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_TEXT = r'"(?:[^"\\\n]|\\.)*+"'  # which may hold brackets
_BRACKETS = {
    "(": re.compile(rf"[()]|{_TEXT}"),
    "[": re.compile(rf"[\[\]]|{_TEXT}"),
    "{": re.compile(rf"[{{}}]|{_TEXT}"),
    "<": re.compile(r"<|(?<![-=])>"),
}
_PASSED = re.compile(r"\?\.(?=[(\[])|[!?]|\s+(?=[.(\[?\-&:{]|$)")
_MADE = re.compile(r"new\s*\(\s*([A-Za-z_][\w.]*)\s*\)(?=[.\s)]*$|\s*\.)")  # Go's new(T)
_SHARED = re.compile(  # C++'s, and casts
    r"(?:(?:std::)?make_(?:shared|unique)|(?:std::)?(?:static|dynamic|const|reinterpret)_(?:pointer_)?cast|std::(?:get|any_cast))"
    r"\s*<\s*(?:const\s+)?([A-Za-z_][\w:]*)(?:<[^<>()]*>)?(?:\s*const)?[\s*&]*>(?=\()"
)
_GIVING = re.compile(
    r"std::(?:get|forward|move|as_const|ref|next|prev|begin|end|exchange|min|max)\b(?:<[^()]*>)?(?=\()"
)  # C++'s, of what they are given
_CAST = re.compile(
    r"\(\s*([A-Za-z_][^()]*)\)\s*(?=[A-Za-z_])|(?:[^()]|\([^()]*\))+?\s+as!?\??\s+(?!const\b)([A-Za-z_][^()]*)$"
)
_UNSAFE = re.compile(r"unsafe\s*\{(?=[^{}]*\}$)")  # Rust's block, of which the value is that of what it holds
LONGEST = 2000  # characters of an expression or a type that are looked at


@lru_cache(1 << 15)
def chain(text: str) -> str:
    r"""Return the chain of an expression, "" where it is none.

    >>> chain("self.store\n  .get(key)"), chain("new Foo<T>(a).bar"), chain("(await f(x)).go"), chain("a->b::c")
    ('self.store.get()', 'Foo().bar', 'f().go', 'a.b.c')
    >>> chain("a?.b!.c"), chain("a.empty?"), chain("a!!.b?.()"), chain("$a?->b"), chain("a?[0].b")
    ('a.b.c', 'a.empty?', 'a.b()', '$a.b', 'a[].b')
    >>> chain("xs[0].run"), chain("'a'.join"), chain("a + b"), chain("Vec::<T>::new()")
    ('xs[].run', "'.join", '', 'Vec.new()')
    >>> chain("new(Foo).run"), chain("((Foo) a.b()).run"), chain("(a as Foo).run"), chain("a.(*Foo).run")
    ('Foo().run', 'Foo().run', 'Foo().run', 'Foo().run')
    >>> chain("make()\n  // at first\n  .add(1) /* then */\n  .go"), chain("make().\n  // Go's\n  add"), chain("this.#a"), chain("a // b")
    ('make().add().go', 'make().add', 'this.#a', '')
    >>> chain("std::make_shared<a::Foo>(1)"), chain("make_unique<Foo<T>>()->run"), chain("(**self).run"), chain("unsafe { *a.b() }")
    ('a.Foo()', 'Foo().run', '?.run', 'a.b()')
    >>> chain("::Zip::File.open(a)"), chain("::Close(1)")
    ('Zip.File.open()', '')
    >>> chain('f("(").g'), chain('f(")")'), chain("f(() => { cut")
    ('f().g', 'f()', '')
    >>> chain("a().await?.b"), chain("a.await().b")
    ('a().await().b', 'a.await().b')
    >>> chain("a::Foo { b: 1 }\n  .run"), chain("foo { it }.run"), chain("Foo { b: 1 } == x")
    ('a.Foo().run', '', '')
    """
    if _PLAIN.fullmatch(text):
        return text
    text = text.strip()[:LONGEST]
    if block := _UNSAFE.match(text):
        return chain(text[block.end() : -1])
    lead = _LEAD.match(text)
    at = lead.end() if lead else 0
    head, at = ("?", at + 4) if text.startswith("**self") else _head(text, at)  # what Rust's pointer stands for
    return _tail(text, at, head) if head else ""


def _head(text: str, at: int) -> tuple[str, int]:
    """Return the first name and where it ends."""
    if text.startswith("?.", at):
        return "?", at + 1
    made = _MADE.match(text, at) or _SHARED.match(text, at)
    if made:
        return made[1].replace("::", ".") + ("()" if made.re is _MADE else ""), made.end()
    name = _NAME.match(text, at)
    if name:
        return _given_back(text, at) or (name[0].replace("\\", "."), name.end())
    if text[at : at + 1] in {"(", "<"} and (end := _close(text, at)):
        inside = text[at + 1 : end - 1]
        is_type = text[at] == "<"  # Rust's `<A as B>`
        return plain_type(inside.rpartition(" as ")[2]) if is_type else _cast(inside) or (
            inside != "yield" and chain(inside)
        ) or "?", end
    if text[at : at + 1] in {'"', "'", "`", "[", "{"} or text[at : at + 1].isdigit():
        joint = max(text.rfind("."), text.rfind("->"))
        return ("'", joint) if joint > at else ("", at)
    return "", at


def _given_back(text: str, at: int) -> tuple[str, int] | None:
    """Return the argument of a C++ library function, and its end."""
    called = _GIVING.match(text, at) if text.startswith("std::", at) else None
    if called is None:
        return None
    end = _close(text, called.end())
    is_same = called[0].startswith(("std::move", "std::forward", "std::as_const"))
    return (is_same and chain(text[called.end() + 1 : end - 1])) or "?", end


def _cast(text: str) -> str:
    """Return the chain of an instance of a cast's type."""
    cast = _CAST.match(text)
    named = plain_type(cast[1] or cast[2]) if cast else ""
    return f"{named}()" if named and not named.endswith("[]") else ""


def _tail(text: str, at: int, found: str) -> str:
    while at < len(text):
        letter = text[at]
        if letter == "(":
            at, found = _close(text, at), found + "()"
        elif letter == "[":
            at, found = _close(text, at), found + "[]"
        elif letter == "{" and _is_made(found, text, _close(text, at)):
            at, found = _close(text, at), found + "()"
        elif letter == "<" and (end := _close(text, at)) and (text[end : end + 1] in "(.:{" or end == len(text)):
            at = end
        elif joint := _JOINT.match(text, at):
            at, found = _joined(text, joint.end(), found)
        elif passed := _PASSED.match(text, at):
            at = passed.end()
        else:
            return ""
    return found if at == len(text) else ""


def _is_made(found: str, text: str, end: int) -> bool:
    """Return whether braces make an instance.

    They end the text, or a class stands before them.
    """
    return end == len(text) or (found.rpartition(".")[2][:1].isupper() and _JOINT.match(text, end) is not None)


def _joined(text: str, at: int, found: str) -> tuple[int, str]:
    """Return where the next name ends, and the chain with it.

    Return the end of the text and "" where no name follows.
    """
    if text[at : at + 1] == "<":  # Vec::<T>::new
        return _close(text, at) or len(text), found
    if text[at : at + 1] == "(":  # Go's x.(T)
        end = _close(text, at)
        named = plain_type(text[at + 1 : end - 1])
        return (end, f"{named}()") if named and named != "type" else (len(text), "")
    name = _AWAIT.match(text, at) or _NAME.match(text, at) or _NUMBER.match(text, at)
    if name is None:
        return len(text), ""
    return name.end(), f"{found}.{name[0]}" + ("()" if name.re is _AWAIT else "")


def _close(text: str, at: int) -> int:
    """Return the place after the bracket that closes the one at `at`.

    Where nothing closes the bracket, return 0 for `<`, and for others a place behind the text, which was cut off. A text
    that ends in such a bracket has other brackets in its literals.
    """
    opened = text[at]
    if text.startswith(_CLOSING[opened], at + 1):  # as after most names
        return at + 2
    depth = 0
    for bracket in _BRACKETS[opened].finditer(text, at):
        depth += 1 if bracket[0] == opened else 0 if bracket[0][0] == '"' else -1
        if not depth:
            return bracket.end()
    return 0 if opened == "<" else len(text) + (not text.endswith(_CLOSING[opened]))


def first_name(spelled: str) -> str:
    """Return the name that a chain begins with.

    >>> first_name("a().b[].c"), first_name("a")
    ('a', 'a')
    """
    return parts_of(spelled)[0][0]


@lru_cache(1 << 15)
def parts_of(spelled: str) -> tuple[tuple[str, str], ...]:
    """Split a chain into names, each with its calls and subscripts.

    >>> parts_of("a().b[].c")
    (('a', '()'), ('b', '[]'), ('c', ''))
    """
    if "(" not in spelled and "[" not in spelled:
        return tuple([(part, "") for part in spelled.split(".")])
    found = []
    for part in spelled.split("."):
        end = min((place for place in (part.find("("), part.find("[")) if place >= 0), default=len(part))
        found.append((part[:end], part[end:]))
    return tuple(found)


_WRAPPERS_TEXT = """
    Optional Annotated Final ClassVar Required NotRequired Type type Awaitable Coroutine Promise Readonly Partial
    NonNullable Omit Pick Exclude Awaited InstanceType Box Rc Arc RefCell Ref RefMut MutexGuard Pin Cow Result Option unique_ptr shared_ptr weak_ptr Task
    ValueTask Lazy Nullable Deferred Self enable_if enable_if_t
"""
_LAST = frozenset({"Coroutine", "enable_if", "enable_if_t"})  # they give the last of their arguments
TURNS = frozenset({"Into", "AsRef", "AsMut", "Borrow"})  # of Rust: a bound says what its type turns into
_WRAPPERS = TURNS.union(_WRAPPERS_TEXT.split())
_ELEMENTS_TEXT = """
    list List Sequence MutableSequence Iterable Iterator set Set frozenset FrozenSet tuple Tuple Collection
    Generator AsyncIterator AsyncIterable deque Array ReadonlyArray Vec VecDeque HashSet BTreeSet vector IList
    IEnumerable ICollection IReadOnlyList IReadOnlyCollection MutableList ArrayList LinkedList Stream Queue Deque
    IntoIterator DoubleEndedIterator ExactSizeIterator
"""
_ELEMENTS = frozenset(_ELEMENTS_TEXT.split())
_VALUES_TEXT = """
    dict Dict Mapping MutableMapping DefaultDict defaultdict OrderedDict Map ReadonlyMap Record HashMap BTreeMap
    slice.Iter slice.IterMut vec.IntoIter vec.Drain std.map std.unordered_map
"""
_VALUES = frozenset(_VALUES_TEXT.split())
_CONTAINERS = _WRAPPERS | _ELEMENTS | _VALUES
_TYPE_NOISE = re.compile(
    r"^(?:(?:const|struct|class|enum|union|mut|dyn|impl|final|readonly|volatile|static|typename|unsigned|ref|out|in|params|vararg|unique|keyof|typeof|inout)\b\s*|'\w+\s*|&+\s*|\*+\s*|:\s*|->\s*|\?\s*|\.\.\.\s*)+"
)


_MARKS = re.compile(r"[][(){}<>,|&]")
_INDEXED = re.compile(r"(?:map)?\[")  # Go's `[4]T` and `map[K]T`
# Types in C++'s containers that stand for what they hold.
_POINTING = frozenset({"iterator", "const_iterator", "reverse_iterator", "value_type", "reference"})
# A name with arguments, perhaps in a namespace.
_GENERIC = re.compile(r"(?<![\w.:])(?:[A-Z]|(?!std::)[A-Za-z_][\w:]*::)\w*(?=\s*[<\[])")


@lru_cache(1 << 14)
def containers_in(text: str) -> tuple[tuple[str, str], ...]:
    """Return the containers with arguments in a type, with paths.

    >>> containers_in("Option<&util::Map<K, Foo>>"), containers_in("std::vector<Foo>")
    ((('Option', 'Option'), ('Map', 'util.Map')), ())
    """
    paths = {path.rpartition("::")[2]: path.replace("::", ".") for path in _GENERIC.findall(text)}
    return tuple((name, path) for name, path in paths.items() if name in _CONTAINERS)


_NO_TYPES = frozenset({"None", "null", "undefined", "nil", ""})


@lru_cache(1 << 14)
def plain_type(text: str, own: frozenset[str] = frozenset()) -> str:
    """Return the one class that a type names, "" for others.

    A collection of the class has "[]" after the name. Names of containers that are the repository's `own` are classes.

    >>> plain_type("Optional['Foo']"), plain_type("pkg.Foo | None"), plain_type("list[Foo]"), plain_type("*Server[T]")
    ('Foo', 'pkg.Foo', 'Foo[]', 'Server')
    >>> plain_type("std::unique_ptr<S>"), plain_type("&mut Bar"), plain_type("Foo | Bar"), plain_type("(a: B) => C")
    ('S', 'Bar', '', '')
    >>> plain_type("&[Foo]"), plain_type("impl Iterator<Item = Foo<'a>>"), plain_type("Option<&Map<K, Foo>>", frozenset({"Map"}))
    ('Foo[]', 'Foo[]', 'Map')
    >>> plain_type("[4]Foo"), plain_type("map[string]*Foo"), plain_type("map[K][]Foo"), plain_type("[A, B][]")
    ('Foo[]', 'Foo[]', '', '')
    >>> plain_type("std::enable_if_t<A<T>::value, Foo &>"), plain_type("typename std::enable_if<A<T>::value, Foo>::type")
    ('Foo', 'Foo')
    >>> plain_type("typename Pool<T>::Loan"), plain_type("std::vector<Foo>::iterator"), plain_type("Union[Foo, None]"), plain_type("Vec<_>")
    ('Pool.Loan', 'Foo', 'Foo', '')
    """
    text = text.strip().strip("\"'")
    noise = _TYPE_NOISE.match(text)
    text = (text[noise.end() :] if noise else text).strip()
    if text[:1] == "[" and text[-1:] == "]" and len(text) > 2:  # Rust's `[T; N]` and `[T]`
        text = f"[]{text[1:-1].partition(';')[0]}"
    elif (indexed := _INDEXED.match(text)) and (element := text[_close(text, indexed.end() - 1) :])[:1] not in ".,|&":
        text = f"[]{element}"
    if text.startswith("[]") and len(text) > 2:
        inner = plain_type(text[2:], own)
        return (inner and not inner.endswith("[]") and f"{inner}[]") or ""
    members = [part for part in split(text, "|") if part.strip() not in _NO_TYPES]
    if len(members) != 1:
        return ""
    text = members[0].strip().strip("\"'").rstrip("?&* ").removesuffix(" const")
    if text.endswith("[]"):
        inner = plain_type(text[:-2], own)
        return f"{inner}[]" if inner and not inner.endswith("[]") else ""
    return _generic(text, own)


def union_of(text: str) -> list[str]:
    """Return the types of a union, without those for nothing.

    >>> union_of("A | None | B[C | D]"), union_of("Optional[Union[A, B]]"), union_of("'A | B'"), union_of("(A | B)")
    (['A', 'B[C | D]'], ['A', 'B'], ['A', 'B'], ['A', 'B'])
    """
    text = text.strip(" :?'\"")
    while text[:1] == "(" and _close(text, 0) == len(text):
        text = text[1:-1]
    if (named := re.match(r"(?:\w+\.)?(Optional|Union)\[", text)) and _close(text, named.end() - 1) == len(text):
        inside = text[named.end() : -1]
        return union_of(inside) if named[1] == "Optional" else union_of("|".join(split(inside, ",")))
    parts = [part.strip() for part in split(text, "|")]
    return [part for part in parts if part not in _NO_TYPES]


def arguments_of(text: str, name: str) -> str:
    """Return the arguments of a generic class in a type.

    >>> arguments_of("Promise<Box<A, B[]>>", "Box"), arguments_of("pkg::Box<A>", "pkg.Box"), arguments_of("Box[]", "Box")
    ('A, B[]', 'A', '')
    >>> arguments_of("Box<A", "Box")  # cut off
    ''
    """
    name = name.rpartition(".")[2]
    for mark in "<[":
        at = text.rfind(name + mark)
        if at >= 0:
            return text[at + len(name) + 1 : max(0, _close(text, at + len(name)) - 1)]
    return ""


def result_of(text: str) -> str:
    """Return the result of a TypeScript function type, "" for others.

    >>> result_of(": <T>(a: () => B) => Promise<T>"), result_of("Box<() => A>")
    ('Promise<T>', '')
    """
    return _function(text)[1]


_CLOSURE = re.compile(r"\bFn(?:Once|Mut)?(?=\()")  # of Rust


def parameters_of(text: str) -> list[str] | None:
    """Return the parameters of a function's type, None for others.

    >>> parameters_of("<T>(a: Box<T, U>, b?: C) => void"), parameters_of("() => A"), parameters_of("Box<() => A>")
    (['a: Box<T, U>', ' b?: C'], [], None)
    >>> parameters_of("impl FnOnce(u8, &mut A) -> B")
    [': u8', ': &mut A']
    """
    if closure := _CLOSURE.search(text):
        inside = text[closure.end() + 1 : _close(text, closure.end()) - 1]
        return [f": {each.strip()}" for each in split(inside, ",") if each.strip()]
    inside, after = _function(text)
    return (split(inside, ",") if inside.strip() else []) if after else None


def _function(text: str) -> tuple[str, str]:
    """Return parameters and result of a function type, else "" twice."""
    text = text.lstrip(": \n")
    text = text[_close(text, 0) :].lstrip() if text[:1] == "<" else text
    end = _close(text, 0) if text[:1] == "(" else 0
    before, arrow, after = text[end:].partition("=>")
    return (text[1 : end - 1], after.strip()) if end and arrow and not before.strip() else ("", "")


def is_written_out(text: str) -> bool:
    """Return whether a TypeScript type lists its own members.

    >>> is_written_out("{ a: string }"), is_written_out("Promise<void> & { stop(): void }"), is_written_out("Box<{ a: B }>")
    (True, True, False)
    """
    return any(part.lstrip().startswith("{") for by in "|&" for part in split(text, by))


def _generic(text: str, own: frozenset[str]) -> str:
    """Return the class that a possibly generic type is about."""
    opening = min((place for place in (text.find("["), text.find("<")) if place >= 0), default=-1)
    if opening < 0:
        found = chain(text)
        return found if found not in {"", "_"} and "(" not in found and "?" not in found else ""
    name = chain(text[:opening])
    if not name:
        return ""
    last = name.rpartition(".")[2]
    if last in own:
        return name
    closing = text.rfind(_CLOSING[text[opening]])
    inside, inner = split(text[opening + 1 : closing], ","), text[closing + 1 :].partition("::")[2]
    if inner and last not in _ELEMENTS and name != "std.enable_if":  # a class in the class
        return f"{name}.{chain(inner)}" if chain(inner) else ""
    return plain_type(inside[0], own) if inner in _POINTING else _of_arguments(name, inside, own)


def _of_arguments(name: str, inside: list[str], own: frozenset[str]) -> str:
    """Return the class that a generic type with these arguments is about."""
    last = name.rpartition(".")[2]
    if last == "Union":
        return plain_type("|".join(inside), own)
    if last in _WRAPPERS:
        return plain_type(inside[-1 if last in _LAST else 0], own) if len(inside) > 1 or last not in _LAST else ""
    holds_last = not _VALUES.isdisjoint({last, name, name.removeprefix("std.")})
    if last in _ELEMENTS or holds_last:
        inner = plain_type((inside[-1] if holds_last else inside[0]).rpartition("Item =")[2], own)
        return f"{inner}[]" if inner and not inner.endswith("[]") else ""
    return name


def split(text: str, by: str) -> list[str]:
    """Split a type at a separator outside of brackets."""
    if by not in text:
        return [text]
    parts, depth, start = [], 0, 0
    for mark in _MARKS.finditer(text):  # a documented type is long, and has few of them
        place, letter = mark.start(), mark[0]
        if letter in "([{<":
            depth += 1
        elif letter in ")]}" or (letter == ">" and text[place - 1 : place] not in {"-", "="}):
            depth -= 1
        elif letter == by and not depth:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
