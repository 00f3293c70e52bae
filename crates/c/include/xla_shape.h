/* XLA shapes and layouts for C: what bf16[8,128]{1,0:T(8,128)(2,1)} means, where its elements are, and how much memory it takes.
 *
 * Made by cbindgen from the comments in crates/c/src, by scripts/c_header.sh. Do not edit.
 *
 *   #include <stdio.h>
 *   #include <string.h>
 *   #include "xla_shape.h"
 *
 *   int main(void) {
 *       const char *text = "bf16[100,200]{1,0:T(8,128)(2,1)}";
 *       const int64_t index[] = {1, 0};
 *       XlaShapeSizes sizes = {.struct_size = sizeof sizes};
 *       int64_t position = 0;
 *       XlaShape *shape = NULL;
 *       XlaShapeError *error = xla_shape_parse(text, strlen(text), &shape);
 *       if (!error) error = xla_shape_sizes(shape, &sizes);
 *       if (!error) error = xla_shape_linear_index(shape, index, 2, &position);
 *       if (error) fprintf(stderr, "%s\n", xla_shape_error_rendered(error));
 *       else printf("%lld bytes, element (1,0) is at %lld\n", (long long)sizes.bytes, (long long)position);
 *       int failed = error != NULL;
 *       xla_shape_error_free(error);
 *       xla_shape_free(shape);
 *       return failed;
 *   }
 *
 * Compile with -I and the folder of this header. Link with -lxla_shape_c, or with what `pkg-config --libs xla_shape_c` prints. A program
 * that links the static library on Linux also needs -lpthread -ldl -lm. The library needs a 64-bit target.
 *
 * Errors. A function that can fail returns NULL if it succeeds, and otherwise an error object, which the caller frees with
 * xla_shape_error_free. After an error, places for new handles are NULL; other places are unchanged, unless a comment says otherwise.
 * All functions can return these codes:
 *   XLA_SHAPE_ERROR_CODE_NULL_POINTER      a pointer is NULL, and the comment does not allow that
 *   XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT  a pointer is misaligned, a list has more than PTRDIFF_MAX bytes, a struct_size is not valid
 *   XLA_SHAPE_ERROR_CODE_PARSE             a text is not UTF-8
 *   XLA_SHAPE_ERROR_CODE_DEAD_HANDLE       a handle was freed, or is of another type; only builds of the library with debug assertions
 *                                          (cargo build without --release) know that; otherwise it is undefined behaviour
 *   XLA_SHAPE_ERROR_CODE_INTERNAL          a bug in the library; a message was also printed to stderr
 * The library cannot check some mistakes: a pointer to freed or missing memory, a length larger than the list, a buffer that another thread
 * uses. These are undefined behaviour. No function throws or panics into C.
 * Places for results must not overlap each other, or the lists and structs that are passed in the same call: not
 * xla_shape_byte_offset(shape, position, &x, &x). This, too, is undefined behaviour where no comment says that it is an error.
 *
 * Stack. Reading, copying and freeing a tuple takes stack for each level of nesting: allow 256 KiB for 200 levels, where the library was built with
 * debug assertions.
 *
 * Handles. XlaShape, XlaShapeSharding, XlaShapePartition, XlaShapePlan and XlaShapeError are opaque. A caller that gets one through a pointer to a
 * pointer, or as a returned error, owns it, and frees it once with the function ..._free of its type; that accepts NULL. Handles do not
 * depend on each other's lifetimes. Texts and lists that a function returns without a copy belong to a handle and live as long as it does.
 *
 * Threads. Every function may be called from any thread, at the same time, also with the same handles, because handles do not change.
 * Only a ..._free must not run while another thread uses the handle. The library starts no threads and has no state to initialise.
 *
 * Units. Sizes of dimensions, indices and positions are numbers of elements. Counts of bytes and bits say so. Dimensions are numbered
 * from 0, the first in the text. Sizes, positions and bytes are at most INT64_MAX.
 *
 * Texts are UTF-8 with a length in bytes; texts that the library returns also end with NUL.
 *
 * Structs begin with struct_size, which the caller sets to sizeof the struct: a later version of the library, in which a struct has more
 * fields, then knows which of them the caller has. Set the other fields of a struct for the library to 0 where they are not needed:
 *   XlaShapePlanOptions options = {.struct_size = sizeof options, .padding = XLA_SHAPE_PADDING_ZERO};   in C
 *   XlaShapePlanOptions options{}; options.struct_size = sizeof options;                                 in C++
 */


#ifndef XLA_SHAPE_H
#define XLA_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* The size of an unbounded dimension, in lists of sizes. */
#define XLA_SHAPE_UNBOUNDED INT64_MIN

/* A tile's `*`, which combines a dimension with the next more minor one, in lists of tile sizes. */
#define XLA_SHAPE_TILE_COMBINE INT64_MIN


/**
 * The major version of the interface that this header describes. Programs work with libraries of the same major version.
 */
#define XLA_SHAPE_ABI_MAJOR 1

/**
 * The minor version of the interface that this header describes: it grows with each function, field or code that is added. A library with
 * a larger minor version has everything that this header describes.
 */
#define XLA_SHAPE_ABI_MINOR 0

/**
 * What kind of error it is. Later versions may return further codes.
 */
