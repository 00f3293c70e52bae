//! Messages to modules: prints the head, the tables and the computations, and builds the module at the same time.

use super::attributes::{Attributes, Caches};
use super::error::{HloProtoError, HloProtoErrorKind};
use super::ids::Ids;
use super::message::{
    HloBufferDonorProto, HloInputOutputAliasProto, OriginalArrayProto, StackFrameIndexProto, instruction_field,
    module_field as field, recovery_field, recovery_table_field,
};
use super::shapes::{Shapes, printed, separator};
use super::values::{frontend_attributes, original_array};
use super::wire::{Content, Record};
use super::words::{decimal, joined, name};
use crate::module::{ComputationRecord, Items, MAX_TEXT, Module, OperandRecord, Piece, RowRecord, Table, number};
use crate::names::{NONE, NameTable};
use crate::schema::Key;
use crate::schema::opcode::Opcode;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write as _;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_core::text::{Found, ParseError, ParseErrorKind, Span, escaped};

type Result<T> = core::result::Result<T, HloProtoError>;

/// The field numbers of `ProgramShapeProto`.
mod program_shape_field {
    pub(super) const PARAMETERS: u32 = 1;
    pub(super) const RESULT: u32 = 2;
}

/// The limit on modules nested in recovery tables of modules. Each nested module is a string in the module around it, and each level doubles the
/// escapes.
const MAX_RECOVERY: usize = 4;

/// Prints the text of a module as XLA does, and builds the records that the parser would build from it.
pub(super) struct Writer<'i, 'p> {
    pub(super) ids: &'i Ids<'p>,
    /// The module's list of payloads.
    pub(super) payloads: &'i [&'p [u8]],
    /// The text so far; it moves into the module at the end.
    pub(super) text: String,
    pub(super) module: Module,
    pub(super) shapes: Shapes<'p>,
    /// For each index in the message: the number of the instruction in the module.
    pub(super) numbers: Vec<u32>,
    /// The names of the current computation's instructions.
    pub(super) names: NameTable,
    /// The fields of the current instruction.
    pub(super) record: Record<'p>,
    /// The caches that all instructions share.
    pub(super) caches: Caches<'p>,
}

/// Builds the module of a message, with the text that XLA prints for it.
pub(super) fn module(bytes: &[u8]) -> Result<Module> {
    module_within(bytes, 0)
}

/// Builds a module nested in `depth` others.
fn module_within(bytes: &[u8], depth: usize) -> Result<Module> {
    let message = Record::parse(bytes)?;
    let ids = Ids::new(&message)?;
    let id = message.number(field::entry_computation_id);
    let entry_name = message.text(field::entry_computation_name)?;
    let entry = ids.computation(id).or_else(|| ids.groups.iter().position(|found| found.name == entry_name));
    let unknown = HloProtoErrorKind::UnknownId { what: "the entry computation", id };
    let entry = entry.ok_or_else(|| HloProtoError::new(unknown).within("entry_computation_id"))?;
    let payloads: Vec<&[u8]> = message.each(field::payloads).collect();
    let mut writer = Writer {
        numbers: vec![NONE; ids.entries.len()],
        ids: &ids,
        payloads: &payloads,
        text: String::with_capacity(bytes.len()),
        module: Module::unread(Arc::default()),
        shapes: Shapes::new(),
        names: NameTable::new(),
        record: Record::default(),
        caches: Caches::new(),
    };
    let count = ids.entries.len();
    writer.module.instructions.reserve(count);
    writer.module.operands.reserve(count * 2);
    writer.module.attributes.reserve(count * 2);
    writer.head(&message, entry, depth)?;
    writer.tables(&message)?;
    // XLA prints a computation after those that it calls, and XLA's parser requires this order.
    for computation in ids.post_order() {
        let called = ids.groups.get(computation).map_or("", |group| group.name);
        let written = writer.computation(computation, computation == entry);
        written.map_err(|error| error.within(format_args!("computation `{called}`")))?;
        writer.text.push('\n');
    }
    writer.finish()
}

