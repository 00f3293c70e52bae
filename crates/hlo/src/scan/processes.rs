//! Which process wrote a line of a log in which the lines of several processes are mixed.

use super::wrapping::{LONGEST, digits, ends_word, process, service, time};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;

/// The most processes that are told apart.
const MOST: usize = 4096;

/// Tells the processes of a log apart by what launchers write before each line: Ray and vLLM `(Worker pid=101)`, Slurm `0: `, MPI
/// `[1,0]<stderr>:`, PyTorch `[rank0]:`, Kubernetes `[pod/worker-0]`, and Docker `worker-1  | `.
///
/// A line without such a prefix is of the process of the line before it.
///
/// ```
/// let mut processes = xla_shape_hlo::Processes::default();
/// let found = ["0: a", "1: a", "0: b", "1: b", "and more"].map(|line| processes.of_line(line));
/// assert_eq!(found, [0, 1, 0, 1, 1]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Processes {
    known: BTreeMap<String, usize>,
    /// The process of the last line.
    current: usize,
    /// The number that the last line with one began with.
    number: Option<u64>,
    /// Whether the numbers at the beginning of lines are those of processes, not of lines.
    are_ranks: bool,
}

impl Processes {
    /// The number of the process that wrote the next line, from 0, in the order of their first lines.
    pub fn of_line(&mut self, line: &str) -> usize {
        if let Some(label) = label(line)
            && let Some(process) = self.process(&label)
        {
            self.current = process;
        }
        self.current
    }

    /// The process with a label; `None` if the label is the number of a line.
    fn process(&mut self, label: &Label<'_>) -> Option<usize> {
        let name = match label {
            Label::Name(name) => (*name).to_owned(),
            Label::Number(number) => {
                let before = self.number.replace(*number);
                // Numbers of lines count up, and do not begin with 0.
                let is_first = before.is_none() && *number > 0;
                let is_next = before.and_then(|before| before.checked_add(1)) == Some(*number);
                if is_next && !self.are_ranks {
                    return None;
                }
                self.are_ranks = !is_first;
                alloc::format!("{number}:")
            }
        };
        if let Some(known) = self.known.get(&name) {
            return Some(*known);
        }
        // What came before the first label is of the same process.
        let new = if self.known.is_empty() { self.current } else { self.known.len() };
        if new >= MOST {
            return None;
        }
        self.known.insert(name, new);
        Some(new)
    }
}

/// What tells a process from others.
enum Label<'a> {
    Name(&'a str),
    /// A number that may be that of a process, or that of a line.
    Number(u64),
}

/// The label that a line begins with.
fn label(line: &str) -> Option<Label<'_>> {
    let mut text = line.trim_start();
    // Colours of a terminal.
    while let Some(rest) = text.strip_prefix("\x1b[") {
        let end = rest.bytes().position(|byte| !matches!(byte, b'0'..=b'?'))?;
        text = rest.get(end.checked_add(1)?..)?.trim_start();
    }
    if text.starts_with(|c: char| c.is_ascii_digit())
        && let Some(length) = time(text)
    {
        text = text.get(length..)?.trim_start();
    }
    match text.as_bytes().first()? {
        b'(' => {
            let length = process(text)?;
            text.get(..length).filter(|label| label.contains("pid=")).map(Label::Name)
        }
        b'[' => {
            let (inside, after) = text.get(1..)?.split_once(']').filter(|(inside, _)| inside.len() <= LONGEST)?;
            if after.starts_with("<std") {
                return Some(Label::Name(inside));
            }
            let is_number = (1..=6).contains(&inside.len()) && digits(inside) == inside.len();
            let is_name = inside.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
                && inside.contains(|c: char| c.is_ascii_alphabetic())
                && (inside.contains('/') || inside.ends_with(|c: char| c.is_ascii_digit()));
            let is_prefix = after.starts_with(':') || ends_word(after, 0);
            ((is_number || is_name) && is_prefix).then_some(Label::Name(inside))
        }
        b'0'..=b'9' => {
            let count = digits(text);
            let number = text.get(..count).filter(|_| count <= 6)?.parse().ok()?;
            let after = text.get(count..)?.strip_prefix(':')?;
            ends_word(after, 0).then_some(Label::Number(number))
        }
        _ => {
            let length = service(text)?;
            Some(Label::Name(text.get(..length)?.trim_end_matches('|').trim_end()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Processes;
    use alloc::vec::Vec;

    fn of(lines: &[&str]) -> Vec<usize> {
        let mut processes = Processes::default();
        lines.iter().map(|line| processes.of_line(line)).collect()
    }

    #[test]
    fn prefixes_tell_processes_apart() {
        for [first, second] in [
            ["(RayTrainWorker pid=101, ip=10.0.0.1) ", "(RayTrainWorker pid=202, ip=10.0.0.2) "],
            ["\x1b[36m(RayWorkerWrapper pid=812)\x1b[0m ", "\x1b[36m(RayWorkerWrapper pid=813)\x1b[0m "],
            ["0: ", "1: "],
            ["1: ", "0: "],
            [" 7: ", "12: "],
            ["[1,0]<stderr>:", "[1,1]<stderr>:"],
            ["[rank0]: ", "[rank1]: "],
            ["[0] ", "[1] "],
            ["[pod/vllm-tpu-0/server] ", "[pod/vllm-tpu-1/server] "],
            ["worker-1  | ", "worker-2  | "],
            [
                "2025-03-21T10:57:56.764856789Z stderr F (W pid=1) ",
                "2025-03-21T10:57:57.764856789Z stderr F (W pid=2) ",
            ],
        ] {
            let line = |prefix: &str, text: &str| [prefix, text].concat();
            let lines = [line(first, "a"), line(second, "a"), line(first, ""), line(second, ""), line(first, "b")];
            let lines: Vec<&str> = lines.iter().map(|line| &**line).collect();
            assert_eq!(of(&lines), [0, 1, 0, 1, 0], "{lines:?}");
        }
    }

    #[test]
    fn other_lines_are_of_one_process() {
        for lines in [
            ["1: a", "2: a", "3: b", "4: c"],
            ["101: a", "102: a", "103: b", "104: c"],
            ["12: a", "12: a", "12: b", "12: c"],
            ["[core.py:1184] a", "[core.py:7] b", "[8, 128] c", "[SPMD] d"],
            ["a", "(f32[2], s32[]) b", "[8]{0} c", "[2025-03-21 10:57:56] d"],
            ["a", "[rank3]: b", "c", ""],
            ["10:57:56 a", "10:57:57 b", "1. Size: 2K", "| a | b |"],
        ] {
            assert_eq!(of(&lines), [0; 4], "{lines:?}");
        }
    }
}