enum XlaShapeErrorCode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * No error: the code of NULL.
   */
  XLA_SHAPE_ERROR_CODE_OK = 0,
  /**
   * A text could not be parsed. The error has a span.
   */
  XLA_SHAPE_ERROR_CODE_PARSE = 1,
  /**
   * An argument is not valid by itself, or does not fit another one.
   */
  XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT = 2,
  /**
   * A pointer is NULL where it may not be.
   */
  XLA_SHAPE_ERROR_CODE_NULL_POINTER = 3,
  /**
   * A handle was freed, or is of another type. Builds with debug assertions detect this; others detect only misaligned pointers.
   */
  XLA_SHAPE_ERROR_CODE_DEAD_HANDLE = 4,
  /**
   * A buffer or list does not have the size that it needs. The message says which.
   */
  XLA_SHAPE_ERROR_CODE_BUFFER_SIZE = 5,
  /**
   * An index, a position, a part or a device does not exist.
   */
  XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS = 6,
  /**
   * The shape is a tuple, a token or opaque, where an array is needed, or an array where a tuple is needed.
   */
  XLA_SHAPE_ERROR_CODE_WRONG_KIND = 7,
  /**
   * The answer depends on a size that is not known (an unbounded dimension), or does not fit in an int64_t.
   */
  XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE = 8,
  /**
   * The question has no answer in this version, such as the layout that a TPU chooses for this array.
   */
  XLA_SHAPE_ERROR_CODE_UNSUPPORTED = 9,
  /**
   * Memory for an array could not be allocated. (Small allocations abort the process if they fail, as everywhere in Rust.)
   */
  XLA_SHAPE_ERROR_CODE_OUT_OF_MEMORY = 10,
  /**
   * The source and the destination of a copy overlap, or two lists that a function writes overlap.
   */
  XLA_SHAPE_ERROR_CODE_OVERLAP = 11,
  /**
   * The operation is not a bitcast, because it moves bytes.
   */
  XLA_SHAPE_ERROR_CODE_NOT_A_BITCAST = 12,
  /**
   * A bug in this library.
   */
  XLA_SHAPE_ERROR_CODE_INTERNAL = 13,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum XlaShapeErrorCode XlaShapeErrorCode;
#else
typedef int32_t XlaShapeErrorCode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a position of an array's memory holds.
 */
enum XlaShapeSlot
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Padding of the layout: no element.
   */
  XLA_SHAPE_SLOT_PADDING = 0,
  /**
   * An element.
   */
  XLA_SHAPE_SLOT_ELEMENT = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum XlaShapeSlot XlaShapeSlot;
#else
typedef int32_t XlaShapeSlot;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What kind of value a shape describes. Later versions may have further kinds.
 */
enum XlaShapeKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * No shape: the pointer is NULL, or not a shape.
   */
  XLA_SHAPE_KIND_INVALID = 0,
  /**
   * An array.
   */
  XLA_SHAPE_KIND_ARRAY = 1,
  /**
   * A tuple of values.
   */
  XLA_SHAPE_KIND_TUPLE = 2,
  /**
   * A token, which orders side effects and has no data.
   */
  XLA_SHAPE_KIND_TOKEN = 3,
  /**
   * An opaque value, whose content XLA does not know.
   */
  XLA_SHAPE_KIND_OPAQUE = 4,
  /**
   * A buffer: an array that is passed by reference. All functions on arrays accept it.
   */
  XLA_SHAPE_KIND_BUFFER = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum XlaShapeKind XlaShapeKind;
#else
typedef int32_t XlaShapeKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a relayout writes into the padding of the destination.
 */
enum XlaShapePadding
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Nothing: the bytes stay as they are.
   */
  XLA_SHAPE_PADDING_KEEP = 0,
  /**
   * Zeros.
   */
  XLA_SHAPE_PADDING_ZERO = 1,
  /**
   * The element `fill`.
   */
  XLA_SHAPE_PADDING_FILL = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum XlaShapePadding XlaShapePadding;
#else
typedef int32_t XlaShapePadding;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Which store instructions a relayout uses.
 */
enum XlaShapeStores
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Non-temporal stores for large arrays, where they are faster; otherwise ordinary ones.
   */
  XLA_SHAPE_STORES_AUTO = 0,
  /**
   * Non-temporal stores where possible: for a destination that is not read soon, and begins at a multiple of 64 bytes.
   */
  XLA_SHAPE_STORES_STREAMING = 1,
  /**
   * Ordinary stores: for a destination that is read at once.
   */
  XLA_SHAPE_STORES_REGULAR = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum XlaShapeStores XlaShapeStores;
#else
typedef int32_t XlaShapeStores;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The shape of an XLA value: of an array with its layout, of a tuple, a token, or an opaque value. Always valid.
 *
 * Immutable: any number of threads may use it at once. Free it with xla_shape_free.
 */
typedef struct XlaShape XlaShape;

/**
 * Why a function failed. Immutable: any number of threads may read it. Free it with xla_shape_error_free.
 */
typedef struct XlaShapeError XlaShapeError;

/**
 * An array divided among devices. Immutable: any number of threads may use it at once. Free it with xla_shape_partition_free.
 */
typedef struct XlaShapePartition XlaShapePartition;

/**
 * A relayout that was checked and prepared: made once for two shapes, run on any number of buffers. Immutable: any number of threads may
 * run it, or parts of it, at once. Free it with xla_shape_plan_free.
 */
typedef struct XlaShapePlan XlaShapePlan;

/**
 * How a value is divided among devices. Immutable: any number of threads may use it at once. Free it with xla_shape_sharding_free.
 */
typedef struct XlaShapeSharding XlaShapeSharding;

