"""Sentences of public repositories, one a line: what a table of words for prose is fitted on.

    python sentences.py --clones CLONES > sentences.txt

CLONES holds a clone of each repository, as `owner+name` or `owner+name/repo`, bare or not. Texts are cut into sentences
of 3 to 28 words, mostly letters, each once; of each source at most so many, drawn at random. Lines that look French are
left out: the teacher reads English.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MARKUP = re.compile(r"`+[^`]*`+|<[^>]+>|https?://\S+|\[([^\]]*)\]\([^)]*\)|[*_#|]+|::")
_END = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z])|\n[-*]\s")
_PARAGRAPH = re.compile(r"\n\s*\n|\\n|</?p>")
_FRENCH = re.compile(r"[éèêàçûîôù]|\b(?:le|la|les|une|des|est|pas|nous|pour|dans|avec)\b", re.IGNORECASE)
_YAML_TEXT = re.compile(r"(?:description|summary):\s*(?:[>|]-?\s*\n\s+)?([^\n]+(?:\n\s{6,}[A-Za-z][^\n:]*)*)")
_OWN = Path(__file__).parent.parent / "memory_reading"
_LEAST, _MOST, _LETTERS, _CODE = 3, 28, 0.85, 30


@dataclass(frozen=True)
class Source:
    """Files of a repository and how texts are read from one of them; at most `most` sentences."""

    files: str
    texts: Callable[[str], Iterable[str]]
    most: int


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text in Markdown, reStructuredText or none, without their markup."""
    for part in _PARAGRAPH.split(text):
        if part.startswith("    "):  # a block of code
            continue
        plain = " ".join(_MARKUP.sub(_unmarked, part).split()) if "\n- " not in part else _MARKUP.sub(_unmarked, part)
        for found in _END.split(plain):
            sentence = " ".join(found.split()).strip(" -\"'")
            letters = sum(char.isalpha() or char == " " for char in sentence)
            if _LEAST <= len(sentence.split()) <= _MOST and letters > _LETTERS * len(sentence):
                yield sentence


def _unmarked(found: re.Match[str]) -> str:
    said = found[1] or (found[0].strip("`") if found[0][0] == "`" and len(found[0]) < _CODE else "")
    return f" {said} "


def of_json(text: str) -> Iterator[str]:
    """Yield every string of a JSON document that has a space."""
    left: list[Any] = [json.loads(text)]
    while left:
        match left.pop():
            case dict() as inner:
                left += inner.values()
            case list() as inner:
                left += inner
            case str() as said if " " in said:
                yield said


def of_utterances(text: str) -> Iterator[str]:
    """Yield the utterances of Snips' training files."""
    for rows in json.loads(text).values():
        yield from ("".join(part["text"] for part in row["data"]).strip() for row in rows)


def of_table(text: str) -> Iterator[str]:
    """Yield the second column of Markdown tables."""
    yield from re.findall(r"^\|[^|]*\|([^|]*)\|", text, re.MULTILINE)


SOURCES = {
    "public-apis/public-apis": Source(r"^README\.md$", of_table, 3000),
    "slackapi/slack-api-specs": Source(r"\.json$", of_json, 8000),
    "twilio/twilio-oai": Source(r"spec/json/.*\.json$", of_json, 12000),
    "home-assistant/frontend": Source(r"src/translations/en\.json$", of_json, 9000),
    "digitalocean/openapi": Source(r"\.ya?ml$", _YAML_TEXT.findall, 9000),
    "sonos/nlu-benchmark": Source(r"custom-intent-engines/.*train.*full\.json$", of_utterances, 9000),
    "rust-lang/book": Source(r"^src/.*\.md$", lambda text: (text,), 9000),
    "aws/aws-cli": Source(r"awscli/examples/.*\.rst$", lambda text: (text,), 14000),
}


def files_of(clone: Path, pattern: str) -> Iterator[str]:
    """Yield the text of each file of a clone whose path fits."""
    at = clone / "repo" if (clone / "repo").exists() else clone
    git = ["git", "-C", str(at)]
    listed = subprocess.run([*git, "ls-tree", "-r", "HEAD", "--name-only"], capture_output=True, check=True).stdout
    for path in listed.decode(errors="ignore").splitlines():
        if re.search(pattern, path):
            told = subprocess.run([*git, "cat-file", "blob", f"HEAD:{path}"], capture_output=True, check=True).stdout
            yield told.decode(errors="ignore")


def own() -> Iterator[str]:
    """Yield what was written to train the reader of sentences, without labels and braces."""
    for name in ("chats", "english", "talk", "examples"):
        for line in (_OWN / f"{name}.txt").read_text(encoding="utf-8").splitlines():
            yield re.sub(r"^(?:\S+[\t|]|\w+:)\s*", "", re.sub(r"\{(\w+)\}", r"\1", line))


def main() -> None:
    """Print the sentences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True)
    clones = parser.parse_args().clones
    found: dict[str, None] = {}
    for name, source in SOURCES.items():
        texts = (
            text for file in files_of(clones / name.replace("/", "+"), source.files) for text in source.texts(file)
        )
        said = list(dict.fromkeys(sentence for text in texts for sentence in sentences(text)))
        random.Random(0).shuffle(said)
        found.update(dict.fromkeys(said[: source.most]))
    found.update(dict.fromkeys(sentence for line in own() for sentence in sentences(line)))
    print(*(sentence for sentence in found if not _FRENCH.search(sentence)), sep="\n")


if __name__ == "__main__":
    main()
