//! Kernels with a `ThreadPool`, on threads of these tests in place of XLA's.

use super::memory::held;
use super::{Array, S32, call_with, create};
use crate::abi::{self, Api, XlaError};
use crate::threads::ThreadPool;
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::sync::Barrier;
use std::{ptr, thread};
use xla_shape::{Buffer, View, ViewMut, shape};

crate::kernel! {
    /// The number of threads, and the numbers of chunks.
    fn number(pool: ThreadPool<'_>, mut threads: ViewMut<'_, shape!(s32[])>, mut y: ViewMut<'_, shape!(s32[10])>) {
        threads[[]] = pool.num_threads() as i32;
        pool.for_each_chunk(y.as_mut_slice(), 3, |number, chunk| chunk.fill(number as i32));
    }

    fn throws(pool: ThreadPool<'_>) {
        pool.for_each(100, |number| {
            if number == 3 {
                std::panic::resume_unwind(Box::new(String::from("three")));
            }
        });
    }

    /// Passes each number of 6 × 7 once, through nested calls of `for_each`.
    fn nested(pool: ThreadPool<'_>, mut y: ViewMut<'_, shape!(s32[6,7])>) {
        pool.for_each_chunk(y.as_mut_slice(), 7, |row, chunk| {
            pool.for_each_chunk(chunk, 2, |number, chunk| chunk.fill((10 * row + number) as i32));
        });
    }

    /// The sums of rows of four.
    fn sums(pool: ThreadPool<'_>, x: View<'_, shape!(s32[n,4])>, mut y: ViewMut<'_, shape!(s32[m])>) {
        pool.zip_rows(&x, &mut y, 3, |first, rows, sums| {
            assert_eq!(rows.len(), 4 * sums.len());
            for (i, (row, sum)) in rows.chunks(4).zip(sums).enumerate() {
                *sum = row.iter().sum::<i32>() + 100 * (first + i) as i32;
            }
        });
    }

    /// The parameters of a kernel cannot have tiles, but arrays that the kernel makes can.
    fn tiled(pool: ThreadPool<'_>) {
        let mut y = Buffer::<shape!(s32[8,4]{1,0:T(2,2)})>::zeroed();
        pool.for_each_rows(&mut y.view_mut(), 2, |_, rows| rows.fill(7));
    }

    fn padded(pool: ThreadPool<'_>) {
        let mut y = Buffer::<shape!(s32[7,4]{1,0:L(32)})>::zeroed();
        pool.for_each_rows(&mut y.view_mut(), 2, |_, rows| rows.fill(7));
    }

    fn whole(pool: ThreadPool<'_>, mut y: ViewMut<'_, shape!(s32[8,4])>) {
        pool.for_each_rows(&mut y, usize::MAX, |_, rows| rows.fill(7));
    }

    /// Panics on two threads at once.
    fn throws_bombs(pool: ThreadPool<'_>) {
        let both = Barrier::new(2);
        pool.for_each(2, |_| {
            both.wait();
            std::panic::resume_unwind(Box::new(super::Bomb));
        });
    }
}

/// A task and its data, as XLA receives them.
struct Task(unsafe extern "C" fn(*mut c_void), *mut c_void);

// SAFETY: `help`, the only task, may run on any thread: its data is an `Arc<Gate>`, and `Gate` is `Sync`.
unsafe impl Send for Task {}

impl Task {
    fn run(self) {
        // SAFETY: `help` requires an `Arc<Gate>` to take over, and `schedule_helper` has made the data so. A `Task` runs once,
        // because `run` consumes it.
        unsafe { (self.0)(self.1) };
    }
}

thread_local! {
    static WAITING: RefCell<Vec<Task>> = const { RefCell::new(Vec::new()) };
    static DESTROYED: Cell<usize> = const { Cell::new(0) };
}

/// Defines a function with the signature of `XLA_FFI_ThreadPool_Schedule`.
macro_rules! schedule {
    ($name:ident, |$task:ident| $do:expr) => {
        unsafe extern "C" fn $name(arguments: *mut abi::ThreadPoolScheduleArgs) -> *mut XlaError {
            // SAFETY: `schedule_helper` calls it, with a reference to its arguments.
            let arguments = unsafe { &*arguments };
            let $task = Task(arguments.task, arguments.data);
            $do
        }
    };
}

schedule!(at_once, |task| {
    task.run();
    ptr::null_mut()
});

schedule!(later, |task| {
    WAITING.with_borrow_mut(|waiting| waiting.push(task));
    ptr::null_mut()
});

schedule!(elsewhere, |task| {
    thread::spawn(|| task.run());
    ptr::null_mut()
});

schedule!(never, |_task| ptr::dangling_mut());

unsafe extern "C" fn four(arguments: *mut abi::ThreadPoolNumThreadsArgs) -> *mut XlaError {
    // SAFETY: `ThreadPool::num_threads` calls it, with a reference to its arguments.
    let arguments = unsafe { &*arguments };
    // SAFETY: `num_threads` there points to a local variable of the caller.
    unsafe { *arguments.num_threads = 4 };
    ptr::null_mut()
}

unsafe extern "C" fn unknown(_: *mut abi::ThreadPoolNumThreadsArgs) -> *mut XlaError {
    ptr::dangling_mut()
}

unsafe extern "C" fn destroy(_: *mut abi::ErrorDestroyArgs) {
    DESTROYED.set(DESTROYED.get() + 1);
}

