//! Splits a step among threads: each writes its own part of the destination.

use super::elements::Widths;
use super::execute;
use super::kernels::{Fence, Machine};
use super::loops::{Axis, Region};
use super::schedule::Step;
use super::tuning::{MIN_THREADED_BYTES, PARTS_PER_THREAD};

/// [`execute::run`] with the threads of the current pool.
pub(super) fn run(step: &Step, widths: Widths, machine: Machine, source: &[u8], destination: &mut [u8]) {
    let serial = |step: &Step, destination: &mut [u8]| {
        execute::run(step, widths, &Fence::new(machine), source, destination);
    };
    if destination.len() < MIN_THREADED_BYTES {
        return serial(step, destination);
    }
    let parts = step.parts(PARTS_PER_THREAD * rayon::current_num_threads());
    rayon::scope(|scope| {
        for_each(&parts, destination, |part, own| scope.spawn(move |_| serial(&part, own)));
    });
}

/// [`execute::fill`] with the threads of the current pool.
pub(super) fn fill(region: &Region, widths: Widths, destination: &mut [u8], element: &[u8]) {
    let serial = |region: &Region, destination: &mut [u8]| execute::fill(region, widths, destination, element);
    // Each iteration of the outermost loop must write whole bytes, after those of the iteration before.
    let Some((outermost, inner)) = region.axes.split_first() else { return serial(region, destination) };
    let end = inner.iter().map(|axis| (axis.len - 1) * axis.to).sum::<usize>();
    let bytes = widths.to / 8;
    let places = region.axes.iter().map(|axis| axis.len).product::<usize>();
    if !widths.to.is_multiple_of(8) || end >= outermost.to || places * bytes < MIN_THREADED_BYTES {
        return serial(region, destination);
    }
    let iterations = outermost.len.div_ceil(PARTS_PER_THREAD * rayon::current_num_threads());
    let (mut left, mut region) = (outermost.len, region.clone());
    let mut rest = &mut destination[region.to * bytes..];
    region.to = 0;
    rayon::scope(|scope| {
        while left > 0 {
            let len = iterations.min(left);
            left -= len;
            let stride = len * region.axes[0].to * bytes;
            let (own, behind) = if left == 0 { (rest, &mut [][..]) } else { rest.split_at_mut(stride) };
            rest = behind;
            let mut part = region.clone();
            part.axes[0] = Axis { len, ..part.axes[0] };
            scope.spawn(move |_| serial(&part, own));
        }
    });
}

/// Calls `visit` with each part of a step and the piece of the destination that it writes.
fn for_each<'a>(parts: &[Step], destination: &'a mut [u8], mut visit: impl FnMut(Step, &'a mut [u8])) {
    let (mut rest, mut start) = (destination, 0);
    for (i, part) in parts.iter().enumerate() {
        // A part's piece ends where the next part begins. The first piece includes what comes before it.
        let end = parts.get(i + 1).map_or(start + rest.len(), |next| next.to);
        let (own, behind) = rest.split_at_mut(end - start);
        visit(Step { to: part.to - start, ..part.clone() }, own);
        (rest, start) = (behind, end);
    }
}

#[cfg(test)]
mod tests {
    use super::{Fence, Widths, execute, for_each};
    use crate::{Options, Padding, Plan};

