//! Says how many steps each target takes: at the most for any seed, and for each byte of its input.

use xla_shape_fuzz::{steps, target};
use xla_shape_tests::fuzz::{TARGETS, seeds};

fn main() {
    let seeds = seeds();
    for known in TARGETS {
        let mut worst = [(0, 0, String::new()), (0, 0, String::new())];
        for seed in seeds.iter().filter(|seed| seed.target == known.name) {
            let (steps, len) = (steps(target(seed.target), &seed.content), seed.content.len() as u64);
            for (place, size) in [(0, steps), (1, steps / len.max(1))] {
                if size > worst[place].0 {
                    worst[place] = (size, len, seed.name.clone());
                }
            }
        }
        let [most, each] = worst;
        println!(
            "{}: {} steps for {} bytes ({}); {} for each of {} bytes ({})",
            known.name, most.0, most.1, most.2, each.0, each.1, each.2
        );
    }
}
