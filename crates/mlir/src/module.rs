//! MLIR text: operations with their attributes, types, regions and locations.
//!
//! The reader does not know the dialects. It finds where each operation begins and ends, its attributes, and its regions,
//! by brackets and line ends, as MLIR's printer writes them: a region begins with a brace at the end of a line, and each operation
//! begins a line. The rest of an operation is kept as text.

use crate::error::{MlirError, MlirProblem};
use crate::scanner::{Part, Scanner};
use crate::source::Source;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// A text in MLIR's syntax.
///
/// ```
/// use xla_shape_mlir::Module;
///
/// let module = Module::parse("\
/// func.func @k() {
///   %0 = arith.constant {value = [1, 2]} 0 : i32 loc(#loc1)
///   return
/// }
/// #loc1 = loc(\"kernel.py\":4:8 to :14)
/// ")?;
/// let [_, constant, _] = module.operations() else { panic!() };
/// assert_eq!((constant.name(), constant.attribute("value")), ("arith.constant", Some("[1, 2]")));
/// assert_eq!(module.source(constant).unwrap().to_string(), "kernel.py:4");
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Module<'a> {
    operations: Vec<Operation<'a>>,
    aliases: BTreeMap<&'a str, Place<'a>>,
    unread: Vec<&'a str>,
}

/// An operation: what is before its first region, and what follows its regions.
#[derive(Clone, Debug)]
pub struct Operation<'a> {
    results: Vec<&'a str>,
    name: &'a str,
    /// The text between the name and the first region, and the texts after each region.
    texts: Vec<&'a str>,
    attributes: Vec<(&'a str, &'a str)>,
    location: Option<&'a str>,
    parent: Option<usize>,
}

impl<'a> Operation<'a> {
    /// The names of its results, with `%`.
    ///
    /// ```
    /// use xla_shape_mlir::Module;
    ///
    /// let module = Module::parse("%1 = arith.addf %x, %y {fast, kind = [1, 2]} : f32")?;
    /// assert_eq!(module.operations()[0].results(), ["%1"]);
    /// # Ok::<(), xla_shape_mlir::MlirError>(())
    /// ```
    #[must_use]
    pub fn results(&self) -> &[&'a str] {
        &self.results
    }

    /// Its name, such as `arith.addf`.
    ///
    /// ```
    /// use xla_shape_mlir::Module;
    ///
    /// let module = Module::parse("%1 = arith.addf %x, %y {fast, kind = [1, 2]} : f32")?;
    /// assert_eq!(module.operations()[0].name(), "arith.addf");
    /// # Ok::<(), xla_shape_mlir::MlirError>(())
    /// ```
    #[must_use]
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// The text after the name, in parts: before the first region, and after each region.
    ///
    /// ```
    /// use xla_shape_mlir::Module;
    ///
    /// let module = Module::parse("%1 = arith.addf %x, %y {fast, kind = [1, 2]} : f32")?;
    /// assert_eq!(module.operations()[0].texts(), ["%x, %y {fast, kind = [1, 2]} : f32"]);
    /// # Ok::<(), xla_shape_mlir::MlirError>(())
    /// ```
    #[must_use]
    pub fn texts(&self) -> &[&'a str] {
        &self.texts
    }

    /// The attributes in its dictionaries, as text. An attribute without a value has the text "".
    ///
    /// ```
    /// use xla_shape_mlir::Module;
    ///
    /// let module = Module::parse("%1 = arith.addf %x, %y {fast, kind = [1, 2]} : f32")?;
    /// assert_eq!(module.operations()[0].attributes(), [("fast", ""), ("kind", "[1, 2]")]);
    /// # Ok::<(), xla_shape_mlir::MlirError>(())
    /// ```
    #[must_use]
    pub fn attributes(&self) -> &[(&'a str, &'a str)] {
        &self.attributes
    }

    /// The value of an attribute, as text.
    ///
    /// ```
    /// use xla_shape_mlir::Module;
    ///
    /// let module = Module::parse("%1 = arith.addf %x, %y {fast, kind = [1, 2]} : f32")?;
    /// assert_eq!(module.operations()[0].attribute("kind"), Some("[1, 2]"));
    /// # Ok::<(), xla_shape_mlir::MlirError>(())
    /// ```
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// The operation that has this one in a region, as an index into [`Module::operations`].
    ///
    /// ```
    /// use xla_shape_mlir::Module;
    ///
    /// let module = Module::parse("scf.if %a {\n  scf.yield\n}")?;
    /// assert_eq!(module.operations()[1].parent(), Some(0));
    /// # Ok::<(), xla_shape_mlir::MlirError>(())
    /// ```
    #[must_use]
    pub const fn parent(&self) -> Option<usize> {
        self.parent
    }

    /// The names of the values that it uses, in order: those after `%` in its text.
    ///
    /// ```
    /// use xla_shape_mlir::Module;
    ///
    /// let module = Module::parse("%1 = arith.addf %x, %y {fast, kind = [1, 2]} : f32")?;
    /// assert!(module.operations()[0].operands().eq(["x", "y"]));
    /// # Ok::<(), xla_shape_mlir::MlirError>(())
    /// ```
    pub fn operands(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.texts.iter().flat_map(|text| {
            text.split('%').skip(1).map(|rest| {
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-')));
                rest.get(..end.unwrap_or(rest.len())).unwrap_or("")
            })
        })
    }
}

/// The most aliases that are followed from a location.
const MAX_ALIASES: usize = 64;