    /// Layouts for every kernel, with sizes that are no multiples of tiles: from each to each.
    #[test]
    fn parts_do_what_the_whole_does() {
        for (array, layouts) in [
            ("f32[37,45]", &["{1,0}", "{0,1}", "{1,0:T(8,16)}", "{0,1:T(4,8)}"][..]),
            ("f32[21,22,23]", &["{2,1,0}", "{0,1,2}", "{0,2,1}", "{1,2,0}", "{1,0,2:T(2,4)}"]),
            ("u8[9,10,11,12]", &["{3,2,1,0}", "{0,1,2,3}", "{2,0,3,1}", "{1,3,0,2:T(4,8)(4,1)}"]),
            ("bf16[41,150]", &["{1,0}", "{0,1}", "{1,0:T(8,128)(2,1)}", "{0,1:T(8,128)(2,1)}", "{1,0:T(8,128)}"]),
            ("u8[70,140]", &["{1,0}", "{1,0:T(32,128)(4,1)}", "{0,1:T(8,128)(4,1)}", "{1,0:T(16,128)(8,1)}"]),
            ("s4[70,140]", &["{1,0}", "{0,1}", "{1,0:E(4)}", "{0,1:E(4)}", "{1,0:T(64,128)(8,1)E(4)}"]),
            ("f6e2m3fn[20,44]", &["{1,0}", "{1,0:E(6)}", "{0,1:E(6)}", "{1,0:T(8,128)(4,1)E(6)}"]),
            ("c128[17,19]", &["{1,0}", "{0,1}", "{1,0:T(8,4)}"]),
            ("u8[5,3,4,7,9]", &["{4,3,2,1,0}", "{2,0,3,1,4}", "{1,4,0,2,3}", "{3,0,4,2,1:T(4,8)}"]),
            ("c128[3,5,4,3]", &["{3,2,1,0}", "{2,0,3,1}", "{0,1,3,2}"]),
            ("f32[300,3]", &["{1,0}", "{0,1}", "{1,0:T(4)}"]),
            ("u8[3000]", &["{0}", "{0:T(128)}"]),
        ] {
            let shape = |layout: &str| format!("{array}{layout}").parse().unwrap();
            for (from, to) in layouts.iter().flat_map(|from| layouts.iter().map(move |to| (shape(from), shape(to)))) {
                compare(&Plan::new(&from, &to, &Options::new()).unwrap());
            }
        }
    }

    /// Enough padding for several threads.
    #[test]
    fn threads_fill_what_one_fills() {
        for (from, to) in [
            ("f32[1000,100]", "f32[1000,100]{1,0:T(8,128)}"),
            ("u8[3,100000]", "u8[3,100000]{1,0:T(32,128)(4,1)}"),
            ("bf16[2000,129]{0,1}", "bf16[2000,129]{1,0:T(8,128)(2,1)}"),
        ] {
            for padding in [Padding::Zero, Padding::Fill(vec![1, 2, 3, 4])] {
                let (from, to) = (from.parse().unwrap(), to.parse::<xla_shape_core::ArrayShape>().unwrap());
                let padding = match padding {
                    Padding::Fill(bytes) => Padding::Fill(bytes[..to.element_bits() as usize / 8].to_vec()),
                    other => other,
                };
                let plan = Plan::new(&from, &to, &Options::new().padding(padding)).unwrap();
                let source = vec![7; plan.from().byte_size().unwrap() as usize];
                let mut results = [(); 2].map(|()| vec![0x5a; plan.to().byte_size().unwrap() as usize]);
                plan.run(&source, &mut results[0]).unwrap();
                plan.run_in_parallel(&source, &mut results[1]).unwrap();
                assert!(results[0] == results[1], "{plan}");
            }
        }
    }

    fn compare(plan: &Plan) {
        let (steps, widths, machine): (_, Widths, _) = plan.steps();
        let fence = Fence::new(machine);
        let bytes = |shape: &xla_shape_core::ArrayShape| shape.byte_size().unwrap() as usize;
        let source = (0..bytes(plan.from())).map(|i| (i * 31 + i / 251) as u8).collect::<Vec<_>>();
        for step in steps {
            let mut whole = vec![0; bytes(plan.to())];
            execute::run(step, widths, &fence, &source, &mut whole);
            for count in [2, 3, 7] {
                let mut found = vec![0; whole.len()];
                for_each(&step.parts(count), &mut found, |part, own| {
                    execute::run(&part, widths, &fence, &source, own);
                });
                assert!(found == whole, "{plan} in {count} parts");
            }
        }
    }
}
