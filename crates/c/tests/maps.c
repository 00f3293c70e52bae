/* Compares the element maps that XLA has made (tests/corpus/linear_index.jsonl) with this library: for each position, the row-major number of
 * its element, or -1 for padding. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xla_shape.h"

#define MAX_DIMENSIONS 64

static int fail(const char *text, int length, const char *what) {
    printf("%.*s: %s\n", length, text, what);
    return 0;
}

/* Whether a row agrees. `numbers` is the list in the row. */
static int agrees(const char *text, size_t length, const char *numbers) {
    XlaShape *shape = NULL;
    XlaShapeArray array = {.struct_size = sizeof array};
    XlaShapeSizes sizes = {.struct_size = sizeof sizes};
    XlaShapeError *error = xla_shape_parse(text, length, &shape);
    if (!error) error = xla_shape_array(shape, &array);
    if (!error) error = xla_shape_sizes(shape, &sizes);
    int good = !error && array.num_dimensions <= MAX_DIMENSIONS;
    int64_t position = 0;
    for (; good && *numbers != ']'; position++) {
        char *end = NULL;
        const long long expected = strtoll(numbers, &end, 10);
        numbers = *end == ',' ? end + 1 : end;
        int64_t index[MAX_DIMENSIONS], back = -1;
        XlaShapeSlot slot = XLA_SHAPE_SLOT_PADDING;
        error = xla_shape_multi_index(shape, position, index, array.num_dimensions, &slot);
        if (error) break;
        long long number = -1;
        if (slot == XLA_SHAPE_SLOT_ELEMENT) {
            number = 0;
            for (size_t i = 0; i < array.num_dimensions; i++) number = number * array.dimensions[i] + index[i];
            error = xla_shape_linear_index(shape, index, array.num_dimensions, &back);
            if (error) break;
            if (back != position) good = fail(text, (int)length, "the index has another position");
        }
        if (number != expected) good = fail(text, (int)length, "another element is there");
    }
    if (good && !error && position != sizes.positions) good = fail(text, (int)length, "another number of positions");
    if (error) good = fail(text, (int)length, xla_shape_error_rendered(error));
    xla_shape_error_free(error);
    xla_shape_free(shape);
    return good;
}

int main(void) {
    static char line[1 << 22];
    FILE *file = fopen("../../tests/corpus/linear_index.jsonl", "r");
    if (!file) return 1;
    size_t rows = 0, good = 0;
    while (fgets(line, sizeof line, file)) {
        const char *const layout_key = "\"layout\":", *const list_key = "\"physical_to_logical\":";
        char *layout = strstr(line, layout_key), *numbers = strstr(line, list_key);
        if (!layout || !numbers) return 1;
        layout = strchr(layout + strlen(layout_key), '"') + 1;
        numbers = strchr(numbers, '[') + 1;
        rows++;
        good += (size_t)agrees(layout, (size_t)(strchr(layout, '"') - layout), numbers);
    }
    fclose(file);
    printf("%zu of %zu maps agree\n", good, rows);
    return good == rows ? 0 : 1;
}
