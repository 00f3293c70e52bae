"""The best layouts of arrays that several programs share: `xla_shape.jax.tune`.

The functions that workers call need neither JAX nor the module `xla_shape.jax`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any

from . import Answer, Layout, ShapeError
from ._native import tune as _tune
from ._native import tune_answer, tune_jobs

__all__ = ["Tuned", "answer", "tune"]


def answer(program: bytes, request: bytes) -> bytes:
    """What a worker does: it compiles a program in a process of its own."""
    return tune_answer(program, request)


class Tuned:
    """The best layouts of shared arrays. `str()` is the text that `xla-shape tune` prints; a notebook shows its page."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        """What the program answers; `answer.data` is its JSON, `answer.html()` its page."""
        data = answer.data
        self.best: dict[str, Layout] = _layouts(data["best"])
        """The best layout of each array. Empty if all layouts that were tried exceed the limit."""
        self.memory: dict[str, str] = {name: found["memory"] for name, found in (data["best"] or {}).items() if "memory" in found}
        """The memory of each array for which one was asked."""
        self.advice: list[dict[str, Any]] | None = data["advice"]
        """Advice for each array, if the programs are compiled already; no compiler confirmed it."""
        self.today: dict[str, Layout] = _layouts(data["today"]["layouts"])
        """The layouts of the programs as they are. Empty if an array has different ones in different places."""
        self.keep: bool = data["keep"]
        """Whether the programs should stay as they are, because nothing better was found."""
        self.auto: list[str] = [] if data["best_entry"] is None else data["tried"][data["best_entry"]]["auto"]
        """The programs to compile with `Layout.AUTO` for the best result. The compiler then chooses the best layouts, but makes another
        program than of the layouts themselves: call what it made, with arrays in its `input_formats`."""
        self.tried: list[dict[str, Any]] = data["tried"]
        """All that was tried: `layouts`, `auto`, `taken`, `cycles`, `bytes`, `copies`, `programs`, `because`, `error`."""

    def format(self, name: str, sharding: Any) -> Any:
        """The best layout of an array with a sharding, as JAX's `Format`: for `jax.jit(in_shardings=…)` and `jax.device_put`."""
        from .jax import to_format

        if name not in self.best:
            raise ShapeError(f"no shared array is called {name!r}; expected one of: {', '.join(map(repr, self.best)) or 'none'}")
        if name in self.memory:
            sharding = sharding.with_memory_kind(self.memory[name])
        return to_format(self.best[name], sharding)

    def __str__(self) -> str:
        return str(self.answer)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.answer._repr_html_()


def _layouts(layouts: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Layout]:
    return {name: Layout(found["layout"]) for name, found in (layouts or {}).items()}


def tune(
    programs: Any,
    args: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    *,
    share: Mapping[str, str | Sequence[str]],
    for_: str = "v5e",
    weights: Mapping[str, int] | None = None,
    at_most_bytes: int | None = None,
    all: bool = False,
    tilings: bool = False,
    memory: Mapping[str, str | Sequence[str]] | None = None,
    compiles: int | None = None,
    executor: Executor | None = None,
    cache: str | os.PathLike[str] | bool = True,
    options: Mapping[str, Any] | None = None,
    plugin: str | os.PathLike[str] | None = None,
) -> Tuned:
    """Finds the best layouts of arrays that programs share, by compiling the programs ahead of time with many layouts; needs no TPU.

    programs: functions, jitted or not, with their names; or a dict of them by name; or one function. A program may also be what `lower` returned, or the
        text of its StableHLO. If all are compiled already (what `compile` returned, or the text of optimized modules), the answer is
        advice, without a compiler.
    args: the arguments of each function, such as `jax.ShapeDtypeStruct`s; for one function, its arguments.
    share: for each array its places, such as `"prefill:out1,decode:arg0"` or a list of them; the program's name may be left out if there
        is only one. `arg0['k']` is a part of the first argument, `arg0` stands for all of its parts, and `cache` for an argument that is
        passed by this name. `out1` is the second result. In a text, parameters and results are numbered as in its function `@main`.
    for_: a generation of TPUs, or a slice such as `"v5e:2x2"`.
    weights: how often a program runs, relative to the others.
    at_most_bytes: how much HBM a program may take.
    all: tries every combination of layouts.
    tilings: also tries other tiles of packed elements.
    memory: the memory in which an array is wanted, `"device"` or `"pinned_host"`, or both, the preferred one first. By default, it is
        where each program has it.
    compiles: stops after this many compilations, including those from the cache.
    executor: where compilers run: any executor of `concurrent.futures`, such as `dask.distributed.Client().get_executor()`. By default,
        as many compilers run on this machine as it has cores and memory for.
    cache: the folder for the compiler's answers, or False for none. By default, it is in the user's cache folder.
    options: options of the compiler.
    plugin: the PJRT plug-in with the compiler, whose code is run; by default, the installed libtpu.

    If the call is interrupted, the answers so far are in the cache, and the next call goes on from there.
    """
    found = _programs(programs, args)
    settings = {
        "device": for_,
        "share": [f"{name}={','.join(_numbered(places, found))}" for name, places in share.items()],
        "weights": list((weights or {}).items()),
        "memory": [(name, kinds if isinstance(kinds, str) else ",".join(kinds)) for name, kinds in (memory or {}).items()],
        "options": [(name, option_text(value)) for name, value in (options or {}).items()],
        "at_most_bytes": at_most_bytes,
        "compiles": compiles,
        "all": all,
        "tilings": tilings,
        "cache": cache,
        "plugin": plugin,
    }
    named = [(program.name, program.text.encode()) for program in found]
    with workers(executor) as run:
        tuned = Tuned(_tune(named, settings, run))
    if executor is not None and tuned.advice is not None:
        raise ShapeError("executor needs a compiler: expected StableHLO, found modules that are compiled already")
    return tuned


