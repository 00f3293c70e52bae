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
    /// For each location id: the file's id and the line.
    locations: BTreeMap<usize, (usize, usize)>,
    /// For each stack frame id: the location id.
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
        let (mut source, mut frame) = (Source::default(), None);
        for (name, value) in fields {
            match name {
                "op_name" => source.op_name = value.string().ok().filter(|name| !name.is_empty()),
                "source_file" => source.file = value.string().ok(),
                "source_line" => source.line = value.number().ok(),
                "stack_frame_id" => frame = value.number().ok(),
                _ => {}
            }
        }
        // libtpu 0.0.30 and older also write the file and the line themselves. These are preferred, because in messages of 0.0.30 the frame can be
        // that of another line.
        if source.file.is_none()
            && source.line.is_none()
            && let Some((file, line)) = frame.and_then(|frame| self.locations.get(self.frames.get(&frame)?))
        {
            source.file = self.files.get(file).cloned();
            source.line = Some(*line);
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

    /// The tables and lines as messages of older releases have them.
    #[test]
    fn a_line_counts_more_than_a_frame() {
        let text = "HloModule m\n\nFileNames\n1 \"b.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n\
                    1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}\n\n\
                    StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n\
                    ENTRY e {\n  a = f32[] parameter(0), metadata={stack_frame_id=1 source_file=\"b.py\" source_line=7}\n  \
                    ROOT b = f32[] negate(a), metadata={stack_frame_id=1}\n}\n";
        let module = Module::parse(text).unwrap();
        let lines = module.instructions().map(|instruction| module.sources().get(instruction).line);
        assert!(lines.eq([Some(7), Some(3)]));
    }
}
