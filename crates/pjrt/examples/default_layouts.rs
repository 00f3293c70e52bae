//! Compares `default_layout` with the compiler's own layouts, for random arrays on all generations of TPUs:
//! `cargo run -p xla-shape-pjrt --example default_layouts -- 5000`.

use std::error::Error;
use xla_shape::tpu::{Generation, default_layout};
use xla_shape::{Dimension, ElementType};
use xla_shape_pjrt::{Plugin, Slice};

/// Pseudorandom numbers (xorshift), without a dependency.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    /// A size: small, near a power of two, a multiple of 8, or any.
    fn size(&mut self) -> u64 {
        match self.below(4) {
            0 => self.below(10),
            1 => (1_u64 << self.below(12)).saturating_add(self.below(3)).saturating_sub(1),
            2 => self.below(40) * 8,
            _ => self.below(3000),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let count: usize = std::env::args().nth(1).map_or(Ok(5000), |count| count.parse())?;
    // SAFETY: the user trusts the plug-in: libtpu in the active Python environment, or the file that PJRT_PLUGIN names.
    let plugin = unsafe { Plugin::find() }?;
    let (mut same, mut different, mut unknown) = (0, 0, 0);
    let generations = Generation::ALL.iter().filter_map(|&generation| Slice::host(generation).ok());
    for slice in generations {
        let topology = plugin.topology(&(&slice).into())?;
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        for _ in 0..count {
            let element_type = ElementType::ALL[numbers.below(ElementType::ALL.len() as u64) as usize];
            let rank = numbers.below(6);
            let sizes = (0..rank).map(|_| numbers.size()).collect::<Vec<_>>();
            let dimensions = sizes.iter().map(|&size| Dimension::Static(size)).collect::<Vec<_>>();
            let Ok(rule) = default_layout(slice.generation(), element_type, &dimensions) else {
                unknown += 1;
                continue;
            };
            let compiler = match topology.default_layout(element_type, &sizes) {
                Ok(layout) => layout,
                Err(error) => {
                    println!("{slice} {element_type}{sizes:?}: {error}");
                    different += 1;
                    continue;
                }
            };
            if rule.layout() == compiler {
                same += 1;
            } else {
                println!("{slice} {element_type}{sizes:?}: the rule gives {rule}, the compiler {compiler}");
                different += 1;
            }
        }
    }
    println!("{same} layouts are equal, {different} differ; {unknown} arrays without a default layout");
    if different == 0 { Ok(()) } else { Err("the rule and the compiler differ".into()) }
}
