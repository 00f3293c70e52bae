"""Which settings of a program fit: `xla_shape.jax.fit`. `_blocks.py` makes its programs in the same way."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import islice
from typing import Any

from . import Answer, ShapeError
from ._native import fit as _fit
from ._native import fit_most, generation
from ._tune import option_text, workers

__all__ = ["Program", "fit", "name_of", "values_of"]


def fit(
    function: Callable[..., Any],
    arguments: Sequence[Any] | Callable[..., Sequence[Any]],
    *,
    over: Mapping[str, Sequence[Any]] | None = None,
    for_: str | Sequence[str] | None = None,
    ascending: Sequence[str] | None = None,
    executor: Executor | None = None,
    cache: str | os.PathLike[str] | bool = True,
    plugin: str | os.PathLike[str] | None = None,
) -> Answer:
    """Finds which settings of a program fit, and what would have to go, by compiling it ahead of time; needs no TPU and no GPU.

        fit(step, lambda batch: (params, jax.ShapeDtypeStruct((batch, 1024), "int32")),
            over={"batch": range(8, 257, 8), "remat": [False, True]}, for_=["v5e:2x4", "v6e:2x2"])

    function: jitted or not. It gets the axes that it takes by name: as static arguments if it is jitted.
    arguments: its arguments, such as `jax.ShapeDtypeStruct`s; or a function that makes them from axes, which it gets by name.
    over: the values of each axis. `"for"` is the device, `"options"` a dict of options of the compiler; a value of `"mesh"` may be a dict of
        the sizes of axes by name, which becomes a `jax.sharding.AbstractMesh`.
    for_: the device or the devices, as `over["for"]`; v5e if neither is given.
    ascending: the axes whose values are in ascending order of the memory that they need. On the longest of these axes, only the values around the
        border are compiled, for each combination of the other axes. By default, these are the axes of ascending whole numbers. If no value that was
        compiled fits, the last value is tried, too: if it fits, the memory falls along the axis, and all values are compiled.
    executor: where compilers run: any executor of `concurrent.futures`. By default, as many compilers run on this machine as it has cores
        and memory for.
    cache: the folder for the compiler's answers, or False for none. By default, it is in the user's cache folder.
    plugin: the PJRT plug-in with the compiler, whose code is run; by default, the one that is installed.

    The text of the answer is that of `xla-shape fit`; `answer.data["borders"]` has the largest values that fit, `answer.data["rows"]` all that was
    compiled. `bool()` tells whether anything fits. What the compiler refuses, and what JAX cannot trace, is a row with its reason.

    If the call is interrupted, the answers so far are in the cache, and the next call goes on from there.
    """
    settings = {name: values_of(name, values) for name, values in (over or {}).items()}
    if for_ is not None:
        if "for" in settings:
            raise ShapeError('the devices are given twice: as `for_` and as `over["for"]`')
        settings["for"] = values_of("for", for_)
    settings.setdefault("for", ["v5e"])
    for name, kind, expected in (("for", str, "the names of devices, such as 'v5e:2x2'"), ("options", Mapping, "dicts of options, such as {'name': True}")):
        for value in settings.get(name, ()):
            if not isinstance(value, kind):
                raise ShapeError(f"the axis {name!r}: expected {expected}, found {value!r}")
    if isinstance(ascending, str) or not isinstance(ascending or (), Iterable):
        raise ShapeError(f"ascending: expected a list of axes, such as ['batch'], found {ascending!r}")
    program = Program(function, arguments, [name for name in settings if name not in ("for", "options")])
    names = list(settings)
    unknown = [name for name in ascending or () if name not in settings]
    if unknown:
        raise ShapeError(f"no axis is called {unknown[0]!r}; expected one of: {', '.join(names)}")
    bisected = [name in ascending if ascending is not None else _ascends(settings[name]) for name in names]

    def make(at: tuple[int, ...]) -> tuple[bytes, str, list[tuple[str, str]]]:
        values = {name: settings[name][number] for name, number in zip(names, at)}
        device = values.pop("for")
        options = [(name, option_text(value)) for name, value in (values.pop("options", None) or {}).items()]
        return program.text("tpu" if generation(device.partition(":")[0]) else "cuda", values), device, options

    axes = [(name, [name_of(value) for value in settings[name]], along) for name, along in zip(names, bisected)]
    with workers(executor) as run:
        return _fit(axes, make, run, cache, plugin)


class Program:
    """Makes the text of a function with the values of axes."""

    def __init__(self, function: Callable[..., Any], arguments: Any, names: list[str]) -> None:
        self.function, self.arguments = function, arguments
        self.of_arguments = _taken(arguments, names) if callable(arguments) else []
        # If `arguments` takes an axis, such as `batch`, the function's argument of that name is not the axis: it is what `arguments` makes from it.
        self.of_function = _taken(function, names, self.of_arguments)
        for name in names:
            if name not in self.of_function + self.of_arguments:
                raise ShapeError(f"nobody takes the axis {name!r}: it must be an argument of the function, or of the function that makes its arguments")
        self.texts: dict[tuple[str, ...], bytes] = {}

    def text(self, platform: str, values: dict[str, Any]) -> bytes:
        key = (platform, *map(name_of, values.values()))
        if key not in self.texts:
            self.texts[key] = self.traced(values).lower(lowering_platforms=(platform,)).as_text(debug_info=True).encode()
        return self.texts[key]

    def traced(self, values: dict[str, Any]) -> Any:
        """The function with these values, as JAX traced it."""
        values = {name: _mesh(value) if name == "mesh" else value for name, value in values.items()}
        named = {name: values[name] for name in self.of_function}
        arguments = self.arguments
        if callable(arguments):
            arguments = arguments(**{name: values[name] for name in self.of_arguments})
        return _traced(self.function, arguments, named)


def _traced(function: Any, arguments: Sequence[Any], named: dict[str, Any]) -> Any:
    from ._compile import traced

    if named and hasattr(function, "trace"):
        return function.trace(*arguments, **named)
    return traced(partial(function, **named) if named else function, arguments)


def _taken(function: Callable[..., Any], names: list[str], only_keyword: Sequence[str] = ()) -> list[str]:
    """Which of these arguments a function takes by name. Those in `only_keyword` count only if they cannot be passed by position."""
    kinds = {one.name: one.kind for one in inspect.signature(function).parameters.values()}
    keyword, either = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [name for name in names if kinds.get(name) == keyword or (kinds.get(name) == either and name not in only_keyword)]


def values_of(name: str, values: Any) -> list[Any]:
    """The values of an axis, as a list; a `str` is one value. Stops reading an iterable as soon as there are too many values."""
    if isinstance(values, str):
        return [values]
    if isinstance(values, Mapping) or not isinstance(values, Iterable):
        raise ShapeError(f"the axis {name!r}: expected a list of values, such as [{values!r}], found {values!r}")
    return list(islice(values, fit_most + 1))


def _ascends(values: list[Any]) -> bool:
    numbers = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
    return len(values) > 1 and numbers and all(one < other for one, other in zip(values, values[1:]))


def _mesh(value: Any) -> Any:
    import jax

    return jax.sharding.AbstractMesh(tuple(value.values()), tuple(value)) if isinstance(value, Mapping) else value


def name_of(value: Any) -> str:
    """A value, as rows show it."""
    if isinstance(value, Mapping):
        return ",".join(f"{name}={option_text(one)}" for name, one in value.items()) or "none"
    return getattr(value, "__name__", None) or option_text(value)