/**
 * The parts of the shape of an array. The layout is described as in PJRT_Buffer_MemoryLayout_Tiled: the pointers can be passed on.
 */
typedef struct XlaShapeArray {
  /**
   * Set it to sizeof(XlaShapeArray) before the call. xla_shape_array sets it to the bytes of the struct that the library has filled.
   */
  size_t struct_size;
  /**
   * The element type: its number in XLA's enum PrimitiveType (xla_data.proto), such as 11 for F32 and 16 for BF16. These are not the
   * numbers of PJRT_Buffer_Type. See xla_shape_element_type_number.
   */
  int64_t element_type;
  /**
   * The sizes, in elements, `num_dimensions` entries. XLA_SHAPE_UNBOUNDED for an unbounded dimension.
   */
  const int64_t *dimensions;
  /**
   * For each dimension 1 if its size is a bound and the actual size is known at run time only, otherwise 0. NULL: all 0.
   * xla_shape_array sets 1 for unbounded dimensions, too, and never sets NULL.
   */
  const uint8_t *is_dynamic;
  /**
   * The number of dimensions: 0 for a scalar.
   */
  size_t num_dimensions;
  /**
   * The dimension numbers from the most minor to the most major one, `num_dimensions` entries. NULL: row-major.
   */
  const int64_t *minor_to_major;
  /**
   * The sizes of all tiles, one tile after the other, each from major to minor, in elements. XLA_SHAPE_TILE_COMBINE for `*`.
   */
  const int64_t *tile_dims;
  /**
   * For each tile, the number of its entries in `tile_dims`. `num_tiles` entries.
   */
  const size_t *tile_dim_sizes;
  /**
   * The number of tiles: 0 for a layout without tiles.
   */
  size_t num_tiles;
  /**
   * `E(n)`: the bits that an element takes; 0: those of the element type.
   */
  int64_t element_size_in_bits;
  /**
   * `S(n)`: the memory space; 0: the default memory.
   */
  int64_t memory_space;
  /**
   * `L(n)`: the number of positions is rounded up to a multiple of this. 0 and 1 mean no rounding.
   */
  int64_t tail_padding_alignment_in_elements;
  /**
   * `M(n)`: the bytes in front of the elements, for the sizes of bounded dimensions.
   */
  int64_t dynamic_shape_metadata_prefix_bytes;
  /**
   * The number of split dimensions (`SC`). Their indices are in the text only. Must be 0 in xla_shape_from_array.
   */
  size_t num_split_configs;
} XlaShapeArray;

/**
 * Options of a relayout. For the defaults, set every field except `struct_size` to 0:
 * `XlaShapePlanOptions options = {.struct_size = sizeof options};`
 */
typedef struct XlaShapePlanOptions {
  /**
   * Set it to sizeof(XlaShapePlanOptions).
   */
  size_t struct_size;
  /**
   * Transposes during the copy: dimension i of the destination is dimension `permutation[i]` of the source. `num_permutation` entries. NULL:
   * no transpose.
   */
  const int64_t *permutation;
  /**
   * The number of entries of `permutation`: the number of dimensions. 0: no transpose.
   */
  size_t num_permutation;
  /**
   * What is written into padding: an XlaShapePadding. 0: XLA_SHAPE_PADDING_KEEP.
   */
  int64_t padding;
  /**
   * With XLA_SHAPE_PADDING_FILL: the bytes of an element, as many as it takes in the destination, little-endian; for a packed
   * element, one byte with the element in its low bits. Otherwise it must be NULL.
   */
  const void *fill;
  /**
   * The number of bytes of `fill`; it must be 0 without XLA_SHAPE_PADDING_FILL.
   */
  size_t fill_size;
  /**
   * Which store instructions: an XlaShapeStores. 0: XLA_SHAPE_STORES_AUTO.
   */
  int64_t stores;
  /**
   * The most bytes that a part has in either array. Parts may be larger where an array cannot be cut. 0: a single part, the whole array.
   * 1048576 is a good size: both sides of a part then fit in the caches.
   */
  size_t part_bytes;
} XlaShapePlanOptions;

/**
 * A range of bytes: `start` to `end`, which is exclusive.
 */
typedef struct XlaShapeByteRange {
  /**
   * The first byte.
   */
  size_t start;
  /**
   * The byte after the last one.
   */
  size_t end;
} XlaShapeByteRange;

/**
 * How much memory a value takes. All numbers are at most INT64_MAX. For a tuple, the bytes are sums over all arrays in it, however nested.
 * If an array is split over several memories (`SC`), `bytes` and `positions` are for one of these memories.
 */
typedef struct XlaShapeSizes {
  /**
   * Set it to sizeof(XlaShapeSizes) before the call. The call sets it to the bytes of the struct that the library has filled.
   */
  size_t struct_size;
  /**
   * The bytes of the buffer: elements and padding, and the prefix in front of an array with bounded dimensions.
   */
  int64_t bytes;
  /**
   * The bytes that the elements would take without padding.
   */
  int64_t unpadded_bytes;
  /**
   * The bytes of padding.
   */
  int64_t padding_bytes;
  /**
   * The number of elements of an array: the product of its sizes (bounds, where they are bounded). -1 if it is not an array.
   */
  int64_t elements;
  /**
   * The number of positions of an array, padding included: positions are 0 to `positions` - 1. -1 if it is not an array.
   */
  int64_t positions;
  /**
   * The bits that an element of an array takes: 4 in `s4[16]{0:E(4)}`, 8 in `s4[16]`. -1 if it is not an array.
   */
  int64_t element_bits;
} XlaShapeSizes;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The parts of an array: element type, sizes, order of dimensions, tiles, and attributes of the layout.
 *
 * Set `array->struct_size` first: `XlaShapeArray array = {.struct_size = sizeof array};`. The call fills the other fields. The lists belong to
 * the shape and are valid until it is freed.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not an array, and as for all functions.
 *
 * # Safety
 * `shape` is NULL or a shape; `array` is NULL, or has `array->struct_size` bytes.
 */
