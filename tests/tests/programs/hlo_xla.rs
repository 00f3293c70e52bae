//! HLO texts and protos as XLA itself reads and prints them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use xla_shape::hlo::Module;
use xla_shape::hlo::dump::BufferAssignment;
use xla_shape::hlo::proto::{HloProtoErrorKind, module_text, proto_text, text_format_message};
use xla_shape_tests::{corpus, every};

#[derive(Deserialize)]
struct Form {
    form: String,
    text: String,
    ok: bool,
    /// The text that XLA prints after it has read `text`.
    printed: Option<String>,
    /// The HloModuleProto that XLA makes of it.
    proto: Option<String>,
    /// The text that XLA prints for that message, if it is different.
    from_proto: Option<String>,
}

fn forms() -> Vec<Form> {
    corpus("hlo_forms.jsonl.zst")
}

#[derive(Deserialize)]
struct Mode {
    module: String,
    mode: String,
    ok: bool,
    text: String,
}

#[test]
fn what_xla_reads_is_read() {
    let forms = forms();
    let read = forms.iter().filter(|row| row.ok);
    let refused: Vec<_> = read
        .filter_map(|row| {
            Module::parse(&row.text).err().map(|error| format!("{}\n{}", row.form, error.render(&row.text)))
        })
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    let accepted = forms.iter().filter(|row| row.ok).count();
    println!("{accepted} forms that XLA reads are read");
    assert!(accepted > 400, "{accepted}");
}

#[test]
fn every_print_mode_that_xla_reads_is_read() {
    let modes: Vec<Mode> = corpus("hlo_modes.jsonl.zst");
    let mut read = 0;
    for row in every(3, modes.iter().filter(|row| row.ok)) {
        let module = Module::parse(&row.text).unwrap_or_else(|error| {
            panic!("{} {}: {}", row.module, row.mode, error.render(&row.text));
        });
        let printed = module.to_string();
        let again = Module::parse(&printed).unwrap_or_else(|error| {
            panic!("{} {}: {}", row.module, row.mode, error.render(&printed));
        });
        assert_eq!(again.to_string(), printed, "{} {}", row.module, row.mode);
        read += 1;
    }
    println!("{read} texts in print modes of XLA are read");
    assert!(read > 160, "{read}");
}

/// The whole content of a module, with its positions in the text.
fn model(module: &Module) -> Vec<String> {
    let mut model =
        vec![format!("{:?} {:?} {:?}", module.name(), module.entry().map(|entry| entry.number()), module.tables())];
    model.extend(module.attributes().map(|attribute| format!("{attribute:?} {:?}", attribute.value().span())));
    for &table in module.tables() {
        model.extend(module.rows(table).map(|(row, value)| format!("{row} {} {:?}", value.text(), value.span())));
    }
    model.extend(module.shapes().iter().map(ToString::to_string));
    for found in module.computations() {
        let parameters: Vec<_> = found.parameters().map(|(name, shape)| format!("{name}: {shape}")).collect();
        let attributes: Vec<_> = found.attributes().map(|attribute| format!("{attribute:?}")).collect();
        model.push(format!(
            "{} {} {parameters:?} {:?} {} {attributes:?} {:?}",
            found.name(),
            found.is_entry(),
            found.result().to_string(),
            found.root().number(),
            module.computation(found.name()).map(|again| again.number()),
        ));
    }
    for found in module.instructions() {
        model.push(format!(
            "{found} {:?} {:?} {} {} {:?} {} {}",
            found.name_span(),
            found.span(),
            found.shape_number(),
            found.arguments(),
            found.shape_span(),
            found.computation().number(),
            found.is_read() && !found.is_implied(),
        ));
        let attributes =
            found.attributes().map(|attribute| format!("{} {:?}", attribute.name(), attribute.value().span()));
        model.extend(attributes);
        let operands = found.operands().map(|operand| {
            format!("{} {:?} {:?}", operand.name(), operand.span(), operand.instruction().map(|of| of.number()))
        });
        model.extend(operands);
    }
    model
}

/// The module that is read from a message is exactly the module that is read from its text.
fn check_model(name: &str, from_proto: &Module) {
    let parsed =
        Module::parse(from_proto.text()).unwrap_or_else(|error| panic!("{name}: {}", error.render(from_proto.text())));
    let (ours, theirs) = (model(from_proto), model(&parsed));
    let other = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
    assert_eq!(other, None, "{name}");
    assert_eq!(ours.len(), theirs.len(), "{name}");
}