/// The status code of a panic.
const INTERNAL: c_int = 13;

type Schedule = unsafe extern "C" fn(*mut abi::ThreadPoolScheduleArgs) -> *mut XlaError;

fn api(schedule: Schedule) -> Api {
    let mut api = Api::for_tests(create);
    api.error_destroy = Some(destroy);
    api.thread_pool_schedule = Some(schedule);
    api.thread_pool_num_threads = Some(four);
    api
}

/// Runs the kernel `number` and checks its result; returns the number of threads that it found.
fn numbered(api: &Api) -> i32 {
    let (mut threads, mut y) = ([0_i32], [-1_i32; 10]);
    let results = [Array::new(S32, &[], &mut threads), Array::new(S32, &[10], &mut y)];
    assert_eq!(call_with::<number>(&[], &results, &[], |frame| frame.api = api), Ok(()));
    assert_eq!(y, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]);
    threads[0]
}

#[test]
fn work_is_done_whenever_helpers_come() {
    assert_eq!(numbered(&api(at_once)), 4);
    assert_eq!(numbered(&api(elsewhere)), 4);
    assert_eq!(numbered(&api(later)), 4);
    let waiting = WAITING.take();
    assert_eq!(waiting.len(), 3);
    waiting.into_iter().for_each(Task::run);
}

#[test]
fn work_is_done_where_nobody_helps() {
    assert_eq!(numbered(&api(never)), 4);
    assert_eq!(DESTROYED.get(), 1);
    let mut unknown_number = api(at_once);
    unknown_number.thread_pool_num_threads = Some(unknown);
    assert_eq!(numbered(&unknown_number), 1);
    // The kernel asks once, and the pool itself once.
    assert_eq!(DESTROYED.get(), 3);
    assert_eq!(numbered(&Api::for_tests(create)), 1);
    let mut older = api(at_once);
    older.struct_size = Api::SIZE - 8;
    assert_eq!(numbered(&older), 1);
}

#[test]
fn a_pool_is_shared_and_nests() {
    fn is_sync<T: Send + Sync>() {}
    is_sync::<ThreadPool<'_>>();
    for schedule in [at_once, elsewhere, never] as [Schedule; 3] {
        let mut y = [-1_i32; 42];
        let api = api(schedule);
        let results = [Array::new(S32, &[6, 7], &mut y)];
        assert_eq!(call_with::<nested>(&[], &results, &[], |frame| frame.api = &api), Ok(()));
        let expected: Vec<_> = (0..42).map(|i| 10 * (i / 7) + i % 7 / 2).collect();
        assert_eq!(y, *expected);
    }
}

#[test]
fn nothing_is_left_behind() {
    let round = || {
        numbered(&api(at_once));
        numbered(&api(never));
        let api = api(at_once);
        let thrown = call_with::<throws>(&[], &[], &[], |frame| frame.api = &api);
        assert_eq!(thrown, Err((INTERNAL, "the kernel panicked: three (in throws)".to_owned())));
    };
    round();
    let before = held();
    (0..if cfg!(miri) { 2 } else { 1000 }).for_each(|_| round());
    assert_eq!(held(), before);
}

#[test]
fn panics_on_several_threads_are_one_error() {
    let api = api(elsewhere);
    for _ in 0..if cfg!(miri) { 3 } else { 100 } {
        let thrown = call_with::<throws_bombs>(&[], &[], &[], |frame| frame.api = &api);
        assert_eq!(thrown, Err((INTERNAL, "the kernel panicked: without a message (in throws_bombs)".to_owned())));
    }
}

#[test]
fn bands_of_two_arrays_go_together() {
    let mut x: Vec<i32> = (0..32).collect();
    let mut y = [0; 8];
    let run = |rows: i64, results: i64, x: &mut [i32], y: &mut [i32]| {
        let api = api(elsewhere);
        call_with::<sums>(&[Array::new(S32, &[rows, 4], x)], &[Array::new(S32, &[results], y)], &[], |frame| {
            frame.api = &api
        })
    };
    assert_eq!(run(8, 8, &mut x, &mut y), Ok(()));
    let expected: Vec<_> = (0..8).map(|i| 16 * i + 6 + 100 * i).collect();
    assert_eq!(y[..], expected);
    assert_eq!(run(0, 0, &mut [], &mut []), Ok(()));
    let (code, message) = run(8, 7, &mut x, &mut y).unwrap_err();
    assert_eq!(code, INTERNAL);
    assert!(message.contains("expected the same number of rows in both arrays, found 8 and 7"), "{message}");
}

/// With tiles or padding, rows are not contiguous.
#[test]
fn rows_must_be_contiguous() {
    let refused = |outcome: Result<(), (i32, String)>, found: &str| {
        let (_, message) = outcome.unwrap_err();
        assert!(message.contains("expected contiguous rows, found "), "{message}");
        assert!(message.contains(found), "{message}");
    };
    let api = api(at_once);
    refused(call_with::<tiled>(&[], &[], &[], |frame| frame.api = &api), "T(2,2)");
    refused(call_with::<padded>(&[], &[], &[], |frame| frame.api = &api), "L(32)");
    let mut y = [0; 32];
    // The number of rows at a time may be as large as `usize::MAX`.
    let results = [Array::new(S32, &[8, 4], &mut y)];
    assert_eq!(call_with::<whole>(&[], &results, &[], |frame| frame.api = &api), Ok(()));
    assert_eq!(y, [7; 32]);
}
