"""Shared parts of verbs: groups, paths, an open engine, and output."""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO, TypeVar

import click

from vademecum.amounts import counted
from vademecum.answers.render import PLAIN, Style, visible
from vademecum.config import Settings, load
from vademecum.errors import UsageError

if TYPE_CHECKING:
    from vademecum.engine import Engine
    from vademecum.types import Check, IndexReport


@contextmanager
def written(path: str) -> Iterator[TextIO]:
    """Open a file for writing, moved into place at the end."""
    beside = Path(f"{path}.tmp")
    try:
        with beside.open("w", encoding="utf-8") as file:
            yield file
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(f"{path!r} cannot be written ({error.strerror}): name another file") from error


def write_file(path: str, text: str) -> None:
    """Write a text to a file, or "-" for standard output."""
    if path == "-":
        emit(text)
        return
    with written(path) as file:
        file.write(text)


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a file, unpacked if it is gzipped.

    Raises:
        UsageError: the file cannot be read.
    """
    import gzip

    try:
        with (
            gzip.open(path, "rt", encoding="utf-8", errors="replace")
            if path.suffix == ".gz"
            else path.open(encoding="utf-8", errors="replace") as file
        ):
            yield from file
    except (OSError, EOFError) as error:
        raise UsageError(f"{path} cannot be read ({error}): name a file that `vade memory export` wrote") from error


BAR_CHARACTERS = 24
BAR_EVERY_S = 0.1  # redrawing more often costs time and shows nothing
BAR_AFTER_S = 0.3  # a bar that only flashes is noise
LINE_EVERY_S = 5.0  # logs show that a long run is alive; short runs stay silent


class Progress:
    """A progress callback `(stage, done, total)`; leaving erases the bar."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._bar = self._stream.isatty()
        self._clock = clock
        self._next = clock() + (BAR_AFTER_S if self._bar else LINE_EVERY_S)
        self._drawn = False
        self._stage, self._done, self._total = "", 0, 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show the progress of a stage; `total` is 0 while unknown."""
        self._stage, self._done, self._total = stage, done, total
        now = self._clock()
        if now < self._next:
            return
        self._next = now + (BAR_EVERY_S if self._bar else LINE_EVERY_S)
        count = f"{done}/{total}" if total else str(done)
        if self._bar:
            filled = BAR_CHARACTERS * min(done, total) // total if total else 0
            self._stream.write(f"\r\x1b[K{'█' * filled}{'░' * (BAR_CHARACTERS - filled)} {stage} {count}")
            self._drawn = True
        else:
            self._stream.write(f"{stage} {count}\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            self._stream.write("\r\x1b[K")
        if kind is KeyboardInterrupt and self._stage:
            kept = f"{self._done} of {self._total} files are" if self._stage == "indexing" else "what was done is"
            self._stream.write(f"stopped: {kept} kept, run again to finish\n")
        self._stream.flush()


VERDICT_COLOURS = {
    "resolved": "green", "likely": "green", "ambiguous": "yellow", "not found": "red", "▲": "green", "▼": "red"
}  # fmt: skip
SKIPPED_SHOWN = 20  # lists may have thousands; JSON with -v has them all
EXAMPLES = 5  # of each list in JSON without -v
LACKING = {"metadata": "searchable, but without details such as parameters and complexity"}


def style_for(query: str = "", pattern: str = "") -> Style:
    """Return the terminal's style; a pipe or `NO_COLOR` is plain."""
    import shutil

    if not sys.stdout.isatty():
        return PLAIN
    width, height = shutil.get_terminal_size()
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return Style(code=_untab, width=width, height=height)
    matched = _matcher(query, pattern)

    def code(line: str) -> str:
        return matched.sub(lambda match: click.style(match[0], fg="yellow", bold=True), _untab(line))

    return Style(
        place=lambda text: click.style(text, fg="cyan", bold=True),
        dim=lambda text: click.style(text, dim=True),
        verdict=lambda text: click.style(text, fg=VERDICT_COLOURS.get(text), bold=True),
        code=code,
        width=width,
        height=height,
    )


