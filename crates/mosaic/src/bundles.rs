//! Final bundles: the TPU's instructions as the compiler scheduled them. Each line is a bundle: the slots that execute at the same time.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use xla_shape_mlir::Source;

/// The bundles of one HLO instruction, such as the call of a kernel.
///
/// ```
/// use xla_shape_mosaic::Bundles;
///
/// let bundles = Bundles::parse("\
///    0   :  { %s1_s0 = smov.u32 0 }
///  0x1 LB: > { %v2_v0 = vld [vmem:[%s1_s0] sm:$0xff] /* loc(\"kernel.py\":7:3 to :9) */  ;;  %3 = sbr.rel (!%p1_p0) target = $region4 }
///  0x2   :  {}
/// ");
/// let [first, body, empty] = bundles.bundles() else { panic!() };
/// assert_eq!((first.depth(), body.depth(), body.label(), empty.slots().len()), (0, 1, Some("LB"), 0));
/// let [load, branch] = body.slots() else { panic!() };
/// assert_eq!((load.opcode(), load.source().unwrap().line), ("vld", 7));
/// assert_eq!(branch.predicate(), Some("!%p1_p0"));
/// ```
#[derive(Clone, Debug)]
pub struct Bundles<'a> {
    bundles: Vec<Bundle<'a>>,
    unread: usize,
    cut_off: bool,
}

/// The slots that a TPU executes at once.
#[derive(Clone, Debug)]
pub struct Bundle<'a> {
    address: u64,
    label: Option<&'a str>,
    depth: usize,
    slots: Vec<Slot<'a>>,
    /// The text after the slots.
    comment: &'a str,
}

/// One instruction of a bundle.
#[derive(Clone, Debug)]
pub struct Slot<'a> {
    register: Option<&'a str>,
    opcode: &'a str,
    /// The operands, with comments in between.
    operands: &'a str,
    source: Option<Source<'a>>,
}

impl<'a> Bundle<'a> {
    /// The address: the bundle's number in the program.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0x1 LB: > { %v2_v0 = vld [vmem:[#allocation3_spill]] (%p4_p0) /* loc(\"k.py\":7:3 to :9) */ }");
    /// let bundle = &bundles.bundles()[0];
    /// assert_eq!(bundle.address(), 1);
    /// ```
    #[must_use]
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// The label, if the bundle has one: `LB` begins the body of a loop, `PF` follows a predicated region.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0x1 LB: > { %v2_v0 = vld [vmem:[#allocation3_spill]] (%p4_p0) /* loc(\"k.py\":7:3 to :9) */ }");
    /// let bundle = &bundles.bundles()[0];
    /// assert_eq!(bundle.label(), Some("LB"));
    /// ```
    #[must_use]
    pub const fn label(&self) -> Option<&'a str> {
        self.label
    }

    /// The number of loops around the bundle, as the compiler marks it with `>`. Empty bundles have no mark, so 0.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0x1 LB: > { %v2_v0 = vld [vmem:[#allocation3_spill]] (%p4_p0) /* loc(\"k.py\":7:3 to :9) */ }");
    /// let bundle = &bundles.bundles()[0];
    /// assert_eq!(bundle.depth(), 1);
    /// ```
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// Whether the bundle does nothing, as the compiler counts it: it waits for a result, or only names operands.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0x1 LB: > { %v2_v0 = vld [vmem:[#allocation3_spill]] (%p4_p0) /* loc(\"k.py\":7:3 to :9) */ }");
    /// let bundle = &bundles.bundles()[0];
    /// assert!(!bundle.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.iter().all(|slot| slot.opcode.starts_with("inlined_call"))
    }

    /// The slots.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0x1 LB: > { %v2_v0 = vld [vmem:[#allocation3_spill]] (%p4_p0) /* loc(\"k.py\":7:3 to :9) */ }");
    /// let bundle = &bundles.bundles()[0];
    /// assert_eq!(bundle.slots().len(), 1);
    /// ```
    #[must_use]
    pub fn slots(&self) -> &[Slot<'a>] {
        &self.slots
    }

    /// Whether a region with this number ends with the bundle, according to the compiler's comments.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0xa : {} /* End region 8 :: End region 31 */");
    /// assert!(bundles.bundles()[0].ends_region(31) && !bundles.bundles()[0].ends_region(3));
    /// ```
    #[must_use]
    pub fn ends_region(&self, number: u64) -> bool {
        self.ends().any(|ended| ended == number)
    }
}

