"""An MCP server as a child process, over standard input and output.

The official SDK's client falls short of the gateway's promises: it keeps a line of any length in memory, reports neither the
exit code nor the last words of a process that ends, waits in vain for an answer that is not JSON, and is an extra that takes
0.6 s to import. Three threads serve a process: one reads, one writes (a server that does not read must not block the caller),
one keeps the last lines of standard error for messages.

The process gets the few environment variables that any program needs and those configured for it. It does not get the rest,
which may hold other services' keys. It is started when first used, in a process group of its own, and ended as MCP
asks: its input is closed, then it gets SIGTERM, then it is killed, with its children.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import IO, Any

from vademecum.errors import ToolServerError
from vademecum.protocols import Told
from vademecum.providers.servers.configured import program
from vademecum.providers.servers.wire import (
    CHANGED,
    METHOD_NOT_FOUND,
    MOST_QUESTIONS,
    QUESTIONS,
    UNSUPPORTED_VERSION,
    McpServer,
    Message,
    about,
    capabilities,
    hello,
    id_in,
    in_rounds,
    parsed,
    progress_in,
    refusal,
    refused,
    request,
    shortened,
    telling,
    too_long,
    unanswered,
)

INHERITED = (
    *("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"),
    *("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE"),
    *("SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE"),
)
GRACE_S = 2.0  # for each step of ending the process
_PIECE = 65_536

Reply = queue.SimpleQueue[Message]


class StdioServer(McpServer):
    """An MCP server that is a command.

    Its process gets `env` beside the variables of `INHERITED`.
    """

    remote = False

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = "",
        timeout_s: float = 60.0,
        answer_bytes: int = 4_000_000,
    ) -> None:
        super().__init__(name, timeout_s, answer_bytes)
        self._command = tuple(command)
        self._env = {key: os.environ[key] for key in INHERITED if key in os.environ} | dict(env or {})
        self._cwd = cwd
        self._process: subprocess.Popen[bytes] | None = None
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._numbers = count(1)
        self._waiting: dict[int, tuple[str, Reply]] = {}  # request number → its method and the queue of its answer
        self._noise = ""  # the last output since the newest request that is not a message
        self._listeners: dict[int, Told] = {}  # to a call's progress
        self._declared: Mapping[str, Any] = {}  # the server's capabilities
        self._guard = threading.Lock()  # of _waiting, _listeners, _questions and _gone
        self._said: deque[str] = deque(maxlen=10)
        self._said_all = threading.Event()  # standard error has ended
        self._stateless = False

    def _capabilities(self) -> Mapping[str, Any]:
        self._start()
        return self._declared

    def _page(self, cursor: str) -> Mapping[str, Any]:
        return self._ask("tools/list", {"cursor": cursor} if cursor else {})

    def _call(self, tool: str, arguments: dict[str, Any], told: Told | None) -> Mapping[str, Any]:
        return self._ask("tools/call", {"name": tool, "arguments": arguments}, tool, told)

    def close(self) -> None:
        """End the process and its children."""
        self._end("it was closed")
        process = self._process
        if process is None:
            return
        self._outbox.put(None)  # the writer closes the process's input
        for stop in (None, signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            if stop is not None:
                _signal(process, stop)
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_S)
                break
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))  # children that outlive the process

    def _start(self) -> None:
        """Start the process and greet it, once."""
        with self._starting:
            if self._process is None:
                self._process = self._spawned()
                streams = (self._process.stdin, self._process.stdout, self._process.stderr)
                for serve, stream in zip((self._write, self._read, self._listen), streams, strict=True):
                    assert stream is not None
                    threading.Thread(target=serve, args=(stream,), name=f"{self.name}-pipe", daemon=True).start()
                self._greet()

    def _spawned(self) -> subprocess.Popen[bytes]:
        pipe, words = subprocess.PIPE, list(self._command)
        try:
            return subprocess.Popen(
                [program(words[0], self._env.get("PATH")), *words[1:]],
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                env=self._env,
                cwd=self._cwd or None,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._end(f"{words[0]!r} cannot be started: {reason}")
            raise ToolServerError(
                f"{self.name} cannot be started: {words[0]!r}: {reason}: install it, or correct its command"
            ) from error

    def _greet(self) -> None:
        try:
            answer = self._exchange("initialize", hello(self._offers))
        except ToolServerError:
            self.close()  # a failed greeting: the process is of no use
            raise
        error = answer.get("error")
        if isinstance(error, dict) and error.get("code") in {METHOD_NOT_FOUND, UNSUPPORTED_VERSION}:
            self._stateless = True
            found = self._exchange("server/discover", {}).get("result")
            self.about, self._declared = about(found), capabilities(found)
        elif "error" in answer:
            self.close()
            raise refused(self.name, "initialize", error)
        else:
            self.about = about(answer.get("result"))
            self._declared = capabilities(answer.get("result"))
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _ask(
        self, method: str, params: Mapping[str, Any], what: str = "", told: Told | None = None
    ) -> Mapping[str, Any]:
        def once(params: Mapping[str, Any]) -> Message:
            answer = self._exchange(method, params, what, told)
            result = answer.get("result")
            if not isinstance(result, dict):
                raise refused(self.name, what or method, answer.get("error", "it answered with nothing"))
            return result

        return in_rounds(self.name, what or method, params, once, self._asks)

    def _exchange(self, method: str, params: Mapping[str, Any], what: str = "", told: Told | None = None) -> Message:
        """Send a request and wait for its answer. Raises `ToolServerError` for none."""
        number, reply = next(self._numbers), Reply()
        with self._guard:
            if self._gone:
                raise ToolServerError(f"{self.name} stopped: {self._gone}")
            self._waiting[number], self._noise = (method, reply), ""
            if told:
                self._listeners[number], params = told, telling(params, number)
        self._send(request(number, method, params, self._offers if self._stateless else None))
        try:
            answer = self._patient(reply)
        except queue.Empty:
            self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
            late = f"{self.name} did not answer {what or method} within {self._timeout_s:g} s"
            raise ToolServerError(f"{late}: {unanswered(method, self._noise)}") from None
        finally:
            with self._guard:
                self._waiting.pop(number, None)
                self._listeners.pop(number, None)
        if isinstance(answer.get("failure"), ToolServerError):
            raise answer["failure"]
        return answer

    def _patient(self, reply: Reply) -> Message:
        """Wait for an answer, without limit during the server's own questions."""
        while True:
            try:
                return reply.get(timeout=self._timeout_s)
            except queue.Empty:
                with self._guard:
                    if not self._questions:
                        raise

    def _send(self, message: Message) -> None:
        self._outbox.put(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    # The three threads.

    def _write(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while (line := self._outbox.get()) is not None:
                while line:
                    line = line[stream.write(line) :]
        with suppress(OSError):
            stream.close()

    def _read(self, stream: IO[bytes]) -> None:
        """Read lines, keeping only the beginning of a long line."""
        line, length = bytearray(), 0
        with suppress(OSError, ValueError), stream:
            while piece := stream.read(_PIECE):
                for part in _lines(piece):
                    length += len(part)
                    line += part[: max(self._answer_bytes - len(line), 0)]
                    if part.endswith(b"\n"):
                        self._take(bytes(line), length)
                        line, length = bytearray(), 0
        self._end(self._last_words())

    def _listen(self, stream: IO[bytes]) -> None:
        """Keep the last lines of standard error."""
        with suppress(OSError, ValueError), stream:
            while piece := stream.read(_PIECE):
                self._said.extend(piece[-2000:].decode(errors="replace").splitlines()[-10:])
        self._said_all.set()

    def _take(self, line: bytes, length: int) -> None:
        message = parsed(line) if length <= self._answer_bytes else None
        if message is None:
            number = id_in(line)
            if number is None:
                self._noise = line[:_PIECE].decode(errors="replace").strip() or self._noise
            else:
                with self._guard:
                    method = self._waiting[number][0] if number in self._waiting else ""
                much = too_long(method, self._answer_bytes)
                why = much if length > self._answer_bytes else "something that is not JSON: report it to its author"
                self._hand(number, {"failure": ToolServerError(f"{self.name} answered with {why}")})
        elif "method" in message:
            if message["method"] == CHANGED:
                self._stale.set()
            if progress := progress_in(message):
                self._tell(*progress)
            elif "id" not in message and isinstance(message["method"], str):
                params = message.get("params")
                self._hears(message["method"], params if isinstance(params, dict) else {})
            if not self._asked(message) and (answer := refusal(message)):
                self._send(answer)
        elif isinstance(message.get("id"), int):
            self._hand(message["id"], message)

    def _asked(self, message: Message) -> bool:
        """Answer a supported question on its own thread; return whether answered."""
        offered = "id" in message and QUESTIONS.get(message["method"]) in self._offers
        with self._guard:
            if not offered or self._questions >= MOST_QUESTIONS:
                return False
            self._questions += 1
        threading.Thread(target=self._answer, args=(message,), name=f"{self.name}-asks", daemon=True).start()
        return True

    def _answer(self, message: Message) -> None:
        assert self._asks is not None
        params = message.get("params")
        try:
            answer = self._asks(message["method"], params if isinstance(params, dict) else {})
        finally:
            with self._guard:
                self._questions -= 1
        self._send({"jsonrpc": "2.0", "id": message["id"], **answer})

    def _tell(self, number: int, progress: tuple[float, float | None, str]) -> None:
        with self._guard:
            told = self._listeners.get(number)
        if told:
            told(*progress)

    def _hand(self, number: int, message: Message) -> None:
        with self._guard:
            waiting = self._waiting.pop(number, None)
        if waiting:
            waiting[1].put(message)

    def _last_words(self) -> str:
        process = self._process
        assert process is not None
        try:
            code = process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            return "it closed its output"
        self._said_all.wait(GRACE_S)  # the listener reads standard error; a surviving child may keep it open
        said = shortened(self._said[-1]) if self._said else ""
        return f"exit code {code}" + (f", saying {said!r}" if said else "")

    def _end(self, why: str) -> None:
        """Tell all waiting callers that no answer will come."""
        with self._guard:
            self._gone = self._gone or why
            waiting, self._waiting = self._waiting, {}
        for _, reply in waiting.values():
            reply.put({"failure": ToolServerError(f"{self.name} stopped before it answered: {self._gone}")})


def _lines(piece: bytes) -> list[bytes]:
    """Cut at newlines only: a line may contain carriage returns."""
    *whole, rest = piece.split(b"\n")
    return [*(line + b"\n" for line in whole), *([rest] if rest else [])]


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to a process and its children."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