struct XlaShapeError *xla_shape_array(const struct XlaShape *shape,
                                      struct XlaShapeArray *array);

/**
 * Makes the shape of an array from its parts. Set `array->struct_size` and the fields you need; fields that are 0 or NULL have defaults.
 *
 * The struct and its lists are not used after the call. `*shape` becomes a new handle, which the caller frees with xla_shape_free, or NULL
 * after an error.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT if a part is not valid, and as for all functions.
 *
 * # Safety
 * `array` is NULL, or has `array->struct_size` bytes, and its lists have as many entries as the fields say; `shape` is NULL or valid.
 */
struct XlaShapeError *xla_shape_from_array(const struct XlaShapeArray *array,
                                           struct XlaShape **shape);

/**
 * XLA's name of an element type, such as "bf16": a static text that ends with NUL. NULL if `element_type` is not the number of an element
 * type of arrays in XLA's enum PrimitiveType. Never fails.
 */
const char *xla_shape_element_type_name(int64_t element_type);

/**
 * The number of an element type in XLA's enum PrimitiveType, by XLA's name of the type: 16 for "bf16".
 *
 * `name` has `length` bytes and need not end with NUL. Writes the number to `*element_type`.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_PARSE if no element type of arrays has this name, and as for all functions.
 *
 * # Safety
 * `name` has `length` bytes; `element_type` is NULL or valid.
 */
struct XlaShapeError *xla_shape_element_type_number(const char *name, size_t length, int64_t *element_type);

/**
 * What kind of error it is.
 *
 * Returns XLA_SHAPE_ERROR_CODE_OK if `error` is NULL: no error.
 *
 * # Safety
 * `error` is NULL, or an error object that has not been freed.
 */
XlaShapeErrorCode xla_shape_error_code(const struct XlaShapeError *error);

/**
 * What is wrong, in one line of UTF-8 that ends with NUL: what was expected, and what was found.
 *
 * Never NULL; empty if `error` is NULL. The text belongs to the error object, and is valid until that is freed.
 *
 * # Safety
 * `error` is NULL, or an error object that has not been freed.
 */
const char *xla_shape_error_message(const struct XlaShapeError *error);

/**
 * The message of xla_shape_error_message, for people to read. If a text could not be parsed, two more lines follow. The first is the
 * line of the text that has the error; the second has a `^` under the error. The last line does not end with a newline.
 *
 * Never NULL; empty if `error` is NULL. The text belongs to the error object, and is valid until that is freed.
 *
 * # Safety
 * `error` is NULL, or an error object that has not been freed.
 */
const char *xla_shape_error_rendered(const struct XlaShapeError *error);

/**
 * Which part of a text is wrong: the bytes `*start` to `*end` (exclusive) of the text that the failed function was given. `*start` and
 * `*end` are equal if something is missing there.
 *
 * Returns whether the error has a span; if not, nothing is written. Errors with XLA_SHAPE_ERROR_CODE_PARSE have one. `start` and `end`
 * may be NULL.
 *
 * # Safety
 * `error` is NULL, or an error object that has not been freed. `start` and `end` are NULL or valid.
 */
bool xla_shape_error_span(const struct XlaShapeError *error,
                          size_t *start,
                          size_t *end);

/**
 * Frees an error object. Nothing happens if it is NULL.
 *
 * # Safety
 * `error` is NULL, or an error object that has not been freed, and that no thread uses any more.
 */
void xla_shape_error_free(struct XlaShapeError *error);

/**
 * Prepares to copy arrays of the shape `source` into arrays of the shape `destination`. Both have the same element type and, after the
 * transpose that `options` may ask for, the same sizes; the layouts may differ. Elements take the same number of bits on both sides, or are
 * packed on one side (`E(4)`) and take a byte each on the other.
 *
 * `options` may be NULL for the defaults. `*plan` becomes a new handle, which the caller frees with xla_shape_plan_free, or NULL after an
 * error. The plan does not depend on the lifetimes of the shapes and the options.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT if the shapes or options do not fit together, XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a
 * dimension is unbounded, XLA_SHAPE_ERROR_CODE_WRONG_KIND if a shape is not an array, and as for all functions.
 *
 * # Safety
 * `source` and `destination` are NULL or shapes; `options` is NULL, or has `options->struct_size` bytes, and its lists have as many entries
 * as the fields say; `plan` is NULL or valid.
 */
struct XlaShapeError *xla_shape_plan(const struct XlaShape *source,
                                     const struct XlaShape *destination,
                                     const struct XlaShapePlanOptions *options,
                                     struct XlaShapePlan **plan);

/**
 * Frees a plan. Nothing happens if it is NULL.
 *
 * # Safety
 * `plan` is NULL, or a plan that has not been freed, and that no thread uses any more.
 */
void xla_shape_plan_free(struct XlaShapePlan *plan);

