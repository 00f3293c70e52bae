use xla_shape::tpu_shape;

type NoGeneration = tpu_shape!(bf16[8,128]);
type UnknownGeneration = tpu_shape!(v9, bf16[8,128]);
type NoComma = tpu_shape!(v5e bf16[8,128]);
type UnknownElements = tpu_shape!(v5e, (f32[8], s1[8,128]));
type UnknownLayouts = tpu_shape!(v8i, f32[8]);
type Unbounded = tpu_shape!(v5e, f32[8,?]);
type WithLayout = tpu_shape!(v5e, f32[8,128]{1,0});
type TooLarge = tpu_shape!(v5e, s8[1,9223372036854775807]);

fn main() {}
