"""What the native part of the package has; `xla_shape` hands out the public part of it."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol, TypeVar, final, overload

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
    "Tensor",
    "Tools",
    "__version__",
    "advise",
    "array_pattern",
    "buffer_of_capsule",
    "byte_count",
    "byte_size",
    "compare",
    "compile_it",
    "default_layout",
    "element_types",
    "explain",
    "blocks",
    "fit",
    "fit_most",
    "generation",
    "generations",
    "kernels",
    "linear_index",
    "linear_indices",
    "main",
    "multi_indices",
    "memory_compiled",
    "module_compiled",
    "memory_of_refused",
    "out_of_memory",
    "padding",
    "read",
    "relayout",
    "relayout_file",
    "relayout_into",
    "relayout_plain",
    "scan",
    "shard_file",
    "shard_files",
    "shard_index",
    "shard_notes",
    "tensor_of_capsule",
    "tune",
    "tune_answer",
    "tune_jobs",
    "write",
]

__version__: str
element_types: tuple[str, ...]
generations: tuple[str, ...]
fit_most: int

class _Array(Protocol):
    """An array of any library."""

    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...

_Path = str | os.PathLike[str]
_Shaped = str | Shape | _Array
_Destination = str | Layout | Shape | None
_Out = TypeVar("_Out", bound=_BytesLike)
_NumpyArguments = tuple[tuple[int, ...], np.dtype[Any], memoryview, int, tuple[int, ...]]
_Integers = int | npt.NDArray[np.integer[Any]]

@final
class Shape:
    """A shape, from XLA's text, such as `bf16[8,128]{1,0:T(8,128)(2,1)}`. Without a layout in the text, it is row-major.

    Texts of other libraries, such as `bfloat16[8,128]` and `tensor<8x128xbf16>`, are read, too. An array, or JAX's `ShapeDtypeStruct`, stands for its
    shape.

    Two shapes are equal if all their parts are. Properties that only arrays have raise a `ShapeError` for tuples and tokens.
    """

    def __new__(cls, text: _Shaped, /) -> Shape:
        """Reads a text. A `ParseError` points at what is wrong."""

    @staticmethod
    def of(
        element_type: Any,
        dimensions: Sequence[int],
        layout: str | Layout | None = None,
        *,
        dynamic_dimensions: Sequence[bool] | None = None,
    ) -> Shape:
        """The shape of an array from its parts: the element type, by XLA's or NumPy's name, the sizes, and the layout.

        A size of -1 is unbounded. If a dimension is dynamic, its size is a bound, and the actual size is known at run time.
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
        """The sizes: the bound of a bounded dimension, -1 for an unbounded one."""

    @property
    def dynamic_dimensions(self) -> tuple[bool, ...]:
        """Whether each size can change at run time."""

    @property
    def num_dimensions(self) -> int:
        """The number of dimensions."""

    @property
    def ndim(self) -> int:
        """The number of dimensions."""

    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __iter__(self) -> Iterator[int]: ...
    @overload
    def __getitem__(self, key: int, /) -> int: ...
    @overload
    def __getitem__(self, key: slice, /) -> tuple[int, ...]: ...
    @property
    def layout(self) -> Layout:
        """The layout."""

    @property
    def elements(self) -> int:
        """The number of elements."""

    @property
    def byte_size(self) -> int:
        """The bytes that it takes, including padding; for a tuple, the sum over its elements."""

    @property
    def unpadded_byte_size(self) -> int:
        """The bytes that it would take without padding."""

    @property
    def padding(self) -> int:
        """The bytes of padding."""

    @property
    def expansion(self) -> float:
        """The ratio of its bytes with padding to its bytes without padding."""

    @property
    def padded_dimensions(self) -> tuple[tuple[tuple[int, ...], int, int], ...]:
        """For each dimension, or group of dimensions that a tile combines: the numbers of the dimensions, their size, and their size with padding."""

    @overload
    def linear_index(self, index: Sequence[int], /) -> int: ...
    @overload
    def linear_index(
        self, index: npt.NDArray[np.integer[Any]] | Sequence[npt.NDArray[np.integer[Any]]], /
    ) -> npt.NDArray[np.int64]:
        """The position of an element in memory, in elements.

        `index` may also be a tuple of arrays, one for each dimension, or an array whose last dimension is an index: the result is an array of
        positions. An index out of bounds is an `OutOfBoundsError`.
        """

    @overload
    def multi_index(self, position: int, /) -> tuple[int, ...] | None: ...
    @overload
    def multi_index(self, position: npt.NDArray[np.integer[Any]], /) -> npt.NDArray[np.int64]:
        """The index of the element at a position; `None` for padding. For an array of positions, the last dimension of the
        result is an index, with -1 for padding."""

    def with_layout(self, layout: str | Layout, /) -> Shape:
        """The same array in another layout."""

    def rearrange(self, rearrangement: str, /) -> Shape:
        """The array after a reshape and a transposition, row-major, such as '(page part=4) token d -> page (part token) d'."""

    def with_default_layout(self, generation: str, /) -> Shape:
        """The same shape in the default layouts of a generation of TPUs, such as `v5e`."""

    def advise(self, generation: str | None = None, *, what_if: Sequence[str] = (), top: int = 10) -> Answer:
        """The layouts that take the fewest bytes on a TPU, or the orders that operations want on a GPU, such as `h100`. `what_if` first changes
        sizes (`1=128`) or swaps dimensions (`0,1`)."""

    def compare(self, to: str | Shape, /, generation: str | None = None) -> Answer:
        """Whether both shapes lay out the same bytes, which element moves, and what a reshape or a transpose moves; `bool()` of the answer says
        whether this array can be read as the other without a copy. A shape without a layout is taken in the layout that a TPU of the generation
        chooses; without a generation, it is row-major."""

    def explain(self, sharding: str | Sharding | None = None, *, generations: Sequence[str] = ()) -> Answer:
        """What the text means, where the elements are, and how much memory they take. With a sharding, also the part of each device; with generations
        of TPUs or names of GPUs, also the layouts that they choose."""

    def draw(self) -> Answer:
        """A picture of the positions of the elements."""

    def _repr_svg_(self) -> str | None: ...
    def _repr_html_(self) -> str | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Layout:
    """A layout, from XLA's text, such as `{1,0:T(8,128)(2,1)}`."""

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
        """A layout from its parts. `None` in a tile stands for `*`."""

    @staticmethod
    def row_major(num_dimensions: int, /) -> Layout:
        """The row-major layout of arrays with this number of dimensions: the last dimension varies fastest, and there are no tiles."""

    @property
    def ndim(self) -> int:
        """The number of dimensions."""

    @property
    def minor_to_major(self) -> tuple[int, ...]:
        """The order of the dimensions in memory, fastest varying first."""

    @property
    def major_to_minor(self) -> tuple[int, ...]:
        """The order of the dimensions in memory, fastest varying last."""

    @property
    def tiles(self) -> tuple[tuple[int | None, ...], ...]:
        """The tiles; `None` is `*`."""

    @property
    def element_size_in_bits(self) -> int:
        """The bits that an element takes in memory; 0 if that is the width of its type."""

    @property
    def memory_space(self) -> int:
        """The number of the memory space; 0 is the default one."""

    @property
    def tail_padding_alignment_in_elements(self) -> int:
        """The number of elements is padded to a multiple of this."""

    @property
    def num_dimensions(self) -> int:
        """The number of dimensions."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Sharding:
    """The division of an array among devices, from XLA's text, such as `{devices=[4,2]<=[8]}`, or MLIR's or JAX's.

    Two shardings are equal if they divide arrays in the same way, even if written differently.
    """

    def __new__(cls, text: str | Sharding, /) -> Sharding:
        """Reads a text. A `ParseError` points at what is wrong."""

    @property
    def kind(self) -> str:
        """`replicated`, `tiled`, `named`, `maximal`, `single_device`, `manual`, `unreduced`, `unknown` or `tuple`."""

    @property
    def elements(self) -> tuple[Sharding, ...]:
        """The shardings of a tuple's elements; for any other sharding, a tuple with only this sharding."""

    def to_tiled(self) -> Sharding:
        """The same sharding without named axes."""

    def for_dimensions(self, dimensions: int, /) -> Sharding:
        """The same sharding for an array of this many dimensions. As in JAX, a sharding that names axes may have fewer dimensions. The dimensions
        left out are not divided."""

    def shard_shape(self, shape: str | Shape, /) -> Shape:
        """The shape of a shard. Sizes are rounded up."""

    def device_count(self, shape: str | Shape, /) -> int | None:
        """The number of devices that hold a part of the array; `None` if every device holds the whole array, because the sharding then does not say
        how many there are."""

    def region(self, shape: str | Shape, device: int, /) -> tuple[slice, ...]:
        """The part of a device as slices for NumPy: `array[sharding.region(shape, 3)]`."""

    def regions(self, shape: str | Shape, /) -> dict[int, tuple[slice, ...]]:
        """The part of each device, as slices."""

    def holders(self, shape: str | Shape, index: Sequence[int], /) -> list[int]:
        """The devices that hold an element."""

    def reshard(
        self,
        to: str | Sharding,
        shape: str | Shape,
        /,
        *,
        layout: str | None = None,
        hosts: int | str | Sequence[Sequence[int]] | None = None,
        devices: Sequence[int] = ...,
        rearrange: str | None = None,
        for_: str | None = None,
    ) -> Answer:
        """What must move between devices when the sharding changes to `to`: the bytes, who sends what to whom, and the collective that does it.

        With `layout`, the shards have another layout afterwards. `hosts` says which devices are on the same host: the number of devices per host, or
        a list of devices for each host. With `rearrange`, the array is reshaped and transposed first: '(page part=4) token d -> page (part token) d'.
        With `for_`, such as 'v5e:2x4', XLA compiles the change for these devices: `xla` in the answer says what XLA moves.
        """

    def _check_reshard(
        self, to: str | Sharding, shape: str | Shape, /, *, layout: str | None = None, rearrange: str | None = None
    ) -> None: ...

    def receive(
        self,
        to: str | Sharding,
        shape: str | Shape,
        shards: dict[int, _BytesLike],
        device: int,
        /,
        *,
        layout: str | None = None,
        rearrange: str | None = None,
    ) -> Buffer:
        """The new shard of a device when the sharding changes to `to`, made from the old shards.

        `shards` has the old shard of each device that holds a part of the new one: a row-major array, or bytes in the layout of `shape`. With
        `rearrange`, the array is reshaped and transposed first.
        """

    def draw(self, shape: str | Shape, /) -> Answer:
        """A picture of the parts that the devices hold, in colours."""

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
        """The name of its computation."""

    @property
    def is_root(self) -> bool:
        """Whether it is the root of its computation."""

    @property
    def users(self) -> tuple[str, ...]:
        """The names of the instructions that have it as an operand."""

    @property
    def op_name(self) -> str | None:
        """The operation in the user's program, such as `jit(f)/add`; `None` if the module does not say."""

    @property
    def source(self) -> str | None:
        """The file and the line in the user's program, such as `train.py:43`; `None` if the module does not say."""

    @property
    def backend_config(self) -> str | None:
        """The compiler's configuration of the instruction, as the module writes it; `None` without one."""