/**
 * The sizes of the two buffers in bytes. The buffers that are passed to xla_shape_plan_run must have exactly these sizes.
 *
 * Writes them to `*source_bytes` and `*destination_bytes`; either may be NULL. Errors: as for all functions.
 *
 * # Safety
 * `plan` is NULL or a plan; `source_bytes` and `destination_bytes` are NULL or valid.
 */
struct XlaShapeError *xla_shape_plan_bytes(const struct XlaShapePlan *plan,
                                           size_t *source_bytes,
                                           size_t *destination_bytes);

/**
 * Copies a whole array. The calling thread does all of it. For a large destination, an address that is a multiple of 64 is fastest.
 *
 * `source` has `source_bytes` bytes and is only read; `destination` has `destination_bytes` bytes. They need no alignment and must not
 * overlap. NULL is allowed for a buffer of 0 bytes.
 *
 * Errors, after which nothing is written: XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if a buffer does not have exactly the bytes of its shape,
 * XLA_SHAPE_ERROR_CODE_OVERLAP if they overlap, and as for all functions.
 *
 * # Safety
 * `plan` is NULL or a plan; `source` has `source_bytes` bytes, and `destination` has `destination_bytes`; nobody writes the source or uses the
 * destination during the call.
 */
struct XlaShapeError *xla_shape_plan_run(const struct XlaShapePlan *plan,
                                         const void *source,
                                         size_t source_bytes,
                                         void *destination,
                                         size_t destination_bytes);

/**
 * The number of parts that a plan is divided into, by `part_bytes` of its options. At least 1, even for an empty array.
 *
 * Writes it to `*count`. Errors: as for all functions.
 *
 * # Safety
 * `plan` is NULL or a plan; `count` is NULL or valid.
 */
struct XlaShapeError *xla_shape_plan_part_count(const struct XlaShapePlan *plan, size_t *count);

/**
 * Which bytes of the source a part reads, and which bytes of the destination it writes: so a part can be copied as soon as its bytes of
 * the source are there. Parts write different bytes, and all parts together write the whole destination.
 *
 * `part` is from 0 to one less than xla_shape_plan_part_count. With `of_destination`, the ranges are of the destination, otherwise of the
 * source. `ranges` has room for `capacity` of them. Writes their number to `*count` and, if there is enough room, the ranges. Call it with
 * a capacity of 0 to learn the number.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if the plan has no part of this number. XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if `capacity` is not 0
 * and less than the number of ranges; `*count` is written in this case, too. Also the errors of all functions.
 *
 * # Safety
 * `plan` is NULL or a plan; `ranges` has room for `capacity`; `count` is NULL or valid.
 */
struct XlaShapeError *xla_shape_plan_part_ranges(const struct XlaShapePlan *plan,
                                                 size_t part,
                                                 bool of_destination,
                                                 struct XlaShapeByteRange *ranges,
                                                 size_t capacity,
                                                 size_t *count);

/**
 * Copies one part of an array, from the whole source into the whole destination. All parts together, in any order, do what
 * xla_shape_plan_run does. Several threads may copy different parts into the same destination at once.
 *
 * `part` is from 0 to one less than xla_shape_plan_part_count. The buffers are those of the whole arrays, as in xla_shape_plan_run, but
 * only the bytes that xla_shape_plan_part_ranges lists are read and written. If the part is scattered in a buffer, this allocates memory
 * for it.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if the plan has no part of this number. XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if a buffer does not have
 * exactly the bytes of its shape. XLA_SHAPE_ERROR_CODE_OVERLAP if the buffers overlap. XLA_SHAPE_ERROR_CODE_OUT_OF_MEMORY if memory for a
 * scattered part could not be allocated. Also the errors of all functions. After an error, nothing has been written.
 *
 * # Safety
 * `plan` is NULL or a plan; `source` has `source_bytes` bytes, and `destination` has `destination_bytes`; during the call, nobody writes the
 * part of the source or uses the part of the destination.
 */
struct XlaShapeError *xla_shape_plan_run_part(const struct XlaShapePlan *plan,
                                              size_t part,
                                              const void *source,
                                              size_t source_bytes,
                                              void *destination,
                                              size_t destination_bytes);

/**
 * The position of an element in memory, in elements from the start of the array: the number of elements and padding slots before it.
 *
 * `index` has `num_dimensions` entries, one for each dimension of the array; NULL is allowed for a scalar. Writes the position to
 * `*position`. If elements take whole bytes and the layout has no `M(n)` prefix, the element begins at byte `position * bits / 8`; otherwise
 * see xla_shape_byte_offset. The first call for a shape computes a table, which takes longer than the others.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if an entry is negative or not below the size (or bound) of its dimension,
 * XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if the index does not have one entry for each dimension, XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a dimension
 * is unbounded, XLA_SHAPE_ERROR_CODE_UNSUPPORTED if the array is split over several memories (`SC`), XLA_SHAPE_ERROR_CODE_WRONG_KIND if the
 * shape is not an array, and as for all functions.
 *
 * # Safety
 * `shape` is NULL or a shape; `index` has `num_dimensions` entries; `position` is NULL or valid.
 */
struct XlaShapeError *xla_shape_linear_index(const struct XlaShape *shape,
                                             const int64_t *index,
                                             size_t num_dimensions,
                                             int64_t *position);

