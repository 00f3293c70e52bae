//! Writes the seeds of all targets.

use std::fs;
use std::io;
use std::path::Path;
// Links the function that instrumented code calls.
use xla_shape_fuzz as _;
use xla_shape_tests::fuzz::seeds;

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for seed in seeds() {
        let folder = root.join(seed.target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("seed-{}", seed.name)), seed.content)?;
    }
    Ok(())
}
