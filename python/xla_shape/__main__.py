"""The program `xla-shape`: `python -m xla_shape explain 'f32[100,200]{1,0:T(8,128)}'`."""

from __future__ import annotations

import signal
import sys

from . import _native

__all__ = ["main"]


def main() -> None:
    # Ctrl-C ends the program at once, without a Python traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    sys.exit(_native.main(["xla-shape", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
