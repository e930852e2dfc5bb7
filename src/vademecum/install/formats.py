"""File formats: one function to add a part, one to remove it."""

from __future__ import annotations

from vademecum.install.part import EditError, Hint, Part

BOM = "\ufeff"


def upsert(text: str, part: Part) -> tuple[str, Hint]:
    """Insert the part; return the text and a hint for removal.

    The hint is {} if the part was already there.

    Raises:
        EditError: the text breaks its format, or the part cannot be added.
    """
    mark, text = (BOM, text.removeprefix(BOM)) if text.startswith(BOM) else ("", text)
    if part.format in {"json", "jsonc"}:
        from vademecum.install import json_text

        text, hint = json_text.upsert(text, part, comments=part.format == "jsonc")
    elif part.format == "toml":
        from vademecum.install import toml_text

        text, hint = toml_text.upsert(text, part)
    elif part.format == "yaml":
        from vademecum.install import yaml_text

        text, hint = yaml_text.upsert(text, part)
    else:
        from vademecum.install import block_text

        text, hint = block_text.upsert(text, part)
    return mark + text, hint


def remove(text: str, part: Part, hint: Hint) -> str:
    """Return the text without the part.

    The earlier text is restored, except for others' later changes. Raises as `upsert` does.
    """
    mark, text = (BOM, text.removeprefix(BOM)) if text.startswith(BOM) else ("", text)
    if part.format in {"json", "jsonc"}:
        from vademecum.install import json_text

        text = json_text.remove(text, part, hint, comments=part.format == "jsonc")
    elif part.format == "toml":
        from vademecum.install import toml_text

        text = toml_text.remove(text, part, hint)
    elif part.format == "yaml":
        from vademecum.install import yaml_text

        text = yaml_text.remove(text, part, hint)
    else:
        from vademecum.install import block_text

        text = block_text.remove(text, part, hint)
    return mark + text


def decoded(content: bytes) -> str:
    """Return a file's content as text, byte for byte.

    Raises:
        EditError: the content is not UTF-8.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditError("it is not UTF-8") from error
