"""Checks the arguments and results of functions against their annotations: element types, sizes and layouts."""

from __future__ import annotations

import builtins
import collections.abc
import dataclasses
import functools
import inspect
import operator
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ForwardRef, TypeVar, overload

import jax
import jax.core
import numpy as np

from . import _native
from ._errors import ShapeError
from .ffi import _converted, _element_type, _Sizes, _text

__all__ = ["Arr", "Signature", "check_layouts", "checked", "signature_of"]

_F = TypeVar("_F", bound=Callable[..., Any])
# The classes of JAX's concrete arrays, collected as calls pass them. Making an array here would start JAX's backend.
_ARRAYS: set[type] = set()
_SCALARS = (bool, int, float, complex)
# The kinds of NumPy types that a Python number, or a weakly typed value, can be converted to.
_BECOMES = {"b": "b", "i": "ifc", "f": "fc", "c": "c"}


class Pattern:
    """The shapes that an annotation allows."""

    def __init__(self, text: str) -> None:
        self.wants = _native.array_pattern(text)

    def __repr__(self) -> str:
        return repr(self.wants["shape"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self.wants["shape"] == other.wants["shape"]

    def __hash__(self) -> int:
        return hash(self.wants["shape"])


if TYPE_CHECKING:
    from typing import Annotated as Arr
else:

    class Arr:
        """An annotation for arrays: `Arr[jax.Array, "bf16[rows,d]{1,0:T(8,128)(2,1)}"]`, or `Arr["bf16[rows,d]"]` for short.

        It is `Annotated[jax.Array, …]`. Type checkers read the first form. A size is a number, a name, a number times a name, `<=` and a
        bound, or `?`; `...` before the first size is any number of leading dimensions, and `*batch` stands for the same leading dimensions wherever
        it occurs. `float` and `int` are any element types of that kind, `key` is the keys of `jax.random`. Without a layout, every layout is
        accepted. See `checked`.
        """

        def __class_getitem__(cls, item: Any) -> Any:
            kind, text = item if isinstance(item, tuple) and len(item) == 2 else (jax.Array, item)
            if not isinstance(text, str):
                raise TypeError(f'expected Arr[jax.Array, "f32[rows,128]"], found Arr[{item!r}]')
            return typing.Annotated[kind, Pattern(text)]


# Called for each array of a call, with its place for messages, its pattern, and the array.
_Visit = Callable[[str, Pattern, Any], None]


class _Node:
    """A part of an annotation."""

    def visit(self, place: str, value: Any, do: _Visit) -> None:
        """Calls `do` for each array. Raises `TypeError` if the value has another structure."""
        raise NotImplementedError

    def patterns(self, place: str, seen: frozenset[int] = frozenset()) -> Iterator[tuple[str, Pattern]]:
        """All patterns, each with its place."""
        raise NotImplementedError


class _Leaf(_Node):
    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern

    def visit(self, place: str, value: Any, do: _Visit) -> None:
        do(place, self.pattern, value)

    def patterns(self, place: str, seen: frozenset[int] = frozenset()) -> Iterator[tuple[str, Pattern]]:
        yield place, self.pattern


class _Anything(_Node):
    """A value that is not checked, except for its class if there are other alternatives."""

    def __init__(self, *kinds: type) -> None:
        self.kinds = kinds or (object,)

    def visit(self, place: str, value: Any, do: _Visit) -> None:
        # The annotation `float` also accepts integers.
        if not isinstance(value, self.kinds) and not (float in self.kinds and isinstance(value, int)):
            raise _other(place, f"a value of type {' or '.join(kind.__name__ for kind in self.kinds)}", value)

    def patterns(self, place: str, seen: frozenset[int] = frozenset()) -> Iterator[tuple[str, Pattern]]:
        return iter(())


class _OneOf(_Node):
    def __init__(self, nodes: list[_Node], has_none: bool) -> None:
        self.nodes, self.has_none = nodes, has_none

    def visit(self, place: str, value: Any, do: _Visit) -> None:
        if value is None and self.has_none:
            return
        refusals = []
        for node in self.nodes:
            try:
                return node.visit(place, value, do)
            except TypeError as error:
                refusals.append(str(error))
        if not refusals:
            raise TypeError(f"{place}: expected None, found a value of type {type(value).__name__}")
        # List the alternatives, and why the value fits none of them. The function is named once.
        first, *others = refusals
        others = [other[max(other.find(place), 0) :] for other in others]
        if others and self.has_none:
            others.append("None")
        raise TypeError("\n  or ".join([first, *others]))

    def patterns(self, place: str, seen: frozenset[int] = frozenset()) -> Iterator[tuple[str, Pattern]]:
        for node in self.nodes:
            yield from node.patterns(place, seen)


class _Entries(_Node):
    """A list, or a mapping, of values of one kind."""

    def __init__(self, node: _Node, kind: Any, words: str) -> None:
        self.node, self.kind, self.words = node, kind, words

    def visit(self, place: str, value: Any, do: _Visit) -> None:
        if not isinstance(value, self.kind):
            raise _other(place, self.words, value)
        for key, entry in value.items() if isinstance(value, Mapping) else enumerate(value):
            self.node.visit(f"{place}[{key!r}]", entry, do)

    def patterns(self, place: str, seen: frozenset[int] = frozenset()) -> Iterator[tuple[str, Pattern]]:
        yield from self.node.patterns(f"{place}[…]", seen)


class _Tuple(_Node):
    def __init__(self, nodes: list[_Node]) -> None:
        self.nodes = nodes

    def visit(self, place: str, value: Any, do: _Visit) -> None:
        if not isinstance(value, (tuple, list)):
            raise _other(place, f"a tuple of {len(self.nodes)}", value)
        if len(value) != len(self.nodes):
            raise TypeError(f"{place}: expected {len(self.nodes)} values, found {len(value)}")
        for i, (node, entry) in enumerate(zip(self.nodes, value)):
            node.visit(f"{place}[{i}]", entry, do)

    def patterns(self, place: str, seen: frozenset[int] = frozenset()) -> Iterator[tuple[str, Pattern]]:
        for i, node in enumerate(self.nodes):
            yield from node.patterns(f"{place}[{i}]", seen)


class _Fields(_Node):
    """A dataclass, a named tuple, or a typed dictionary."""

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.is_dict = bool(typing.is_typeddict(kind))
        self.fields: dict[str, _Node] = {}

    def visit(self, place: str, value: Any, do: _Visit) -> None:
        if not isinstance(value, Mapping if self.is_dict else self.kind):
            raise _other(place, f"a {self.kind.__name__}", value)
        entries: Any = value
        if self.is_dict:
            self._same_keys(place, entries)
        for name, node in self.fields.items():
            if not self.is_dict:
                node.visit(f"{place}.{name}", getattr(value, name), do)
            elif name in entries:
                node.visit(f"{place}[{name!r}]", entries[name], do)

    def _same_keys(self, place: str, value: Mapping[Any, Any]) -> None:
        """Raises `TypeError` for a key that is missing, and for one that the typed dictionary does not have."""
        kind: Any = self.kind
        missing = [name for name in sorted(kind.__required_keys__) if name not in value]
        if missing:
            raise TypeError(f"{place}: expected the key {missing[0]!r} of {kind.__name__}, found {_listed(value)}")
        known = kind.__required_keys__ | kind.__optional_keys__
        extra = [name for name in value if name not in known]
        if extra:
            raise TypeError(f"{place}: expected the keys of {kind.__name__}, {_listed(sorted(known))}, found {extra[0]!r}")

    def patterns(self, place: str, seen: frozenset[int] = frozenset()) -> Iterator[tuple[str, Pattern]]:
        if id(self) in seen:
            return
        for name, node in self.fields.items():
            yield from node.patterns(f"{place}[{name!r}]" if self.is_dict else f"{place}.{name}", seen | {id(self)})


def _listed(keys: Iterable[Any]) -> str:
    return ", ".join(map(repr, keys)) or "no keys"


def _other(place: str, expected: str, value: Any) -> TypeError:
    return TypeError(f"{place}: expected {expected}, found a value of type {type(value).__name__}")


class _Reader:
    """Converts annotations to nodes."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = dict(names)
        self._classes: dict[type, _Node] = {}

    def node(self, annotation: Any, names: Mapping[str, Any]) -> _Node:
        """Raises `NameError` if the annotation uses a name that is not defined yet."""
        if isinstance(annotation, ForwardRef):
            annotation = annotation.__forward_arg__
        if isinstance(annotation, str):
            return self.node(eval(annotation, dict(names), self._names), names)  # noqa: S307: it is the user's own code
        if type(annotation).__name__ == "TypeAliasType":
            return self.node(annotation.__value__, names)
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is typing.Annotated:
            found = [entry for entry in annotation.__metadata__ if isinstance(entry, Pattern)]
            return _Leaf(found[0]) if found else self.node(arguments[0], names)
        if origin in (typing.Union, types.UnionType):
            has_none = type(None) in arguments
            nodes = [self._alternative(entry, names) for entry in arguments if entry is not type(None)]
            return _Anything() if all(isinstance(node, _Anything) for node in nodes) else _OneOf(nodes, has_none)
        if origin is typing.Literal:
            # The value itself is not checked: calls are remembered by the classes of arguments that are not arrays.
            return _Anything(*dict.fromkeys(map(type, arguments)))
        if origin in (typing.Required, typing.NotRequired, typing.ClassVar, typing.Final):
            return self.node(arguments[0], names)
        nodes = [self.node(entry, names) for entry in arguments if not isinstance(entry, (list, typing.TypeVar))]
        if isinstance(origin, type) and _is_record(origin):
            return self._fields(origin)
        if all(isinstance(node, _Anything) for node in nodes):
            return self._fields(annotation) if isinstance(annotation, type) and _is_record(annotation) else _Anything()
        if origin is tuple and arguments[-1:] != (...,):
            return _Tuple(nodes)
        if origin in (tuple, list, collections.abc.Sequence):
            return _Entries(nodes[0], (tuple, list), "a list or a tuple")
        if isinstance(origin, type) and issubclass(origin, Mapping) and len(nodes) == 2:
            return _Entries(nodes[1], Mapping, "a mapping")
        raise TypeError(f"expected arrays in lists, tuples, mappings or dataclasses, found {annotation!r}, which cannot be checked")

    def _alternative(self, annotation: Any, names: Mapping[str, Any]) -> _Node:
        node = self.node(annotation, names)
        return _Anything(annotation) if isinstance(node, _Anything) and isinstance(annotation, type) else node

    def _fields(self, kind: type) -> _Node:
        if kind in self._classes:
            return self._classes[kind]
        fields = self._classes[kind] = _Fields(kind)
        known = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else None
        for owner in reversed(kind.__mro__):
            names = vars(sys.modules.get(owner.__module__, builtins))
            for name, annotation in inspect.get_annotations(owner).items():
                if known is None or name in known:
                    node = self.node(annotation, names)
                    if not isinstance(node, _Anything):
                        fields.fields[name] = node
        if not fields.fields:
            self._classes[kind] = _Anything()
        return self._classes[kind]

    def forget(self) -> None:
        """Drops the names, which may keep large values alive."""
        self._names = {}


def _is_record(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) or typing.is_typeddict(kind) or issubclass(kind, tuple) and hasattr(kind, "_fields")


def _has_patterns(node: _Node) -> bool:
    return next(node.patterns(""), None) is not None


class _Position:
    """An argument or result of a compiled program."""

    def __init__(self, info: Any, format: Any) -> None:
        self.shape, self.dtype, self.format = tuple(info.shape), info.dtype, format


class Signature:
    """The checked annotations of a function."""

    def __init__(self, function: Callable[..., Any], names: Mapping[str, Any], tpu: str | None = None, constrain: bool = False) -> None:
        # The name of a method includes its class.
        self.name = getattr(function, "__qualname__", repr(function)).rpartition("<locals>.")[2]
        self.tpu, self.constrain = tpu, constrain
        if tpu is not None:
            # Raises an error if the name of the TPU is not known.
            _native.default_layout(tpu, "f32[]")
        self._signature = inspect.signature(function)
        inner = inspect.unwrap(function)
        self._globals: dict[str, Any] = getattr(inner, "__globals__", {})
        self._reader = _Reader(names)
        self._nodes: dict[str, _Node] = {}
        # Annotations with names that are not yet defined are read at the first call.
        self._later: dict[str, Any] = {}
        for name, parameter in self._signature.parameters.items():
            self._read(name, parameter.annotation)
        self._read("return", self._signature.return_annotation)
        if not self._later:
            self._reader.forget()

    def _read(self, name: str, annotation: Any, again: bool = False) -> None:
        if annotation is inspect.Parameter.empty:
            return
        try:
            node = self._reader.node(annotation, self._globals)
        except NameError:
            if again:
                raise
            self._later[name] = annotation
        except (TypeError, ShapeError) as error:
            where = "result" if name == "return" else f"argument {name}"
            error.add_note(f"This is the annotation of {where} of {self.name}.")
            raise
        else:
            if _has_patterns(node):
                self._nodes[name] = node

    def nodes(self) -> dict[str, _Node]:
        """The annotations with patterns, by the names of parameters, and `return`."""
        while self._later:
            name, annotation = next(iter(self._later.items()))
            self._read(name, annotation, again=True)
            self._later.pop(name, None)
            if not self._later:
                self._reader.forget()
        return self._nodes

    def patterns(self) -> list[tuple[str, Pattern]]:
        """The pattern of each array, by its place, such as `params['w']` or `result`."""
        return [entry for name, node in self.nodes().items() for entry in node.patterns("result" if name == "return" else name)]

    def sizes(self) -> _Sizes:
        return _Sizes(self.name, "this function takes", "the call has")

    def places(self) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
        """A function that selects the checked arguments of a call."""
        if self._later:
            return lambda args, kwargs: (*args, kwargs)
        parameters = list(self._signature.parameters.values())
        if any(p.name in self._nodes for p in parameters if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)):
            return lambda args, kwargs: (*args, kwargs)
        names = [p.name for p in parameters if p.name in self._nodes]
        numbers = [i for i, p in enumerate(parameters) if p.name in self._nodes and p.kind != p.KEYWORD_ONLY]
        if numbers == list(range(len(parameters))):
            return lambda args, kwargs: (*args, {name: kwargs[name] for name in names if name in kwargs}) if kwargs else args

        def some(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            seen = [args[i] for i in numbers if i < len(args)]
            return (*seen, {name: kwargs[name] for name in names if name in kwargs}) if kwargs else seen

        return some

    def fit_arguments(self, sizes: _Sizes, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        nodes = self.nodes()
        try:
            bound = self._signature.bind(*args, **kwargs).arguments
        except TypeError:
            # Calling the function reports what is wrong.
            return
        for name, value in bound.items():
            if name in nodes:
                self._walk(sizes, nodes[name], self._signature.parameters[name].kind, f"argument {name}", value)

    def _walk(self, sizes: _Sizes, node: _Node, kind: Any, place: str, value: Any) -> None:
        if kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            node = _Entries(node, (tuple, dict), "arguments")
        self._visit(node, place, value, functools.partial(self._fit, sizes))

    def fit_result(self, sizes: _Sizes, value: Any) -> None:
        node = self.nodes().get("return")
        if node is not None:
            sizes = sizes.copy()
            sizes.takes, sizes.has = "this function returns", "the call returned"
            self._visit(node, "result", value, functools.partial(self._fit, sizes))

    def _visit(self, node: _Node, place: str, value: Any, do: _Visit) -> None:
        try:
            node.visit(place, value, do)
        except TypeError as error:
            message = str(error)
            raise TypeError(message if message.startswith(f"{self.name}: ") else f"{self.name}: {message}") from None

    def _fit(self, sizes: _Sizes, place: str, pattern: Pattern, value: Any) -> None:
        sizes.fit(place, pattern.wants, *_shape_and_type(place, pattern, value))

    def constrained(self, name: str, value: Any) -> Any:
        """The value, with its arrays constrained to the layouts of the annotation."""
        node = self.nodes().get(name)
        if node is None:
            return value
        wanted: dict[int, Pattern] = {}
        def keep(place: str, pattern: Pattern, leaf: Any) -> None:
            wanted[id(leaf)] = pattern

        self._visit(node, name, value, keep)
        return jax.tree.map(lambda leaf: self._constrained(wanted.get(id(leaf)), leaf), value)

    def _constrained(self, pattern: Pattern | None, leaf: Any) -> Any:
        from jax.experimental.layout import with_layout_constraint

        from .jax import to_layout

        layout = None if pattern is None or not isinstance(leaf, jax.core.Tracer) else self.layout(pattern, leaf)
        return leaf if layout is None else with_layout_constraint(leaf, to_layout(layout))

    def layout(self, pattern: Pattern, x: Any) -> Any:
        """The layout that an array must have, or `None`."""
        if pattern.wants["layout"] is not None or self.tpu is None:
            return pattern.wants["layout"]
        return _native.default_layout(self.tpu, x.dtype, x.shape)

    def check(self, compiled: Any, static_argnames: tuple[str, ...] | None = None) -> None:
        """Checks a compiled program: see `check_layouts`."""
        arguments, named = _positions(compiled.args_info, compiled.input_formats)
        names = self._dynamic(len(arguments), named, static_argnames)
        sizes, wrong = self.sizes(), list[str]()
        sizes.has = "the program has"

        def fit(sizes: _Sizes, place: str, pattern: Pattern, x: Any) -> None:
            sizes.fit(place, pattern.wants, x.shape, x.dtype)
            wrong.extend(self._wrong_layout(place, pattern, x))

        for name, value in [*zip(names, arguments), *named.items()]:
            if name in self.nodes():
                self._visit(self.nodes()[name], f"argument {name}", value, functools.partial(fit, sizes))
        if "return" in self.nodes():
            results = _positions(compiled.out_info, compiled.output_formats)
            sizes.takes = "this function returns"
            self._visit(self.nodes()["return"], "result", results, functools.partial(fit, sizes))
        if wrong:
            raise TypeError("\n".join(f"{self.name}: {message}" for message in wrong))

    def _wrong_layout(self, place: str, pattern: Pattern, x: Any) -> Iterator[str]:
        from .jax import from_layout

        layout = self.layout(pattern, x)
        # The compiler drops arguments that nothing reads.
        if layout is None or getattr(x.format, "layout", None) is None:
            return
        found = from_layout(x.format)
        if found != layout:
            yield f"{place}: expected the layout {layout} for {_text(x.shape, x.dtype)}, the program has {found}"

    def _dynamic(self, count: int, named: Mapping[str, Any], static: tuple[str, ...] | None) -> list[str]:
        """The parameters of the program's arguments by position: all but static ones, which the program does not have."""
        by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = self._signature.parameters
        names = [name for name, parameter in parameters.items() if parameter.kind in by_position and name not in named]
        if static is not None:
            return [name for name in names if name not in static]
        # Either all arguments that are not arrays are static, or none is static and the last arguments are left at their defaults.
        arrays = [name for name in names if name in self.nodes()]
        possible = [arrays] if len(arrays) == count else []
        if all(parameters[name].default is not inspect.Parameter.empty for name in names[count:]):
            possible.append(names[:count])
        if not possible or possible[0] != possible[-1]:
            raise ShapeError(f"{self.name}: expected the names of the static arguments: say them with static_argnames=…")
        return possible[0]


def _positions(infos: Any, formats: Any) -> Any:
    """The tree of a program's arguments or results."""
    leaves, tree = jax.tree.flatten(infos, is_leaf=lambda x: hasattr(x, "dtype"))
    found = jax.tree.leaves(formats, is_leaf=lambda x: hasattr(x, "layout"))
    return jax.tree.unflatten(tree, [_Position(info, format) for info, format in zip(leaves, found, strict=True)])


def _shape_and_type(place: str, pattern: Pattern, value: Any) -> tuple[tuple[Any, ...], Any]:
    """The sizes of an array, and its type. If the type is weak and converts to the type of the pattern, it is the type of the pattern."""
    is_number = type(value) in _SCALARS
    if not is_number and not (hasattr(value, "shape") and hasattr(value, "dtype")):
        raise TypeError(f"{place}: expected an array, found a value of type {type(value).__name__}")
    found = jax.numpy.result_type(value) if is_number else value.dtype
    if isinstance(value, (np.ndarray, np.generic)):
        found = jax.dtypes.canonicalize_dtype(found)
    shape = () if is_number else tuple(value.shape)
    if is_number or getattr(value, "weak_type", False):
        wanted = _converted(pattern.wants["element_type"], found)
        if _kind(wanted) in _BECOMES.get(_kind(found), ""):
            return shape, wanted
    return shape, found


def _kind(dtype: Any) -> str:
    """NumPy's letter for the kind of a type; those of `ml_dtypes` are integers or floats, too."""
    if jax.numpy.issubdtype(dtype, np.integer):
        return "i"
    return "f" if jax.numpy.issubdtype(dtype, np.floating) else str(dtype.kind)


def _key(values: Any) -> Any:
    """A key for everything that a check depends on; `None` if that is not known."""
    kinds: list[Any] = []
    for x in values:
        kind: Any = type(x)
        if kind in _ARRAYS:
            x = x.aval
            kinds.append((x.shape, x.dtype, x.weak_type))
        elif kind is np.ndarray:
            kinds.append((x.shape, x.dtype))
        elif kind in _SCALARS or x is None or kind is str:
            kinds.append(kind)
        elif kind is tuple or kind is list:
            inner = _key(x)
            if inner is None:
                return None
            kinds.append((kind, inner))
        elif kind is dict:
            inner = _key(x.values())
            if inner is None:
                return None
            kinds.append((kind, tuple(x), inner))
        elif (fields := _record_fields(kind)) is not None:
            try:
                inner = _key(fields(x))
            except (AttributeError, RecursionError):
                # A field is missing, or a value contains itself in a field that is perhaps not checked.
                inner = None
            if inner is None:
                return None
            kinds.append((kind, inner))
        elif isinstance(x, jax.Array) and not isinstance(x, jax.core.Tracer):
            _ARRAYS.add(kind)
            return _key(values)
        elif isinstance(x, (tuple, list, Mapping)) or _may_be_array(x):
            # Another container, or another kind of array.
            return None
        else:
            # A function, a type or an enumeration: the check of such a value depends only on its class.
            kinds.append(kind)
    return tuple(kinds)


def _may_be_array(x: Any) -> bool:
    try:
        return hasattr(x, "shape") and hasattr(x, "dtype")
    except Exception:
        # A property of the user's class fails. It is read again only if the value must be an array.
        return True


@functools.lru_cache(maxsize=1024)
def _record_fields(kind: type) -> Callable[[Any], Iterable[Any]] | None:
    """A function that reads the fields of a dataclass or a named tuple, so that its values are checked; `None` for another class."""
    if not dataclasses.is_dataclass(kind):
        return tuple if issubclass(kind, tuple) and hasattr(kind, "_fields") else None
    names = [field.name for field in dataclasses.fields(kind)]
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda x: [getattr(x, name) for name in names]


# How many different calls of a function are cached.
_REMEMBERED = 256


@overload
def checked(function: _F, /) -> _F: ...
@overload
def checked(*, tpu: str | None = None, constrain: bool = False) -> Callable[[_F], _F]: ...
def checked(function: Any = None, /, *, tpu: str | None = None, constrain: bool = False) -> Any:
    """Checks the arrays of a function's calls against its annotations. Under `jax.jit`, that happens while tracing, so compiled calls cost nothing.

        @jax.jit
        @checked
        def f(x: Arr[jax.Array, "bf16[rows,d]"], gain: Arr[jax.Array, "f32[d]"]) -> Arr[jax.Array, "bf16[rows,d]"]: ...

    A name stands for the same size wherever it occurs. Arrays may be in lists, tuples, mappings, dataclasses, named tuples and typed
    dictionaries; `Arr[…] | None` also accepts `None`. Python numbers and weakly typed values are accepted if JAX would convert them.
    Under `jax.vmap` and `jax.grad`, the check applies to the arrays that the function sees.

    tpu: arrays without a layout in their annotation have the default layout of this generation of TPUs.
    constrain: while tracing, requests the layouts of the annotations with `with_layout_constraint`. Without it, layouts are not requested;
        `check_layouts` and the function's attribute `check` compare them with those of a compiled program.

    Raises `TypeError` for calls that do not match. Where the function is defined, raises `ShapeError` or `TypeError` for annotations that
    are not valid. Annotations without `Arr` are ignored.
    """
    frame = sys._getframe(1)
    names = frame.f_locals if frame.f_locals is not frame.f_globals else {}
    if function is None:
        return lambda function: _checked(function, names, tpu, constrain)
    return _checked(function, names, tpu, constrain)


def _checked(function: Callable[..., Any], names: Mapping[str, Any], tpu: str | None, constrain: bool) -> Any:
    signature = Signature(function, names, tpu, constrain)
    known: dict[Any, _Sizes] = {}
    good: set[Any] = set()
    places = signature.places()

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            seen = places(args, kwargs)
            key = _key(seen)
            sizes = known.get(key)
        except TypeError:
            # The key cannot be hashed, for example because of a dictionary's keys.
            key = sizes = None
        if sizes is None:
            sizes = signature.sizes()
            signature.fit_arguments(sizes, args, kwargs)
            if key is not None:
                if len(known) >= _REMEMBERED:
                    known.clear()
                known[key] = sizes
        if constrain:
            args, kwargs = _constrained(signature, args, kwargs)
        result = function(*args, **kwargs)
        both = None if key is None else (key, _key((result,)))
        if both is None or both[1] is None or both not in good:
            signature.fit_result(sizes, result)
            if both is not None and both[1] is not None:
                if len(good) >= _REMEMBERED:
                    good.clear()
                good.add(both)
        return signature.constrained("return", result) if constrain else result

    setattr(call, "check", signature.check)
    setattr(call, "__xla_shape__", signature)
    return call


def _constrained(signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    bound = signature._signature.bind(*args, **kwargs)
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for name, value in bound.arguments.items():
        if signature._signature.parameters[name].kind not in kinds:
            bound.arguments[name] = signature.constrained(name, value)
    return bound.args, bound.kwargs


def signature_of(function: Any) -> Signature:
    """The annotations of a function, which need not be `checked`."""
    found = getattr(function, "__xla_shape__", None)
    return found if isinstance(found, Signature) else Signature(function, {})


def check_layouts(function: Any, compiled: Any, *, static_argnames: tuple[str, ...] | None = None) -> None:
    """Raises `TypeError` unless a compiled program has the element types, sizes and layouts of the function's annotations.

        check_layouts(f, f.lower(x, gain).compile())        # or f.check(compiled)

    Arguments that the compiler drops, because nothing reads them, have no layout. The names of static arguments are only needed where
    the annotations do not show which arguments are arrays.
    """
    signature_of(function).check(compiled, static_argnames)