@final
class Module:
    """An HLO module: the text that XLA prints, or the bytes of its `HloProto` or `HloModuleProto`.

    Two modules are equal if their printed texts are equal.
    """

    def __new__(cls, text: str | bytes | Module, /) -> Module:
        """Reads a module. A `ParseError` points at what is wrong."""

    @staticmethod
    def read(path: _Path, /) -> Module:
        """Reads a file, or the largest module of a directory; `memory` then also reads the compiler's files beside it."""

    @staticmethod
    def _profile(path: _Path, module: str | None) -> Module: ...
    @property
    def modules(self) -> list[str]:
        """The names of all modules in the profile that this module was read from; empty if it was not read from a profile."""

    @property
    def name(self) -> str | None:
        """Its name."""

    @property
    def is_scheduled(self) -> bool:
        """Whether the module is scheduled: instructions run in the order of the text."""

    @property
    def computations(self) -> list[str]:
        """The names of its computations."""

    @property
    def instructions(self) -> list[Instruction]:
        """All instructions, in the order of the text."""

    @property
    def parameters(self) -> tuple[Shape, ...]:
        """The shapes of the ENTRY computation's parameters, as a caller passes them."""

    @property
    def result(self) -> Shape:
        """The shape of the ENTRY computation's result, as a caller gets it."""

    @property
    def results(self) -> tuple[Shape, ...]:
        """The shapes of the ENTRY computation's results: the elements of a tuple, else the one result."""

    def cost(self) -> Answer:
        """What the program costs, by the compiler's own figures: cycles, copies and what would remove them, collectives. For a module of a
        profile, the measured times, too.
        """

    def _arguments(self) -> list[str]: ...
    def _argument_copies(self) -> list[tuple[str, str]]: ...
    def exceeded(self, after: Module, limits: Sequence[str] | None = None, /) -> list[str]:
        """The limits that `after` exceeds, compared with this program, as sentences. `limits` are those of `xla-shape hlo diff`, such as `memory>2%`
        and `copies>0`.

        By default, the limits are those of `xla-shape guard`, except those on numbers that this program does not have.
        """

    def expect(self, claims: str, /) -> Answer:
        """Checks claims about the program. `claims` is the text of a TOML file as `xla-shape guard expect` reads it. `bool()` of the answer tells
        whether all claims hold."""

    def claims(self) -> str:
        """The claims that hold for this program, as the text of a TOML file that `expect` reads."""

    def _expect(self, claims: str, statistics: str | None) -> Answer: ...
    def _claims(self, statistics: str | None) -> str: ...
    def instruction(self, name: str, /) -> Instruction:
        """The instruction of this name."""

    def check(self) -> list[str]:
        """The errors that XLA's verifier would report, and hints."""

    def memory(
        self, device: str | int | None = None, *, top: int = 10, space: int | None = None, estimate: bool = False
    ) -> Answer:
        """The memory that values take, and the values in memory at the peak. `bool()` of the answer tells whether the program fits the device.

        device: a generation of TPUs, such as `v5e`, or a number of bytes.
        top: the most entries of each list in the answer.
        space: the only memory space to report.
        estimate: uses only the module, and not the files beside it.
        """

    def _memory(self, device: str | int | None, top: int, space: int | None, statistics: str | None) -> Answer: ...

    def difference(self, after: Module, /) -> Answer:
        """The changes from this module to another one."""

    def to_proto(self) -> bytes:
        """The bytes of its `HloProto`."""

    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Answer:
    """An answer: `str()` is the text that the program prints, `data` its JSON as Python values; a notebook shows the picture or page.

    `answer[key]`, `len(answer)` and iteration apply to `data`. `bool()` is False if the answer is no, and raises a `ShapeError` if the answer is not
    known.
    """

    @property
    def data(self) -> Any:
        """The answer as a `dict`, or as a `list` of `dict`s."""

    @property
    def json(self) -> str:
        """The answer as JSON. For a list, each entry is on a line of its own."""

    def text(self, width: int = 100) -> str:
        """The answer as text, in lines of at most this width."""

    def digest(self) -> str:
        """The answer in at most 30 lines: its main statement, the largest causes with their source lines and remedies, and what to ask next."""

    def svg(self) -> str | None:
        """The picture, if there is one."""

    def html(self) -> str | None:
        """The page, if there is one; it is self-contained."""

    def _repr_svg_(self) -> str | None: ...
    def _repr_html_(self) -> str: ...
    def __bool__(self) -> bool: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...

