"""One-sentence summaries of chunks, made offline.

A summary is the author's own sentence where there is one, else a description of the signature.
"""

from __future__ import annotations

import re

from vademecum.code.checkout.classify import words
from vademecum.code.languages import rules_of
from vademecum.types import Chunk

MAX_CHARACTERS = 200
_READ_CHARACTERS = 800  # characters read of a comment to find its first sentence

_MARKS = re.compile(
    r"^[ \t]*(?:/\*+!?|\*+/|\*(?!\*)|//+!?|#+!?(?=\s|$)|--+(?: ?\|)?|;+|%+|\"\"\"|'''|<!--|=begin)[ \t]?", re.MULTILINE
)
_MARKED = frozenset("/*#-;%\"'<=")
# The end of prose: a tag, a section's title, an underline, an empty line.
_END = re.compile(
    r"\n[ \t]*(?:\n|[@\\](?!brief|summary|details|short)[a-z]|:\w+[^:\n]*:"
    r"|(?:Args|Arguments|Parameters|Params|Returns|Raises|Yields|Examples?|Usage|Notes?|Attributes):?[ \t]*\n"
    r"|-{3}|={3}|#+ |```|<(?:param|returns|remarks|exception)\b)"
)
_ONLY_RETURNS = re.compile(r"\s*(?:@returns?|:returns?:|\\returns?)\s+(?:\{[^}]*\}\s*-?\s*)?")
_NO_PROSE = re.compile(  # comments without prose: tags, licences, directives to linters
    r"\s*(?:[@\\](?!brief|summary|details|short|code|link)[a-z]|:\w+[^:\n]*:|\{@inheritdoc|copyright\b|licen[sc]ed under|spdx-"
    r"|eslint|tslint|prettier-|istanbul |c8 |v8 |nolint|noqa|pylint|type: ignore|region\b|-{3}|={3}|go:)",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"<see(?:also)?\s+\w+=\"(?:[A-Z]:)?([^\"]*)\"\s*/>"  # C#'s reference to a name
    r"|</?[a-zA-Z][^<>\n]*>"  # HTML, other XML
    r"|\{@\w+\s+([^{}]*)\}"  # Javadoc's {@link Name}
    r"|:(?:\w+:)+`~?([^`]*)`"  # reStructuredText's :class:`Name`
    r"|!?\[([^\]\n]*)\](?:\([^)\n]*\)|(?<=`\]))"  # Markdown's [text](address), Rust's [`Name`]
    r"|[@\\](?:brief|summary|details|short)\s"
    r"|\*\*|``"
)
_MARKUP_SIGNS = re.compile(r"[<{\[@\\*]|``|:`")
# A sentence ends before a space and a capital, but not after `e.g.`, `vs.` or an initial.
_SENTENCE = re.compile(
    r"[.!?\u3002\uff01\uff1f](?:(?<![.!?])|(?<!\be\.g.)(?<!\bi\.e.)(?<!\bvs.)(?<!\betc.)(?<!\bcf.)(?<!\b[A-Z].)(?=\s+[^a-z\s]))"
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_HEADING = re.compile(r"\s*(?:#+[^\n]*\n|[^\n]+\n[=\-~^\"]{3,}[ \t]*(?:\n|$))")

_RECEIVERS = frozenset({"self", "cls", "this", "mut", "void"})
_NOTHING = frozenset({"", "None", "void", "()", "Unit", "undefined", "nil"})
_MODIFIERS = words(
    "public private protected internal static final abstract virtual override async inline extern const constexpr"
    " function fn func def export default synchronized native sealed unsafe partial explicit new friend"
)


def summarise(chunk: Chunk, language: str) -> str:
    """Summarise a chunk in one sentence of at most 200 characters.

    The same chunk always gets the same sentence.

    >>> summarise(Chunk(1, 2, 0, 9, "function", "", name="load", doc="Load it. Slowly."), "python")
    'Load it.'
    >>> close = Chunk(1, 2, 0, 9, "method", "", "close", "Store", "def close(self, path: str, timeout=1) -> bool")
    >>> summarise(close, "python")
    'Method `close` of `Store`: takes path, timeout; returns bool.'
    """
    sentence = first_sentence(chunk.doc) if chunk.doc else ""
    if not sentence:
        sentence = _DESCRIPTIONS.get(chunk.kind, _declaration)(chunk, language)
    return _shortened(sentence)


def first_sentence(doc: str) -> str:
    r"""Return the first sentence of a doc comment, or "".

    Comments of any language are read. Markers, tags and markup are removed.

    >>> first_sentence("/** Opens {@link Store stores}, e.g. SQLite. Slow.\n * @param path where */")
    'Opens Store stores, e.g. SQLite.'
    """
    text = doc[:_READ_CHARACTERS].strip()
    if text[:1] in _MARKED:
        text = _MARKS.sub("", text).replace("*/", "").replace("-->", "").strip()
    returns = _ONLY_RETURNS.match(text)
    if returns:
        text = "Returns " + text[returns.end() :]
    elif _NO_PROSE.match(text):
        return ""
    end = _END.search(text)
    if end:
        text = text[: end.start()]
    if _MARKUP_SIGNS.search(text):
        text = _MARKUP.sub(lambda found: found[found.lastindex] if found.lastindex else "", text)
    text = " ".join(text.split())
    stop = _SENTENCE.search(text)
    text = text[: stop.end()] if stop else text
    return text if len(text) > 3 and not text.isnumeric() else ""


def _shortened(sentence: str) -> str:
    if len(sentence) <= MAX_CHARACTERS:
        return sentence
    return sentence[: MAX_CHARACTERS - 1].rpartition(" ")[0].rstrip(",;: ") + "…"


def _declaration(chunk: Chunk, language: str) -> str:
    """Describe kind, name and interface."""
    title = _title(chunk)
    if chunk.kind not in {"function", "method"}:
        return f"{title}{_ancestry(chunk)}."
    takes, returns = _interface(chunk, language)
    facts = [f"takes {', '.join(takes)}"] if takes else []
    if returns not in _NOTHING:
        facts.append(f"returns {returns}")
    return f"{title}: {'; '.join(facts)}." if facts else f"{title}."


def _ancestry(chunk: Chunk) -> str:
    """Return the base classes in words, from metadata or else the signature."""
    bases = ", ".join(str(base) for base in chunk.metadata.get("bases") or ())
    if not bases and chunk.name:
        after = chunk.signature.partition(chunk.name)[2].strip(" {")
        if after.startswith(("extends ", "implements ")):
            return f" {after}"
        bases = after.strip(":()< ") if after.startswith((":", "(", "< ")) else ""
    return f", a kind of {bases}" if bases else ""


def _title(chunk: Chunk) -> str:
    """Return kind, name, the words of the name, and scope."""
    words = " ".join(_WORDS.findall(chunk.name)).lower()
    spelled = f" ({words})" if " " in words else ""
    belongs = f" of `{chunk.scope}`" if chunk.scope else ""
    return f"{chunk.kind.capitalize()} `{chunk.name}`{spelled}{belongs}"


def _interface(chunk: Chunk, language: str) -> tuple[list[str], str]:
    """Return parameter names and return type, from metadata or else the signature."""
    metadata = chunk.metadata
    if "parameters" in metadata:
        names = [str(parameter["name"]) for parameter in metadata["parameters"]]
        return [name for name in names if name not in _RECEIVERS], str(metadata.get("returns") or "")
    before, after = _around_name(chunk.signature, chunk.name)
    opening = after.find("(")
    if opening < 0:
        return [], ""
    closing = _closing(after, opening)
    takes = [name for piece in _split(after[opening + 1 : closing]) if (name := _parameter(piece, language))]
    return takes, _returned(before, after[closing + 1 :], language)


def _around_name(signature: str, name: str) -> tuple[str, str]:
    """Split a signature at the declared name.

    The last occurrence as a word with a bracket behind it counts, else the first as a word.
    """
    if not name:
        return "", signature
    found = position = len(signature)
    while (position := signature.rfind(name, 0, position)) >= 0:
        end = position + len(name)
        if not (signature[:position][-1:].isidentifier() or signature[end : end + 1].isidentifier()):
            found = position
            if signature[end : end + 1] in {"(", "<", "["}:
                break
    return signature[:found], signature[found + len(name) :]


def _closing(text: str, opening: int) -> int:
    """Return the place of the bracket that closes `opening`, or the end."""
    level = 0
    for position in range(opening, len(text)):
        if text[position] in "([{":
            level += 1
        elif text[position] in ")]}":
            level -= 1
            if level == 0:
                return position
    return len(text)


def _split(parameters: str) -> list[str]:
    """Split at commas outside brackets."""
    if not any(bracket in parameters for bracket in "([{<"):
        return parameters.split(",")
    pieces, level, start = [], 0, 0
    for position, character in enumerate(parameters):
        if character in "([{<":
            level += 1
        elif character in ")]}" or (character == ">" and parameters[position - 1] not in "-="):
            level -= 1
        elif character == "," and level == 0:
            pieces.append(parameters[start:position])
            start = position + 1
    return [*pieces, parameters[start:]]


def _parameter(piece: str, language: str) -> str:
    """Return the name of one parameter.

    The name comes before the colon. In C's family it comes last, elsewhere first.
    """
    if "(*" in piece:  # C's pointer to a function: `int (*compare)(const void *, const void *)`
        piece = piece.partition("(*")[2].partition(")")[0]
    declared = piece.partition("=")[0]
    last = rules_of(language).type_first
    if not last:
        declared, colon, _ = declared.partition(":")
        last = bool(colon)  # Swift's `from source: Path` is `source` inside
    words = _IDENTIFIER.findall(declared)
    if not words:
        return ""
    name = words[-1] if last else words[0]
    return "" if name in _RECEIVERS else name


def _returned(before: str, after: str, language: str) -> str:
    """Return the return type.

    The type follows an arrow or colon, in Go the parameters; in C's family it precedes the name.
    """
    after = " ".join(after.split()).rstrip("{:; ").removesuffix("=>").removesuffix("=").rstrip()
    if after.startswith("->"):
        return after[2:].partition(" where ")[0].strip()
    if after.startswith(":"):
        return after[1:].strip()
    rules = rules_of(language)
    if rules.result_last:
        return after
    if rules.type_first:
        pointers = "*" * before.count("*")
        words = [word for word in before.replace("*", " ").replace("&", " ").split() if word not in _MODIFIERS]
        # C++ writes the class before the name: `int Store::close`
        words = [word for word in words if not word.startswith("@") and not word.endswith("::")]
        return words[-1] + pointers if words and words[-1] not in _NOTHING else pointers and f"void{pointers}"
    return ""


def _constant(chunk: Chunk, _language: str) -> str:
    names = [symbol.name for symbol in chunk.symbols] or [chunk.name]
    if len(names) == 1:
        return f"{_title(chunk)}."
    return f"Constants {', '.join(f'`{name}`' for name in names)}."


def _module(chunk: Chunk, _language: str) -> str:
    names = [symbol.name for symbol in chunk.symbols]
    facts = [f"defines {', '.join(names)}"] if names else []
    if chunk.calls:
        facts.append(f"calls {', '.join(chunk.calls)}")
    return f"Top-level code: {'; '.join(facts)}." if facts else _beginning(chunk, "Top-level code")


def _section(chunk: Chunk, language: str) -> str:
    """Describe a section by its first sentence below the heading."""
    prose = (
        _HEADING.sub("", chunk.text[:_READ_CHARACTERS], count=1) if rules_of(language).sections == "headings" else ""
    )
    sentence = first_sentence(prose)
    if chunk.name:
        return f"{chunk.name}: {sentence}" if sentence else f"Section `{chunk.qualified}`."
    return sentence or _beginning(chunk, "Text")


def _window(chunk: Chunk, _language: str) -> str:
    return _beginning(chunk, "Text")


def _beginning(chunk: Chunk, what: str) -> str:
    first = next((line.strip() for line in chunk.text[:_READ_CHARACTERS].splitlines() if line.strip()), "")
    return f"{what} that begins: {first}" if first else f"{what}, empty."


_DESCRIPTIONS = {"constant": _constant, "module": _module, "section": _section, "window": _window}
