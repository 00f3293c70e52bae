// A loop over a tiled buffer: sums each row of an array as a TPU holds it, and then goes through the memory in its own order, past the padding.
#include <cstdint>
#include <iostream>
#include <vector>

#include "xla_shape.hpp"

int main() try {
    const auto shape = xla_shape::Shape::parse("s32[5,300]{1,0:T(8,128)}");
    const auto sizes = shape.sizes();
    const auto dimensions = shape.dimensions();
    std::vector<std::int32_t> buffer(static_cast<std::size_t>(sizes.positions), -1);

    // By index: element (i, j) becomes i + j.
    for (std::int64_t i = 0; i < dimensions[0]; i++) {
        for (std::int64_t j = 0; j < dimensions[1]; j++) {
            buffer[static_cast<std::size_t>(shape.linear_index({i, j}))] = static_cast<std::int32_t>(i + j);
        }
    }

    // By position: in the order of memory.
    std::vector<std::int64_t> index, sums(static_cast<std::size_t>(dimensions[0]));
    std::int64_t padding = 0;
    for (std::int64_t position = 0; position < sizes.positions; position++) {
        if (shape.multi_index(position, index) == XLA_SHAPE_SLOT_PADDING) {
            padding++;
            continue;
        }
        sums[static_cast<std::size_t>(index[0])] += buffer[static_cast<std::size_t>(position)];
    }

    std::cout << shape.text() << ": " << sizes.bytes << " bytes, of them " << sizes.padding_bytes << " padding\n";
    bool is_right = padding * 4 == sizes.padding_bytes;
    for (std::size_t i = 0; i < sums.size(); i++) {
        std::cout << "row " << i << ": " << sums[i] << "\n";
        is_right = is_right && sums[i] == 300 * static_cast<std::int64_t>(i) + 299 * 300 / 2;
    }
    return is_right ? 0 : 1;
} catch (const xla_shape::Exception& failed) {
    std::cerr << failed.what() << "\n";
    return 1;
}