@final
class Buffer:
    """An array in memory: its shape, and its bytes, including padding. They are never written.

    `numpy.asarray(buffer)` is the array, `memoryview(buffer)` its elements if Python has the element type, `buffer.data` the bytes.
    """

    def __new__(cls, shape: str | Shape, data: _BytesLike, /) -> Buffer:
        """Uses an object's bytes as an array, without a copy. They must not be written afterwards."""

    @property
    def shape(self) -> Shape:
        """The shape."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's element type; some come from the package `ml_dtypes`."""

    @property
    def ndim(self) -> int:
        """The number of dimensions."""

    @property
    def size(self) -> int:
        """The number of elements."""

    @property
    def T(self) -> Buffer:
        """The array with its dimensions in reverse order, in the same memory."""

    def _transposed(self, permutation: Sequence[int]) -> Buffer: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __jax_array__(self) -> Any: ...
    @property
    def nbytes(self) -> int:
        """The number of bytes, including padding."""

    @property
    def data(self) -> memoryview:
        """The bytes, read-only and without a copy."""

    def tobytes(self) -> bytes:
        """A copy of the bytes."""

    @overload
    def relayout(
        self,
        to: str | Layout | Shape | None = None,
        *,
        permute: Sequence[int] | None = None,
        threads: int | None = None,
        out: None = None,
    ) -> Buffer: ...
    @overload
    def relayout(
        self,
        to: str | Layout | Shape | None = None,
        *,
        permute: Sequence[int] | None = None,
        threads: int | None = None,
        out: _Out,
    ) -> _Out:
        """The same array in another layout; see `xla_shape.relayout`."""

    def numpy(self) -> npt.NDArray[Any]:
        """The elements: read-only and in the same memory if the layout has no tiles and every element takes whole bytes, otherwise a copy."""

    @overload
    def _for_numpy(self, copy: Literal[True]) -> _NumpyArguments: ...
    @overload
    def _for_numpy(self, copy: bool) -> _NumpyArguments | None: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __release_buffer__(self, buffer: memoryview, /) -> None: ...
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

