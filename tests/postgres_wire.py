"""What stands between a store and its PostgreSQL in tests: bytes pass as they are, until something is to go wrong."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class Wire:
    """The address to use instead of the server's, and what is to happen.

    `faults` holds what each next answer becomes: these bytes in its place, or nothing more at all (None), the connection
    ended. While `silent` is set nothing passes, old connections or new ones, and none is ended: as when a server hangs. What
    comes on `deaf` connections, those open when `hang` was called, does not pass any more; new ones are as ever.
    """

    url: str
    faults: list[bytes | None] = field(default_factory=list)
    silent: threading.Event = field(default_factory=threading.Event)
    opened: list[socket.socket] = field(default_factory=list)
    deaf: set[socket.socket] = field(default_factory=set)

    def hang(self) -> None:
        """Let nothing pass any more on the connections that are open."""
        self.deaf |= set(self.opened)

    def pump(self, source: socket.socket, target: socket.socket, *, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if source in self.deaf or self.silent.is_set():
                    continue
                if answers and self.faults:
                    fault = self.faults.pop(0)
                    if fault is None:
                        break
                    data = data[:1] + fault
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextmanager
def between(url: str) -> Iterator[Wire]:
    """Stand between a store and the server of a URL as the fixtures give it."""
    from vademecum.storage.postgres.connect import close_all

    folder, name = url.partition("host=")[2], url.partition("@/")[2].partition("?")[0]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        wire = Wire(f"postgresql://vade@127.0.0.1:{port}/{name}?sslmode=disable&gssencmode=disable")

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listening.accept()
                    server = socket.socket(socket.AF_UNIX)
                    wire.opened += [client, server]
                    server.connect(f"{folder}/.s.PGSQL.5432")
                    for source, target, answers in ((client, server, False), (server, client, True)):
                        arguments = {"answers": answers}
                        threading.Thread(target=wire.pump, args=(source, target), kwargs=arguments, daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield wire
        finally:
            close_all(wire.url)
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            for each in wire.opened:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
