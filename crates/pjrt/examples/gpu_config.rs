//! Prints what XLA's compiler is told about a GPU (`GpuTargetConfigProto` as text): `gpu_config h100`.

use std::error::Error;
use xla_shape::gpu::Gpu;
use xla_shape::hlo::proto::GpuConfig;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).ok_or("usage: gpu_config GPU")?;
    print!("{}", GpuConfig::of(name.parse::<Gpu>()?).text());
    Ok(())
}