@final
class Tensor:
    """An array that another library lends through DLPack, with any strides. Its buffer is an array of bytes, whose last dimension is the bytes of an
    element."""

    @property
    def shape(self) -> Shape:
        """The shape, row-major."""

    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __release_buffer__(self, buffer: memoryview, /) -> None: ...

def advise(
    shape: _Shaped, generation: str | None = None, *, what_if: Sequence[str] = (), top: int = 10
) -> Answer:
    """The layouts of an array that take the fewest bytes on a TPU, or that operations want on a GPU; see `Shape.advise`."""

def byte_size(shape: _Shaped, /) -> int:
    """The bytes that a shape takes, including padding."""

def compare(a: _Shaped, b: _Shaped, /, generation: str | None = None) -> Answer:
    """Whether two arrays are the same bytes, and what a reshape or a transpose moves; see `Shape.compare`."""

@overload
def default_layout(generation: str, shape: _Shaped, dimensions: None = None, /) -> Layout: ...
@overload
def default_layout(generation: str, element_type: Any, dimensions: Sequence[int], /) -> Layout:
    """The default layout of an array on a generation of TPUs, such as `v5e`."""

def explain(shape: _Shaped, sharding: str | Sharding | None = None, *, generations: Sequence[str] = ()) -> Answer:
    """What a shape's text means, where its elements are, and the memory that it takes."""