impl<'p> Writer<'_, 'p> {
    fn finish(self) -> Result<Module> {
        let Self { mut module, text, shapes, .. } = self;
        let end = text.len();
        if end > MAX_TEXT {
            let span = Span { start: MAX_TEXT, end };
            return Err(ParseError::new(ParseErrorKind::TextTooLong { limit: MAX_TEXT }, span).into());
        }
        module.text = Arc::new(text);
        module.shapes = shapes.shapes;
        if let Some(error) = module.name_computations().into_iter().next() {
            return Err(error.into());
        }
        if module.entry.is_none() {
            return Err(ParseError::new(ParseErrorKind::NoEntry, Span { start: end, end }).into());
        }
        module.shrink();
        Ok(module)
    }

    /// The error about a duplicate name.
    #[cold]
    pub(super) fn duplicate(&self, piece: Piece) -> HloProtoError {
        let span = Span { start: piece.start as usize, end: piece.start as usize + piece.len as usize };
        let text = self.text.get(span.start..span.end).unwrap_or("");
        ParseError::new(ParseErrorKind::DuplicateName { name: Found::new(text) }, span).into()
    }

    fn head(&mut self, message: &Record<'p>, entry: usize, depth: usize) -> Result<()> {
        self.text.push_str("HloModule ");
        let start = self.text.len();
        self.text.push_str(name(message.text(field::name)?)?);
        self.module.name = Some(Piece::new(start, self.text.len()));
        let mut to = Attributes::new(&mut self.text, &mut self.module.attributes);
        if self.ids.is_scheduled() {
            to.text(Key::IsScheduled.name(), "true");
        }
        let aliases: Option<HloInputOutputAliasProto> = message.message(field::input_output_alias)?;
        if let Some(aliases) = aliases.filter(|aliases| !aliases.entries.is_empty()) {
            to.open(Key::InputOutputAlias.name());
            to.out.push_str("{ ");
            for (i, alias) in aliases.entries.iter().enumerate() {
                to.out.push_str(if i > 0 { ", {" } else { "{" });
                joined(&alias.output_shape_index, ",", to.out);
                let _ = write!(to.out, "}}: ({}, {{", alias.parameter_number);
                joined(&alias.parameter_shape_index, ",", to.out);
                to.out.push_str(if alias.kind == 2 { "}, must-alias)" } else { "}, may-alias)" });
            }
            to.out.push_str(" }");
        }
        let donors: Option<HloBufferDonorProto> = message.message(field::buffer_donor)?;
        if let Some(donors) = donors.filter(|donors| !donors.entries.is_empty()) {
            to.open(Key::BufferDonor.name());
            to.out.push_str("{ ");
            for (i, donor) in donors.entries.iter().enumerate() {
                let _ = write!(to.out, "{}({}, {{", if i > 0 { ", " } else { "" }, donor.parameter_number);
                joined(&donor.parameter_shape_index, ",", to.out);
                to.out.push_str("})");
            }
            to.out.push_str(" }");
        }
        // If the module has no program shape of its own, the program shape of its entry computation counts.
        let of_entry = self.ids.groups.get(entry).and_then(|group| group.program_shape);
        if let Some(layout) = message.bytes(field::host_program_shape).or(of_entry) {
            let layout = Record::parse(layout)?;
            to.open(Key::EntryComputationLayout.name());
            to.out.push_str("{(");
            for (i, shape) in layout.each(program_shape_field::PARAMETERS).enumerate() {
                to.out.push_str(&separator(i));
                to.out.push_str(&printed(shape)?);
            }
            to.out.push_str(")->");
            if let Some(result) = layout.bytes(program_shape_field::RESULT) {
                to.out.push_str(&printed(result)?);
            }
            to.out.push('}');
        }
        frontend_attributes(message.bytes(field::frontend_attributes), &mut to)?;
        if let Some(config) = message.bytes(field::backend_config).filter(|config| !config.is_empty()) {
            to.free(Key::BackendConfig.name(), config);
        }
        if let Some(table) = message.bytes(field::original_value_recovery_table).filter(|table| !table.is_empty()) {
            recovery_table(table, depth, &mut to)?;
        }
        self.module.module_attributes = to.end();
        self.text.push_str("\n\n");
        Ok(())
    }

    fn tables(&mut self, message: &Record<'p>) -> Result<()> {
        let Some(tables) = message.message::<StackFrameIndexProto>(field::stack_frame_index)? else { return Ok(()) };
        if tables.file_names.is_empty() && tables.stack_frames.is_empty() {
            return Ok(());
        }
        let string = |text: &String, out: &mut String| {
            out.push('"');
            escaped(text.as_bytes(), out);
            out.push('"');
        };
        self.table(Table::FileNames, &tables.file_names, string);
        self.table(Table::FunctionNames, &tables.function_names, string);
        self.table(Table::FileLocations, &tables.file_locations, |location, out| {
            let numbers = [
                ("{file_name_id=", location.file_name_id),
                (" function_name_id=", location.function_name_id),
                (" line=", location.line),
                (" end_line=", location.end_line),
                (" column=", location.column),
                (" end_column=", location.end_column),
            ];
            for (key, value) in numbers {
                out.push_str(key);
                decimal(value.into(), out);
            }
            out.push('}');
        });
        self.table(Table::StackFrames, &tables.stack_frames, |frame, out| {
            // The text counts parents from 1.
            let parent = frame.parent_frame_id.saturating_add(1);
            let _ = write!(out, "{{file_location_id={} parent_frame_id={parent}}}", frame.file_location_id);
        });
        self.text.push('\n');
        Ok(())
    }

    fn table<T>(&mut self, table: Table, rows: &[T], row: impl Fn(&T, &mut String)) {
        self.module.tables.push(table);
        self.text.push_str(table.name());
        self.text.push('\n');
        for (value, number) in rows.iter().zip(1_u32..) {
            let _ = write!(self.text, "{number} ");
            let start = self.text.len();
            row(value, &mut self.text);
            self.module.rows.push(RowRecord { table, number, value: Piece::new(start, self.text.len()) });
            self.text.push('\n');
        }
        self.text.push('\n');
    }

    fn computation(&mut self, computation: usize, is_entry: bool) -> Result<()> {
        let ids = self.ids;
        let Some(group) = ids.groups.get(computation) else { return Ok(()) };
        self.text.push_str(if is_entry { "ENTRY %" } else { "%" });
        let start = self.text.len();
        self.text.push_str(group.name);
        let mut record = ComputationRecord::new(Piece::new(start, self.text.len()));
        (record.is_entry, record.has_head) = (is_entry, true);
        let unknown = HloProtoErrorKind::UnknownId { what: "the root instruction", id: group.root_id };
        let unknown_root = || HloProtoError::new(unknown.clone()).within("root_id");
        let root = ids.root(computation).ok_or_else(unknown_root)?;
        self.computation_head(computation, root, &mut record)?;
        let order = ids.order(computation)?;
        let first = self.module.instructions.len();
        // All instructions have their numbers before the first one is printed: a control predecessor may come later.
        for (&place, instruction) in order.iter().zip(first..) {
            if let Some(of_place) = self.numbers.get_mut(place) {
                *of_place = number(instruction);
            }
        }
        record.root =
            self.numbers.get(root).copied().filter(|root| *root != NONE).ok_or_else(|| ids.unscheduled(root))?;
        record.instructions = Items::new(first, first + order.len());
        self.names.restart(number(first));
        for place in order {
            let Some(entry) = ids.entry(place) else { continue };
            self.text.push_str("  ");
            let written = self.instruction(entry, place, computation, place == root);
            written.map_err(|error| error.within(format_args!("instruction `{}`", entry.name)))?;
            self.text.push('\n');
        }
        self.text.push('}');
        let mut to = Attributes::new(&mut self.text, &mut self.module.attributes);
        thread(Key::ExecutionThread, group.thread, &mut to);
        record.attributes = to.end();
        self.text.push('\n');
        if is_entry {
            self.module.entry = Some(number(self.module.computations.len()));
        }
        self.module.computations.push(record);
        Ok(())
    }

    /// Prints the signature of a computation: names and shapes of the parameters, and the shape of the result.
    fn computation_head(&mut self, computation: usize, root: usize, record: &mut ComputationRecord) -> Result<()> {
        let ids = self.ids;
        let instructions = ids.groups.get(computation).map_or(0..0, |group| group.instructions.clone());
        let mut parameters = Vec::new();
        for place in instructions {
            let Some(entry) = ids.entry(place).filter(|entry| entry.opcode == Opcode::Parameter) else { continue };
            let (mut parameter_number, mut shape) = (0, None);
            for field in ids.fields(entry) {
                match (field.number, field.content) {
                    (instruction_field::PARAMETER_NUMBER, Content::Number(number)) => parameter_number = number as i64,
                    (instruction_field::SHAPE, Content::Bytes(bytes)) => shape = Some(bytes),
                    _ => {}
                }
            }
            parameters.push((parameter_number, entry.name, shape));
        }
        sort_by_key(&mut parameters, |(number, ..)| *number);
        let first = self.module.operands.len();
        self.text.push_str(" (");
        for (i, (_, called, shape)) in parameters.into_iter().enumerate() {
            self.text.push_str(if i > 0 { ", " } else { "" });
            let start = self.text.len();
            self.text.push_str(called);
            let piece = Piece::new(start, self.text.len());
            self.text.push_str(": ");
            let shape = self.without_layout(called, shape)?;
            self.module.operands.push(OperandRecord { shape, ..OperandRecord::new(piece) });
        }
        record.parameters = Items::new(first, self.module.operands.len());
        self.text.push_str(") -> ");
        if let Some(root) = ids.entry(root) {
            let shape = ids.record(root).bytes(instruction_field::SHAPE);
            record.result = self.without_layout(root.name, shape)?;
        }
        self.text.push_str(" {\n");
        Ok(())
    }

    /// Prints the shape of the instruction named `called`, without its layout; returns the shape's number.
    fn without_layout(&mut self, called: &str, shape: Option<&'p [u8]>) -> Result<u32> {
        let read = self.shapes.without_layout(shape);
        let (number, text) = read.map_err(|error| error.within(format_args!("instruction `{called}`")))?;
        self.text.push_str(text);
        Ok(number)
    }
}

