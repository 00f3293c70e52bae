//! Splits a step among threads: each writes its own part of the destination.

use super::elements::Widths;
use super::fill::fill_region;
use super::helpers::Helpers;
use super::kernels::{BoundedStep, Step};
use super::loops::{Axis, Region};
use super::tuning::{BYTES_PER_HELPER, MAX_STRETCH_BYTES, MIN_PIECE_BYTES, PIECES_PER_THREAD};
use std::sync::{Mutex, PoisonError};

/// How many threads may help to write a destination of so many bytes, and in how many pieces they write it; `None` for a single thread.
fn divided(helpers: Helpers<'_>, bytes: usize) -> Option<(usize, usize)> {
    let helping = helpers.most.min(bytes / BYTES_PER_HELPER);
    let pieces = (helping.saturating_add(1)).saturating_mul(PIECES_PER_THREAD).min(bytes / MIN_PIECE_BYTES);
    (helping > 0).then_some((helping, pieces))
}

/// Calls `work` with each piece, on several threads.
fn share<T: Send>(helpers: Helpers<'_>, helping: usize, pieces: Vec<T>, work: impl Fn(T) + Sync) {
    let pieces = pieces.into_iter().map(|piece| Mutex::new(Some(piece))).collect::<Vec<_>>();
    helpers.share(pieces.len(), helping, &|number| {
        let piece = pieces[number].lock().unwrap_or_else(PoisonError::into_inner).take();
        // Each piece is taken once.
        piece.into_iter().for_each(&work);
    });
}

/// [`BoundedStep::run`] with several threads.
pub(super) fn run(step: &BoundedStep, widths: Widths, source: &[u8], destination: &mut [u8], helpers: Helpers<'_>) {
    // One part after the other, until the caller stops.
    let serial = |whole: &Step, destination: &mut [u8]| {
        for part in whole.stretches(destination.len().div_ceil(MAX_STRETCH_BYTES)) {
            if !helpers.caller.goes_on() {
                return;
            }
            step.with(part).run(&widths, source, destination);
        }
    };
    let Some((helping, pieces)) = divided(helpers, destination.len()) else {
        if destination.len() > MAX_STRETCH_BYTES {
            serial(step.step(), destination);
        } else if helpers.caller.goes_on() {
            // A small array takes microseconds, so the step itself runs: cloning the step for its only part would take too long.
            step.run(&widths, source, destination);
        }
        return;
    };
    let mut parts = Vec::new();
    for_each(&step.step().parts(pieces), destination, |part, own| parts.push((part, own)));
    share(helpers, helping, parts, |(part, own)| serial(&part, own));
}

/// [`fill_region`] with several threads.
pub(super) fn fill(region: &Region, widths: Widths, destination: &mut [u8], element: &[u8], helpers: Helpers<'_>) {
    let serial = |region: &Region, destination: &mut [u8]| {
        if helpers.caller.goes_on() {
            fill_region(region, widths, destination, element);
        }
    };
    // Each iteration of the outermost loop must write whole bytes, after those of the iteration before.
    let Some((outermost, inner)) = region.axes.split_first() else { return serial(region, destination) };
    let end = inner.iter().map(|axis| (axis.len - 1) * axis.to).sum::<usize>();
    let bytes = widths.to / 8;
    let places = region.axes.iter().map(|axis| axis.len).product::<usize>();
    let divided = divided(helpers, places * bytes).filter(|_| widths.to.is_multiple_of(8) && end < outermost.to);
    let Some((helping, pieces)) = divided else { return serial(region, destination) };
    let iterations = outermost.len.div_ceil(pieces);
    let (mut left, mut region) = (outermost.len, region.clone());
    let mut rest = &mut destination[region.to * bytes..];
    region.to = 0;
    let mut parts = Vec::new();
    while left > 0 {
        let len = iterations.min(left);
        left -= len;
        let stride = len * region.axes[0].to * bytes;
        let (own, left_over) = if left == 0 { (rest, &mut [][..]) } else { rest.split_at_mut(stride) };
        rest = left_over;
        let mut part = region.clone();
        part.axes[0] = Axis { len, ..part.axes[0] };
        parts.push((part, own));
    }
    share(helpers, helping, parts, |(part, own)| serial(&part, own));
}