@overload
def linear_index(shape: str | Shape, index: Sequence[int], /) -> int: ...
@overload
def linear_index(
    shape: str | Shape, index: npt.NDArray[np.integer[Any]] | Sequence[npt.NDArray[np.integer[Any]]], /
) -> npt.NDArray[np.int64]:
    """The position of an element in memory, in elements; for many, an array of positions. See `Shape.linear_index`."""

def padding(shape: _Shaped, /) -> int:
    """The bytes of padding."""

def read(path: _Path, tensor: str | None = None, *, from_: str | Shape | None = None) -> Buffer:
    """Reads an array: a `.npy` file, the array `tensor` of a `.safetensors` or `.npz` file, or raw bytes of the shape `from_`."""

def write(path: _Path, array: Buffer, tensor: str | None = None) -> None:
    """Writes an array: a `.npy` file, a `.safetensors` file with a tensor of this name, or raw bytes. The file is written whole or not at all."""

def scan(text: str, /, *, program: str | None = None, for_: str | None = None) -> Answer:
    """The shapes in a text, such as a log, and what its messages about memory say. `bool()` of the answer tells whether there are any.

    `amounts` say how much memory is needed and how much there is; `largest` and `most_padded` list the allocations, each with op_name and source
    where the message has them; `shapes` are all shapes.

    `program` is the text of the program that was refused, in MLIR or HLO, and `for_` names devices, such as 'v5e:2x4'. If either is given, remedies
    are compiled before they are recommended, and each change of sharding that a log warns of is compiled by itself: `trial` is the result.
    `instruction` of a cause is the instruction of the program that makes such a change, if only one can be meant.
    """

