//! Programs to compile.

use crate::error::{Error, Result};
use crate::main_function::{Argument, LAYOUT_MODE, LayoutMode, MEMORY_KIND, donated, with_attributes};
use std::collections::BTreeMap;
use std::sync::Arc;
use xla_shape::Layout;
use xla_shape::hlo::proto::module_message;
use xla_shape::hlo::{Language, Module};
use xla_shape_mlir::Signature;

/// A program to compile: MLIR (StableHLO or another dialect), as text or bytecode, or HLO.
///
/// ```
/// use xla_shape_pjrt::{Format, Program};
///
/// let program = Program::from_bytes(b"HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }")?;
/// assert_eq!(program.format(), Format::Hlo);
/// # Ok::<(), xla_shape_pjrt::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    format: Format,
    code: Arc<[u8]>,
    replicas: Option<u32>,
    partitions: Option<u32>,
    /// Whether it has Shardy's annotations of shardings.
    shardy: bool,
    /// The name and the type of the first parameter that the compiler cannot take as an array.
    unfit: Option<(String, String)>,
}

/// The language of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Format {
    /// A dialect of MLIR, such as StableHLO.
    Mlir,
    /// HLO.
    Hlo,
}

impl Format {
    /// The language of a file's content, from its first bytes or, after comments, its first words; `None` if they do not show it, as
    /// in a binary message.
    ///
    /// ```
    /// use xla_shape_pjrt::Format;
    ///
    /// assert_eq!(Format::detect(b"// jit_f\nmodule @jit_f {}"), Some(Format::Mlir));
    /// assert_eq!(Format::detect(b"HloModule m"), Some(Format::Hlo));
    /// assert_eq!(Format::detect(b"# a heading"), None);
    /// ```
    #[must_use]
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        Some(match Language::of(bytes)? {
            Language::Hlo => Self::Hlo,
            _ => Self::Mlir,
        })
    }

    /// The interface's name for it: `mlir` or `hlo`.
    ///
    /// ```
    /// assert_eq!(xla_shape_pjrt::Format::Mlir.name(), "mlir");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mlir => "mlir",
            Self::Hlo => "hlo",
        }
    }
}

