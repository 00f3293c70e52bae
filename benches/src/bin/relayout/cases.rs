//! The fixed cases.

use xla_shape::ArrayShape;
use xla_shape::map::Source;
use xla_shape::relayout::Options;

/// A relayout between two shapes.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) from: ArrayShape,
    pub(crate) to: ArrayShape,
    pub(crate) permutation: Option<Vec<usize>>,
    pub(crate) options: Options,
    /// Whether it is also measured with two threads.
    pub(crate) threads: bool,
}

/// A loop over both arrays, with strides in elements.
#[derive(Clone, Copy)]
pub(crate) struct Loop {
    pub(crate) size: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

fn shape(text: &str) -> ArrayShape {
    text.parse().expect("the shapes of the cases are valid")
}

impl Case {
    fn new(group: char, from: &str, to: &str) -> Self {
        Self {
            name: format!("{group} {from} -> {to}"),
            from: shape(from),
            to: shape(to),
            permutation: None,
            options: Options::new(),
            threads: false,
        }
    }

    pub(crate) fn transposed(self, permutation: &[usize]) -> Self {
        let options = self.options.transposed(permutation);
        let name = format!("{} {permutation:?}", self.name);
        Self { name, options, permutation: Some(permutation.to_vec()), ..self }
    }

    fn with_zero_padding(self) -> Self {
        Self { options: self.options.zero_padding(), ..self }
    }

    /// The bytes of the elements; if the two sides differ, their mean.
    pub(crate) fn payload(&self) -> usize {
        let bits = self.from.element_bits() + self.to.element_bits();
        (self.from.elements().expect("sizes are static") * bits / 16) as usize
    }

