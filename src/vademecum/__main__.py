"""`python -m vademecum` is `vade`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run `vade` and return its exit code; a hook by a way of its own, which loads nothing that it does not need."""
    if sys.argv[1:3] == ["memory", "hook"] and not {"-h", "--help"} & set(sys.argv):
        import gc

        gc.disable()  # it ends before there is anything worth collecting
        from vademecum.hooks.hook import main as hook

        return hook(sys.argv[3:])
    from vademecum.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
