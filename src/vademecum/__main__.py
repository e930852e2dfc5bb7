"""`python -m vademecum` is `vade`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run `vade` and return its exit code.

    Hooks start by a shorter way, which loads only what they need.
    """
    if sys.argv[1:3] == ["memory", "hook"] and not {"-h", "--help"} & set(sys.argv):
        import gc

        gc.disable()  # a hook ends before garbage collection pays off
        from vademecum.hooks.hook import main as hook

        return hook(sys.argv[3:])
    from vademecum.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
