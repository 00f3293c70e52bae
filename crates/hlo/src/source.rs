//! Source locations of instructions: `OpMetadata` in `xla/xla_data.proto` and the module's stack frame tables.

use crate::schema::Key;
use crate::{Instruction, Module, Table};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;

/// An index of a module's stack frame tables, to look up the source location of an instruction.
///
/// ```
/// let text = "\
/// HloModule m
///
/// FileNames
/// 1 \"train.py\"
///
/// FunctionNames
/// 1 \"step\"
///
/// FileLocations
/// 1 {file_name_id=1 function_name_id=1 line=43}
///
/// StackFrames
/// 1 {file_location_id=1 parent_frame_id=1}
///
/// ENTRY e {
///   ROOT p = f32[] parameter(0), metadata={op_name=\"jit(step)/layer_3/x\" stack_frame_id=1}
/// }";
/// let module = xla_shape_hlo::Module::parse(text)?;
/// let source = module.sources().get(module.entry().unwrap().root());
/// assert_eq!(source.op_name.as_deref(), Some("jit(step)/layer_3/x"));
/// assert_eq!((source.file.as_deref(), source.line), (Some("train.py"), Some(43)));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sources<'m> {
    files: BTreeMap<usize, Cow<'m, str>>,
    /// By location id: the file's id and the line.
    locations: BTreeMap<usize, (usize, usize)>,
    /// By stack frame id: the location id.
    frames: BTreeMap<usize, usize>,
}

/// The source location of an instruction, as far as its metadata states it.
///
/// ```
/// let text = r#"y = f32[8] negate(x), metadata={op_name="jit(f)/neg" source_file="model.py" source_line=7}"#;
/// let module = xla_shape_hlo::Module::parse(text)?;
/// let source = module.sources().get(module.instruction("y").unwrap());
/// assert_eq!((source.op_name.as_deref(), source.file.as_deref()), (Some("jit(f)/neg"), Some("model.py")));
/// assert_eq!(source.line, Some(7));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Source<'m> {
    /// The operation's name in the user's program, such as `jit(step)/layer_3/dot_general`.
    pub op_name: Option<Cow<'m, str>>,
    /// The source file.
    pub file: Option<Cow<'m, str>>,
    /// The line in the file, from 1.
    pub line: Option<usize>,
}

impl Module {
    /// An index for looking up the source locations of instructions.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse(r#"y = f32[8] negate(x), metadata={op_name="jit(f)/neg"}"#)?;
    /// let sources = module.sources();
    /// assert_eq!(sources.get(module.instruction("y").unwrap()).op_name.as_deref(), Some("jit(f)/neg"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn sources(&self) -> Sources<'_> {
        let files =
            self.rows(Table::FileNames).filter_map(|(number, name)| Some((number as usize, name.string().ok()?)));
        let number = |value: crate::Value<'_>, name: &str| value.field(name).ok()??.number().ok();
        let locations = self
            .rows(Table::FileLocations)
            .filter_map(|(row, value)| Some((row as usize, (number(value, "file_name_id")?, number(value, "line")?))));
        let frames = self.rows(Table::StackFrames);
        let frames = frames.filter_map(|(row, value)| Some((row as usize, number(value, "file_location_id")?)));
        Sources { files: files.collect(), locations: locations.collect(), frames: frames.collect() }
    }
}

impl<'m> Sources<'m> {
    /// The source location of an instruction of the module. Fields that its metadata lacks, or that cannot be read, are `None`.
    ///
    /// ```
    /// let text = r#"y = f32[8] negate(x), metadata={op_name="jit(f)/neg" source_file="a.py" source_line=7}"#;
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let source = module.sources().get(module.instruction("y").unwrap());
    /// assert_eq!((source.file.as_deref(), source.line), (Some("a.py"), Some(7)));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn get<'a>(&self, instruction: Instruction<'m>) -> Source<'m>
    where
        'a: 'm,
    {
        let Some(metadata) = instruction.value_of(Key::Metadata) else { return Source::default() };
        let Ok(fields) = metadata.fields() else { return Source::default() };
        let mut source = Source::default();
        for (name, value) in fields {
            match name {
                "op_name" => source.op_name = value.string().ok().filter(|name| !name.is_empty()),
                "source_file" => source.file = value.string().ok(),
                "source_line" => source.line = value.number().ok(),
                "stack_frame_id" => {
                    let location = value.number().ok().and_then(|frame| self.locations.get(self.frames.get(&frame)?));
                    if let Some((file, line)) = location {
                        source.file = self.files.get(file).cloned();
                        source.line = Some(*line);
                    }
                }
                _ => {}
            }
        }
        source
    }
}

#[cfg(test)]
mod tests {
    use crate::Module;

    #[test]
    fn metadata_without_tables_say_what_they_say() {
        let text = "HloModule m\nENTRY e {\n  a = f32[] parameter(0), metadata={source_file=\"b.py\" source_line=7}\n  \
                    b = f32[] negate(a), metadata={op_name=\"\" stack_frame_id=9}\n  ROOT c = f32[] negate(b)\n}\n";
        let module = Module::parse(text).unwrap();
        let sources = module.sources();
        let told: alloc::vec::Vec<_> = module.instructions().map(|instruction| sources.get(instruction)).collect();
        assert_eq!((told[0].file.as_deref(), told[0].line, &told[0].op_name), (Some("b.py"), Some(7), &None));
        assert_eq!((&told[1], &told[2]), (&super::Source::default(), &super::Source::default()));
    }
}
