//! `thunk_sequence.txt`: what a GPU does for a program, step by step (`ThunkSequence::ToString` in `xla/backends/gpu/runtime/thunk.cc`).

use super::DumpError;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// A step of a program on a GPU: a kernel that is launched, a copy, a call of a library, or a loop around other steps.
///
/// ```
/// use xla_shape_hlo::dump::Launch;
///
/// let text = "\
/// 001: kCopy         [source       | next=002 (1)] kCopy
/// 002: kCustomKernel [prev=001 (1) | sink        ] fusion_8 grid: [4096, 1, 1] threads: [128, 1, 1]  shared_memory: 32 bytes
/// ";
/// let [copy, fusion] = &Launch::parse_all(text)?[..] else { panic!("two steps") };
/// assert_eq!((copy.kind.as_str(), &copy.kernel), ("Copy", &None));
/// let kernel = fusion.kernel.as_ref().unwrap();
/// assert_eq!((kernel.name.as_str(), kernel.grid, kernel.shared_memory), ("fusion_8", [4096, 1, 1], 32));
/// # Ok::<(), xla_shape_hlo::dump::DumpError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// Its number in the program.
    pub number: u32,
    /// What it is, in the compiler's words without the `k` in front: "CustomKernel", "Copy", "Convolution", "While".
    pub kind: String,
    /// The kernel; `None` if the step launches no kernel, or the file does not say which.
    pub kernel: Option<LaunchedKernel>,
}

/// How a kernel is launched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchedKernel {
    /// The name of the kernel. Instructions with equal code share one kernel.
    pub name: String,
    /// The blocks of threads along x, y and z.
    pub grid: [u64; 3],
    /// The threads of each block along x, y and z.
    pub threads: [u64; 3],
    /// The bytes of shared memory of a block.
    pub shared_memory: u64,
}

impl Launch {
    /// Parses the file. Lines that are not steps, such as `body:`, are left out.
    ///
    /// # Errors
    /// If the first line is not a step.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, DumpError> {
        let launches: Vec<_> = text.lines().filter_map(Self::parse).collect();
        match text.lines().next().and_then(Self::parse) {
            Some(_) => Ok(launches),
            None => Err(DumpError::NotThisFile { expected: "001: k" }),
        }
    }

    /// A step: `NUMBER: kKIND [STEPS BEFORE | STEPS AFTER] WHAT`.
    fn parse(line: &str) -> Option<Self> {
        let (number, rest) = line.trim_start().split_once(": k")?;
        let (kind, rest) = rest.split_once('[')?;
        let (_, what) = rest.split_once(']')?;
        Some(Self { number: number.parse().ok()?, kind: kind.trim_end().to_owned(), kernel: kernel(what.trim()) })
    }
}

fn kernel(what: &str) -> Option<LaunchedKernel> {
    let (name, rest) = what.split_once(" grid: ")?;
    let (grid, rest) = rest.split_once("threads: ")?;
    // The threads may be followed by a cluster of blocks.
    let (threads, rest) = rest.split_once("shared_memory: ")?;
    let shared_memory = rest.split_once(" bytes")?.0.parse().ok()?;
    Some(LaunchedKernel { name: name.to_owned(), grid: along(grid)?, threads: along(threads)?, shared_memory })
}

/// The numbers of `[x, y, z]` at the beginning of a text.
fn along(text: &str) -> Option<[u64; 3]> {
    let (numbers, _) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    let mut numbers = numbers.split(", ").map(|number| number.parse().ok());
    let found = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::Launch;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    #[test]
    fn steps_in_loops_are_read_and_other_lines_left_out() {
        let text = "\
004: kWhile        [prev=003 (1) | sink        ]   \ncondition:
    005: kCustomKernel [source | sink] loop_compare_fusion grid: [1, 1, 1] threads: [1, 1, 1]  shared_memory: 0 bytes
  body:
    006: kKernel       [source       | next=007 (1)] k grid: [16, 2, 1] threads: [256, 1, 1] cluster: [2, 1, 1] shared_memory: 9 bytes
    007: kAsyncStart   [prev=006 (1) | sink        ] stream=computation_stream[0], async_id=8
    008: kCustomKernel [prev=007 (1) | sink        ] odd grid: [16, 2] threads: [256, 1, 1]  shared_memory: 9 bytes
";
        let found = Launch::parse_all(text).unwrap();
        let kinds = found.iter().map(|launch| (launch.number, launch.kind.as_str())).collect::<Vec<_>>();
        assert_eq!(kinds, [(4, "While"), (5, "CustomKernel"), (6, "Kernel"), (7, "AsyncStart"), (8, "CustomKernel")]);
        let grids = found.iter().map(|launch| launch.kernel.as_ref().map(|kernel| kernel.grid)).collect::<Vec<_>>();
        assert_eq!(grids, [None, Some([1, 1, 1]), Some([16, 2, 1]), None, None]);
        assert_eq!(found[2].kernel.as_ref().unwrap().shared_memory, 9);
    }

    #[test]
    fn another_file_is_an_error() {
        for text in ["", "HloModule m", "1: kCopy", "x: kCopy [source | sink] kCopy", "99999999999: kCopy [a | b] c"] {
            assert_eq!(
                Launch::parse_all(text).unwrap_err().to_string(),
                "the file does not begin with `001: k`",
                "{text}"
            );
        }
    }
}
