"""`python -m vademecum` is `vade`."""

from __future__ import annotations

import sys


def speak_utf8(platform: str = sys.platform) -> None:
    """Read and write pipes in UTF-8 on Windows.

    Agents and shells expect UTF-8, and Python takes the code page there. A console shows every character by itself.
    """
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if platform == "win32" and hasattr(stream, "reconfigure") and not stream.isatty():
            stream.reconfigure(encoding="utf-8")


def main() -> int:
    """Run `vade` and return its exit code.

    Hooks start by a shorter way, which loads only what they need.
    """
    speak_utf8()
    if sys.argv[1:3] == ["memory", "hook"] and not {"-h", "--help"} & set(sys.argv):
        import gc

        gc.disable()  # a hook ends before garbage collection pays off
        from vademecum.hooks.hook import main as hook

        return hook(sys.argv[3:])
    from vademecum.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