impl<'a> Module<'a> {
    /// Reads a text. The time is linear in the length of the text.
    ///
    /// # Errors
    ///
    /// If brackets, quotes or regions are not closed or too deep.
    ///
    /// ```
    /// use xla_shape_mlir::Module;
    ///
    /// let error = Module::parse("func.func @k() {\n  return").unwrap_err();
    /// assert_eq!(error.to_string(), "line 1: expected the end of the region that begins here, found the end of the text");
    /// ```
    pub fn parse(text: &'a str) -> Result<Self, MlirError> {
        let mut module = Self { operations: Vec::new(), aliases: BTreeMap::new(), unread: Vec::new() };
        let mut scanner = Scanner::new(text);
        // The operations whose regions are open, with the positions of the braces.
        let mut open: Vec<(usize, usize)> = Vec::new();
        loop {
            scanner.skip_space();
            if scanner.at_end() {
                break;
            }
            let start = scanner.position();
            if scanner.eat("}") {
                let Some((owner, _)) = open.pop() else { return Err(scanner.error(MlirProblem::NotOpen, start)) };
                if module.add_part(owner, scanner.rest_of_operation()?) {
                    open.push((owner, scanner.position()));
                }
                continue;
            }
            match scanner.peek() {
                Some('#' | '!') => {
                    let line = scanner.balanced_line()?;
                    match line.split_once(" = ") {
                        Some((name, value)) => drop(module.aliases.insert(name.trim(), Place::of(value.trim()))),
                        None => module.unread.push(line),
                    }
                }
                // A block's label, or a line of the generic form between two regions.
                Some('^' | '{' | ')' | ',') => drop(scanner.balanced_line()?),
                _ => match scanner.operation_head() {
                    Some((results, name)) => {
                        let number = module.operations.len();
                        module.operations.push(Operation {
                            results,
                            name,
                            texts: Vec::new(),
                            attributes: Vec::new(),
                            location: None,
                            parent: open.last().map(|(owner, _)| *owner),
                        });
                        if module.add_part(number, scanner.rest_of_operation()?) {
                            scanner.check_depth(open.len())?;
                            open.push((number, scanner.position()));
                        }
                    }
                    None => {
                        let line = scanner.balanced_line()?;
                        module.unread.push(line);
                    }
                },
            }
        }
        match open.last() {
            Some((_, brace)) => Err(scanner.error(MlirProblem::RegionEnd, brace.saturating_sub(1))),
            None => Ok(module),
        }
    }

    /// All operations, in the order of the text; an operation with regions comes before those in its regions.
    ///
    /// ```
    /// use xla_shape_mlir::Module;
    ///
    /// let module = Module::parse("%1 = arith.addf %x, %y {fast, kind = [1, 2]} : f32")?;
    /// assert_eq!(module.operations().len(), 1);
    /// # Ok::<(), xla_shape_mlir::MlirError>(())
    /// ```
    #[must_use]
    pub fn operations(&self) -> &[Operation<'a>] {
        &self.operations
    }

    /// The lines that are neither an operation, an alias nor a label.
    ///
    /// ```
    /// use xla_shape_mlir::Module;
    ///
    /// let module = Module::parse("%1 = arith.addf %x, %y {fast, kind = [1, 2]} : f32")?;
    /// assert!(module.unread().is_empty());
    /// # Ok::<(), xla_shape_mlir::MlirError>(())
    /// ```
    #[must_use]
    pub fn unread(&self) -> &[&'a str] {
        &self.unread
    }

    /// Adds a part to an operation. Returns whether a region follows it.
    fn add_part(&mut self, owner: usize, part: Part<'a>) -> bool {
        if let Some(operation) = self.operations.get_mut(owner) {
            operation.texts.push(part.text);
            operation.attributes.extend(part.attributes);
            operation.location = part.location.or(operation.location);
        }
        part.opens_region
    }

    /// The place in the source that the operation comes from; for a location with a call stack, the innermost place. `None` if the text
    /// does not have it.
    ///
    /// ```
    /// use xla_shape_mlir::Module;
    ///
    /// let module = Module::parse("return loc(#loc2)\n#loc1 = loc(\"k.py\":4:8 to :14)\n#loc2 = loc(\"swap\"(#loc1))")?;
    /// assert_eq!(module.source(&module.operations()[0]).unwrap().line, 4);
    /// # Ok::<(), xla_shape_mlir::MlirError>(())
    /// ```
    #[must_use]
    pub fn source(&self, operation: &Operation<'a>) -> Option<Source<'a>> {
        let mut place = Place::of(operation.location?);
        for _ in 0..MAX_ALIASES {
            match place {
                Place::Source(source) => return Some(source),
                Place::Alias(name) => place = *self.aliases.get(name)?,
                Place::Unknown => return None,
            }
        }
        None
    }
}

/// What a location says, found once for each alias: many operations can share a long one.
#[derive(Clone, Copy, Debug)]
enum Place<'a> {
    Source(Source<'a>),
    Alias(&'a str),
    Unknown,
}

impl<'a> Place<'a> {
    fn of(location: &'a str) -> Self {
        if let Some(source) = Source::find(location) {
            return Self::Source(source);
        }
        // The first alias in `"name"(#loc3)` or `callsite(#loc1 at #loc2)` is the inner one.
        let Some(name) = location.find("#loc").and_then(|at| location.get(at..)) else { return Self::Unknown };
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '#')).unwrap_or(name.len());
        name.get(..end).map_or(Self::Unknown, Self::Alias)
    }
}