/// Calls `visit` with each part of a step and the piece of the destination that it writes.
fn for_each<'a>(parts: &[Step], destination: &'a mut [u8], mut visit: impl FnMut(Step, &'a mut [u8])) {
    let (mut rest, mut start) = (destination, 0);
    for (i, part) in parts.iter().enumerate() {
        // A part's piece ends where the next part begins. The first piece includes what comes before it.
        let end = parts.get(i + 1).map_or(start + rest.len(), |next| next.to);
        let (own, left_over) = rest.split_at_mut(end - start);
        visit(Step { to: part.to - start, ..part.clone() }, own);
        (rest, start) = (left_over, end);
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES_PER_HELPER, Helpers, Widths, divided, for_each};
    use crate::helpers::Caller;
    use crate::{Caches, Options, Padding, Plan, RelayoutError, Stores, Vectors};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use xla_shape_core::ArrayShape;

    /// Layouts for every kernel, with sizes that are not multiples of tiles: copies from each to each.
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
            // Without loops that both sides share: copied by tables, or one by one.
            ("u8[99,200]", &["{0,1:T(*,7)}", "{1,0:T(*,9)}", "{0,1:T(5,100)}", "{1,0:T(7,96)}"]),
            ("s4[99,200]", &["{0,1:T(*,7)}", "{1,0:T(*,9)E(4)}", "{0,1:T(5,100)E(4)}", "{1,0:T(7,96)}"]),
        ] {
            let shape = |layout: &str| format!("{array}{layout}").parse().unwrap();
            for (from, to) in layouts.iter().flat_map(|from| layouts.iter().map(move |to| (shape(from), shape(to)))) {
                compare(&Plan::new(&from, &to, &Options::new()).unwrap());
                writes_everything(&from, &to);
            }
        }
    }

    /// Enough padding for several threads.
    #[test]
    fn threads_fill_what_one_fills() {
        for (from, to) in [
            ("f32[20000,100]", "f32[20000,100]{1,0:T(8,128)}"),
            ("u8[3,200000]", "u8[3,200000]{1,0:T(32,128)(4,1)}"),
            ("bf16[20000,129]{0,1}", "bf16[20000,129]{1,0:T(8,128)(2,1)}"),
        ] {
            for padding in [Padding::Zero, Padding::Fill(vec![1, 2, 3, 4])] {
                let (from, to) = (from.parse().unwrap(), to.parse::<ArrayShape>().unwrap());
                let padding = match padding {
                    Padding::Fill(bytes) => Padding::Fill(bytes[..to.element_bits() as usize / 8].to_vec()),
                    other => other,
                };
                let plan = Plan::new(&from, &to, &Options::new().padding(padding)).unwrap();
                let source = vec![7; plan.from().byte_size().unwrap() as usize];
                let mut results = [(); 2].map(|()| vec![0x5a; plan.to().byte_size().unwrap() as usize]);
                plan.run(&source, &mut results[0]).unwrap();
                let help = |help| drop(std::thread::spawn(help));
                plan.run_helped(&source, &mut results[1], 2, help).unwrap();
                assert!(results[0] == results[1], "{plan}");
            }
        }
    }

    /// A plan that fills padding writes each byte, whatever was there before: `Plan::run_new` relies on it.
    fn writes_everything(from: &ArrayShape, to: &ArrayShape) {
        let plan = Plan::new(from, to, &Options::new().zero_padding()).unwrap();
        let source = vec![0xff; plan.from().byte_size().unwrap() as usize];
        let results = [0, 0x5a, 0xff].map(|before| {
            let mut result = vec![before; plan.to().byte_size().unwrap() as usize];
            plan.run(&source, &mut result).unwrap();
            result
        });
        assert!(results[0] == results[1] && results[0] == results[2], "{plan}");
    }

    /// In how many parts the steps of a plan are cut, where `count` are asked for.
    fn parts(from: &str, to: &str, permutation: &[usize], count: usize) -> Vec<usize> {
        let caches = Caches { l2: 1 << 20, last_level: 32 << 20, last_level_is_local: false };
        let options = Options::new().transposed(permutation).caches(caches).vectors(Vectors::None);
        let plan = Plan::new(&from.parse().unwrap(), &to.parse().unwrap(), &options).unwrap();
        plan.steps().0.iter().map(|step| step.step().parts(count).len()).collect()
    }

    /// Rows that follow each other in the source may belong to different parts of the destination. Each part must read a long stretch of
    /// rows; otherwise the step is not divided.
    #[test]
    fn parts_read_long_stretches() {
        for (from, to, permutation, expected) in [
            ("f32[1,16384,8,128]", "f32[1,8,16384,128]", &[0, 2, 1, 3][..], 1),
            ("bf16[1,32768,8,128]", "bf16[1,8,32768,128]", &[0, 2, 1, 3], 1),
            ("u8[1,65536,8,128]", "u8[1,8,65536,128]", &[0, 2, 1, 3], 1),
            ("f32[1,4096,32,128]", "f32[1,32,4096,128]", &[0, 2, 1, 3], 1),
            // A part reads 16 KiB, or more, at a time.
            ("f32[1,1024,128,128]", "f32[1,128,1024,128]", &[0, 2, 1, 3], 4),
            ("f32[1,256,512,128]", "f32[1,512,256,128]", &[0, 2, 1, 3], 8),
            ("f32[64,512,512]", "f32[512,64,512]", &[1, 0, 2], 8),
            ("f32[1,8,16384,128]", "f32[1,16384,8,128]", &[0, 2, 1, 3], 8),
            ("f32[4096,4096]", "f32[4096,4096]{1,0:T(8,128)}", &[0, 1], 8),
            ("u8[67108864]", "u8[67108864]", &[0], 8),
            // A transpose reads only a part of each row at a time, even when it is not divided.
            ("f32[4096,4096]", "f32[4096,4096]", &[1, 0], 8),
        ] {
            assert_eq!(parts(from, to, permutation, 8), [expected], "{from} {to}");
        }
    }

    #[test]
    fn small_arrays_are_for_one_thread() {
        let caller = Caller::new(&|| true);
        let helpers = Helpers { most: 7, spawn: &|_| {}, caller: &caller };
        assert_eq!(divided(helpers, BYTES_PER_HELPER - 1), None);
        assert_eq!(divided(helpers, BYTES_PER_HELPER), Some((1, 8)));
        assert_eq!(divided(helpers, 100 * BYTES_PER_HELPER), Some((7, 32)));
    }

    /// Also where other threads help. Here, the calling thread itself does what helpers would do.
    #[test]
    fn a_caller_stops_between_parts() {
        let shape = "u8[1000,150000]".parse().unwrap();
        // Without optimisations, the loops of streaming stores take seconds.
        let options = Options::new().stores(Stores::Regular);
        let (plan, source) = (Plan::new(&shape, &shape, &options).unwrap(), vec![7; 150_000_000]);
        for helpers in [0, 1] {
            let asked = AtomicUsize::new(0);
            let goes_on = || asked.fetch_add(1, Ordering::Relaxed) < 2;
            let mut destination = vec![0; source.len()];
            let result = plan.run_helped_while(&source, &mut destination, helpers, |help| help(), goes_on);
            assert_eq!(result, Err(RelayoutError::Interrupted));
            assert_eq!(asked.load(Ordering::Relaxed), 3);
            assert!(destination.starts_with(&[7; 1000]) && destination.ends_with(&[0; 1000]));
        }
    }

    /// What is copied with tables is not divided, so the caller is asked in between.
    #[test]
    fn a_caller_stops_a_copy_with_tables() {
        let mut found = Vec::new();
        for (from, to) in [
            ("u8[3001,1009]{1,0:T(7,11)}", "u8[3001,1009]{1,0:T(5,3)}"),
            ("u8[3001,1009]{1,0:T(7,11)(3,2)}", "u8[3001,1009]{0,1:T(5,3)}"),
            ("u8[3001,1009]{1,0:T(*,11)}", "u8[3001,1009]{0,1:T(*,7)}"),
            ("u8[3001,1009]{1,0:T(7,11)(3,2)}", "u8[3001,1009]{0,1:T(*,7)(5)}"),
        ] {
            let plan = Plan::new(&from.parse().unwrap(), &to.parse().unwrap(), &Options::new()).unwrap();
            let how = plan.to_string();
            found.extend(how.lines().find(|line| line.contains("element by element")).map(str::to_owned));
            let bytes = |shape: &str| shape.parse::<ArrayShape>().unwrap().byte_size().unwrap() as usize;
            let (source, mut destination) = (vec![7; bytes(from)], vec![0; bytes(to)]);
            let goes_on = || false;
            let result = plan.run_helped_while(&source, &mut destination, 0, |help| help(), goes_on);
            assert_eq!(result, Err(RelayoutError::Interrupted), "{from} {to}");
            assert!(destination.iter().filter(|&&byte| byte == 7).count() < 3001 * 1009, "{how}");
        }
        found.sort();
        found.dedup();
        assert!(found.len() >= 2, "{found:?}");
    }

    fn compare(plan: &Plan) {
        let (steps, widths): (_, Widths) = plan.steps();
        let bytes = |shape: &ArrayShape| shape.byte_size().unwrap() as usize;
        let source = (0..bytes(plan.from())).map(|i| (i * 31 + i / 251) as u8).collect::<Vec<_>>();
        for step in steps {
            let mut whole = vec![0; bytes(plan.to())];
            step.run(&widths, &source, &mut whole);
            for count in [2, 3, 7] {
                let mut found = vec![0; whole.len()];
                for_each(&step.step().parts(count), &mut found, |part, own| {
                    step.with(part).run(&widths, &source, own);
                });
                assert!(found == whole, "{plan} in {count} parts");
                let mut found = vec![0; whole.len()];
                for part in step.step().stretches(count) {
                    step.with(part).run(&widths, &source, &mut found);
                }
                assert!(found == whole, "{plan} in {count} stretches");
            }
        }
    }
}
