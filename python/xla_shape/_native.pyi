"""What the native part of the package has; `xla_shape` hands out the public part of it."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, final, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer as _BytesLike

__all__ = [
    "Answer",
    "Buffer",
    "Instruction",
    "Layout",
    "Module",
    "Shape",
    "Sharding",
    "__version__",
    "advise",
    "bitcast",
    "buffer_of_capsule",
    "byte_size",
    "default_layout",
    "element_types",
    "explain",
    "linear_index",
    "linear_indices",
    "main",
    "multi_indices",
    "padding",
    "read",
    "relayout",
    "relayout_file",
    "relayout_into",
    "shard_file",
    "shard_files",
    "shard_index",
    "write",
]

__version__: str
element_types: tuple[str, ...]

_Path = str | os.PathLike[str]
_Out = TypeVar("_Out", bound=_BytesLike)
_Integers = int | npt.NDArray[np.integer[Any]]

@final
class Shape:
    """A shape: XLA's text for it, such as `bf16[8,128]{1,0:T(8,128)(2,1)}`. A missing layout is row-major.

    Equal if all of it is equal. What only arrays have is a `ShapeError` for tuples and tokens.
    """

    def __new__(cls, text: str | Shape, /) -> Shape:
        """Reads a text. A `ParseError` points at what is wrong."""

    @staticmethod
    def of(
        element_type: Any,
        dimensions: Sequence[int],
        layout: str | Layout | None = None,
        *,
        dynamic_dimensions: Sequence[bool] | None = None,
    ) -> Shape:
        """An array's shape of its parts: the element type by XLA's name or NumPy's, the sizes, the layout.

        A size of -1 is unbounded. Where `dynamic_dimensions` says so, a size is a bound: the real one is known at run time.
        """

    @staticmethod
    def tuple_of(elements: Sequence[str | Shape]) -> Shape:
        """A tuple of shapes."""

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""

    @property
    def is_tuple(self) -> bool:
        """Whether it is a tuple."""

    @property
    def tuple_shapes(self) -> tuple[Shape, ...]:
        """The elements of a tuple."""

    @property
    def element_type(self) -> str:
        """XLA's name of the element type, such as `bf16`."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's element type; some come from the package `ml_dtypes`."""

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The sizes: of a bounded dimension its bound, of an unbounded one -1."""

    @property
    def dynamic_dimensions(self) -> tuple[bool, ...]:
        """Whether each size can change at run time."""

    @property
    def num_dimensions(self) -> int:
        """How many dimensions there are."""

    @property
    def layout(self) -> Layout:
        """The layout."""

    @property
    def elements(self) -> int:
        """How many elements there are."""

    @property
    def byte_size(self) -> int:
        """The bytes that it takes, padding included; of a tuple, those of its elements."""

    @property
    def unpadded_byte_size(self) -> int:
        """The bytes that it would take without padding."""

    @property
    def padding(self) -> int:
        """The bytes of padding."""

    @property
    def expansion(self) -> float:
        """How many times as many bytes it takes as it would without padding."""

    @property
    def padded_dimensions(self) -> tuple[tuple[tuple[int, ...], int, int], ...]:
        """Of each dimension, or several that a tile combines: which they are, their size, and their size with padding."""

    @overload
    def linear_index(self, index: Sequence[int], /) -> int: ...
    @overload
    def linear_index(
        self, index: npt.NDArray[np.integer[Any]] | Sequence[npt.NDArray[np.integer[Any]]], /
    ) -> npt.NDArray[np.int64]:
        """The position of an element in memory, in elements.

        Of a tuple of arrays, one for each dimension, or of an array with an index in its last dimension: the positions of all.
        What is out of bounds is an `OutOfBoundsError`.
        """

    @overload
    def multi_index(self, position: int, /) -> tuple[int, ...] | None: ...
    @overload
    def multi_index(self, position: npt.NDArray[np.integer[Any]], /) -> npt.NDArray[np.int64]:
        """The index of the element at a position; `None` for padding. Of an array of positions, an index of each in the last
        dimension, of -1 for padding."""

    def with_layout(self, layout: str | Layout, /) -> Shape:
        """The same array in another layout."""

    def with_default_layout(self, generation: str, /) -> Shape:
        """The same in the layouts that a generation of TPUs, such as `v5e`, gives it."""

    def advise(self, generation: str | None = None, *, what_if: Sequence[str] = (), top: int = 10) -> Answer:
        """Which layouts take the fewest bytes on a TPU. `what_if` changes sizes first: `1=128`, or `0,1` to swap two."""

    def bitcast(self, to: str | Shape, /) -> Answer:
        """Whether it can be read as the other without a copy, and why; `bool()` of the answer says it."""

    def explain(self, sharding: str | Sharding | None = None) -> Answer:
        """What the text means, where the elements are, and what it takes; of a sharding, what each device has."""

    def draw(self) -> Answer:
        """A picture of where the elements are."""

    def _repr_svg_(self) -> str | None: ...
    def _repr_html_(self) -> str | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Layout:
    """A layout: XLA's text for it, such as `{1,0:T(8,128)(2,1)}`."""

    def __new__(cls, text: str | Layout, /) -> Layout:
        """Reads a text. A `ParseError` points at what is wrong."""

    @staticmethod
    def of(
        minor_to_major: Sequence[int],
        tiles: Sequence[Sequence[int | None]] = (),
        *,
        element_size_in_bits: int = 0,
        memory_space: int = 0,
    ) -> Layout:
        """A layout of its parts. `None` in a tile stands for `*`."""

    @property
    def minor_to_major(self) -> tuple[int, ...]:
        """The dimensions, the one that changes first in memory first."""

    @property
    def major_to_minor(self) -> tuple[int, ...]:
        """The dimensions, the one that changes first in memory last."""

    @property
    def tiles(self) -> tuple[tuple[int | None, ...], ...]:
        """The tiles; `None` is `*`."""

    @property
    def element_size_in_bits(self) -> int:
        """How many bits a packed element takes, or 0."""

    @property
    def memory_space(self) -> int:
        """The number of the memory space; 0 is the default one."""

    @property
    def tail_padding_alignment_in_elements(self) -> int:
        """The number of elements is padded to a multiple of this."""

    @property
    def num_dimensions(self) -> int:
        """How many dimensions there are."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Sharding:
    """How an array is divided among devices: XLA's text for it, such as `{devices=[4,2]<=[8]}`, or MLIR's or JAX's.

    Equal if they divide arrays alike, whatever their forms.
    """

    def __new__(cls, text: str | Sharding, /) -> Sharding:
        """Reads a text. A `ParseError` points at what is wrong."""

    @property
    def kind(self) -> str:
        """`replicated`, `tiled`, `named`, `maximal`, `single_device`, `manual`, `unreduced`, `unknown` or `tuple`."""

    @property
    def elements(self) -> tuple[Sharding, ...]:
        """The shardings of a tuple; of another one, itself alone."""

    def to_tiled(self) -> Sharding:
        """The same without names of axes."""

    def shard_shape(self, shape: str | Shape, /) -> Shape:
        """The shape of a shard. Sizes are rounded up."""

    def device_count(self, shape: str | Shape, /) -> int | None:
        """How many devices have something of it; `None` where all have all of it, and nothing says how many there are."""

    def region(self, shape: str | Shape, device: int, /) -> tuple[slice, ...]:
        """What a device has, as NumPy takes it: `array[sharding.region(shape, 3)]`."""

    def regions(self, shape: str | Shape, /) -> dict[int, tuple[slice, ...]]:
        """What each device has."""

    def holders(self, shape: str | Shape, index: Sequence[int], /) -> list[int]:
        """The devices that have an element."""

    def reshard(self, to: str | Sharding, shape: str | Shape, /) -> tuple[str, int | None]:
        """What must move to divide an array in another way: the collective, and the bytes that all devices receive."""

    def draw(self, shape: str | Shape, /) -> Answer:
        """A picture of which device has which part, in colours."""

    def _repr_svg_(self) -> str | None: ...
    def _repr_html_(self) -> str | None: ...

    def _named(self) -> tuple[list[tuple[str, int]], list[int], list[list[str]]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Instruction:
    """An instruction of a module."""

    @property
    def name(self) -> str:
        """Its name, without `%`."""

    @property
    def opcode(self) -> str:
        """The operation, such as `get-tuple-element`."""

    @property
    def shape(self) -> Shape:
        """The shape of its result."""

    @property
    def operands(self) -> tuple[str, ...]:
        """The names of its operands."""

    @property
    def computation(self) -> str:
        """The name of the computation that it is in."""

    @property
    def is_root(self) -> bool:
        """Whether its result is that of the computation."""

@final
class Module:
    """An HLO module: the text that XLA prints, or the bytes of its `HloProto` or `HloModuleProto`.

    Equal if they print alike.
    """

    def __new__(cls, text: str | bytes | Module, /) -> Module:
        """Reads a module. A `ParseError` points at what is wrong."""

    @staticmethod
    def read(path: _Path, /) -> Module:
        """Reads a file."""

    @property
    def name(self) -> str | None:
        """Its name."""

    @property
    def is_scheduled(self) -> bool:
        """Whether the order of the text is the order in which instructions run."""

    @property
    def computations(self) -> list[str]:
        """The names of its computations."""

    @property
    def instructions(self) -> list[Instruction]:
        """All instructions, in the order of the text."""

    @property
    def parameters(self) -> tuple[Shape, ...]:
        """The shapes of the ENTRY computation's parameters."""

    @property
    def result(self) -> Shape:
        """The shape of what the ENTRY computation returns."""

    def instruction(self, name: str, /) -> Instruction:
        """The instruction of this name."""

    def check(self) -> list[str]:
        """What XLA's verifier would refuse, and hints."""

    def memory(self, device: str | int | None = None, *, top: int = 10, space: int | None = None) -> Answer:
        """What the values take in memory, and what lies there at the peak.

        device: a generation of TPUs, such as `v5e`, or how many bytes there are.
        top: how long lists may be.
        space: only this memory space.
        """

    def difference(self, after: Module, /) -> Answer:
        """What changed from this module to another."""

    def to_proto(self) -> bytes:
        """The bytes of its `HloProto`."""

    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Answer:
    """An answer: `str()` is what the program prints, `data` what it gives as JSON, a notebook shows the picture or page.

    `answer[key]`, `len(answer)` and iteration are those of `data`. `bool()` is False if the answer is no.
    """

    @property
    def data(self) -> Any:
        """The answer as `dict`, or as `list` of them."""

    @property
    def json(self) -> str:
        """The answer as JSON; a list has a line for each entry."""

    def text(self, width: int = 100) -> str:
        """The answer for people, in lines of at most this width."""

    def svg(self) -> str | None:
        """The picture, if there is one."""

    def html(self) -> str | None:
        """The page, if there is one; it needs nothing but itself."""

    def _repr_svg_(self) -> str | None: ...
    def _repr_html_(self) -> str: ...
    def __bool__(self) -> bool: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...

