"""A pytest plug-in that records compiled programs, and fails a test if its program becomes worse.

    def test_step(xla_program):
        xla_program(jax.jit(step).lower(state, batch).compile())

`pytest --xla-shape-update` records the program beside the test, in the folder `__xla__`. Without this option, the program is compared
with the recorded one, as `xla-shape hlo diff` does. The pytest option `xla_shape_limits` says how much worse it may be; without it, the limits are
those of `xla-shape guard`.

    def test_claims(xla_claims):
        xla_claims(jax.jit(step).lower(state, batch).compile())

The claims are in a TOML file in the same folder, as `xla-shape guard expect` reads it. `pytest --xla-shape-update` writes a file that is missing, with the claims
that hold, and never changes one that is there.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ._errors import ShapeError
from ._native import Module

__all__ = ["pytest_addoption", "xla_claims", "xla_program"]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("xla-shape")
    group.addoption("--xla-shape-update", action="store_true", help="record compiled programs instead of comparing them")
    parser.addini("xla_shape_limits", "how much worse compiled programs may be than recorded ones, instead of the limits of `guard`", type="linelist")


@pytest.fixture
def xla_program(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compares a compiled program with the recorded one, or records it.

    `xla_program(compiled)`: if a test has several programs, give each a `name`. `limits` replaces the configured limits, such as
    `["memory>1MiB", "cycles>2%", "copies>0"]`.
    """
    seen: set[str] = set()

    def check(compiled: Any, name: str = "", *, limits: list[str] | None = None) -> None:
        if name in seen:
            raise ValueError(f"expected another name for each program of a test, found {name!r} again")
        seen.add(name)
        module = _module(compiled)
        path = _path(request, name)
        wanted: list[str] | None = list(request.config.getini("xla_shape_limits")) or None if limits is None else limits
        # Raises an error for invalid limits, also while recording.
        module.exceeded(module, wanted)
        if request.config.getoption("--xla-shape-update"):
            _write(path, gzip.compress(str(module).encode(), mtime=0))
            return
        if not path.exists():
            pytest.fail(f"{path}: no program is recorded: run pytest --xla-shape-update", pytrace=False)
        before = Module(gzip.decompress(path.read_bytes()))
        exceeded = before.exceeded(module, wanted)
        if exceeded:
            why = "\n".join(["the program is worse than the recorded one", *(f"  {limit}" for limit in exceeded)])
            pytest.fail(f"{why}\n\n{before.difference(module)}\n\nTo accept it: pytest --xla-shape-update", pytrace=False)

    return check


@pytest.fixture
def xla_claims(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Fails unless the claims about a compiled program hold.

    `xla_claims(compiled)`: if a test has several programs, give each a `name`. The file is `__xla__/TEST.toml` beside the test; `claims` names another one.
    """

    def check(compiled: Any, name: str = "", *, claims: str | os.PathLike[str] | None = None) -> None:
        path = _path(request, name).with_suffix("").with_suffix(".toml") if claims is None else Path(claims)
        module, analysis = _module(compiled), None
        if not isinstance(compiled, (Module, str, bytes)):
            from .jax import _analysis

            analysis = _analysis(compiled)
        if not path.exists():
            if not request.config.getoption("--xla-shape-update"):
                pytest.fail(f"{path}: there are no claims: run pytest --xla-shape-update, and keep those that must hold", pytrace=False)
            _write(path, module._claims(analysis).encode())
        try:
            answer = module._expect(path.read_text(encoding="utf-8"), analysis)
        except ShapeError as error:
            raise ShapeError(f"{path}: {error}") from None
        if not answer:
            pytest.fail(f"{path}\n\n{answer}", pytrace=False)

    return check


def _module(compiled: Any) -> Module:
    if isinstance(compiled, (Module, str, bytes)):
        return Module(compiled)
    from .jax import module

    return module(compiled)


def _path(request: pytest.FixtureRequest, name: str) -> Path:
    test = Path(request.node.path)
    words = [test.stem, request.node.name, *([name] if name else [])]
    file = ".".join(re.sub(r"[^\w=+-]+", "_", word) for word in words)
    return test.parent / "__xla__" / f"{file}.hlo.gz"


def _write(path: Path, contents: bytes) -> None:
    """Writes the file whole or not at all. The same program makes the same bytes."""
    path.parent.mkdir(exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_bytes(contents)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
