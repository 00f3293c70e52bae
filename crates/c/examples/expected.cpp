// Without exceptions: every call that can fail returns an xla_shape::Expected, an error or a value. It prints which part of an array each device
// has, and where a text is wrong.
#define XLA_SHAPE_NO_EXCEPTIONS
#include <iostream>

#include "xla_shape.hpp"

static int shards(std::string_view array, std::string_view text) {
    const auto shape = xla_shape::Shape::parse(array);
    const auto sharding = xla_shape::Sharding::parse(text);
    if (!shape || !sharding) {
        const auto& error = shape ? sharding.error() : shape.error();
        std::cout << error.rendered() << "\n";
        return error.span() ? 2 : 1;
    }
    const auto partition = sharding->partition(*shape);
    if (!partition) {
        std::cout << partition.error().message() << "\n";
        return 1;
    }
    const auto count = partition->device_count();
    if (!count) return 1;
    for (std::int64_t device = 0; device < *count; device++) {
        const auto region = partition->region(device);
        if (!region) return 1;
        std::cout << "device " << device << ":";
        for (std::size_t i = 0; i < region->start.size(); i++) {
            std::cout << " " << region->start[i] << "..." << region->limit[i];
        }
        std::cout << "\n";
    }
    return 0;
}

int main() {
    const bool is_right = shards("f32[10,256]{1,0:T(8,128)}", "{devices=[4,1]<=[4]}") == 0      // which part each device has
                          && shards("f32[10,256]{1,1}", "{devices=[4,1]<=[4]}") == 2            // an error with a place
                          && shards("f32[10,256]", "{devices=[4]<=[4]}") == 1;                  // an error without
    return is_right ? 0 : 1;
}
