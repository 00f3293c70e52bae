/* How a plug-in can implement PJRT_Buffer_ToHostBuffer: the caller requests a layout for the host, as a
 * PJRT_Buffer_MemoryLayout_Tiled, and the plug-in copies the device's buffer into that layout, part by part. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xla_shape.h"

/* The fields of PJRT_Buffer_MemoryLayout_Tiled. */
typedef struct {
    const int64_t *minor_to_major;
    size_t minor_to_major_size;
    const int64_t *tile_dims;
    const size_t *tile_dim_sizes;
    size_t num_tiles;
} HostLayout;

/* The same array in the layout that the caller wants. */
static XlaShapeError *host_shape(const XlaShape *device, const HostLayout *wanted, XlaShape **shape) {
    XlaShapeArray array = {.struct_size = sizeof array};
    XlaShapeError *error = xla_shape_array(device, &array);
    if (error) return error;
    /* The sizes stay; their list belongs to `device`. The layout is the caller's, with none of the device's attributes. */
    XlaShapeArray host = {.struct_size = sizeof host};
    host.element_type = array.element_type;
    host.dimensions = array.dimensions;
    host.num_dimensions = array.num_dimensions;
    host.minor_to_major = wanted->minor_to_major;
    host.tile_dims = wanted->tile_dims;
    host.tile_dim_sizes = wanted->tile_dim_sizes;
    host.num_tiles = wanted->num_tiles;
    return xla_shape_from_array(&host, shape);
}

/* Copies the array in `device_memory` to `host_memory`, a part at a time. */
static XlaShapeError *copy_to_host(const XlaShape *device, const void *device_memory, const XlaShape *host,
                                   void *host_memory, size_t host_bytes) {
    XlaShapePlanOptions options = {.struct_size = sizeof options, .padding = XLA_SHAPE_PADDING_ZERO, .part_bytes = 64 * 1024};
    XlaShapePlan *plan = NULL;
    size_t device_bytes = 0, parts = 0;
    XlaShapeError *error = xla_shape_plan(device, host, &options, &plan);
    if (!error) error = xla_shape_plan_bytes(plan, &device_bytes, NULL);
    if (!error) error = xla_shape_plan_part_count(plan, &parts);
    for (size_t part = 0; !error && part < parts; part++) {
        /* A plug-in would wait here for the bytes that xla_shape_plan_part_ranges names, or give each part to a thread. */
        error = xla_shape_plan_run_part(plan, part, device_memory, device_bytes, host_memory, host_bytes);
    }
    if (!error) printf("copied %zu bytes in %zu parts\n", device_bytes, parts);
    xla_shape_plan_free(plan);
    return error;
}

int main(void) {
    const char *text = "f32[1000,300]", *generation = "v5e";
    const int64_t minor_to_major[] = {1, 0}, tile_dims[] = {8, 128};
    const size_t tile_dim_sizes[] = {2};
    const HostLayout wanted = {minor_to_major, 2, tile_dims, tile_dim_sizes, 1};
    XlaShape *logical = NULL, *device = NULL, *host = NULL;
    XlaShapeSizes device_sizes = {.struct_size = sizeof device_sizes}, host_sizes = {.struct_size = sizeof host_sizes};
    const char *device_text = NULL, *host_text = NULL;
    float *device_memory = NULL, *host_memory = NULL;

    XlaShapeError *error = xla_shape_parse(text, strlen(text), &logical);
    if (!error) error = xla_shape_with_tpu_layout(logical, generation, strlen(generation), &device);
    if (!error) error = host_shape(device, &wanted, &host);
    if (!error) error = xla_shape_sizes(device, &device_sizes);
    if (!error) error = xla_shape_sizes(host, &host_sizes);
    if (!error) error = xla_shape_text(device, &device_text, NULL);
    if (!error) error = xla_shape_text(host, &host_text, NULL);
    int failed = 1;
    if (!error) {
        printf("from %s to %s\n", device_text, host_text);
        device_memory = calloc(1, (size_t)device_sizes.bytes);
        host_memory = malloc((size_t)host_sizes.bytes);
        if (!device_memory || !host_memory) goto done;
        /* What the device holds: element (i, j) is 1000 i + j. */
        for (int64_t i = 0; !error && i < 1000; i++) {
            for (int64_t j = 0; !error && j < 300; j++) {
                const int64_t index[] = {i, j};
                int64_t position = 0;
                error = xla_shape_linear_index(device, index, 2, &position);
                if (!error) device_memory[position] = (float)(1000 * i + j);
            }
        }
    }
    if (!error) error = copy_to_host(device, device_memory, host, host_memory, (size_t)host_sizes.bytes);
    if (!error) {
        /* In tiles of 8 rows and 128 columns, of which 3 are side by side, element (3, 150) is in tile (0, 1), row 3, column 22. */
        const float found = host_memory[1 * 8 * 128 + 3 * 128 + 22];
        printf("element (3,150) is %.0f\n", (double)found);
        failed = found != 3150.0F;
    }
done:
    if (error) fprintf(stderr, "%s\n", xla_shape_error_rendered(error));
    xla_shape_error_free(error);
    free(host_memory);
    free(device_memory);
    xla_shape_free(host);
    xla_shape_free(device);
    xla_shape_free(logical);
    return failed;
}