@final
class Buffer:
    """An array in memory: its shape, and the bytes of an array of this shape, padding included. They are never written.

    `numpy.asarray(buffer)` is the array, `buffer.data` the bytes.
    """

    def __new__(cls, shape: str | Shape, data: _BytesLike, /) -> Buffer:
        """Takes bytes as an array, where they are: whoever lends them must not write them."""

    @property
    def shape(self) -> Shape:
        """The shape."""

    @property
    def nbytes(self) -> int:
        """How many bytes it takes, padding included."""

    @property
    def data(self) -> memoryview:
        """The bytes, where they are, to be read."""

    def tobytes(self) -> bytes:
        """A copy of the bytes."""

    @overload
    def relayout(
        self, to: str | Layout | Shape | None = None, *, threads: int | None = None, out: None = None
    ) -> Buffer: ...
    @overload
    def relayout(
        self, to: str | Layout | Shape | None = None, *, threads: int | None = None, out: _Out
    ) -> _Out:
        """The same array in another layout; see `xla_shape.relayout`."""

    def numpy(self) -> npt.NDArray[Any]:
        """The elements: the same memory, read-only, where the layout has no tiles and whole bytes, else a copy."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def _repr_html_(self) -> str | None: ...

def advise(
    shape: str | Shape, generation: str | None = None, *, what_if: Sequence[str] = (), top: int = 10
) -> Answer:
    """Which layouts of an array take the fewest bytes on a TPU; see `Shape.advise`."""

def bitcast(operand: str | Shape, result: str | Shape, /) -> Answer:
    """Whether one array can be read as another without a copy, and why; `bool()` of the answer says it."""

def byte_size(shape: str | Shape, /) -> int:
    """The bytes that a shape takes, padding included."""

@overload
def default_layout(generation: str, shape: str | Shape, dimensions: None = None, /) -> Layout: ...
@overload
def default_layout(generation: str, element_type: Any, dimensions: Sequence[int], /) -> Layout:
    """The layout that a generation of TPUs, such as `v5e`, gives an array."""

def explain(shape: str | Shape, sharding: str | Sharding | None = None) -> Answer:
    """What a shape's text means, where its elements are, and what it takes."""

