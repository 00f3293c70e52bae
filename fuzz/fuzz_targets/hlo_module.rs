//! Any text: what can be read of it as a module prints as a text that reads the same, and can be checked and measured.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xla_shape::hlo::{Module, utf8};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = utf8(bytes) else { return };
    let (module, errors) = Module::parse_with_errors(text);
    for error in &errors {
        assert!(text.get(error.span().start..error.span().end).is_some(), "{error}");
    }
    assert_eq!(Module::parse(text).is_ok(), errors.is_empty());
    for finding in module.check() {
        assert!(!finding.to_string().is_empty());
    }
    let memory = module.memory();
    let _ = (memory.usage(), memory.most_padded(10), memory.tile_formats(), memory.layout_changes(), memory.peaks());
    if errors.is_empty() {
        let printed = module.to_string();
        let again = Module::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        assert_eq!(again.to_string(), printed);
    }
});
