"""Chooses the shapes of an embedding, so that it takes the least memory on a TPU."""

import xla_shape
from xla_shape import Shape

sizes = [(50_257, 768), (768, 50_257), (50_257, 100), (100, 50_257)]
for rows, columns in sizes:
    shape = Shape.of("bf16", (rows, columns), xla_shape.default_layout("v5e", "bf16", (rows, columns)))
    print(f"{shape.byte_size:>11,} bytes, {shape.padding / shape.byte_size:>5.1%} padding  {shape}")

print(xla_shape.advise("bf16[50257,100]", "v5e"))
assert xla_shape.compare("f32[6,2,3]", "f32[36]")  # this reshape is free