impl<'a> Slot<'a> {
    /// The register that the slot writes, with `%`; a number, such as `%3`, if it writes none.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0x1 LB: > { %v2_v0 = vld [vmem:[#allocation3_spill]] (%p4_p0) /* loc(\"k.py\":7:3 to :9) */ }");
    /// let bundle = &bundles.bundles()[0];
    /// assert_eq!(bundle.slots()[0].register(), Some("%v2_v0"));
    /// ```
    #[must_use]
    pub const fn register(&self) -> Option<&'a str> {
        self.register
    }

    /// The opcode, such as `vadd.f32`.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0x1 LB: > { %v2_v0 = vld [vmem:[#allocation3_spill]] (%p4_p0) /* loc(\"k.py\":7:3 to :9) */ }");
    /// let bundle = &bundles.bundles()[0];
    /// assert_eq!(bundle.slots()[0].opcode(), "vld");
    /// ```
    #[must_use]
    pub const fn opcode(&self) -> &'a str {
        self.opcode
    }

    /// The text after the opcode, with its comments.
    #[must_use]
    pub const fn operands(&self) -> &'a str {
        self.operands
    }

    /// The Python line that the slot comes from. If there are several, this is the last one, because the compiler writes the lines of loops
    /// and copies first. If an instruction has no line but a `vpop` takes its result, it is the line of the `vpop`.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0x1 LB: > { %v2_v0 = vld [vmem:[#allocation3_spill]] (%p4_p0) /* loc(\"k.py\":7:3 to :9) */ }");
    /// let bundle = &bundles.bundles()[0];
    /// assert_eq!(bundle.slots()[0].source().unwrap().line, 7);
    /// let pair = "0x1 : { %4 = vexp2.f32 %v3_v0 }\n0x2 : { %v5_v1 = vpop.erf %4 /* loc(\"k.py\":8:3 to :9) */ }";
    /// assert_eq!(Bundles::parse(pair).bundles()[0].slots()[0].source().unwrap().line, 8);
    /// ```
    #[must_use]
    pub const fn source(&self) -> Option<Source<'a>> {
        self.source
    }

    /// The predicate under which the slot executes, such as `!%p1_p0`; `None` if it always does.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0x1 LB: > { %v2_v0 = vld [vmem:[#allocation3_spill]] (%p4_p0) /* loc(\"k.py\":7:3 to :9) */ }");
    /// let bundle = &bundles.bundles()[0];
    /// assert_eq!(bundle.slots()[0].predicate(), Some("%p4_p0"));
    /// ```
    #[must_use]
    pub fn predicate(&self) -> Option<&'a str> {
        let plain = self.operands.split("/*").next()?;
        let inside = plain.split('(').skip(1).find(|rest| rest.starts_with("%p") || rest.starts_with("!%p"))?;
        inside.split([',', ')']).next()
    }

    /// Whether this is not an instruction, and takes no slot of the TPU: it only names a value (an operand, an address, a loop-carried value).
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0x1 LB: > { %v2_v0 = vld [vmem:[#allocation3_spill]] (%p4_p0) /* loc(\"k.py\":7:3 to :9) */ }");
    /// let bundle = &bundles.bundles()[0];
    /// assert!(!bundle.slots()[0].is_pseudo());
    /// ```
    #[must_use]
    pub fn is_pseudo(&self) -> bool {
        let family = self.opcode.split(['.', '-']).next().unwrap_or("");
        matches!(
            family,
            "inlined_call"
                | "inlined_call_operand"
                | "int_to_ptr"
                | "sphi"
                | "vphi"
                | "pphi"
                | "reloc"
                | "compiler"
                | "scalar_parameter_address"
                | "spseudo"
                | "vpseudo"
                | ""
        )
    }

    /// Whether the slot works on vectors.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0x1 LB: > { %v2_v0 = vld [vmem:[#allocation3_spill]] (%p4_p0) /* loc(\"k.py\":7:3 to :9) */ }");
    /// let bundle = &bundles.bundles()[0];
    /// assert!(bundle.slots()[0].is_vector());
    /// ```
    #[must_use]
    pub fn is_vector(&self) -> bool {
        self.opcode.starts_with('v')
            && !self.is_pseudo()
            && !matches!(self.opcode, "vsyncpa" | "vsyncadd" | "vtrace" | "vsettm")
    }

    /// Whether the slot spills: it saves a register to memory because there are too few registers.
    #[must_use]
    pub fn is_spill(&self) -> bool {
        matches!(self.opcode.split('.').next(), Some("vst" | "sst")) && self.names_spill()
    }

    /// Whether the slot fills: it loads a register that was spilled.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0x1 LB: > { %v2_v0 = vld [vmem:[#allocation3_spill]] (%p4_p0) /* loc(\"k.py\":7:3 to :9) */ }");
    /// let bundle = &bundles.bundles()[0];
    /// assert!(bundle.slots()[0].is_fill() && !bundle.slots()[0].is_spill());
    /// ```
    #[must_use]
    pub fn is_fill(&self) -> bool {
        matches!(self.opcode.split('.').next(), Some("vld" | "sld")) && self.names_spill()
    }

    /// Whether the slot spills or fills a scalar register, to or from scalar memory (SMEM); vector and mask registers go to VMEM.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// let bundles = Bundles::parse("0x1 LB: > { %3 = sst [smem:[#allocation18_spill]] %s1_s0 ;; %4 = vst [vmem:[#allocation3_spill]] %v1_v0 }");
    /// let [scalar, vector] = bundles.bundles()[0].slots() else { panic!("two slots") };
    /// assert!(scalar.is_spill() && scalar.is_of_scalar_spill());
    /// assert!(vector.is_spill() && !vector.is_of_scalar_spill());
    /// ```
    #[must_use]
    pub fn is_of_scalar_spill(&self) -> bool {
        (self.is_spill() || self.is_fill()) && self.opcode.starts_with('s')
    }

    fn names_spill(&self) -> bool {
        self.operands.split("/*").next().is_some_and(|plain| plain.contains("_spill"))
    }

    /// Whether the slot waits until a copy between memories is done.
    #[must_use]
    pub fn is_wait(&self) -> bool {
        self.opcode.starts_with("dma.done")
    }
}

impl<'a> Bundles<'a> {
    /// Reads a file of final bundles. Skips lines that are not bundles, such as the legend and the lines of long comments. The time is linear
    /// in the length of the text.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        let mut bundles = Self { bundles: Vec::new(), unread: 0, cut_off: false };
        let mut rest = text;
        while !rest.is_empty() {
            let (line, tail) = rest.split_once('\n').unwrap_or((rest, ""));
            if let Some((bundle, body)) = head(line)
                && let Some(body) = rest.get(line.len() - body.len()..)
            {
                match slots(body) {
                    Some((slots, after)) => {
                        // Comments can follow, also over several lines.
                        let (comment, tail) = after.split_once('\n').unwrap_or((after, ""));
                        bundles.bundles.push(Bundle { slots, comment, ..bundle });
                        rest = tail;
                        continue;
                    }
                    // The rest of the text could belong to this bundle, so reading stops here.
                    None => {
                        bundles.cut_off = true;
                        break;
                    }
                }
            }
            if line.trim_start().starts_with("0x") {
                bundles.unread += 1;
            }
            rest = tail;
        }
        bundles.share_sources();
        bundles
    }

    /// A `vpop` takes the result of another instruction: `vpop.erf` takes what `vexp2` computed. The compiler writes the source line only at the
    /// `vpop`; this function gives it to the other instruction, too.
    fn share_sources(&mut self) {
        let mut popped: BTreeMap<&str, Option<Source<'a>>> = BTreeMap::new();
        for slot in self.bundles.iter().flat_map(|bundle| &bundle.slots).filter(|slot| slot.opcode.starts_with("vpop"))
        {
            let Some(pushed) = slot.operands.split_ascii_whitespace().next() else { continue };
            popped
                .entry(pushed)
                .and_modify(|known| *known = known.filter(|_| *known == slot.source))
                .or_insert(slot.source);
        }
        for slot in self.bundles.iter_mut().flat_map(|bundle| &mut bundle.slots).filter(|slot| slot.source.is_none()) {
            slot.source = slot.register.and_then(|register| popped.get(register).copied().flatten());
        }
    }

    /// The bundles, in the order of their addresses.
    #[must_use]
    pub fn bundles(&self) -> &[Bundle<'a>] {
        &self.bundles
    }

    /// The number of lines that begin with an address but are not bundles.
    #[must_use]
    pub const fn unread(&self) -> u64 {
        self.unread as u64
    }

    /// Whether the last bundle has no closing brace, because the file was cut off.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// assert!(Bundles::parse("0x1 : { %2 = vlaneseq").is_cut_off());
    /// ```
    #[must_use]
    pub const fn is_cut_off(&self) -> bool {
        self.cut_off
    }

    /// The number of bundles that do nothing, as the compiler counts them.
    ///
    /// ```
    /// use xla_shape_mosaic::Bundles;
    ///
    /// assert_eq!(Bundles::parse("0x1 : {}\n0x2 : { %2 = vlaneseq }").empty(), 1);
    /// ```
    #[must_use]
    pub fn empty(&self) -> usize {
        self.bundles.iter().filter(|bundle| bundle.is_empty()).count()
    }
}

impl Bundle<'_> {
    /// The numbers of the regions that end with the bundle.
    pub(crate) fn ends(&self) -> impl Iterator<Item = u64> {
        numbers_after(self.comment, "End region ")
    }

    /// The numbers of the regions that begin with the bundle.
    pub(crate) fn starts(&self) -> impl Iterator<Item = u64> {
        numbers_after(self.comment, "Start region ").chain(numbers_after(self.comment, "Start/End empty region "))
    }
}

