"""What the TPU compiler made of Pallas kernels."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from . import Answer, ShapeError
from ._compile import lowered_for_tpu, why_no_answer
from ._native import kernels

_Dump = tuple[str | None, str | None, str]


def kernel(
    f: Callable[..., Any] | str | os.PathLike[str],
    *args: Any,
    for_: str | Sequence[str] | None = None,
    against: Callable[..., Any] | str | os.PathLike[str] | None = None,
    clock_ghz: float | None = None,
) -> Answer:
    """What the compiler made of the Pallas kernels of a function: see `xla-shape kernel`. A notebook shows it as a page.

    f: a function with these arguments, which is compiled with libtpu (`pip install libtpu`), without a TPU; or the directory of a dump.
    args: arrays or `jax.ShapeDtypeStruct`s.
    for_: the devices to compile for, such as `"v5e"` or `("v5e", "v7x")`; v5e by default. For a dump, the device that it was made for.
    against: an earlier version, a function with the same arguments or a dump: the answer says what differs. If it calls no kernel, its fusions are
        compared: XLA's own code of the same computation.
    clock_ghz: the clock of the device: the answer has the least time that the bundles take.

    Raises `ShapeError` if a program calls no kernel, or no device takes it.
    """
    with tempfile.TemporaryDirectory(prefix="xla-shape-") as folder:
        dumps, refused = _dumps(f, args, for_, os.path.join(folder, "after"))
        before = None
        if against is not None:
            before, more = _dumps(against, args, for_, os.path.join(folder, "before"), may_lack_kernels=True)
            refused += [(device, f"before the change: {message}") for device, message in more]
        source = _source(f)
        return kernels(dumps, before, refused, clock_ghz, [] if source is None else [source])


def _dumps(
    f: Callable[..., Any] | str | os.PathLike[str],
    args: tuple[Any, ...],
    for_: str | Sequence[str] | None,
    folder: str,
    may_lack_kernels: bool = False,
) -> tuple[list[_Dump], list[tuple[str, str]]]:
    """The dumps of a function for each device, and the devices that refused it with the reasons."""
    devices = [for_] if isinstance(for_, str) else list(for_ or ())
    if isinstance(f, (str, os.PathLike)):
        if len(devices) > 1:
            raise ShapeError(f"a dump is of one device, found {len(devices)} in for_")
        return [(None, devices[0].split(":")[0] if devices else None, os.fspath(f))], []
    if not callable(f) and not hasattr(f, "as_text"):
        raise TypeError(f"expected a function or the directory of a dump, found {f!r}")
    program = lowered_for_tpu(f, args).as_text()
    os.mkdir(folder)
    text = os.path.join(folder, "program.mlir")
    with open(text, "w", encoding="utf-8") as file:
        file.write(program)
    kept = os.path.join(folder, "dumps")
    command = [sys.executable, "-P", "-m", "xla_shape", "kernel", text, "--keep", kept, "--format", "json"]
    if devices:
        command += ["--for", ",".join(devices)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        raise ShapeError(why_no_answer(done)) from None
    refused = [(error["for"], error["message"]) for error in answer["errors"]]
    found = dict.fromkeys(entry["for"] for entry in answer["kernels"])
    if not found and may_lack_kernels:
        # XLA's own code of the same computation has no kernels, but it has dumps. The compiler's other errors stay.
        found = dict.fromkeys(name for name, message in refused if message.startswith("the compiler dumped no kernel"))
        refused = [(name, message) for name, message in refused if name not in found]
    if not found:
        raise ShapeError("; ".join(f"{device}: {message}" for device, message in refused))
    return [(name, name.split(":")[0], os.path.join(kept, name.replace(":", "_"))) for name in found], refused


def _source(f: Any) -> tuple[str, str] | None:
    """The name and the text of the file that defines a function."""
    try:
        path = inspect.getsourcefile(inspect.unwrap(f))
        lines, _ = inspect.findsource(inspect.unwrap(f))
    except (OSError, TypeError):
        return None
    return None if path is None else (path, "".join(lines))