@overload
def linear_index(shape: str | Shape, index: Sequence[int], /) -> int: ...
@overload
def linear_index(
    shape: str | Shape, index: npt.NDArray[np.integer[Any]] | Sequence[npt.NDArray[np.integer[Any]]], /
) -> npt.NDArray[np.int64]:
    """The position of an element in memory, in elements; of many, their positions. See `Shape.linear_index`."""

def padding(shape: str | Shape, /) -> int:
    """The bytes of padding."""

def read(path: _Path, tensor: str | None = None, *, from_: str | Shape | None = None) -> Buffer:
    """Reads an array: `.npy`, the tensor of this name of a `.safetensors` file, or raw bytes of the shape `from_`."""

def write(path: _Path, array: Buffer, tensor: str | None = None) -> None:
    """Writes an array, whole or not at all: `.npy`, a tensor of this name in a `.safetensors` file, or raw bytes."""

def buffer_of_capsule(capsule: Any) -> Buffer: ...
def main(arguments: list[str]) -> int: ...
def relayout(source: Any, shape: Shape, to: Shape, strided: bool, threads: int | None) -> Buffer: ...
def relayout_file(
    input: _Path,
    output: _Path,
    to: str | None = None,
    *,
    from_: str | Shape | None = None,
    tensor: str | None = None,
    permute: Sequence[int] | None = None,
) -> str: ...
def relayout_into(
    source: Any, shape: Shape, to: Shape, strided: bool, threads: int | None, out: _BytesLike
) -> None: ...
def shard_files(input: Sequence[_Path], plan: str) -> list[tuple[Any, Any]]: ...
def shard_file(path: _Path, name: _Path, device: int, plan: str, output: _Path) -> str: ...
def shard_index(input: Sequence[_Path], device: int, plan: str, output: _Path) -> Any: ...
def linear_indices(shape: Shape, indices: npt.NDArray[np.int64], positions: npt.NDArray[np.int64]) -> None: ...
def multi_indices(shape: Shape, positions: npt.NDArray[np.int64], indices: npt.NDArray[np.int64]) -> None: ...