/// The numbers that follow some words in a comment.
fn numbers_after<'a>(comment: &'a str, words: &'a str) -> impl Iterator<Item = u64> + 'a {
    comment.split(words).skip(1).filter_map(|rest| rest.split([' ', '*']).next()?.parse().ok())
}

/// Splits a line into what is before the slots of a bundle, and the rest after the opening brace.
fn head(line: &str) -> Option<(Bundle<'_>, &str)> {
    // `0x1c LB: > { … }`: address, label, and one `>` for each loop around the bundle.
    let (head, body) = line.split_once('{')?;
    let (head, marks) = head.split_once(':')?;
    let mut words = head.split_ascii_whitespace();
    let number = words.next()?;
    let address = match number.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    let label = words.next();
    let depth = marks.bytes().filter(|byte| *byte == b'>').count();
    if words.next().is_some() || !marks.bytes().all(|byte| matches!(byte, b'>' | b' ')) {
        return None;
    }
    Some((Bundle { address, label, depth, slots: Vec::new(), comment: "" }, body))
}

/// The slots up to the closing brace, and the text after it; `None` if it is missing.
fn slots(text: &str) -> Option<(Vec<Slot<'_>>, &str)> {
    // `;;` separates slots, and `}` ends the bundle, except in braces of operands (`depth`) and in comments, which may contain all of these.
    let bytes = text.as_bytes();
    let (mut slots, mut depth, mut start, mut at) = (Vec::new(), 0_usize, 0, 0_usize);
    let mut add = |from: usize, to: usize| slots.extend(text.get(from..to).and_then(slot));
    loop {
        match bytes.get(at)? {
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = (at + text.get(at..)?.find("*/")?) + 2;
                continue;
            }
            b'{' => depth += 1,
            b'}' if depth == 0 => {
                add(start, at);
                return Some((slots, text.get((at + 1)..).unwrap_or("")));
            }
            b'}' => depth = depth.saturating_sub(1),
            b';' if depth == 0 && bytes.get(at + 1) == Some(&b';') => {
                add(start, at);
                at += 1;
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
}

fn slot(text: &str) -> Option<Slot<'_>> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let (register, operation) = match text.split_once(" = ") {
        Some((register, operation)) if register.starts_with('%') && !register.contains(' ') => {
            (Some(register), operation)
        }
        _ => (None, text),
    };
    let end = operation.find([' ', '(', '[']).unwrap_or(operation.len());
    let (opcode, operands) = operation.split_at_checked(end)?;
    let source = operands.rsplit("loc(").take(operands.matches("loc(").count()).find_map(Source::find);
    Some(Slot { register, opcode, operands: operands.trim(), source })
}