#[test]
fn protos_are_printed_as_xla_prints_them() {
    let mut same = 0;
    for row in every(2, forms()) {
        let (Some(proto), Some(printed)) = (row.proto, row.from_proto.or(row.printed)) else { continue };
        let bytes = STANDARD.decode(proto).unwrap();
        let text = proto_text(&bytes).unwrap_or_else(|error| panic!("{}: {error}", row.form));
        let module = Module::from_proto(&bytes).unwrap_or_else(|error| panic!("{}: {error}", row.form));
        assert_eq!(module.text(), text);
        check_model(&row.form, &module);
        assert_eq!(module_text(&bytes).unwrap().unwrap(), text, "recognised by content");
        assert_eq!(text.trim_end(), printed.trim_end(), "{}", row.form);
        same += 1;
    }
    println!("{same} protos are printed as XLA prints them");
    assert!(same > 200, "{same}");
}

#[derive(Deserialize)]
struct Message {
    module: String,
    proto: String,
    text: String,
}

#[test]
fn messages_of_programs_are_printed_as_xla_prints_them_and_written_as_it_reads_them() {
    let messages: Vec<Message> = corpus("hlo_protos.jsonl.zst");
    for row in &messages {
        let module = Module::from_proto(&STANDARD.decode(&row.proto).unwrap());
        let module = module.unwrap_or_else(|error| panic!("{}: {error}", row.module));
        check_model(&row.module, &module);
        let text = module.text();
        let other = text.lines().zip(row.text.lines()).find(|(ours, theirs)| ours != theirs);
        assert_eq!(other, None, "{}", row.module);
        let module = Module::parse(&row.text).unwrap();
        assert_eq!(module.to_string().trim_end(), row.text.trim_end(), "{}", row.module);
        let again = proto_text(&module.to_proto().unwrap()).unwrap();
        let other = again.lines().zip(row.text.lines()).find(|(ours, theirs)| ours != theirs);
        assert_eq!(other, None, "{}: {other:?}", row.module);
    }
    assert!(messages.len() > 10, "{}", messages.len());
}

/// The bytes of a field with a length.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![number << 3 | 2];
    let mut length = content.len();
    while length >= 0x80 {
        bytes.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend_from_slice(content);
    bytes
}

#[test]
fn messages_around_a_module_are_recognised() {
    let forms = forms();
    let row = forms.iter().find(|row| row.proto.is_some()).unwrap();
    let module = STANDARD.decode(row.proto.as_ref().unwrap()).unwrap();
    let text = proto_text(&module).unwrap();
    let hlo_proto = [field(1, &module), field(3, b"")].concat();
    let with_config = [field(1, &module), field(2, b"")].concat();
    for bytes in [&hlo_proto, &with_config] {
        assert_eq!(module_text(bytes).unwrap().unwrap(), text);
    }
    assert_eq!(module_text(b"\nHloModule m").unwrap().unwrap(), "\nHloModule m");
    assert!(module_text(&module[..module.len() - 1]).is_err(), "a message that breaks off");
    assert!(module_text(b"HloModule \xff").unwrap().is_err());
}

/// An instruction: its id, the ids of called computations, and the ids of operands.
type Calls<'a> = (u8, &'a [u8], &'a [u8]);