def compile_it(device: str) -> str: ...
def generation(name: str) -> str | None: ...
def memory_of_refused(
    message: str, folder: _Path, device: str | int | None, top: int, space: int | None
) -> Answer | None: ...
def out_of_memory(message: str) -> Answer: ...
def byte_count(text: str) -> int: ...
@final
class Tools:
    """The tools of `xla-shape mcp`, without a server. They take and return JSON; `xla_shape.tools.Tools` takes and returns Python values."""

    def __new__(cls, roots: Sequence[_Path], write: bool) -> Tools: ...
    def described(self) -> str:
        """The tools as a JSON list."""

    def call(self, name: str, arguments: str) -> str:
        """The answer of a tool as JSON. The arguments are a JSON object."""

def memory_compiled(program: str, device: str, top: int, space: int | None) -> Answer: ...
def module_compiled(program: str, device: str) -> Module: ...
def kernels(
    program: bytes | _Path,
    before: bytes | _Path | None,
    devices: Sequence[str],
    anyway: bool,
    clock_ghz: float | None,
    sources: Sequence[tuple[str, str]],
) -> Answer: ...
def array_pattern(text: str) -> dict[str, Any]: ...
def buffer_of_capsule(capsule: Any) -> Buffer: ...
def tensor_of_capsule(capsule: Any) -> Tensor: ...
def main(arguments: list[str]) -> int: ...
def blocks(
    axes: list[tuple[str, list[str]]],
    parts: Callable[[tuple[int, ...]], list[list[tuple[str, str, str]]]],
    make: Callable[[tuple[int, ...]], bytes],
    device: str,
    run: Callable[[list[tuple[bytes, bytes]]], Iterator[tuple[int, bytes]]],
    cache: str | os.PathLike[str] | bool,
    plugin: str | os.PathLike[str] | None,
) -> Answer: ...
def fit(
    axes: list[tuple[str, list[str], bool]],
    make: Callable[[tuple[int, ...]], tuple[bytes, str, list[tuple[str, str]]]],
    run: Callable[[list[tuple[bytes, bytes]]], Iterator[tuple[int, bytes]]],
    cache: str | os.PathLike[str] | bool,
    plugin: str | os.PathLike[str] | None,
) -> Answer: ...
def tune(
    programs: list[tuple[str, bytes]], settings: dict[str, Any], run: Callable[[list[tuple[bytes, bytes]]], Iterator[tuple[int, bytes]]]
) -> Answer: ...
def tune_answer(program: bytes, request: bytes) -> bytes: ...
def tune_jobs() -> int: ...
def relayout(source: Any, shape: Shape, to: _Destination, strided: bool, threads: int | None) -> Buffer: ...
def relayout_file(
    input: _Path,
    output: _Path,
    to: _Destination = None,
    *,
    from_: str | Shape | None = None,
    tensor: str | None = None,
    permute: Sequence[int] | None = None,
) -> str: ...
def relayout_into(
    source: Any, shape: Shape, to: _Destination, strided: bool, threads: int | None, out: _BytesLike
) -> None: ...
def relayout_plain(array: Any, to: _Destination, permute: Sequence[int] | None, threads: int | None, out: Any) -> Any: ...
def shard_files(input: Sequence[_Path], plan: str) -> list[tuple[Any, Any]]: ...
def shard_file(paths: Sequence[_Path], name: _Path, device: int, plan: str, output: _Path, force: bool = False) -> str: ...
def shard_notes(path: _Path) -> str: ...
def shard_index(input: Sequence[_Path], device: int, plan: str, output: _Path) -> Any: ...
def linear_indices(shape: Shape, indices: npt.NDArray[np.int64], positions: npt.NDArray[np.int64]) -> None: ...
def multi_indices(shape: Shape, positions: npt.NDArray[np.int64], indices: npt.NDArray[np.int64]) -> None: ...
