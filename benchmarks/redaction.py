"""What redaction takes out of source trees, where hardly anything is a secret.

    python benchmarks/redaction.py --trees DIRECTORY... [--show] [--false N]

Every text file of the trees is redacted. Each value taken out is listed with `--show`, so that a person can say which of
them were written as a secret (an example password, a key in a test) and which were not. `--false` puts the number of the
latter into the result.
"""

from __future__ import annotations

import argparse
import difflib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import report
from vademecum.redaction.redact import MARK, redact

MOST_BYTES = 1 << 20  # as for an index
LEFT_OUT = {".git", "__pycache__"}


def texts(tree: Path) -> Iterator[tuple[Path, str]]:
    """Yield the text files of a tree."""
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        for name in sorted(names):
            path = Path(folder) / name
            if not path.is_file() or path.is_symlink() or path.stat().st_size > MOST_BYTES:
                continue
            data = path.read_bytes()
            if b"\0" not in data:
                yield path, data.decode("utf-8", "replace")


def changed(before: str, after: str) -> Iterator[tuple[int, str, str]]:
    """Yield the number and both forms of each line that redaction changed."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) == len(new):
        yield from ((at, a, b) for at, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b)
        return
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield a + 1, " / ".join(old[a:b][:2]), " / ".join(new[c:d][:2])


def main(argv: Sequence[str] | None = None) -> None:
    """Redact, print, write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=Path, nargs="+", required=True)
    parser.add_argument("--show", action="store_true", help="list every line that redaction changes")
    parser.add_argument(
        "--false", type=int, default=None, help="values taken out that were no secret, as read by a person"
    )
    parser.add_argument("--into", type=Path, default=report.RESULTS, help="folder for the result")
    arguments = parser.parse_args(argv)
    files = lines = 0
    taken: Counter[str] = Counter()
    for tree in arguments.trees:
        for path, text in texts(tree):
            files, lines = files + 1, lines + text.count("\n") + 1
            found = redact(text)
            taken.update(found.counts)
            if arguments.show and found.counts:
                for number, old, new in changed(text, found.text):
                    at = new.find(MARK)
                    near = slice(max(0, at - 60), at + 100)
                    print(f"{path.relative_to(tree)}:{number}\t{old[near].strip()}\t{new[near].strip()}")
    result = {"files": files, "lines": lines, "taken_out": dict(taken.most_common()), "in_all": taken.total()}
    result["no_secret"] = arguments.false
    print(result)
    if not arguments.show:
        print("written:", report.write("redaction", result, arguments.into).name)


if __name__ == "__main__":
    main()