impl Program {
    /// The program in a file: MLIR as text or bytecode, or HLO as text or message (`HloModuleProto`, `HloProto` or
    /// `HloModuleProtoWithConfig`).
    ///
    /// HLO is parsed here. MLIR is not: the compiler reports its errors.
    ///
    /// ```
    /// use xla_shape_pjrt::{Format, Program};
    ///
    /// let program = Program::from_bytes(b"HloModule m, num_partitions=4\nENTRY e { ROOT p = f32[2] parameter(0) }")?;
    /// assert_eq!((program.format(), program.partitions()), (Format::Hlo, Some(4)));
    /// # Ok::<(), xla_shape_pjrt::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the bytes are none of these, or HLO that cannot be read.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        if Language::is_bytecode(bytes) {
            return Ok(Self::from_mlir(bytes));
        }
        if let Ok(text) = std::str::from_utf8(bytes) {
            return match detect_text(text) {
                Some(Format::Mlir) => Ok(Self::from_mlir(bytes)),
                Some(Format::Hlo) => Self::from_hlo(&Module::parse(text)?),
                None if bytes.is_empty() => Err(Error::NotAProgram("it is empty".to_owned())),
                None => Err(Error::NotAProgram("it begins like none of them".to_owned())),
            };
        }
        let Some(message) = module_message(bytes) else {
            return Err(Error::NotAProgram("its bytes are neither text nor a message".to_owned()));
        };
        // The message is parsed, because the compiler may end the process for an invalid one.
        let module = Module::from_proto(bytes)?;
        check_new(&module)?;
        Ok(Self { code: message.into(), ..Self::from_module(&module, Vec::new()) })
    }

    /// A program in MLIR, as text or bytecode, in a dialect that the compiler knows, such as StableHLO.
    ///
    /// ```
    /// # use xla_shape_pjrt::Program;
    /// let program = Program::from_mlir(b"module @m attributes {mhlo.num_replicas = 2 : i32} {}");
    /// assert_eq!(program.replicas(), Some(2));
    /// ```
    #[must_use]
    pub fn from_mlir(code: &[u8]) -> Self {
        let has = |name: &[u8]| code.windows(name.len()).any(|part| part == name);
        let text = std::str::from_utf8(code).unwrap_or_default();
        Self {
            format: Format::Mlir,
            code: code.into(),
            replicas: number_after(text, "mhlo.num_replicas = "),
            partitions: number_after(text, "mhlo.num_partitions = "),
            shardy: has(b"sdy."),
            unfit: unfit_in_mlir(text),
        }
    }

    /// A program in HLO. Constants whose values the text leaves out (`constant({...})`) are zero.
    ///
    /// ```
    /// use xla_shape::hlo::Module;
    /// use xla_shape_pjrt::Program;
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }")?;
    /// let program = Program::from_hlo(&module)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the module cannot be written as XLA's message, or a compiler has already optimized and scheduled it.
    pub fn from_hlo(module: &Module) -> Result<Self> {
        check_new(module)?;
        Ok(Self::from_module(module, module.to_proto()?))
    }

    fn from_module(module: &Module, code: Vec<u8>) -> Self {
        let number = |name| module.attribute(name).and_then(|value| value.text().parse().ok());
        Self {
            format: Format::Hlo,
            code: code.into(),
            replicas: number("replica_count"),
            partitions: number("num_partitions"),
            shardy: false,
            unfit: unfit_in_hlo(module),
        }
    }

    /// The program's language.
    ///
    /// ```
    /// # use xla_shape_pjrt::{Format, Program};
    /// assert_eq!(Program::from_mlir(b"module {}").format(), Format::Mlir);
    /// ```
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The bytes that the compiler receives: MLIR as it was given, HLO as a message `HloModuleProto`.
    ///
    /// ```
    /// # use xla_shape_pjrt::Program;
    /// assert_eq!(Program::from_mlir(b"module {}").code(), b"module {}");
    /// ```
    #[must_use]
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// The same program, which asks for layouts of parameters and results (`mhlo.layout_mode`). A compiler may choose other layouts: compare what
    /// [`Compiled::inputs`](crate::Compiled::inputs) and `outputs` say.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use xla_shape_pjrt::{Argument, Program};
    ///
    /// let program = Program::from_mlir(b"module { func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> { return %x } }");
    /// let asks = program.with_layouts(&BTreeMap::from([(Argument::Parameter(0), "{0,1}".parse()?)]))?;
    /// assert!(String::from_utf8_lossy(asks.code()).contains(r#"%x: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If it is not MLIR as text, or has no such parameter or result. JAX's `lowered.as_text()` prints bytecode as text. For HLO there is
    /// no such request: XLA ignores the layouts in its text.
    pub fn with_layouts(&self, layouts: &BTreeMap<Argument, Layout>) -> Result<Self> {
        let modes = layouts.iter().map(|(&argument, layout)| (argument, LayoutMode::Layout(layout.clone())));
        self.with_layout_modes(&modes.collect())
    }

    /// Like [`with_layouts`](Self::with_layouts), but the choice of a layout can also be left to the compiler.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use xla_shape_pjrt::{Argument, LayoutMode, Program};
    ///
    /// let program = Program::from_mlir(b"module { func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> { return %x } }");
    /// let asks = program.with_layout_modes(&BTreeMap::from([(Argument::Parameter(0), LayoutMode::Auto)]))?;
    /// assert!(String::from_utf8_lossy(asks.code()).contains(r#"%x: tensor<2x3xf32> {mhlo.layout_mode = "auto"}"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`with_layouts`](Self::with_layouts).
    pub fn with_layout_modes(&self, modes: &BTreeMap<Argument, LayoutMode>) -> Result<Self> {
        let modes = modes.iter().map(|(argument, mode)| (*argument, mode.to_string()));
        self.with_attributes(LAYOUT_MODE, "layouts", &modes.collect())
    }

    /// The same program, which asks for the memories of parameters and results (`mhlo.memory_kind`), such as `device` or `pinned_host`. The compiler
    /// may refuse this, for example if a parameter is in the host's memory and the program does not move it to the device. The optimized module's
    /// `entry_computation_layout` shows the memory, as `S(5)` for the host; [`Compiled::inputs`](crate::Compiled::inputs) does not have it.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use xla_shape_pjrt::{Argument, Program};
    ///
    /// let program = Program::from_mlir(b"module { func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> { return %x } }");
    /// let asks = program.with_memory_kinds(&BTreeMap::from([(Argument::Parameter(0), "pinned_host")]))?;
    /// assert!(String::from_utf8_lossy(asks.code()).contains(r#"%x: tensor<2x3xf32> {mhlo.memory_kind = "pinned_host"}"#));
    /// for other in ["a \" b", ""] {
    ///     assert!(program.with_memory_kinds(&BTreeMap::from([(Argument::Parameter(0), other)])).is_err());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`with_layouts`](Self::with_layouts). Also if the name of a memory is empty or contains characters other than letters,
    /// digits and `_`.
    pub fn with_memory_kinds(&self, kinds: &BTreeMap<Argument, &str>) -> Result<Self> {
        let is_name =
            |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if let Some(kind) = kinds.values().find(|kind| !is_name(kind)) {
            return Err(Error::NoLayouts(format!("{kind:?} is not the name of a memory")));
        }
        let kinds = kinds.iter().map(|(argument, kind)| (*argument, (*kind).to_owned()));
        self.with_attributes(MEMORY_KIND, "layouts and memories", &kinds.collect())
    }

    /// `what` names what these attributes request, for the error message.
    fn with_attributes(&self, name: &str, what: &str, values: &BTreeMap<Argument, String>) -> Result<Self> {
        let text = self.mlir_text().ok_or_else(|| {
            Error::NoLayouts(format!("{what} can be asked for in the text of MLIR alone (JAX: `lowered.as_text()`)"))
        })?;
        Ok(Self::from_mlir(with_attributes(text, name, values)?.as_bytes()))
    }

    /// The parameters that are donated (`tf.aliasing_output`), each with the number of the result that takes its memory. The two have the
    /// same layout. Empty if the program is not MLIR as text.
    ///
    /// ```
    /// # use xla_shape_pjrt::Program;
    /// let text = b"func.func @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2xf32> {";
    /// assert_eq!(Program::from_mlir(text).donated().get(&0), Some(&0));
    /// ```
    #[must_use]
    pub fn donated(&self) -> BTreeMap<usize, usize> {
        self.mlir_text().map(donated).unwrap_or_default()
    }

    /// The text of a program in MLIR; `None` for bytecode and HLO.
    fn mlir_text(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.code).ok().filter(|_| self.format == Format::Mlir);
        text.filter(|text| !Language::is_bytecode(text.as_bytes()))
    }

    /// The number of replicas, if the program says it.
    ///
    /// ```
    /// # use xla_shape_pjrt::Program;
    /// assert_eq!(Program::from_mlir(b"module {}").replicas(), None);
    /// ```
    #[must_use]
    pub const fn replicas(&self) -> Option<u32> {
        self.replicas
    }

    /// The number of devices among which each replica is divided, if the program says it.
    ///
    /// ```
    /// # use xla_shape_pjrt::Program;
    /// let program = Program::from_mlir(b"module @m attributes {mhlo.num_partitions = 4 : i32} {}");
    /// assert_eq!(program.partitions(), Some(4));
    /// ```
    #[must_use]
    pub const fn partitions(&self) -> Option<u32> {
        self.partitions
    }

    /// Checks the types of the parameters, as far as the program's text gives them, because libtpu ends the process for some types.
    ///
    /// # Errors
    /// If a parameter has an unbounded dimension, or more elements than fit into an `i64`.
    pub(crate) fn check_parameters(&self) -> Result<()> {
        match self.unfit.clone() {
            Some((parameter, r#type)) if r#type.contains('?') => Err(Error::Unbounded { parameter, r#type }),
            Some((parameter, r#type)) => Err(Error::TooLarge { parameter, r#type }),
            None => Ok(()),
        }
    }

    pub(crate) const fn uses_shardy(&self) -> bool {
        self.shardy
    }
}

/// Refuses a module that a compiler has already scheduled, because libtpu ends the process for those.
fn check_new(module: &Module) -> Result<()> {
    if module.is_scheduled() { Err(Error::Optimized) } else { Ok(()) }
}

/// The first parameter of a module's entry computation that has an unbounded dimension.
fn unfit_in_hlo(module: &Module) -> Option<(String, String)> {
    let mut parameters = module.entry()?.instructions().filter(|made| made.parameter_number().is_some());
    let unfit = parameters.find(|made| made.shape().is_unbounded_dynamic())?;
    Some((unfit.name().to_owned(), unfit.shape().to_string()))
}

/// The first parameter of `@main` whose tensor has an unbounded dimension, or more elements than fit into an `i64`.
fn unfit_in_mlir(text: &str) -> Option<(String, String)> {
    let main = Signature::find(text, "main")?;
    let unfit = main.parameters().iter().find(|value| {
        let tensor = value.type_text().strip_prefix("tensor<").and_then(|inner| inner.strip_suffix('>'));
        tensor.is_some_and(is_unfit)
    })?;
    Some((unfit.name().to_owned(), unfit.type_text().to_owned()))
}

/// Whether the compiler cannot take a tensor such as `8x?xf32` as an array. After `#` there are bounds, or the name of bounds.
fn is_unfit(tensor: &str) -> bool {
    let sizes = tensor.split('x').take_while(|part| *part == "?" || part.bytes().all(|byte| byte.is_ascii_digit()));
    let sizes = sizes.collect::<Vec<_>>();
    if sizes.contains(&"?") {
        return !tensor.contains('#');
    }
    let product = sizes.iter().try_fold(1_i64, |product, size| product.checked_mul(size.parse().ok()?));
    product.is_none() && !sizes.contains(&"0")
}

/// The number that follows these words.
fn number_after(text: &str, words: &str) -> Option<u32> {
    let (_, after) = text.split_once(words)?;
    let end = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
    after[..end].parse().ok()
}

/// The language of a text, by its first words. A list of HLO instructions without a `HloModule` line is recognized by words inside it.
fn detect_text(text: &str) -> Option<Format> {
    let words = ["parameter(", "constant(", " -> "];
    Format::detect(text.as_bytes()).or_else(|| words.iter().any(|word| text.contains(word)).then_some(Format::Hlo))
}

#[cfg(test)]
mod tests {
    use super::{Argument, LayoutMode, Program};
    use std::collections::BTreeMap;

    const HLO: &str = "HloModule m, num_partitions=4\nENTRY e { ROOT p = f32[2] parameter(0) }";
    const MLIR: &str = "module @m attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {}";

    #[test]
    fn layouts_and_memories_need_text_of_mlir() {
        let first = Argument::Parameter(0);
        for program in [Program::from_mlir(b"ML\xefR\x0d"), Program::from_bytes(HLO.as_bytes()).unwrap()] {
            let words = "can be asked for in the text of MLIR alone (JAX: `lowered.as_text()`)";
            let layouts = program.with_layout_modes(&BTreeMap::from([(first, LayoutMode::Auto)])).unwrap_err();
            assert!(layouts.to_string().contains(&format!("layouts {words}")), "{layouts}");
            let memories = program.with_memory_kinds(&BTreeMap::from([(first, "device")])).unwrap_err();
            assert!(memories.to_string().contains(&format!("layouts and memories {words}")), "{memories}");
        }
    }

    #[test]
    fn programs_are_known_by_their_first_words() {
        for (bytes, format) in [
            (HLO.as_bytes(), "hlo"),
            (b"// a comment\n\nHloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }", "hlo"),
            (b"/* a\ncomment */ ENTRY e { ROOT p = f32[2] parameter(0) }", "hlo"),
            (b"e { ROOT p = f32[2] parameter(0) }", "hlo"),
            (MLIR.as_bytes(), "mlir"),
            (b"#loc = loc(unknown)\nmodule {}", "mlir"),
            (b"!pair = tuple<i32, i32>\nmodule {}", "mlir"),
            (b"// a comment\nfunc.func @main() { return }", "mlir"),
            (b"ML\xefR\x0dStableHLO_v1.9.5\0\xff", "mlir"),
        ] {
            assert_eq!(Program::from_bytes(bytes).unwrap().format().name(), format);
        }
    }

    #[test]
    fn programs_say_on_how_many_devices_they_run() {
        let program = Program::from_bytes(MLIR.as_bytes()).unwrap();
        assert_eq!((program.replicas(), program.partitions()), (Some(1), Some(4)));
        let program = Program::from_bytes(HLO.as_bytes()).unwrap();
        assert_eq!((program.replicas(), program.partitions()), (None, Some(4)));
        assert!(Program::from_bytes(b"module { sdy.mesh @mesh = <[\"a\"=2]> }").unwrap().uses_shardy());
    }

    #[test]
    fn messages_go_to_the_compiler_without_what_is_around_them() {
        let module = xla_shape::hlo::Module::parse(HLO).unwrap();
        let message = module.to_proto().unwrap();
        let program = Program::from_bytes(&message).unwrap();
        assert_eq!(program.code(), message);
        // HloProto and HloModuleProtoWithConfig have the module as their field 1.
        let mut around = vec![0x0a];
        let mut length = message.len();
        while length >= 0x80 {
            around.push(length as u8 | 0x80);
            length >>= 7;
        }
        around.push(length as u8);
        around.extend_from_slice(&message);
        assert_eq!(Program::from_bytes(&around).unwrap().code(), message);
    }

    #[test]
    fn parameters_that_end_a_compilers_process_are_refused() {
        let check = |text: &str| Program::from_bytes(text.as_bytes()).unwrap().check_parameters();
        let main = |list: &str| format!("module {{ func.func public @main({list}) -> tensor<f32> {{ return }} }}");
        for list in [
            "",
            "%arg0: tensor<f32>",
            "%arg0: tensor<2x3xf32>, %x: tensor<?x3xi8, #stablehlo.bounds<5, ?>> {a = \"),?\\\"\"}, %y: !stablehlo.token",
            "%arg0: tensor<?xf32, #bounds>, %arg1: tensor<4xcomplex<f32>> loc(\"x\"(#loc1))",
            "%arg0: tensor<9223372036854775807xi1>, %arg1: tensor<9223372036854775807x2x0xi1>",
            "%arg0: tuple<tensor<?xf32>",
            "%arg0",
            "%arg0: tensor<",
        ] {
            assert!(check(&main(list)).is_ok(), "{list}");
        }
        let error =
            check(&main("%arg0: tensor<2xf32> {a = {b = \"(\"}},\n %x : tensor<3x?xbf16>")).unwrap_err().to_string();
        assert!(
            error.starts_with("the parameter %x is tensor<3x?xbf16>, which has a dimension without a bound"),
            "{error}"
        );
        for sizes in ["4611686018427387904x8", "9223372036854775808", "99999999999999999999x1"] {
            let error = check(&main(&format!("%arg0: tensor<{sizes}xf32>"))).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("the parameter %arg0 is tensor<{sizes}xf32>, which has more elements than XLA supports")
            );
        }
        let hlo =
            |shape: &str| format!("HloModule m\nENTRY e {{\np = f32[2] parameter(0)\nROOT q = {shape} parameter(1) }}");
        assert!(check(&hlo("(f32[<=8], s32[])")).is_ok());
        let error = check(&hlo("(f32[2], f32[?,3])")).unwrap_err().to_string();
        assert!(
            error.starts_with("the parameter q is (f32[2]{0}, f32[?,3]{1,0}), which has a dimension without"),
            "{error}"
        );
    }

    #[test]
    fn what_is_no_program_is_said() {
        let none = "the program is neither StableHLO (MLIR, text or bytecode) nor HLO (text or message)";
        for (bytes, message) in [
            (&b""[..], format!("{none}: it is empty")),
            (b"hello", format!("{none}: it begins like none of them")),
            (b"\xff\xfe\x00", format!("{none}: its bytes are neither text nor a message")),
            (b"# a heading", format!("{none}: it begins like none of them")),
            (b"// only a comment", format!("{none}: it begins like none of them")),
        ] {
            assert_eq!(Program::from_bytes(bytes).unwrap_err().to_string(), message);
        }
        let optimized = HLO.replace("HloModule m,", "HloModule m, is_scheduled=true,");
        let error = Program::from_bytes(optimized.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("the module is already optimized and scheduled"), "{error}");
        let error = Program::from_bytes(b"HloModule m\nENTRY e { ROOT p = f32[2 parameter(0) }").unwrap_err();
        assert!(error.to_string().starts_with("the program cannot be read: expected"), "{error}");
    }
}
