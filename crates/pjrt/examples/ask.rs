//! Asks the compiler for TPUs about a program: `cargo run -p xla-shape-pjrt --example ask -- program.mlir v5e v6e`.

use std::error::Error;
use xla_shape::ElementType;
use xla_shape_pjrt::{CompileOptions, Plugin, Program};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which program?")?;
    let program = Program::from_bytes(&std::fs::read(file)?)?;
    // SAFETY: the user trusts the plug-in: libtpu in the active Python environment, or the file that PJRT_PLUGIN names.
    let plugin = unsafe { Plugin::find() }?;
    println!("{} has version {} of the interface", plugin.name(), plugin.version());
    for (name, value) in plugin.attributes()? {
        println!("  {name}: {value}");
    }
    for slice in arguments {
        let topology = plugin.topology(&slice.parse()?)?;
        println!("{}: {:?}", topology.name(), topology.devices()?.first());
        println!("  f32[100,200] is {}", topology.default_layout(ElementType::F32, &[100, 200])?);
        let compiled = topology.compile(&program, &CompileOptions::new())?;
        println!("  {} {}", compiled.name()?, compiled.fingerprint()?);
        println!("  inputs {:?}", compiled.inputs()?.iter().map(ToString::to_string).collect::<Vec<_>>());
        println!("  outputs {:?}", compiled.outputs()?.iter().map(ToString::to_string).collect::<Vec<_>>());
        println!("  shardings {:?} {:?}", compiled.input_shardings()?, compiled.output_shardings()?);
        println!("  {:?}", compiled.memory()?);
        println!("  cost {:?}", compiled.cost()?);
    }
    Ok(())
}
