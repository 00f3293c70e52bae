// XLA shapes and layouts for C++17: xla_shape.h with RAII, std::string_view and errors as exceptions or as values.
//
//   #include <iostream>
//   #include "xla_shape.hpp"
//
//   int main() try {
//       auto shape = xla_shape::Shape::parse("bf16[100,200]{1,0:T(8,128)(2,1)}");
//       std::cout << shape.sizes().bytes << " bytes, element (1,0) is at " << shape.linear_index({1, 0}) << "\n";
//   } catch (const xla_shape::Exception& failed) {
//       std::cerr << failed.what() << "\n";
//       return 1;
//   }
//
// Units, threads and the meaning of each call are those of the functions of xla_shape.h with the same names. Objects own their handles: they
// are moved, not copied, and free them. What a method returns as a std::string_view or as a View of a list belongs to the object, and is valid as
// long as it exists, also after it is moved; temporary objects do not have these methods. Using an object that was moved from is an error
// (XLA_SHAPE_ERROR_CODE_NULL_POINTER).
//
// Errors. By default, a call that fails throws xla_shape::Exception. If XLA_SHAPE_NO_EXCEPTIONS is defined before the first include, nothing
// throws, and a call that can fail returns xla_shape::Expected<T> instead of T: an error or a value, as std::expected of C++23.
// A program defines it in all of its files or in none; the two kinds have different names for the linker.
#ifndef XLA_SHAPE_HPP
#define XLA_SHAPE_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#ifndef XLA_SHAPE_NO_EXCEPTIONS
#include <stdexcept>
#endif

#include "xla_shape.h"