    /// The case as an array with more dimensions, which has strides on both sides. The dimensions are in the order of the destination's strides, the
    /// largest first. `None` for tiles with padding, packed elements, and if both sides are tiled.
    pub(crate) fn as_strided(&self) -> Option<Vec<Loop>> {
        let (from, to) = (self.from.stride_table().ok()?, self.to.stride_table().ok()?);
        let plain = |shape: &ArrayShape| shape.layout().tiles().is_empty();
        let dense = |shape: &ArrayShape| shape.elements() == shape.physical_elements();
        let tiled = if plain(&self.to) { &from } else { &to };
        let same_bits = self.from.element_bits() == self.to.element_bits();
        if !(plain(&self.from) || plain(&self.to)) || !dense(&self.from) || !dense(&self.to) || !same_bits {
            return None;
        }
        let num_dimensions = self.from.num_dimensions();
        let permutation = self.permutation.clone().unwrap_or_else(|| (0..num_dimensions).collect());
        let mut loops = Vec::new();
        for digit in tiled.as_ref().digits() {
            let Source::Dimension(number) = digit.term.source else { return None };
            let (mut from_index, mut to_index) = (vec![0; num_dimensions], vec![0; num_dimensions]);
            // The dimensions are the digits of the index arithmetic on the tiled side.
            if plain(&self.to) {
                from_index[number as usize] = digit.term.divisor.get();
                for (to, &dimension) in to_index.iter_mut().zip(&permutation) {
                    *to = from_index[dimension];
                }
            } else {
                to_index[number as usize] = digit.term.divisor.get();
                for (to, &dimension) in to_index.iter().zip(&permutation) {
                    from_index[dimension] = *to;
                }
            }
            let (from, to) =
                (from.as_ref().linear_index(&from_index) as usize, to.as_ref().linear_index(&to_index) as usize);
            loops.push(Loop { size: digit.size as usize, from, to });
        }
        loops.retain(|of| of.size != 1);
        loops.sort_unstable_by_key(|of| std::cmp::Reverse(of.to));
        let mut merged: Vec<Loop> = Vec::new();
        for of in loops {
            match merged.last_mut() {
                Some(outer) if outer.from == of.from * of.size && outer.to == of.to * of.size => {
                    *outer = Loop { size: outer.size * of.size, ..of };
                }
                _ => merged.push(of),
            }
        }
        Some(merged)
    }
}

/// The cases of size `n` by `n`, for a large and a small `n`.
fn square([transposes, rows, pairs, packed]: [char; 4], n: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for element in ["f32", "bf16", "u8"] {
        let plain = format!("{element}[{n},{n}]{{1,0}}");
        cases.push(Case::new(transposes, &plain, &plain).transposed(&[1, 0]));
    }
    let tiles = [
        (rows, "f32", "T(8,128)"),
        (pairs, "bf16", "T(8,128)(2,1)"),
        (packed, "u8", "T(32,128)(4,1)"),
        (packed, "u8", "T(8,128)(4,1)"),
        (packed, "s4", "T(64,128)(8,1)E(4)"),
    ];
    for (group, element, tiles) in tiles {
        let (plain, tiled) = (format!("{element}[{n},{n}]{{1,0}}"), format!("{element}[{n},{n}]{{1,0:{tiles}}}"));
        cases.extend([Case::new(group, &plain, &tiled), Case::new(group, &tiled, &plain)]);
    }
    cases
}

/// A transpose of all dimensions, in row-major order.
fn transpose(group: char, array: &str) -> Case {
    let dimensions = array.matches(',').count() + 1;
    let plain = format!("{array}{{{}}}", if dimensions == 2 { "1,0" } else { "2,1,0" });
    let (a, b) = array.split_once('[').expect("an array has sizes");
    let sizes = b.trim_end_matches(']').split(',').rev().collect::<Vec<_>>().join(",");
    let to = format!("{a}[{sizes}]{{{}}}", if dimensions == 2 { "1,0" } else { "2,1,0" });
    Case::new(group, &plain, &to).transposed(&(0..dimensions).rev().collect::<Vec<_>>())
}

/// From row-major order to this one.
fn reordered(group: char, array: &str, minor_to_major: &str) -> Case {
    let row_major = (0..=array.matches(',').count()).rev().map(|number| number.to_string()).collect::<Vec<_>>();
    Case::new(group, &format!("{array}{{{}}}", row_major.join(",")), &format!("{array}{minor_to_major}"))
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = square(['a', 'b', 'c', 'd'], 4096);
    cases.iter_mut().for_each(|case| case.threads = true);
    for element in ["f32", "bf16"] {
        let nhwc = format!("{element}[32,56,56,64]{{3,2,1,0}}");
        let nchw = format!("{element}[32,56,56,64]{{2,1,3,0}}");
        cases.push(Case::new('e', &nhwc, &nchw));
        cases.push(Case::new('e', &nchw, &nhwc));
    }
    let cube = "f32[64,512,512]{2,1,0}";
    cases.push(Case::new('f', cube, cube).transposed(&[0, 2, 1]));
    let (plain, tiled) = ("f32[1000,1000]{1,0}", "f32[1000,1000]{1,0:T(8,128)}");
    cases.push(Case::new('g', plain, tiled).with_zero_padding());
    cases.push(Case::new('g', tiled, plain).with_zero_padding());
    cases.extend(square(['h'; 4], 512));
    cases.push(Case::new('i', "bf16[8,1,1280,16384]{3,2,1,0}", "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}"));
    cases.push(Case::new('j', "bf16[4096,4096]{1,0:T(8,128)(2,1)}", "bf16[4096,4096]{0,1:T(8,128)(2,1)}"));
    cases.push(Case::new('j', "f32[4096,4096]{1,0:T(8,128)}", "f32[4096,4096]{0,1:T(8,128)}"));
    cases.push(transpose('k', "u8[8192,8192]"));
    // Rows that do not begin at cache lines.
    let odd = ["u16[50257,768]", "f32[4095,4097]", "u8[4095,4097]", "f64[4096,4096]", "f64[2001,1999]"];
    cases.extend(odd.map(|array| transpose('l', array)));
    cases.push(Case::new('l', "f32[512,7,7,64]{3,2,1,0}", "f32[512,7,7,64]{0,3,2,1:T(8,128)}"));
    // Few rows or columns.
    cases.push(Case::new('m', "f32[3,1000,777]{2,1,0}", "f32[3,1000,777]{0,2,1}"));
    for element in ["u8", "f32"] {
        let (hwc, chw) = (format!("{element}[8,224,224,3]{{3,2,1,0}}"), format!("{element}[8,224,224,3]{{2,1,3,0}}"));
        cases.extend([Case::new('m', &hwc, &chw), Case::new('m', &chw, &hwc)]);
    }
    let few = ["f32[100000,3]", "bf16[100000,6]", "u8[60000,13]", "f32[7,5001]", "bf16[24,2048]", "u8[40,4096]", "c128[3,725]"];
    cases.extend(few.map(|array| transpose('m', array)));
    // Arrays that fit into the caches.
    let small =
        ["f32[8,128]", "f32[16,128]", "f32[32,256]", "f64[384,384]", "c64[384,384]", "c128[256,256]", "bf16[128,128]"];
    cases.extend(small.map(|array| transpose('n', array)));
    // Arrays so small that the call takes longer than copying the elements.
    let tiny =
        ["f32[3,5]", "f32[4,4]", "u8[16,16]", "f32[16,16]", "f64[5,9]", "f64[20,12]", "c128[19,4]", "bf16[11,23]"];
    cases.extend(tiny.map(|array| transpose('q', array)));
    let same_bytes = ["f32[8,128]", "f32[16,128]"];
    cases.extend(
        same_bytes.map(|array| Case::new('q', &format!("{array}{{1,0}}"), &format!("{array}{{1,0:T(8,128)}}"))),
    );
    // Medium runs, wide elements, and loops that are short or uneven.
    cases.extend(
        [
            ("f64[2,877,20,8]", "{3,0,1,2}"),
            ("f32[33,1955,2,12]", "{3,1,2,0}"),
            ("c128[30,57,1,21]", "{0,2,1,3}"),
            ("c128[2,15,19,5,11]", "{0,3,1,4,2}"),
            ("f32[1,18,5,18,28]", "{2,4,1,3,0}"),
            ("bf16[37,34,813]", "{0,1,2}"),
            ("f32[9,4615,4]", "{0,2,1}"),
            ("f64[3,165,2,210,13]", "{3,0,4,1,2}"),
            ("bf16[25,143,3,6,175]", "{1,4,0,3,2}"),
        ]
        .map(|(array, order)| reordered('s', array, order)),
    );
    cases.extend(["f32[7,13]", "f32[64,64]", "c128[41,67]", "f64[12,3000]"].map(|array| transpose('s', array)));
    // Tiles without a common multiple, and uneven later tiles.
    cases.push(Case::new('o', "f32[2000,2000]{1,0:T(8,128)(3,1)}", "f32[2000,2000]{1,0}"));
    cases.push(Case::new('o', "f32[2000,2000]{1,0}", "f32[2000,2000]{1,0:T(8,128)(3,1)}"));
    cases.push(Case::new('o', "f32[2000,2000]{1,0:T(3)}", "f32[2000,2000]{1,0:T(8)}"));
    cases
}

/// Large arrays that threads share: 60 cases that cut them in different places.
pub(crate) fn shared() -> Vec<Case> {
    let mut cases = Vec::new();
    // Rows of 128 elements. Some rows are adjacent in the source and far from each other in the destination.
    for (element, bytes) in [("f32", 4), ("bf16", 2), ("u8", 1)] {
        for (mib, heads) in [(4, 8), (16, 8), (64, 8), (64, 2), (64, 32), (256, 8)] {
            let rows = (mib << 20) / (heads * 128 * bytes);
            let [from, to] = [[1, rows, heads, 128], [1, heads, rows, 128]]
                .map(|[a, b, c, d]| format!("{element}[{a},{b},{c},{d}]{{3,2,1,0}}"));
            cases.push(Case::new('t', &from, &to).transposed(&[0, 2, 1, 3]));
            if heads == 8 && mib >= 64 {
                cases.push(Case::new('t', &to, &from).transposed(&[0, 2, 1, 3]));
            }
        }
    }
    for element in ["f32", "bf16", "u8", "f64"] {
        for n in [1000, 1024, 2048, 4000, 4096] {
            let plain = format!("{element}[{n},{n}]{{1,0}}");
            cases.push(Case::new('u', &plain, &plain).transposed(&[1, 0]));
        }
    }
    cases.extend(square(['v'; 4], 4096).into_iter().skip(3));
    let cube = "f32[64,512,512]{2,1,0}";
    cases.push(Case::new('w', cube, cube).transposed(&[0, 2, 1]));
    cases.push(Case::new('w', cube, "f32[512,64,512]{2,1,0}").transposed(&[1, 0, 2]));
    cases.push(Case::new('w', "bf16[8,1,1280,16384]{3,2,1,0}", "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}"));
    cases.push(Case::new('w', "u8[67108864]{0}", "u8[67108864]{0}"));
    cases.push(Case::new('w', "f32[4000000,3]{1,0}", "f32[4000000,3]{0,1}"));
    cases.push(Case::new('w', "f32[4000000,3]{0,1}", "f32[4000000,3]{1,0}"));
    cases
}
