//! Asks a compiler about the refusals in a text: whether remedies compile, and how XLA compiles changes of shardings.

use crate::changed::Changes;
use crate::{Devices, Made};
use xla_shape_answers::reshard::Change;
use xla_shape_answers::scan::{Scan, Trial};
use xla_shape_hlo::{RefusalCause, Remedy};
use xla_shape_program::{CompileError, Compiler, Host};

/// Only this many changes of sharding are compiled, the first ones in the log: a log can have warnings about thousands of instructions.
const MOST_CHANGES: usize = 16;

impl Devices {
    /// Compiles the remedies for a text and the changes of sharding that it warns of, and adds the compiler's answers. The compiler gets the program
    /// with each remedy that changes the program. It gets each of the first 16 changes of sharding alone, without the program. If it is certain which
    /// instruction of the program makes a change, the instruction is named. If HBM ran out, the program itself is compiled, too, and its result has
    /// lists of at most `top` entries.
    ///
    /// ```
    /// use xla_shape_answers::scan::{Scan, Trial};
    /// use xla_shape_program::{Compiler, Host};
    /// use xla_shape_tune::Devices;
    ///
    /// let mut scan = Scan::default();
    /// scan.read_line(b"[SPMD] Involuntary full rematerialization. The compiler cannot go from sharding {devices=[4,1]<=[4]} to \
    ///     {devices=[1,4]<=[4]} efficiently for HLO operation %p = f32[4,16]{1,0} parameter(0)");
    /// assert!(Devices::are_asked_without_program(&scan));
    /// // A host that cannot start this program again cannot compile.
    /// let host = Host { command: vec![], python: None, notes: |_| {} };
    /// let devices: Devices = "v5e:2x2".parse()?;
    /// assert!(devices.answer_about(&mut scan, &Compiler::default(), &host, None, 5).is_none());
    /// assert!(matches!(scan.causes()[0].remedies[0].trial, Some(Trial::NotCompiled { .. })));
    /// # Ok::<(), xla_shape_pjrt::TargetError>(())
    /// ```
    pub fn answer_about(
        &self,
        scan: &mut Scan,
        compiler: &Compiler,
        host: &Host,
        program: Option<&[u8]>,
        top: usize,
    ) -> Option<Result<Made, CompileError>> {
        // After running out of memory, people first want to know what takes it: compile the program to find out.
        let ran_out = program.filter(|_| scan.says_out_of_hbm());
        let made = ran_out.map(|program| self.compile(compiler, host, program, top, None));
        let why = made.as_ref().and_then(|made| made.as_ref().err()).map(ToString::to_string);
        if matches!(&made, Some(Ok(made)) if !matches!(made, Made::Refused { report: None, .. })) {
            scan.list_elsewhere();
        }
        if let (Some(program), true) = (program, Self::are_asked_without_program(scan)) {
            let changes = Changes::of(program);
            scan.name_instructions(|refusal| changes.find(refusal));
        }
        let mut changes = 0;
        scan.try_remedies(|cause, remedy| match (remedy, &why) {
            (Remedy::ListAllocations { .. }, Some(why)) => Some(Trial::NotCompiled { why: why.clone() }),
            (Remedy::ConstrainSharding { .. }, _) => {
                let change = change(remedy).filter(|_| changes < MOST_CHANGES)?;
                changes += 1;
                Some(self.try_change(&change, compiler, host))
            }
            _ => self.try_remedy((cause, remedy), compiler, host, program?),
        });
        made
    }

    /// Whether a text has a change of sharding. Such a change is compiled alone, without the program.
    #[must_use]
    pub fn are_asked_without_program(scan: &Scan) -> bool {
        scan.refusals().iter().flat_map(|refusal| refusal.cause.remedies()).any(|remedy| change(&remedy).is_some())
    }

    fn try_change(&self, change: &Change, compiler: &Compiler, host: &Host) -> Trial {
        match self.reshard(change, compiler, host).map(|answer| answer.xla) {
            Ok(Some(xla)) => Trial::Change(Box::new(xla)),
            Ok(None) => Trial::NotCompiled { why: "the compiler was not asked".to_owned() },
            Err(error) => Trial::NotCompiled { why: error.to_string() },
        }
    }

    fn try_remedy(
        &self,
        (cause, remedy): (Option<&RefusalCause>, &Remedy),
        compiler: &Compiler,
        host: &Host,
        program: &[u8],
    ) -> Option<Trial> {
        let target = match &self.target {
            Ok(target) => target,
            Err(why) => return Some(Trial::NotCompiled { why: why.clone() }),
        };
        Some(match compiler.compile_with(host, target, program, cause, remedy)? {
            Ok(said) => Trial::Compiles { needed_bytes: said.hbm_bytes(), device: self.name.clone() },
            Err(CompileError::Refused(message)) => Trial::Refused { message },
            Err(CompileError::NoCompiler(why)) => Trial::NotCompiled { why },
        })
    }
}

/// The change of sharding that a remedy is about, if the message gives the array and both shardings.
fn change(remedy: &Remedy) -> Option<Change> {
    let Remedy::ConstrainSharding { array: Some(array), shardings } = remedy else { return None };
    let [Some(from), Some(to)] = &**shardings else { return None };
    let (array, from, to) = (array.clone(), from.clone(), to.clone());
    Some(Change { array, from, to, rearrangement: None, layout: None, hosts: None, devices: Vec::new() })
}