/**
 * What a position holds: the inverse of xla_shape_linear_index.
 *
 * `position` is a number of elements, from 0 to `positions` - 1 of xla_shape_sizes. Writes to `*slot` whether an element or padding is there.
 * If it is an element, its index is written to `index`, which has `num_dimensions` entries, one for each dimension (NULL is allowed for a
 * scalar); for padding, the content of `index` is unspecified.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if the array has no such position, XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if `index` does not have
 * one entry for each dimension, XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a dimension is unbounded, XLA_SHAPE_ERROR_CODE_UNSUPPORTED if the
 * array is split over several memories (`SC`), XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not an array, and as for all functions.
 *
 * # Safety
 * `shape` is NULL or a shape; `index` has `num_dimensions` entries, and `slot` is NULL or valid; they do not overlap.
 */
struct XlaShapeError *xla_shape_multi_index(const struct XlaShape *shape,
                                            int64_t position,
                                            int64_t *index,
                                            size_t num_dimensions,
                                            XlaShapeSlot *slot);

/**
 * Where a position begins in the buffer: its byte, and the bit within that byte, counted from the least significant one. The bit is 0 if
 * elements take whole bytes. The byte includes the prefix for bounded dimensions (`M(n)`), if the layout has one.
 *
 * `position` counts as in xla_shape_linear_index. It may also be `positions` of xla_shape_sizes, the end of the array. Writes to `*byte` and
 * `*bit`; `bit` may be NULL. Errors: XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if `position` is negative or greater than `positions`,
 * XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a dimension is unbounded, XLA_SHAPE_ERROR_CODE_UNSUPPORTED if the array is split over several
 * memories (`SC`), XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not an array, and as for all functions.
 *
 * # Safety
 * `shape` is NULL or a shape; `byte` and `bit` are NULL or valid.
 */
struct XlaShapeError *xla_shape_byte_offset(const struct XlaShape *shape,
                                            int64_t position,
                                            int64_t *byte,
                                            int64_t *bit);

/**
 * Reads a shape from XLA's text, such as `bf16[8,128]{1,0:T(8,128)(2,1)}` or `(f32[2], token[])`. Without a layout in the text, an array is
 * row-major.
 *
 * `text` has `length` bytes of UTF-8 and need not end with NUL; it is not used after the call. `*shape` becomes a new handle, which the
 * caller frees with xla_shape_free, or NULL after an error.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_PARSE with a span if the text is not a valid shape, and as for all functions.
 *
 * # Safety
 * `text` has `length` bytes; `shape` is NULL or valid.
 */
struct XlaShapeError *xla_shape_parse(const char *text,
                                      size_t length,
                                      struct XlaShape **shape);

/**
 * Frees a shape, and with it the texts and lists that functions returned for it. Nothing happens if it is NULL. What was made from it
 * (tuple elements, partitions, plans) stays valid.
 *
 * # Safety
 * `shape` is NULL, or a shape that has not been freed, and that no thread uses any more.
 */
void xla_shape_free(struct XlaShape *shape);

/**
 * A copy of a shape, with a lifetime of its own.
 *
 * `*copy` becomes a new handle, which the caller frees with xla_shape_free, or NULL after an error. Errors: as for all functions.
 *
 * # Safety
 * `shape` is NULL or a shape; `copy` is NULL or valid.
 */
struct XlaShapeError *xla_shape_clone(const struct XlaShape *shape,
                                      struct XlaShape **copy);

/**
 * The text of a shape as XLA prints it, always with the layout: `bf16[8,128]{1,0:T(8,128)(2,1)}`. xla_shape_parse reads it back.
 *
 * `*text` becomes a text of `*length` bytes that ends with NUL (which is not counted); `length` may be NULL. The text belongs to the shape
 * and is valid until that is freed. Errors: as for all functions.
 *
 * # Safety
 * `shape` is NULL or a shape; `text` and `length` are NULL or valid.
 */
struct XlaShapeError *xla_shape_text(const struct XlaShape *shape,
                                     const char **text,
                                     size_t *length);

/**
 * What kind of value the shape describes.
 *
 * Returns XLA_SHAPE_KIND_INVALID if `shape` is NULL, or, where it can be known, not a shape. Never fails.
 *
 * # Safety
 * `shape` is NULL or a shape.
 */
XlaShapeKind xla_shape_kind(const struct XlaShape *shape);

/**
 * Whether two shapes are equal: element types, sizes, layouts and memory spaces.
 *
 * Writes the answer to `*equal`. Errors: as for all functions.
 *
 * # Safety
 * `a` and `b` are NULL or shapes; `equal` is NULL or valid.
 */
struct XlaShapeError *xla_shape_equal(const struct XlaShape *a, const struct XlaShape *b, bool *equal);

/**
 * The number of elements of a tuple.
 *
 * Writes it to `*count`. Errors: XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not a tuple, and as for all functions.
 *
 * # Safety
 * `shape` is NULL or a shape; `count` is NULL or valid.
 */
struct XlaShapeError *xla_shape_tuple_count(const struct XlaShape *shape, size_t *count);

/**
 * An element of a tuple, numbered from 0.
 *
 * `*element` becomes a new handle with a lifetime of its own, which the caller frees with xla_shape_free, or NULL after an error.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not a tuple, XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if it has no such element, and as
 * for all functions.
 *
 * # Safety
 * `shape` is NULL or a shape; `element` is NULL or valid.
 */
struct XlaShapeError *xla_shape_tuple_element(const struct XlaShape *shape,
                                              size_t number,
                                              struct XlaShape **element);

/**
 * How much memory a value takes, and how many elements an array has.
 *
 * Set `sizes->struct_size` first: `XlaShapeSizes sizes = {.struct_size = sizeof sizes};`. The rest of `*sizes` is filled.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a dimension is unbounded or a sum does not fit in an int64_t, and as for all functions.
 *
 * # Safety
 * `shape` is NULL or a shape; `sizes` is NULL, or has `sizes->struct_size` bytes.
 */