def emit(text: str) -> None:
    """Write the result; ignore a closed pipe.

    A reader such as `| head` closes the pipe when it has enough.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes again at exit: give it a valid file to flush to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# characters that control a terminal, reorder text or are not seen: JSON strings can spell each
_UNSEEN = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def emit_json(value: Any) -> None:
    """Write a JSON document, indented on a terminal, else one line."""
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)
    emit(_UNSEEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text) + "\n")


def say(record: Any, text: str, *, as_json: bool) -> None:
    """Write a result, as JSON or as text."""
    if as_json:
        emit_json(record)
    else:
        emit(text)


def say_checks(checks: Sequence[Check], notes: Iterable[str] = (), *, as_json: bool) -> int:
    """Write checks with fixes; return 3 if one failed, else 0."""
    text = table(("ok" if check.ok else "WRONG", check.name, check.detail) for check in checks)
    text += "".join(f"{check.name}: {check.fix}\n" for check in checks if not check.ok and check.fix)
    say([asdict(check) for check in checks], text + "".join(f"note: {note}\n" for note in notes), as_json=as_json)
    return 0 if all(check.ok for check in checks) else 3


def index_text(reports: Sequence[IndexReport], *, verbose: bool) -> str:
    """Return a report of indexing, a line per repository."""
    lines: list[str] = []
    for report in reports:
        moved = report.files - report.added - report.unchanged
        known = f"{moved} moved or as once before, " if moved > 0 else ""
        lines.append(
            f"{report.repo}: {counted(report.files, 'file')}, {counted(report.chunks, 'chunk')} "
            f"({report.added} new, {known}{report.removed} removed, {report.unchanged} unchanged) in {report.seconds:.1f} s"
        )
        notes = {"skipped": len(report.skipped), "kept by windows only": len(report.failures)}
        notes |= {LACKING.get(step, f"without {step}"): count for step, count in report.degraded.items()}
        lines += (f"  {count} {said}" for said, count in notes.items() if count)
        lines += [f"  {visible(report.trouble)}"] if report.trouble else []
        if verbose:
            lines += (f"  {_reason(item)}" for item in (*report.skipped, *report.failures))
        elif report.skipped or report.failures:
            lines[-1] += " (-v shows which)"
        lines += (f"  {visible(note)}" for note in report.notes)
    return "\n".join(lines) + "\n"


def table(rows: Iterable[Sequence[object]], indent: str = "") -> str:
    """Return rows as aligned columns."""
    texts = [[visible(str(cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in texts)
    return "".join(f"{indent}{line.rstrip()}\n" for line in lines)


def skipped_lines(skipped: Sequence[Any]) -> list[str]:
    """Return lines about skipped files, with reasons."""
    lines = [f"  {_reason(item)}" for item in skipped[:SKIPPED_SHOWN]]
    if len(skipped) > SKIPPED_SHOWN:
        lines.append(f"  … and {len(skipped) - SKIPPED_SHOWN} more: -v --json lists all")
    return lines


def skipped_record(skipped: Sequence[Any], *, whole: bool) -> dict[str, Any]:
    """Return skipped files as JSON-serialisable values."""
    counts = Counter(item.reason for item in skipped).most_common()
    listed = [asdict(item) for item in (skipped if whole else skipped[:EXAMPLES])]
    return {"count": len(skipped), "reasons": dict(counts), "files" if whole else "examples": listed}


def size(count: int) -> str:
    """Return a number of bytes for people, such as `1.5 MB`."""
    amount, units = float(count), iter(("bytes", "kB", "MB", "GB"))
    unit = next(units)
    while amount >= 1000 and unit != "GB":
        amount, unit = amount / 1000, next(units)
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"


def _reason(skipped: Any) -> str:
    return visible(f"{skipped.path}: {skipped.why}")


def _untab(line: str) -> str:
    return line.expandtabs(4)


def _matcher(query: str, pattern: str) -> re.Pattern[str]:
    """Return a pattern for highlighting: query words and the regex."""
    words = sorted({re.escape(word) for word in re.findall(r"\w{3,}", query)}, key=len, reverse=True)[:64]
    try:
        return re.compile("|".join([*([f"(?:{pattern})"] if pattern else []), *words]) or r"(?!)", re.IGNORECASE)
    except re.error:  # the engine reports the bad pattern; highlight the words alone
        return re.compile("|".join(words) or r"(?!)", re.IGNORECASE)


def _plain(value: Any) -> Any:
    """Convert mappings, paths and sets for `json`."""
    return dict(value) if hasattr(value, "keys") else str(value)


class Group(click.Group):
    """A group of verbs that suggests the right one.

    `aliases` are hidden second names; `meant` maps other words to verbs.
    """

    def __init__(
        self, *args: Any, aliases: Mapping[str, str] = {}, meant: Mapping[str, str] = {}, **options: Any
    ) -> None:
        """Take the aliases and suggestions beside click's arguments."""
        super().__init__(*args, **options)
        self.aliases, self.meant = aliases, meant

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; without any, print the help."""
        if not args and self.no_args_is_help:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb by its name or alias."""
        return super().get_command(ctx, self.aliases.get(cmd_name, cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or suggest the likely one."""
        given = args[0]
        if self.get_command(ctx, given) is not None or given.startswith("-"):
            return super().resolve_command(ctx, args)
        import difflib

        verbs = self.list_commands(ctx)
        close = difflib.get_close_matches(given, [*verbs, *self.aliases], n=1)
        meant = self.meant.get(given) or (self.aliases.get(close[0], close[0]) if close else "")
        if len(verbs) == 1:
            meant = f"{verbs[0]} {given}"  # the word is the verb's argument: `vade config search.k`
        hint = f"did you mean `{ctx.command_path} {meant}`?" if meant else f"choose among {', '.join(verbs)}"
        raise click.UsageError(f"`{ctx.command_path}` has no command {given!r}: {hint}")


F = TypeVar("F", bound=Callable[..., object])


paths_argument = click.argument("paths", nargs=-1, metavar="[PATH]...")  # none means the current directory
json_option = click.option("as_json", "--json", is_flag=True, help="Print JSON.")


def number_option(
    *names: str, about: str, default: int | None = None, setting: str = "", least: int = 1
) -> Callable[[F], F]:
    """Take a whole number, by default this one or a setting's."""
    shown = setting or default is not None
    return click.option(
        *names, type=click.IntRange(least), metavar="N", default=default, show_default=shown, help=about
    )


def list_option(flag: str, name: str, metavar: str, about: str) -> Callable[[F], F]:
    """Take any number of values, each after its own `flag`."""
    return click.option(flag, name, multiple=True, metavar=metavar, help=about)


def examples(*lines: str) -> Callable[[F], F]:
    """Add example lines to a command's help."""

    def shown(function: F) -> F:
        # Click does not rewrap a paragraph that begins with a backspace.
        function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__ or ""), "", "\b", *lines])
        return function

    return shown