@contextmanager
def workers(executor: Executor | None) -> Iterator[Callable[[list[tuple[bytes, bytes]]], Iterator[tuple[int, bytes]]]]:
    """A function that runs compilers with an executor, by default with threads that each wait for one.

    It gets requests, each with the text of its program, and yields answers, each with the number of its request.
    """
    own = ThreadPoolExecutor(tune_jobs()) if executor is None else None
    used = own or executor
    assert used is not None

    def run(requests: list[tuple[bytes, bytes]]) -> Iterator[tuple[int, bytes]]:
        futures = {used.submit(answer, program, request): number for number, (program, request) in enumerate(requests)}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            for future in futures:
                future.cancel()

    try:
        yield run
    finally:
        if own is not None:
            own.shutdown(wait=False, cancel_futures=True)


def option_text(value: Any) -> str:
    """The value of an option, as the compiler writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Program:
    """A program, and the numbers of its parameters and results by their names."""

    def __init__(self, name: str, program: Any, args: Sequence[Any]) -> None:
        self.name = name
        self.places: dict[str, str | None] | None = None
        """The place in the text; `None` for an argument that the compiled program does not have. Without names, it is a text."""
        if isinstance(program, str):
            self.text = program
            return
        lowered = program
        if not hasattr(program, "as_text"):
            from ._compile import lowered_for_tpu

            lowered = lowered_for_tpu(program, args)
        self.text = lowered.as_text()
        # A compiled program has no StableHLO. Its parameters and results are numbered as in its own text.
        self.places = _places(lowered) if hasattr(lowered, "compiler_ir") else None


def _places(lowered: Any) -> dict[str, str | None]:
    """The names of the leaves of arguments and results, and where they are in the text."""
    from jax.tree_util import keystr, tree_flatten_with_path

    (main,) = [
        function for function in lowered.compiler_ir("stablehlo").body.operations
        if str(function.attributes["sym_name"]).strip('"') == "main"
    ]
    leaves = [path for path, _ in tree_flatten_with_path(lowered.args_info)[0]]
    # JAX has no public function that says which arguments it leaves out because they are not used.
    kept = lowered._lowering.compile_args.get("kept_var_idx")
    kept = sorted(range(len(leaves)) if kept is None else kept)
    # Parameters that JAX adds, such as constants, come first.
    first = len(main.type.inputs) - len(kept)
    places: dict[str, str | None] = {}
    for number, (part, which, *rest) in enumerate(leaves):
        name = f"arg{which.idx}" if part.idx == 0 else str(which.key)
        places[name + keystr(tuple(rest))] = f"arg{first + kept.index(number)}" if number in kept else None
    results = lowered.out_info
    if type(results) not in (tuple, list):
        results = (results,)
    for number, ((which, *rest), _) in enumerate(tree_flatten_with_path(results)[0]):
        places[f"out{which.idx}{keystr(tuple(rest))}"] = f"out{number}"
    return places


def _programs(programs: Any, args: Any) -> list[_Program]:
    if isinstance(programs, str) or callable(programs) or hasattr(programs, "as_text"):
        if isinstance(args, Mapping):
            raise ShapeError("expected the arguments of one program, found a mapping: it is for several programs with names")
        programs, args = [programs], None if args is None else [args]
    if isinstance(programs, Mapping):
        named = list(programs.items())
        every = [() if args is None else args.get(name, ()) for name, _ in named]
        unknown = set(args or ()) - set(programs)
        if unknown:
            raise ShapeError(f"there are arguments for {sorted(unknown)[0]!r}, but no such program")
    else:
        named = [(getattr(program, "__name__", f"program{number}"), program) for number, program in enumerate(programs)]
        every = [()] * len(named) if args is None else list(args)
        if len(every) != len(named):
            raise ShapeError(f"expected the arguments of {len(named)} programs, found {len(every)}")
    if not named:
        raise ShapeError("expected a program, found none")
    names = [name for name, _ in named]
    for name in names:
        if not re.fullmatch(r"\w[\w.-]*", name):
            raise ShapeError(f"a program cannot have the name {name!r}: give programs as a dict, with names of letters and digits")
        if names.count(name) > 1:
            raise ShapeError(f"several programs have the name {name!r}: give programs as a dict, with different names")
    return [_Program(name, program, list(given)) for (name, program), given in zip(named, every)]


def _numbered(places: str | Sequence[str], programs: list[_Program]) -> list[str]:
    """Places as the program writes them, such as `decode:arg4`."""
    names = {program.name: program for program in programs}
    found = []
    for place in places.split(",") if isinstance(places, str) else places:
        owner, colon, rest = place.strip().partition(":")
        if not (colon and owner in names):
            owner, rest = (programs[0].name, place.strip()) if len(programs) == 1 else ("", "")
        if not owner:
            raise ShapeError(f"expected a place such as {programs[0].name}:arg0, found {place!r}; the programs are {', '.join(names)}")
        known = names[owner].places
        if known is None:
            found.append(f"{owner}:{rest}")
            continue
        below = {name: number for name, number in known.items() if name == rest or name.startswith((f"{rest}[", f"{rest}."))}
        if not below:
            raise ShapeError(f"{owner} has no {rest!r}; it has {', '.join(known)}")
        for name, number in below.items():
            if number is None:
                raise ShapeError(f"{owner} does not use {name}, so the compiled program does not have it: jit it with keep_unused=True")
            found.append(f"{owner}:{number}")
    return found