struct XlaShapeError *xla_shape_sizes(const struct XlaShape *shape,
                                      struct XlaShapeSizes *sizes);

/**
 * The same array in another layout, which is given as text, such as `{1,0:T(8,128)}`. A buffer stays a buffer.
 *
 * `layout` has `length` bytes of UTF-8 and need not end with NUL. `*result` becomes a new handle, which the caller frees with
 * xla_shape_free, or NULL after an error.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_PARSE with a span in `layout` if the text is not a layout, XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT if the
 * layout is not one for this array, XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not an array, and as for all functions.
 *
 * # Safety
 * `shape` is NULL or a shape; `layout` has `length` bytes; `result` is NULL or valid.
 */
struct XlaShapeError *xla_shape_with_layout(const struct XlaShape *shape,
                                            const char *layout,
                                            size_t length,
                                            struct XlaShape **result);

/**
 * The same shape with the layout that a TPU chooses by default for each array in it.
 *
 * `generation` is a name of the TPU that JAX, the compiler or Cloud TPU use, in upper or lower case: "v5e", "TPU v5 lite", "v6e", "tpu7x". It has
 * `length` bytes and need not end with NUL. `*result` becomes a new handle, which the caller frees with xla_shape_free, or NULL after an
 * error.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT if no generation has this name, XLA_SHAPE_ERROR_CODE_UNSUPPORTED if the layout of an
 * array is not known, and as for all functions.
 *
 * # Safety
 * `shape` is NULL or a shape; `generation` has `length` bytes; `result` is NULL or valid.
 */
struct XlaShapeError *xla_shape_with_tpu_layout(const struct XlaShape *shape,
                                                const char *generation,
                                                size_t length,
                                                struct XlaShape **result);

/**
 * Whether the reshape of `operand` to `result`, which has the same elements in row-major order, leaves every byte where it is. As
 * ShapeUtil::ReshapeIsBitcast of XLA, but exact.
 *
 * Writes the answer to `*is_bitcast`. If `reason` is not NULL, also writes to `*reason`: NULL if the answer is yes, and otherwise an error object
 * whose message says which element moves. Free that object with xla_shape_error_free.
 *
 * Errors, after which neither place is written: XLA_SHAPE_ERROR_CODE_WRONG_KIND if one of the shapes is not an array,
 * XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a dimension is unbounded, XLA_SHAPE_ERROR_CODE_UNSUPPORTED if the layouts are too complex to
 * compare, and as for all functions.
 *
 * # Safety
 * `operand` and `result` are NULL or shapes; `is_bitcast` and `reason` are NULL or valid.
 */
struct XlaShapeError *xla_shape_reshape_is_bitcast(const struct XlaShape *operand,
                                                   const struct XlaShape *result,
                                                   bool *is_bitcast,
                                                   struct XlaShapeError **reason);

/**
 * Whether an array of the shape `operand` can be read in the layout of `result` without moving a byte. `result` has the same sizes.
 *
 * The answer, the reason and the errors are those of xla_shape_reshape_is_bitcast.
 *
 * # Safety
 * `operand` and `result` are NULL or shapes; `is_bitcast` and `reason` are NULL or valid.
 */
struct XlaShapeError *xla_shape_layout_change_is_bitcast(const struct XlaShape *operand,
                                                         const struct XlaShape *result,
                                                         bool *is_bitcast,
                                                         struct XlaShapeError **reason);

/**
 * Whether the transpose of `operand` to `result` leaves every byte where it is. Dimension i of `result` is dimension `permutation[i]` of
 * `operand`. As ShapeUtil::TransposeIsBitcast of XLA.
 *
 * `permutation` has `num_dimensions` entries, one for each dimension of `operand`. The answer, the reason and the errors are those of
 * xla_shape_reshape_is_bitcast. Another error is XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT if `permutation` is not a permutation of the
 * dimensions.
 *
 * # Safety
 * `operand` and `result` are NULL or shapes; `permutation` has `num_dimensions` entries; `is_bitcast` and `reason` are NULL or valid.
 */
struct XlaShapeError *xla_shape_transpose_is_bitcast(const struct XlaShape *operand,
                                                     const struct XlaShape *result,
                                                     const int64_t *permutation,
                                                     size_t num_dimensions,
                                                     bool *is_bitcast,
                                                     struct XlaShapeError **reason);

/**
 * Reads a sharding from XLA's text, such as `{devices=[4,1,2]<=[8] last_tile_dim_replicate}`.
 *
 * `text` has `length` bytes of UTF-8 and need not end with NUL; it is not used after the call. `*sharding` becomes a new handle, which the
 * caller frees with xla_shape_sharding_free, or NULL after an error.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_PARSE with a span if the text is not a valid sharding, and as for all functions.
 *
 * # Safety
 * `text` has `length` bytes; `sharding` is NULL or valid.
 */
struct XlaShapeError *xla_shape_sharding_parse(const char *text,
                                               size_t length,
                                               struct XlaShapeSharding **sharding);

/**
 * The text of a sharding as XLA prints it.
 *
 * `*text` becomes a text of `*length` bytes that ends with NUL (which is not counted); `length` may be NULL. The text belongs to the
 * sharding and is valid until that is freed. Errors: as for all functions.
 *
 * # Safety
 * `sharding` is NULL or a sharding; `text` and `length` are NULL or valid.
 */
