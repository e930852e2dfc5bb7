"""The servers behind a gateway, by name.

Their file is read again when it changes.

    fleet = Fleet.of_file("servers.json", opening)
    fleet.refresh()          closes removed servers, makes added ones; unchanged ones go on
    fleet.all["notes"]

A wrong entry is named in `problems`, and the other servers count. While the whole file is wrong, the servers from before go on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vademecum.errors import ConfigError
from vademecum.providers.servers.configured import ServerSpec, read_servers

if TYPE_CHECKING:
    from vademecum.mcp.upstream import Upstream

Opening = Callable[[ServerSpec], "Upstream"]


class Fleet:
    """Servers by name, as a mapping that is replaced as a whole.

    `path` is that of their file, "" without one.
    """

    def __init__(self, upstreams: Sequence[Upstream] = ()) -> None:
        self.all: Mapping[str, Upstream] = {upstream.name: upstream for upstream in upstreams}
        self.problems: tuple[str, ...] = ()
        self._specs: Mapping[str, ServerSpec] = {}
        self.path = ""
        self._opening: Opening | None = None
        self._stamp: tuple[int, int] | None = None
        self._lock = threading.Lock()

    @classmethod
    def of_file(cls, path: str, opening: Opening) -> Fleet:
        """Return a file's servers, unstarted. Raises `ConfigError` without any."""
        fleet, problems = cls(), list[str]()
        fleet.path, fleet._opening, fleet._stamp = path, opening, _stamp(path)
        fleet._take(read_servers(path, problems=problems))
        fleet.problems = tuple(problems)
        return fleet

    def refresh(self) -> None:
        """Read the file again if it changed."""
        if self._opening is None or _stamp(self.path) == self._stamp:
            return
        with self._lock:
            stamp, problems = _stamp(self.path), list[str]()
            if stamp == self._stamp:
                return
            self._stamp = stamp
            try:
                specs = read_servers(self.path, problems=problems)
            except ConfigError as error:
                self.problems = (f"{error}: the servers from before go on",)
                return
            self._take(specs)
            self.problems = tuple(problems)

    def _take(self, specs: Sequence[ServerSpec]) -> None:
        assert self._opening is not None
        before: Mapping[str, Upstream] = self.all
        kept: dict[str, Upstream] = {}
        for spec in specs:
            known = self._specs.get(spec.name)
            same = known is not None and replace(known, rules=spec.rules) == spec
            kept[spec.name] = before[spec.name] if same else self._opening(spec)
            kept[spec.name].rules = spec.rules
        self.all, self._specs = kept, {spec.name: spec for spec in specs}
        for name, upstream in before.items():
            if kept.get(name) is not upstream:
                threading.Thread(target=upstream.close, name=f"{name}-close").start()


def _stamp(path: str) -> tuple[int, int] | None:
    """Return a file's time and size; None for a missing file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