/// Prints the execution thread, unless it is the main one.
pub(super) fn thread(key: Key, thread: &str, to: &mut Attributes<'_>) {
    if !thread.is_empty() && thread != "main" {
        to.string(key.name(), thread.as_bytes());
    }
}

/// Prints the table of modules that recompute original values which optimisation removed (`origin_recovery_table`).
fn recovery_table(table: &[u8], depth: usize, to: &mut Attributes<'_>) -> Result<()> {
    to.open(Key::OriginRecoveryTable.name());
    to.out.push_str("{\n");
    for entry in Record::parse(table)?.each(recovery_table_field::entries) {
        let entry = Record::parse(entry)?;
        let array = |field: u32| Result::Ok(entry.message::<OriginalArrayProto>(field)?.unwrap_or_default());
        to.out.push_str("  {");
        original_array(&array(recovery_field::old_original_array)?, to.out);
        to.out.push_str("} : {");
        original_array(&array(recovery_field::new_original_array)?, to.out);
        to.out.push('}');
        if let Some(recovery) = entry.bytes(recovery_field::recovery_module) {
            if depth == MAX_RECOVERY {
                return Err(HloProtoError::new(HloProtoErrorKind::TooDeep).within("original_value_recovery_table"));
            }
            to.out.push_str(",\n  \"\n");
            let inner = module_within(recovery, depth + 1);
            let inner = inner.map_err(|error| error.within("original_value_recovery_table"))?;
            for line in inner.text().trim_end().lines() {
                to.out.push_str(if line.is_empty() { "" } else { "    " });
                escaped(line.as_bytes(), to.out);
                to.out.push('\n');
            }
            to.out.push_str("\n\n  \"");
        }
        to.out.push('\n');
    }
    to.out.push('}');
    to.close();
    to.out.push('\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Module;
    use crate::proto::message::HloModuleProto;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use prost::Message as _;
    use xla_shape_core::proto::ShapeProto;

    fn clear(shape: &mut ShapeProto) {
        shape.layout = None;
        shape.tuple_shapes.iter_mut().for_each(clear);
    }

    fn message(text: &str) -> HloModuleProto {
        HloModuleProto::decode(&*Module::parse(text).unwrap().to_proto().unwrap()).unwrap()
    }

    fn printed(message: &HloModuleProto) -> String {
        Module::from_proto(&message.encode_to_vec()).unwrap().to_string()
    }

    #[test]
    fn layouts_that_a_message_leaves_out_are_not_printed() {
        let text = "HloModule m, entry_computation_layout={(f32[2,3]{0,1}, (s32[], f32[4]{0}))->(f32[2,3]{1,0}, s32[])}\n\
            ENTRY e {\n p = f32[2,3]{0,1} parameter(0)\n q = (s32[], f32[4]{0}) parameter(1)\n n = f32[2,3]{1,0} copy(p)\n \
            g = s32[] get-tuple-element(q), index=0\n ROOT r = (f32[2,3]{1,0}, s32[]) tuple(n, g)\n}";
        let layout = |text: &str| text.split_once("layout={").unwrap().1.split_once('\n').unwrap().0.to_string();
        let whole = message(text);
        assert_eq!(layout(&printed(&whole)), "(f32[2,3]{0,1}, (s32[], f32[4]{0}))->(f32[2,3]{1,0}, s32[])}");
        let mut some = whole.clone();
        let program = some.host_program_shape.as_mut().unwrap();
        program.parameters.iter_mut().for_each(clear);
        program.result.as_mut().unwrap().tuple_shapes[1].layout = None;
        assert_eq!(layout(&printed(&some)), "(f32[2,3], (s32[], f32[4]))->(f32[2,3]{1,0}, s32[])}");
        clear(some.host_program_shape.as_mut().unwrap().result.as_mut().unwrap());
        assert_eq!(layout(&printed(&some)), "(f32[2,3], (s32[], f32[4]))->(f32[2,3], s32[])}");
    }

    #[test]
    fn operands_stand_before_their_uses() {
        let text = "HloModule m, is_scheduled=true\nENTRY e {\n p = f32[2] parameter(0)\n n = f32[2] negate(p)\n ROOT r = f32[2] abs(n)\n}";
        let mut swapped = message(text);
        swapped.computations[0].instructions.swap(0, 1);
        let error = Module::from_proto(&swapped.encode_to_vec()).unwrap_err().to_string();
        assert!(error.contains("operand_ids: expected the id of an earlier instruction of the computation"), "{error}");
        // A message in which only the schedule is wrong is read. The module's text is in the order of the schedule, and the check says where that
        // order is wrong.
        let mut scheduled = message(text);
        let sequences = &mut scheduled.schedule.as_mut().unwrap().sequences;
        sequences[0].value.as_mut().unwrap().instruction_ids.swap(0, 1);
        let bytes = scheduled.encode_to_vec();
        let module = Module::from_proto(&bytes).unwrap();
        let found = module.check();
        assert_eq!(
            found[0].to_string(),
            "%n (negate): expected the operand `p` to be defined before it is used, found its definition later"
        );
        assert!(module.memory().timeline_on(None).is_none());
    }

    /// The TPU compiler writes work for SparseCores in this way: the start has no operands, and an update binds them.
    #[test]
    fn operands_that_an_update_binds_keep_their_parameters() {
        let module = |inside: &str, steps: &str| {
            alloc::format!(
                "HloModule m, is_scheduled=true\nw {{\n x = f32[8]{{0}} parameter(0)\n y = f32[8]{{0}} parameter(1)\n \
                 ROOT c = f32[8]{{0}} custom-call({inside}), custom_call_target=\"t\", output_to_operand_aliasing={{{{}}: (0, {{}})}}\n}}\n\
                 ENTRY e {{\n p = f32[8]{{0}} parameter(0)\n q = f32[8]{{0}} parameter(1)\n{steps}}}"
            )
        };
        let late = " s = ((), (), s32[]) async-start(), calls=w\n a = f32[8]{0} abs(p)\n \
                    u = ((f32[8]{0}, f32[8]{0}), f32[8]{0}, s32[]) async-update(s, a, q)\n ROOT d = f32[8]{0} async-done(u)\n";
        let whole = " s = ((f32[8]{0}, f32[8]{0}), f32[8]{0}, s32[]) async-start(p, q), calls=w\n ROOT d = f32[8]{0} async-done(s)\n";
        let again = |text: &str| Module::from_proto(&Module::parse(text).unwrap().to_proto().unwrap()).unwrap();
        for (inside, steps) in [("x, y", late), ("y, x", whole), ("x, x", whole)] {
            let text = module(inside, steps);
            let (read, again) = (Module::parse(&text).unwrap(), again(&text));
            let lines = |module: &Module| {
                let lines = module.instructions().map(|one| alloc::format!("{} = {}", one.name(), one.opcode().text()));
                lines.collect::<Vec<_>>()
            };
            assert_eq!(lines(&read), lines(&again));
            let bytes = |module: &Module| module.memory().timeline().unwrap().account().device.total();
            assert_eq!(bytes(&read), bytes(&again));
            assert!(again.check().is_empty(), "{:?}", again.check());
        }
        // The short form can express this module.
        let short = again(&module("x, y", whole)).to_string();
        assert!(short.contains("custom-call-start(%p, %q)") && !short.contains("parameter(1)\n  ROOT"), "{short}");
        // A computation that one start binds late is printed, although another start has the short form.
        let both = alloc::format!(
            "{} b = f32[8]{{0}} negate(d)\n{}",
            whole.replace("ROOT ", ""),
            late.replace("s = ", "s2 = ").replace("(s,", "(s2,").replace("d = ", "d2 = ")
        );
        let both = again(&module("x, y", &both)).to_string();
        assert!(both.contains("custom-call-start(%p, %q)") && both.contains("async-start(), calls=%w"), "{both}");
    }

    #[test]
    fn what_an_asynchronous_operation_and_its_start_say_is_printed_once() {
        let text = |start: &str, inside: &str| {
            let attributes = |name: &str| match name {
                "" => String::new(),
                name => alloc::format!(", frontend_attributes={{{name}=\"1\"}}"),
            };
            alloc::format!(
                "HloModule m\nw {{\n q = f32[8] parameter(0)\n ROOT c = f32[8] negate(q){}\n}}\nENTRY e {{\n p = f32[8] parameter(0)\n \
                 s = ((f32[8]), f32[8], s32[]) async-start(p), calls=w{}\n ROOT d = f32[8] async-done(s)\n}}",
                attributes(inside),
                attributes(start)
            )
        };
        for (start, inside, expected) in [("f", "g", "{f="), ("f", "f", "{f="), ("f", "", "{f="), ("", "g", "{g=")] {
            let printed = printed(&message(&text(start, inside)));
            assert_eq!(printed.matches("frontend_attributes").count(), 1, "{printed}");
            assert!(printed.contains(&alloc::format!("negate-start(%p), frontend_attributes={expected}")), "{printed}");
            assert!(Module::parse(&printed).unwrap().check().is_empty());
        }
    }

    #[test]
    fn a_start_and_its_operation_may_both_have_a_sharding() {
        let (inside, start) = ("{devices=[2]<=[2]}", "{{maximal device=0}, {maximal device=0}, {maximal device=1}}");
        let text = alloc::format!(
            "HloModule m, num_partitions=2\nw {{\n q = f32[8] parameter(0)\n ROOT c = f32[8] negate(q), sharding={inside}\n}}\nENTRY e {{\n \
             p = f32[8] parameter(0)\n s = ((f32[8]), f32[8], s32[]) async-start(p), calls=w, sharding={start}\n \
             ROOT d = f32[8] async-done(s)\n}}"
        );
        let printed = printed(&message(&text));
        assert!(
            printed.contains(&alloc::format!("negate-start(%p), sharding={inside}, sharding={start}\n")),
            "{printed}"
        );
        let module = Module::parse(&printed).unwrap();
        assert!(module.check().is_empty(), "{:?}", module.check());
        let begun = module.instruction("s").unwrap();
        assert_eq!(begun.attribute("sharding").unwrap().text(), start);
        // The message has both shardings, each in its place.
        let again = Module::from_proto(&module.to_proto().unwrap()).unwrap().to_string();
        assert_eq!(again, module.to_string());
        // An attribute may occur twice only if it is the sharding of a start, and no more than twice.
        for (from, to) in [
            (alloc::format!("sharding={start}"), alloc::format!("sharding={start}, sharding={start}")),
            ("negate-done(%s)".into(), "negate-done(%s), sharding={replicated}, sharding={replicated}".into()),
            ("negate-start(%p)".into(), "negate-start(%p), metadata={}, metadata={}".into()),
        ] {
            let changed = printed.replace(&from, &to);
            let module = Module::parse(&changed).unwrap();
            assert!(module.check().iter().any(|found| found.to_string().contains("a second one")), "{changed}");
        }
    }
}
