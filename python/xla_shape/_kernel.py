"""What the TPU compiler made of Pallas kernels."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any

from . import Answer
from ._compile import lowered_for_tpu
from ._native import kernels


def kernel(
    f: Callable[..., Any] | str | os.PathLike[str],
    *args: Any,
    for_: str | Sequence[str] | None = None,
    against: Callable[..., Any] | str | os.PathLike[str] | None = None,
    clock_ghz: float | None = None,
    anyway: bool = False,
) -> Answer:
    """What the compiler made of the Pallas kernels of a function: see `xla-shape kernel`. A notebook shows it as a page.

    f: a function with these arguments, which is compiled with libtpu (`pip install libtpu`), without a TPU; or the directory of a dump.
    args: arrays or `jax.ShapeDtypeStruct`s.
    for_: the devices to compile for, such as `"v5e"` or `("v5e", "v7x")`; v5e by default. For a dump, the device that it was made for.
    against: an earlier version, a function with the same arguments or a dump: the answer says what differs. If that version calls no kernel, the
        fusions of XLA's own code for it are compared.
    clock_ghz: the clock of the device: the answer has the least time that the bundles take.
    anyway: ask the compiler even if the blocks of a kernel alone need more VMEM than the kernel may use. Without it, the answer says so at once.

    Raises `ShapeError` if a program calls no kernel, or no device takes it.
    """
    devices = [for_] if isinstance(for_, str) else list(for_ or ())
    before = None if against is None else _version(against, args)
    source = _source(f)
    return kernels(_version(f, args), before, devices, anyway, clock_ghz, [] if source is None else [source])


def _version(f: Callable[..., Any] | str | os.PathLike[str], args: tuple[Any, ...]) -> bytes | str:
    """The program of a function, for the compiler; or the directory of a dump, unchanged."""
    if isinstance(f, (str, os.PathLike)):
        return os.fspath(f)
    if not callable(f) and not hasattr(f, "as_text"):
        raise TypeError(f"expected a function or the directory of a dump, found {f!r}")
    return str(lowered_for_tpu(f, args).as_text()).encode()


def _source(f: Any) -> tuple[str, str] | None:
    """The name and the text of the file that defines a function."""
    try:
        path = inspect.getsourcefile(inspect.unwrap(f))
        lines, _ = inspect.findsource(inspect.unwrap(f))
    except (OSError, TypeError):
        return None
    return None if path is None else (path, "".join(lines))
