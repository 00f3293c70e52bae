//! Compiles a refused program again, with changes after which the compiler may accept it.

use super::start::LIBTPU_FLAGS;
use super::{CompileError, Compiler, CompilerAnswer, Host};
use std::borrow::Cow;
use std::collections::BTreeMap;
use xla_shape_hlo::{RefusalCause, Remedy};
use xla_shape_pjrt::{Argument, Program, Target};

/// The option of the TPU compiler that limits the VMEM of each kernel, in KiB.
const VMEM_OPTION: &str = "xla_tpu_scoped_vmem_limit_kib";

/// A message may not say which result it is about. At most this many are tried.
const MOST_RESULTS: usize = 16;

impl Compiler {
    /// Whether an option or a flag of the compiler changes the limit of the VMEM of kernels from its default.
    ///
    /// ```
    /// use xla_shape_program::Compiler;
    ///
    /// let option = ("xla_tpu_scoped_vmem_limit_kib".to_owned(), "65536".to_owned());
    /// assert!(Compiler { options: vec![option], ..Compiler::default() }.limits_vmem());
    /// ```
    #[must_use]
    pub fn limits_vmem(&self) -> bool {
        let flags = std::env::var_os(LIBTPU_FLAGS).unwrap_or_default();
        self.options.iter().any(|(name, _)| name == VMEM_OPTION) || flags.to_string_lossy().contains(VMEM_OPTION)
    }

    /// Compiles a program with a remedy. `cause` is the cause of the refusal; `None` if memory ran out. Returns `None` if a compiler cannot try
    /// the remedy, because it changes the user's source or does not change the program.
    pub fn compile_with(
        &self,
        host: &Host,
        target: &Target,
        program: &[u8],
        cause: Option<&RefusalCause>,
        remedy: &Remedy,
    ) -> Option<Result<CompilerAnswer, CompileError>> {
        match (remedy, cause) {
            (Remedy::RaiseVmemLimit { bytes }, _) => {
                let mut compiler = self.clone();
                compiler.options.retain(|(name, _)| name != VMEM_OPTION);
                compiler.options.push((VMEM_OPTION.to_owned(), bytes.div_ceil(1024).to_string()));
                Some(compiler.compile(host, target, &with_vmem_limit(program, *bytes)))
            }
            (Remedy::RaiseScopedVmem { bytes }, _) => {
                let mut compiler = self.clone();
                compiler.options.retain(|(name, _)| name != VMEM_OPTION);
                compiler.options.push((VMEM_OPTION.to_owned(), bytes.div_ceil(1024).to_string()));
                Some(compiler.compile(host, target, program))
            }
            (Remedy::CompileFor { found, .. }, Some(RefusalCause::InputMismatch { parameter, .. })) => {
                let argument = Argument::Parameter(usize::try_from(*parameter).ok()?);
                let layouts = BTreeMap::from([(argument, found.layout().clone())]);
                Some(self.compile_changed(host, target, program, |program| program.with_layouts(&layouts)))
            }
            (Remedy::HostOutput, _) => {
                // The message names an instruction, not a result. So the results are tried in order, until the compiler
                // accepts a change.
                let mut first = None;
                for number in 0..MOST_RESULTS {
                    let kinds = BTreeMap::from([(Argument::Result(number), "pinned_host")]);
                    match self.compile_changed(host, target, program, |program| program.with_memory_kinds(&kinds)) {
                        Err(error) if first.is_some() && !has_result(program, number) => {
                            drop(error);
                            break;
                        }
                        Err(error) => drop(first.get_or_insert(error)),
                        done => return Some(done),
                    }
                }
                first.map(Err)
            }
            _ => None,
        }
    }

    fn compile_changed(
        &self,
        host: &Host,
        target: &Target,
        program: &[u8],
        change: impl FnOnce(&Program) -> xla_shape_pjrt::Result<Program>,
    ) -> Result<CompilerAnswer, CompileError> {
        let changed = Program::from_bytes(program).and_then(|program| change(&program));
        let changed = changed.map_err(|error| CompileError::Refused(error.to_string()))?;
        self.compile(host, target, changed.code())
    }
}

/// Whether a program has a result with this number.
fn has_result(program: &[u8], number: usize) -> bool {
    let kinds = BTreeMap::from([(Argument::Result(number), "device")]);
    Program::from_bytes(program).is_ok_and(|program| program.with_memory_kinds(&kinds).is_ok())
}

/// The program with another limit where its kernels set one: `"scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"33554432"}]`, in
/// which MLIR's text escapes the quotes.
fn with_vmem_limit(program: &[u8], bytes: u64) -> Cow<'_, [u8]> {
    const CONFIGS: &str = "scoped_memory_configs";
    let Ok(text) = std::str::from_utf8(program) else { return Cow::Borrowed(program) };
    let mut parts = text.split(CONFIGS);
    let mut changed = parts.next().unwrap_or("").to_owned();
    for part in parts {
        changed.push_str(CONFIGS);
        let end = part.find(']').unwrap_or(0);
        let Some(start) = size_in(&part[..end]) else {
            changed.push_str(part);
            continue;
        };
        let length = part[start..].bytes().take_while(u8::is_ascii_digit).count();
        changed.push_str(&part[..start]);
        changed.push_str(&bytes.to_string());
        changed.push_str(&part[start + length..]);
    }
    if changed == text { Cow::Borrowed(program) } else { Cow::Owned(changed.into_bytes()) }
}

/// Where the digits of the size begin in a JSON text, whose quotes may be escaped as in MLIR.
fn size_in(config: &str) -> Option<usize> {
    let unquoted = |text: &'_ str| -> usize {
        let quote = ["\\22", "\\\"", "\""].into_iter().find(|quote| text.starts_with(quote));
        quote.map_or(0, str::len)
    };
    let mut at = config.find("size")? + "size".len();
    at += unquoted(&config[at..]);
    at += config[at..].starts_with(':').then_some(1)?;
    at += config[at..].len() - config[at..].trim_start().len();
    at += unquoted(&config[at..]);
    config[at..].starts_with(|digit: char| digit.is_ascii_digit()).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::with_vmem_limit;

    #[test]
    fn the_limit_of_a_kernel_is_replaced_where_it_is_set() {
        for (before, after) in [
            (
                r#"backend_config = "{\22scoped_memory_configs\22: [{\22memory_space\22:1, \22offset\22: 0, \22size\22: 33554432}]}""#,
                r#"backend_config = "{\22scoped_memory_configs\22: [{\22memory_space\22:1, \22offset\22: 0, \22size\22: 67108864}]}""#,
            ),
            (
                r#"{"scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"4096"}],"size":"7"}"#,
                r#"{"scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"67108864"}],"size":"7"}"#,
            ),
            ("module @m {}", "module @m {}"),
            (r#"{"scoped_memory_configs":[],"size":"7"}"#, r#"{"scoped_memory_configs":[],"size":"7"}"#),
            ("scoped_memory_configs", "scoped_memory_configs"),
        ] {
            assert_eq!(with_vmem_limit(before.as_bytes(), 64 << 20), after.as_bytes(), "{before}");
        }
    }
}