struct XlaShapeError *xla_shape_sharding_text(const struct XlaShapeSharding *sharding,
                                              const char **text,
                                              size_t *length);

/**
 * Frees a sharding and its text. Nothing happens if it is NULL. Partitions that were made with it stay valid.
 *
 * # Safety
 * `sharding` is NULL, or a sharding that has not been freed, and that no thread uses any more.
 */
void xla_shape_sharding_free(struct XlaShapeSharding *sharding);

/**
 * Divides an array among devices. A bounded dimension is divided as if its size were the bound. Sizes of shards are rounded up; the last
 * shards have fewer elements, or none.
 *
 * `*partition` becomes a new handle, which the caller frees with xla_shape_partition_free, or NULL after an error. The partition does not
 * depend on the lifetimes of `sharding` and `shape`.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_INVALID_ARGUMENT if the sharding has another number of dimensions, is for a tuple, does not say what each
 * device has ({manual}, {unknown}), or lists a device twice; XLA_SHAPE_ERROR_CODE_UNKNOWN_SIZE if a dimension is unbounded;
 * XLA_SHAPE_ERROR_CODE_WRONG_KIND if the shape is not an array; and as for all functions.
 *
 * # Safety
 * `sharding` is NULL or a sharding; `shape` is NULL or a shape; `partition` is NULL or valid.
 */
struct XlaShapeError *xla_shape_partition(const struct XlaShapeSharding *sharding,
                                          const struct XlaShape *shape,
                                          struct XlaShapePartition **partition);

/**
 * Frees a partition. Nothing happens if it is NULL.
 *
 * # Safety
 * `partition` is NULL, or a partition that has not been freed, and that no thread uses any more.
 */
void xla_shape_partition_free(struct XlaShapePartition *partition);

/**
 * The shape of a shard, in the layout of the whole array. Every device has this shape, even if it holds fewer elements. The shape is an
 * array, even if a buffer was divided.
 *
 * `*shard` becomes a new handle, which the caller frees with xla_shape_free, or NULL after an error. Errors: as for all functions.
 *
 * # Safety
 * `partition` is NULL or a partition; `shard` is NULL or valid.
 */
struct XlaShapeError *xla_shape_partition_shard(const struct XlaShapePartition *partition,
                                                struct XlaShape **shard);

/**
 * The number of devices that hold a part of the array.
 *
 * Writes it to `*count`: -1 if every device has the whole array, because such a sharding does not say how many devices there are. Errors:
 * as for all functions.
 *
 * # Safety
 * `partition` is NULL or a partition; `count` is NULL or valid.
 */
struct XlaShapeError *xla_shape_partition_device_count(const struct XlaShapePartition *partition,
                                                       int64_t *count);

/**
 * Which part of the array a device holds: in dimension i, the indices `start[i]` to `limit[i]` (exclusive) of the whole array. The part has
 * no elements if a limit is equal to its start.
 *
 * `start` and `limit` have `num_dimensions` entries each, one for each dimension of the array (NULL is allowed for a scalar), and do not
 * overlap.
 *
 * Errors, after which nothing is written: XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if the sharding has no such device,
 * XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if `num_dimensions` is not that of the array, XLA_SHAPE_ERROR_CODE_OVERLAP if the lists overlap, and as for
 * all functions.
 *
 * # Safety
 * `partition` is NULL or a partition; `start` and `limit` have `num_dimensions` entries each.
 */
struct XlaShapeError *xla_shape_partition_region(const struct XlaShapePartition *partition,
                                                 int64_t device,
                                                 int64_t *start,
                                                 int64_t *limit,
                                                 size_t num_dimensions);

/**
 * Which devices hold an element.
 *
 * `index` has `num_dimensions` entries, one for each dimension of the whole array. `devices` has room for `capacity` devices. Writes the
 * number of devices to `*count` and, if there is enough room, the devices. Call it with a capacity of 0 to learn the number.
 *
 * Errors: XLA_SHAPE_ERROR_CODE_BUFFER_SIZE if `num_dimensions` is not that of the array, or if `capacity` is too small but not 0 (`*count`
 * is written all the same). XLA_SHAPE_ERROR_CODE_OUT_OF_BOUNDS if the array has no such element.
 * XLA_SHAPE_ERROR_CODE_UNSUPPORTED if every device has the whole array: then the number of devices is not known. Also the errors of all
 * functions.
 *
 * # Safety
 * `partition` is NULL or a partition; `index` has `num_dimensions` entries, `devices` has room for `capacity`, `count` is NULL or valid;
 * none of them overlap.
 */
struct XlaShapeError *xla_shape_partition_holders(const struct XlaShapePartition *partition,
                                                  const int64_t *index,
                                                  size_t num_dimensions,
                                                  int64_t *devices,
                                                  size_t capacity,
                                                  size_t *count);

/**
 * The version of the interface that the library has. Compare it with XLA_SHAPE_ABI_MAJOR and XLA_SHAPE_ABI_MINOR if the library is loaded
 * at run time: the major versions must be equal, and the library's minor version at least that of the header.
 *
 * `major` and `minor` may be NULL. Never fails.
 *
 * # Safety
 * `major` and `minor` are NULL or valid.
 */
void xla_shape_abi_version(uint32_t *major,
                           uint32_t *minor);

/**
 * The version of the library, such as "0.1.0": a static text that ends with NUL. Never fails.
 */
const char *xla_shape_library_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* XLA_SHAPE_H */
