//! Runs each target with its seeds, with mutated and truncated seeds, and with random bytes, and prints the largest number of steps, in
//! total and per byte. The exit code is 1 if a target exceeds its limit. `scripts/steps.sh` builds it so that steps are counted.

use std::process::ExitCode;
use xla_shape_fuzz::steps;
use xla_shape_tests::fuzz::{TARGETS, seeds};

/// The number of random inputs for each target.
const INPUTS: usize = 4000;

/// The largest size of a random input, in bytes.
const MOST_BYTES: u64 = 4096;

/// Pseudorandom numbers, the same in each run: Marsaglia's xorshift.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1)) as usize
    }

    fn bytes(&mut self) -> Vec<u8> {
        (0..self.below(MOST_BYTES)).map(|_| self.below(256) as u8).collect()
    }

    /// A seed with some bytes changed, or with a part repeated.
    fn changed(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        if !bytes.is_empty() && self.below(2) == 0 {
            for _ in 0..=self.below(4) {
                let place = self.below(bytes.len() as u64);
                bytes[place] = seed[self.below(seed.len() as u64)];
            }
        } else {
            let start = self.below(seed.len() as u64);
            let end = start + self.below((seed.len() - start) as u64);
            let part = &seed[start..end];
            let times = self.below(MOST_BYTES / (part.len() as u64 + 1));
            bytes = [&seed[..start], &part.repeat(times), &seed[end..]].concat();
        }
        bytes
    }
}

fn main() -> ExitCode {
    let seeds = seeds();
    let (mut numbers, mut is_law) = (Numbers(1), true);
    for target in TARGETS {
        let own = seeds.iter().filter(|seed| seed.target == target.name).map(|seed| &seed.content).collect::<Vec<_>>();
        let made = (0..INPUTS).map(|_| match own.len() {
            0 => numbers.bytes(),
            count => {
                let seed = numbers.below(count as u64);
                numbers.changed(own[seed])
            }
        });
        let made = made.collect::<Vec<_>>();
        let (mut most, mut each) = ([0, 0], [0, 0]);
        for bytes in own.iter().copied().chain(&made) {
            let (steps, len) = (steps(target, bytes), bytes.len() as u64);
            most = most.max([steps, len]);
            each = each.max([steps / len.max(1), len]);
            if steps > target.most_steps(bytes.len()) {
                is_law = false;
                println!(
                    "{}: {steps} steps, at most {} are expected: {bytes:?}",
                    target.name,
                    target.most_steps(bytes.len())
                );
            }
        }
        println!("{}: {} steps for {} bytes; {} for each of {} bytes", target.name, most[0], most[1], each[0], each[1]);
    }
    // If there are no steps at all, this build does not count them.
    let counted = steps(&TARGETS[0], b"HloModule m") > 0;
    if is_law && counted { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