def check_exist(paths: Iterable[str], hint: str) -> None:
    """Check that the paths exist.

    A query without quotes looks like a query and several paths, so `hint` says how to fix it.
    """
    for path in paths:
        if not Path(path).exists():
            raise UsageError(f"no such file or directory {path!r}: {hint}")


def from_here(location: str) -> str:
    """Resolve a location against the current directory if it exists there.

    Other locations count from the repository's top.
    """
    path, colon, lines = location.partition(":")
    return f"{Path(path).resolve()}{colon}{lines}" if Path(path).is_file() else location


def settings_for(paths: Sequence[str]) -> Settings:
    """Return settings for these paths; a repository's file holds for it alone."""
    return load(paths[0] if len(paths) == 1 else None if paths else ".")


def ask_first(paths: Sequence[str], settings: Settings) -> None:
    """Ask before indexing a home directory, disk or huge folder.

    Without a terminal it refuses.

    Raises `UsageError`: nobody agreed.
    """
    from vademecum.wiring.roots import unasked

    for path, why in unasked(paths or (".",), settings).items():
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError(f"{path} {why}: name a folder in it, or agree with `vade index {path} --yes`")
        if not click.confirm(f"{path} {why}. Index it?", err=True):
            raise UsageError("nothing was indexed: name the folder that you mean")


@contextmanager
def opened(paths: Sequence[str], settings: Settings | None = None, *, indexing: bool = False) -> Iterator[Engine]:
    """Open an engine on these paths, and close it at the end.

    With `indexing` it asks first if the paths are very wide.
    """
    settings = settings or settings_for(paths)
    if indexing:
        ask_first(paths, settings)
    # A thread pool for matrix products costs more to start than one question saves.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from vademecum.engine import Engine

    with Engine.open(*(paths or (".",)), settings=settings) as engine:
        yield engine