/// A module of computations, each with its id and its instructions.
fn message(computations: &[(u8, &[Calls<'_>])]) -> Vec<u8> {
    let varint = |number: u8, value: u8| vec![number << 3, value];
    let wide = |number: u16, value: u8| {
        let key = number << 3;
        vec![(key & 0x7f) as u8 | 0x80, (key >> 7) as u8, value]
    };
    let token = || varint(2, 17);
    let mut bytes = [field(1, b"m"), varint(6, computations[0].0)].concat();
    for (id, instructions) in computations {
        let mut computation =
            [field(1, format!("c{id}").as_bytes()), varint(5, *id), varint(6, instructions[0].0)].concat();
        for (id, calls, operands) in *instructions {
            let mut instruction =
                [field(1, format!("i{id}").as_bytes()), field(2, b"after-all"), field(3, &token())].concat();
            instruction.extend(wide(35, *id));
            instruction.extend(operands.iter().flat_map(|operand| wide(36, *operand)));
            instruction.extend(calls.iter().flat_map(|called| wide(38, *called)));
            computation.extend(field(2, &instruction));
        }
        bytes.extend(field(3, &computation));
    }
    bytes
}

#[test]
fn broken_messages_are_named() {
    let error = |computations: &[(u8, &[Calls<'_>])]| {
        let error = Module::from_proto(&message(computations)).unwrap_err();
        error.to_string()
    };
    assert!(Module::from_proto(&message(&[(1, &[(1, &[], &[])])])).is_ok());
    assert_eq!(
        error(&[(1, &[(1, &[], &[7])])]),
        "computation `c1`, instruction `i1`, operand_ids: expected the id of an instruction of the computation, found 7"
    );
    assert_eq!(
        error(&[(1, &[(1, &[9], &[])])]),
        "computation `c1`, instruction `i1`, called_computation_ids: expected the id of a computation, found 9"
    );
    assert_eq!(
        error(&[(1, &[(1, &[], &[]), (1, &[], &[])])]),
        "computation `c1`: expected a unique id of each instruction, found 1 again"
    );
    assert_eq!(
        error(&[(1, &[(1, &[], &[])]), (1, &[(1, &[], &[])])]),
        "expected a unique id of each computation, found 1 again"
    );
    assert_eq!(
        error(&[(1, &[(1, &[2], &[])]), (2, &[(1, &[1], &[])])]),
        "computation `c1`: expected computations that do not call themselves, found one that does"
    );
    assert!(matches!(Module::from_proto(b"\x0a\x05m").unwrap_err().kind(), HloProtoErrorKind::Wire(_)));
    // This name would break the text.
    let mut bytes = message(&[(1, &[(1, &[], &[])])]);
    bytes[2] = b'\n';
    assert_eq!(
        Module::from_proto(&bytes).unwrap_err().to_string(),
        "expected a name of letters, digits, `_`, `.` and `-`, found \"\\n\""
    );
}

#[test]
fn modules_are_written_as_messages_that_mean_them() {
    let mut same = 0;
    for row in every(2, forms()) {
        let Some(proto) = row.proto else { continue };
        let text = proto_text(&STANDARD.decode(proto).unwrap()).unwrap();
        let module = Module::parse(&text).unwrap();
        let message = module.to_proto().unwrap_or_else(|error| panic!("{}: {error}", row.form));
        let again = proto_text(&message).unwrap_or_else(|error| panic!("{}: {error}", row.form));
        let other = again.lines().zip(text.lines()).find(|(ours, theirs)| ours != theirs);
        assert_eq!(other, None, "{}", row.form);
        same += 1;
    }
    println!("{same} modules are written and read as the same text");
    assert!(same > 200, "{same}");
}

#[test]
fn names_are_given_once_in_a_message() {
    let text = "add { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT add = f32[] add(x, y) }\n\
        add.1 { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT add = f32[] add(x, y) }\n\
        ENTRY e { x = f32[4] parameter(0)\n z = f32[] constant(-0)\n \
        s = ((f32[4], f32[]), f32[], u32[]) reduce-start(x, z), dimensions={0}, to_apply=add\n \
        d = f32[] reduce-done(s)\n ROOT m = f32[4] map(x), dimensions={0}, to_apply={ a = f32[] parameter(0)\n \
        ROOT add = f32[] negate(a) } }";
    let module = Module::parse(text).unwrap();
    let again = proto_text(&module.to_proto().unwrap()).unwrap();
    // The text that jaxlib 0.12 prints.
    let expected = "HloModule module_e, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

%add.1 (x.1: f32[], y.1: f32[]) -> f32[] {
  %x.1 = f32[] parameter(0)
  %y.1 = f32[] parameter(1)
  ROOT %add.1 = f32[] add(%x.1, %y.1)
}

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %add = f32[] add(%x, %y)
}

%_ (a: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  ROOT %add.2 = f32[] negate(%a)
}

ENTRY %e (x.2: f32[4]) -> f32[4] {
  %x.2 = f32[4]{0} parameter(0)
  %z = f32[] constant(0)
  %s = ((f32[4]{0}, f32[]), f32[], u32[]) reduce-start(%x.2, %z), dimensions={0}, to_apply=%add
  %d = f32[] reduce-done(%s)
  ROOT %m = f32[4]{0} map(%x.2), dimensions={0}, to_apply=%_
}";
    assert_eq!(again.trim_end(), expected);
}

/// A message, and its text in protobuf's text format.
#[derive(Deserialize)]
struct TextFormat {
    program: String,
    message: String,
    text: String,
}

#[test]
fn the_text_format_of_a_message_is_the_same_program() {
    let rows: Vec<TextFormat> = corpus("hlo_text_format.jsonl.zst");
    assert!(rows.len() >= 6);
    let mut assigned = 0;
    for TextFormat { program, message, text } in rows {
        let message = STANDARD.decode(message).unwrap();
        let read =
            text_format_message(&text).unwrap().unwrap_or_else(|error| panic!("{program}: {}", error.render(&text)));
        let modules = [&message, &read].map(|bytes| Module::from_proto(bytes).unwrap());
        assert_eq!(modules[0].to_string(), modules[1].to_string(), "{program}");
        let assignments = [&message, &read].map(|bytes| BufferAssignment::from_proto(bytes).unwrap());
        assert_eq!(assignments[0], assignments[1], "{program}");
        assigned += usize::from(assignments[0].is_some());
    }
    assert!(assigned >= 4, "those of programs and of a snapshot, but not of a module alone");
}