namespace xla_shape {

#ifdef XLA_SHAPE_NO_EXCEPTIONS
inline namespace without_exceptions {
#else
inline namespace with_exceptions {
#endif

// The bytes `start` to `end` (exclusive) of a text.
struct Span {
    std::size_t start;
    std::size_t end;
};

// Why a call failed. A value: it can be copied.
class Error {
public:
    // Takes over an error object of the C interface, which is not NULL, and frees it.
    explicit Error(XlaShapeError* raw)
        : code_(xla_shape_error_code(raw)), message_(xla_shape_error_message(raw)), rendered_(xla_shape_error_rendered(raw)), span_() {
        Span span{};
        if (xla_shape_error_span(raw, &span.start, &span.end)) span_ = span;
        xla_shape_error_free(raw);
    }

    // What kind of error it is.
    XlaShapeErrorCode code() const { return code_; }
    // What was expected, and what was found, in one line.
    const std::string& message() const { return message_; }
    // The message, followed by the text and a mark under the place, where a text is wrong.
    const std::string& rendered() const { return rendered_; }
    // Which part of the text is wrong, where a text is wrong.
    std::optional<Span> span() const { return span_; }

private:
    XlaShapeErrorCode code_;
    std::string message_;
    std::string rendered_;
    std::optional<Span> span_;
};

#ifdef XLA_SHAPE_NO_EXCEPTIONS

// The value that a call returns, or its error. `if (result) use(*result); else report(result.error());`
template <class T>
class [[nodiscard]] Expected {
public:
    Expected(T value) : content_(std::in_place_index<0>, std::move(value)) {}
    Expected(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

    // Whether there is a value.
    bool has_value() const { return content_.index() == 0; }
    explicit operator bool() const { return has_value(); }
    // The value. Aborts the program if there is none.
    T& operator*() & { return value(); }
    const T& operator*() const& { return const_cast<Expected*>(this)->value(); }
    T&& operator*() && { return std::move(value()); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &const_cast<Expected*>(this)->value(); }
    // The error. Aborts the program if there is none.
    const Error& error() const {
        const Error* error = std::get_if<1>(&content_);
        if (!error) std::abort();
        return *error;
    }

private:
    T& value() {
        T* value = std::get_if<0>(&content_);
        if (!value) std::abort();
        return *value;
    }

    std::variant<T, Error> content_;
};

template <class T>
using Result = Expected<T>;

// What a call that returns no value returns: success, or an error.
struct Done {};

#else

// What a failed call throws; `what()` is the message with the place in the text.
class Exception : public std::runtime_error {
public:
    explicit Exception(Error error) : std::runtime_error(error.rendered()), error_(std::move(error)) {}
    // The error with its code, message and span.
    const Error& error() const { return error_; }

private:
    Error error_;
};

template <class T>
using Result = T;

// What a call without a value returns.
struct Done {};

#endif

namespace detail {

// Returns the value of a call or its error; or throws the error, if exceptions are not disabled.
template <class T, class Value>
Result<T> finish(XlaShapeError* error, Value&& value) {
#ifdef XLA_SHAPE_NO_EXCEPTIONS
    if (error) return Error(error);
#else
    if (error) throw Exception(Error(error));
#endif
    return std::forward<Value>(value)();
}

template <class T, void (*Free)(T*)>
struct Deleter {
    void operator()(T* handle) const { Free(handle); }
};

template <class T, void (*Free)(T*)>
using Handle = std::unique_ptr<T, Deleter<T, Free>>;

}  // namespace detail

// A list that belongs to another object, or to the caller.
template <class T>
class View {
public:
    constexpr View() = default;
    constexpr View(const T* data, std::size_t size) : data_(data), size_(size) {}
    View(const std::vector<T>& list) : data_(list.data()), size_(list.size()) {}
    // For arguments only, such as `shape.linear_index({1, 0})`: the list ends with the call.
    constexpr View(std::initializer_list<T> list) : size_(list.size()) { data_ = list.begin(); }

    constexpr const T* data() const { return data_; }
    constexpr std::size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr const T* begin() const { return data_; }
    constexpr const T* end() const { return data_ + size_; }
    constexpr const T& operator[](std::size_t i) const { return data_[i]; }

private:
    const T* data_ = nullptr;
    std::size_t size_ = 0;
};

// Whether an operation is a bitcast, and if not, why.
struct Bitcast {
    bool is_bitcast;
    // Empty if it is one.
    std::string reason;

    explicit operator bool() const { return is_bitcast; }
};

// Where a position begins: the byte in the buffer and the bit in the byte.
struct Offset {
    std::int64_t byte;
    std::int64_t bit;
};

// The shape of a value; see XlaShape.
class Shape {
public:
    // Takes over a handle of the C interface.
    explicit Shape(XlaShape* raw) : handle_(raw) {}

    // A shape from XLA's text; see xla_shape_parse.
    static Result<Shape> parse(std::string_view text) {
        XlaShape* raw = nullptr;
        XlaShapeError* error = xla_shape_parse(text.data(), text.size(), &raw);
        return made(error, raw);
    }

    // An array from its parts; see xla_shape_from_array. Sets `struct_size`.
    static Result<Shape> from_array(XlaShapeArray array) {
        array.struct_size = sizeof array;
        XlaShape* raw = nullptr;
        XlaShapeError* error = xla_shape_from_array(&array, &raw);
        return made(error, raw);
    }

    // An array of these sizes, in row-major order; `element_type` is XLA's name, such as "bf16".
    static Result<Shape> row_major(std::string_view element_type, View<std::int64_t> dimensions) {
        XlaShapeArray array{};
        array.struct_size = sizeof array;
        array.dimensions = dimensions.data();
        array.num_dimensions = dimensions.size();
        XlaShape* raw = nullptr;
        XlaShapeError* error = xla_shape_element_type_number(element_type.data(), element_type.size(), &array.element_type);
        if (!error) error = xla_shape_from_array(&array, &raw);
        return made(error, raw);
    }

    // The handle, for functions of the C interface. It stays this object's.
    const XlaShape* raw() const { return handle_.get(); }

    // The same shape again; see xla_shape_clone.
    Result<Shape> clone() const {
        XlaShape* copy = nullptr;
        XlaShapeError* error = xla_shape_clone(raw(), &copy);
        return made(error, copy);
    }

    // The text as XLA prints it; see xla_shape_text.
    Result<std::string_view> text() const&& = delete;
    Result<std::string_view> text() const& {
        const char* text = nullptr;
        std::size_t length = 0;
        XlaShapeError* error = xla_shape_text(raw(), &text, &length);
        return detail::finish<std::string_view>(error, [&] { return std::string_view(text, length); });
    }

    // What kind of value it is; see xla_shape_kind.
    XlaShapeKind kind() const { return xla_shape_kind(raw()); }

    // Whether both are equal in everything; see xla_shape_equal.
    Result<bool> equals(const Shape& other) const {
        bool equal = false;
        XlaShapeError* error = xla_shape_equal(raw(), other.raw(), &equal);
        return detail::finish<bool>(error, [&] { return equal; });
    }

    // The number of elements of a tuple; see xla_shape_tuple_count.
    Result<std::size_t> tuple_count() const {
        std::size_t count = 0;
        XlaShapeError* error = xla_shape_tuple_count(raw(), &count);
        return detail::finish<std::size_t>(error, [&] { return count; });
    }

    // An element of a tuple; see xla_shape_tuple_element.
    Result<Shape> tuple_element(std::size_t number) const {
        XlaShape* element = nullptr;
        XlaShapeError* error = xla_shape_tuple_element(raw(), number, &element);
        return made(error, element);
    }

    // Bytes, padding, elements, positions; see xla_shape_sizes.
    Result<XlaShapeSizes> sizes() const {
        XlaShapeSizes sizes{};
        sizes.struct_size = sizeof sizes;
        XlaShapeError* error = xla_shape_sizes(raw(), &sizes);
        return detail::finish<XlaShapeSizes>(error, [&] { return sizes; });
    }

    // The parts of an array. Its lists belong to this object; see xla_shape_array.
    Result<XlaShapeArray> array() const&& = delete;
    Result<XlaShapeArray> array() const& {
        XlaShapeArray array{};
        array.struct_size = sizeof array;
        XlaShapeError* error = xla_shape_array(raw(), &array);
        return detail::finish<XlaShapeArray>(error, [&] { return array; });
    }

    // The sizes of the dimensions of an array. The list belongs to this object.
    Result<View<std::int64_t>> dimensions() const&& = delete;
    Result<View<std::int64_t>> dimensions() const& {
        XlaShapeArray array{};
        array.struct_size = sizeof array;
        XlaShapeError* error = xla_shape_array(raw(), &array);
        return detail::finish<View<std::int64_t>>(error, [&] { return View<std::int64_t>(array.dimensions, array.num_dimensions); });
    }

    // The same array in another layout; see xla_shape_with_layout.
    Result<Shape> with_layout(std::string_view layout) const {
        XlaShape* result = nullptr;
        XlaShapeError* error = xla_shape_with_layout(raw(), layout.data(), layout.size(), &result);
        return made(error, result);
    }

    // The same shape in the layouts that a TPU chooses; see xla_shape_with_tpu_layout.
    Result<Shape> with_tpu_layout(std::string_view generation) const {
        XlaShape* result = nullptr;
        XlaShapeError* error = xla_shape_with_tpu_layout(raw(), generation.data(), generation.size(), &result);
        return made(error, result);
    }

    // The position of an element, in elements; see xla_shape_linear_index.
    Result<std::int64_t> linear_index(View<std::int64_t> index) const {
        std::int64_t position = 0;
        XlaShapeError* error = xla_shape_linear_index(raw(), index.data(), index.size(), &position);
        return detail::finish<std::int64_t>(error, [&] { return position; });
    }

    // Writes the index of the element at a position into `index`, which gets one entry for each dimension. Returns XLA_SHAPE_SLOT_PADDING
    // if the position holds none. See xla_shape_multi_index.
    Result<XlaShapeSlot> multi_index(std::int64_t position, std::vector<std::int64_t>& index) const {
        XlaShapeArray array{};
        array.struct_size = sizeof array;
        XlaShapeSlot slot = XLA_SHAPE_SLOT_PADDING;
        XlaShapeError* error = xla_shape_array(raw(), &array);
        if (!error) {
            index.resize(array.num_dimensions);
            error = xla_shape_multi_index(raw(), position, index.data(), index.size(), &slot);
        }
        return detail::finish<XlaShapeSlot>(error, [&] { return slot; });
    }

    // Where a position begins in the buffer; see xla_shape_byte_offset.
    Result<Offset> byte_offset(std::int64_t position) const {
        Offset offset{};
        XlaShapeError* error = xla_shape_byte_offset(raw(), position, &offset.byte, &offset.bit);
        return detail::finish<Offset>(error, [&] { return offset; });
    }

    // Whether the array can be read in the layout of `result`; see xla_shape_layout_change_is_bitcast.
    Result<Bitcast> layout_change_is_bitcast(const Shape& result) const {
        Bitcast answer{};
        XlaShapeError* reason = nullptr;
        XlaShapeError* error = xla_shape_layout_change_is_bitcast(raw(), result.raw(), &answer.is_bitcast, &reason);
        return judged(error, reason, answer);
    }

    // Whether the reshape to `result` moves no bytes; see xla_shape_reshape_is_bitcast.
    Result<Bitcast> reshape_is_bitcast(const Shape& result) const {
        Bitcast answer{};
        XlaShapeError* reason = nullptr;
        XlaShapeError* error = xla_shape_reshape_is_bitcast(raw(), result.raw(), &answer.is_bitcast, &reason);
        return judged(error, reason, answer);
    }

    // Whether the transpose to `result` moves no bytes; see xla_shape_transpose_is_bitcast.
    Result<Bitcast> transpose_is_bitcast(const Shape& result, View<std::int64_t> permutation) const {
        Bitcast answer{};
        XlaShapeError* reason = nullptr;
        XlaShapeError* error = xla_shape_transpose_is_bitcast(raw(), result.raw(), permutation.data(), permutation.size(),
                                                              &answer.is_bitcast, &reason);
        return judged(error, reason, answer);
    }

private:
    static Result<Shape> made(XlaShapeError* error, XlaShape* raw) {
        return detail::finish<Shape>(error, [&] { return Shape(raw); });
    }

    static Result<Bitcast> judged(XlaShapeError* error, XlaShapeError* reason, Bitcast& answer) {
        return detail::finish<Bitcast>(error, [&] {
            if (reason) answer.reason = Error(reason).message();
            return answer;
        });
    }

    detail::Handle<XlaShape, xla_shape_free> handle_;
};

// The part of an array that a device holds: in dimension i, the indices `start[i]` to `limit[i]` (exclusive).
struct Region {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> limit;
};

// An array divided among devices; see XlaShapePartition.
class Partition {
public:
    // Takes over a handle of the C interface; `num_dimensions` is that of the array.
    Partition(XlaShapePartition* raw, std::size_t num_dimensions) : handle_(raw), num_dimensions_(num_dimensions) {}

    // The handle, for functions of the C interface. It stays this object's.
    const XlaShapePartition* raw() const { return handle_.get(); }

    // The shape of the buffer that each device has; see xla_shape_partition_shard.
    Result<Shape> shard() const {
        XlaShape* shard = nullptr;
        XlaShapeError* error = xla_shape_partition_shard(raw(), &shard);
        return detail::finish<Shape>(error, [&] { return Shape(shard); });
    }

    // The number of devices; -1 if it is not known. See xla_shape_partition_device_count.
    Result<std::int64_t> device_count() const {
        std::int64_t count = 0;
        XlaShapeError* error = xla_shape_partition_device_count(raw(), &count);
        return detail::finish<std::int64_t>(error, [&] { return count; });
    }

    // The part that a device holds; see xla_shape_partition_region.
    Result<Region> region(std::int64_t device) const {
        Region region{std::vector<std::int64_t>(num_dimensions_), std::vector<std::int64_t>(num_dimensions_)};
        XlaShapeError* error =
            xla_shape_partition_region(raw(), device, region.start.data(), region.limit.data(), num_dimensions_);
        return detail::finish<Region>(error, [&] { return std::move(region); });
    }

    // The devices that hold an element; see xla_shape_partition_holders.
    Result<std::vector<std::int64_t>> holders(View<std::int64_t> index) const {
        std::vector<std::int64_t> devices;
        std::size_t count = 0;
        XlaShapeError* error = xla_shape_partition_holders(raw(), index.data(), index.size(), nullptr, 0, &count);
        if (!error && count > devices.max_size()) {
            // The library refuses a list of this length without reading it: that is the error to report.
            std::int64_t none = 0;
            error = xla_shape_partition_holders(raw(), index.data(), index.size(), &none, count, &count);
        } else if (!error) {
            devices.resize(count);
            error = xla_shape_partition_holders(raw(), index.data(), index.size(), devices.data(), count, &count);
        }
        return detail::finish<std::vector<std::int64_t>>(error, [&] { return std::move(devices); });
    }

private:
    detail::Handle<XlaShapePartition, xla_shape_partition_free> handle_;
    std::size_t num_dimensions_;
};

// How a value is divided among devices; see XlaShapeSharding.
class Sharding {
public:
    // Takes over a handle of the C interface.
    explicit Sharding(XlaShapeSharding* raw) : handle_(raw) {}

    // A sharding from XLA's text; see xla_shape_sharding_parse.
    static Result<Sharding> parse(std::string_view text) {
        XlaShapeSharding* raw = nullptr;
        XlaShapeError* error = xla_shape_sharding_parse(text.data(), text.size(), &raw);
        return detail::finish<Sharding>(error, [&] { return Sharding(raw); });
    }

    // The handle, for functions of the C interface. It stays this object's.
    const XlaShapeSharding* raw() const { return handle_.get(); }

    // The text as XLA prints it; see xla_shape_sharding_text.
    Result<std::string_view> text() const&& = delete;
    Result<std::string_view> text() const& {
        const char* text = nullptr;
        std::size_t length = 0;
        XlaShapeError* error = xla_shape_sharding_text(raw(), &text, &length);
        return detail::finish<std::string_view>(error, [&] { return std::string_view(text, length); });
    }

    // Divides an array among devices; see xla_shape_partition.
    Result<Partition> partition(const Shape& shape) const {
        XlaShapeArray array{};
        array.struct_size = sizeof array;
        XlaShapePartition* raw_partition = nullptr;
        XlaShapeError* error = xla_shape_array(shape.raw(), &array);
        if (!error) error = xla_shape_partition(raw(), shape.raw(), &raw_partition);
        return detail::finish<Partition>(error, [&] { return Partition(raw_partition, array.num_dimensions); });
    }

private:
    detail::Handle<XlaShapeSharding, xla_shape_sharding_free> handle_;
};

// Options of a relayout; see XlaShapePlanOptions.
struct PlanOptions {
    // Dimension i of the destination is dimension `permutation[i]` of the source. Empty: no transpose.
    std::vector<std::int64_t> permutation{};
    // What is written into padding.
    XlaShapePadding padding = XLA_SHAPE_PADDING_KEEP;
    // With XLA_SHAPE_PADDING_FILL: an element, as many bytes as it takes, little-endian.
    std::vector<unsigned char> fill{};
    // Which store instructions.
    XlaShapeStores stores = XLA_SHAPE_STORES_AUTO;
    // The most bytes of a part. 0: one part.
    std::size_t part_bytes = 0;
};

// The bytes of the two buffers of a relayout.
struct PlanBytes {
    std::size_t source;
    std::size_t destination;
};

// A relayout that was checked and prepared; see XlaShapePlan.
class Plan {
public:
    // Takes over a handle of the C interface.
    explicit Plan(XlaShapePlan* raw) : handle_(raw) {}

    // Prepares to copy arrays of one shape into arrays of another; see xla_shape_plan.
    static Result<Plan> make(const Shape& source, const Shape& destination, const PlanOptions& options = {}) {
        XlaShapePlanOptions raw_options{};
        raw_options.struct_size = sizeof raw_options;
        raw_options.permutation = options.permutation.empty() ? nullptr : options.permutation.data();
        raw_options.num_permutation = options.permutation.size();
        raw_options.padding = options.padding;
        raw_options.fill = options.fill.empty() ? nullptr : options.fill.data();
        raw_options.fill_size = options.fill.size();
        raw_options.stores = options.stores;
        raw_options.part_bytes = options.part_bytes;
        XlaShapePlan* raw = nullptr;
        XlaShapeError* error = xla_shape_plan(source.raw(), destination.raw(), &raw_options, &raw);
        return detail::finish<Plan>(error, [&] { return Plan(raw); });
    }

    // The handle, for functions of the C interface. It stays this object's.
    const XlaShapePlan* raw() const { return handle_.get(); }

    // The bytes of the two buffers; see xla_shape_plan_bytes.
    Result<PlanBytes> bytes() const {
        PlanBytes bytes{};
        XlaShapeError* error = xla_shape_plan_bytes(raw(), &bytes.source, &bytes.destination);
        return detail::finish<PlanBytes>(error, [&] { return bytes; });
    }

    // Copies a whole array; see xla_shape_plan_run.
    Result<Done> run(const void* source, std::size_t source_bytes, void* destination, std::size_t destination_bytes) const {
        XlaShapeError* error = xla_shape_plan_run(raw(), source, source_bytes, destination, destination_bytes);
        return detail::finish<Done>(error, [] { return Done{}; });
    }

    // The number of parts; see xla_shape_plan_part_count.
    Result<std::size_t> part_count() const {
        std::size_t count = 0;
        XlaShapeError* error = xla_shape_plan_part_count(raw(), &count);
        return detail::finish<std::size_t>(error, [&] { return count; });
    }

    // The bytes of the destination that a part writes, or of the source that it reads; see xla_shape_plan_part_ranges.
    Result<std::vector<XlaShapeByteRange>> part_ranges(std::size_t part, bool of_destination) const {
        std::vector<XlaShapeByteRange> ranges;
        std::size_t count = 0;
        XlaShapeError* error = xla_shape_plan_part_ranges(raw(), part, of_destination, nullptr, 0, &count);
        if (!error) {
            ranges.resize(count);
            error = xla_shape_plan_part_ranges(raw(), part, of_destination, ranges.data(), count, &count);
        }
        return detail::finish<std::vector<XlaShapeByteRange>>(error, [&] { return std::move(ranges); });
    }

    // Copies one part, from the whole source into the whole destination; see xla_shape_plan_run_part.
    Result<Done> run_part(std::size_t part, const void* source, std::size_t source_bytes, void* destination,
                          std::size_t destination_bytes) const {
        XlaShapeError* error = xla_shape_plan_run_part(raw(), part, source, source_bytes, destination, destination_bytes);
        return detail::finish<Done>(error, [] { return Done{}; });
    }

private:
    detail::Handle<XlaShapePlan, xla_shape_plan_free> handle_;
};

// Whether the library has everything that this header declares. Call it if the library is loaded at run time.
inline bool library_fits() {
    std::uint32_t major = 0, minor = 0;
    xla_shape_abi_version(&major, &minor);
    // Not `>=`: while the minor version is 0, compilers warn that the comparison is always true.
    return major == XLA_SHAPE_ABI_MAJOR && minor + 1 > XLA_SHAPE_ABI_MINOR;
}

}  // inline namespace
}  // namespace xla_shape

#endif  // XLA_SHAPE_HPP
