"""Exact token counts from a tokenizer file on this machine."""

from __future__ import annotations

import os

from tokenizers import Tokenizer

from vademecum.errors import PluginError, UsageError
from vademecum.result import Err, Ok, attempt


class FileCounter:
    """Counts with a tokenizer that `tokenizer.json` of the `tokenizers` library describes.

    Raises:
        UsageError: there is no such file.
        PluginError: the file does not describe a tokenizer.
    """

    def __init__(self, model: str = "") -> None:
        path = os.path.expanduser(model)
        path = os.path.join(path, "tokenizer.json") if os.path.isdir(path) else path
        if not model or not os.path.isfile(path):
            raise UsageError(
                f"counter 'tokenizer' needs a file, and {model!r} is none: write tokenizer:FILE, as in "
                "tokenizer:~/models/qwen3/tokenizer.json"
            )
        match attempt(PluginError, Exception)(Tokenizer.from_file)(path):  # the library raises plain Exception
            case Ok(tokenizer):
                self._tokenizer = tokenizer
            case Err(error):
                raise PluginError(f"{path} does not describe a tokenizer ({error}): name a tokenizer.json") from error
        self._tokenizer.no_truncation()  # a file may set a limit such as 512, and counts would stop there
        self._tokenizer.no_padding()
        self.name = f"tokenizer:{path}"

    def count(self, text: str) -> int:
        """Return a text's tokens, without start and end markers."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)
