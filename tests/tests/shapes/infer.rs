//! Shape inference agrees with XLA, and obeys laws.

use proptest::prelude::*;
use proptest::sample::{Index, subsequence};
use serde::Deserialize;
use std::collections::BTreeMap;
use xla_shape_core::Dimension::{self, Static};
use xla_shape_core::infer::{
    self, ConvolutionDimensions, ConvolutionGroups, DotDimensions, InferError, Operation, PaddingDimension,
    SliceDimension, WindowDimension,
};
use xla_shape_core::{ArrayShape, ElementType};
use xla_shape_hlo::{DimLabels, Instruction, Module, Opcode, Value};
use xla_shape_tests::corpus;
use xla_shape_tests::strategy::permutation;

#[derive(Deserialize)]
struct Row {
    operands: Vec<String>,
    instruction: String,
    result: Option<String>,
}

/// A module whose last instruction is the row's instruction, with this result.
fn module(row: &Row, result: &str) -> String {
    let mut text =
        String::from("add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n");
    text += "ENTRY e {\n";
    for (number, shape) in row.operands.iter().enumerate() {
        text += &format!("  p{number} = {shape} parameter({number})\n");
    }
    text + &format!("  ROOT r = {result} {}\n}}\n", row.instruction)
}

fn numbers(instruction: Instruction<'_>, name: &str) -> Vec<usize> {
    instruction.attribute(name).map_or(Vec::new(), |value| value.numbers().expect("numbers"))
}

/// The operation of an instruction.
fn with_operation<R>(instruction: Instruction<'_>, f: impl FnOnce(Operation<'_>) -> R) -> R {
    let dimensions = &numbers(instruction, "dimensions")[..];
    match instruction.opcode() {
        Opcode::Add | Opcode::Negate => f(Operation::Elementwise),
        Opcode::Compare => f(Operation::Compare),
        Opcode::Select => f(Operation::Select),
        Opcode::Clamp => f(Operation::Clamp),
        Opcode::Transpose => f(Operation::Transpose { dimensions }),
        Opcode::Reverse => f(Operation::Reverse { dimensions }),
        Opcode::Concatenate => f(Operation::Concatenate { dimension: dimensions[0] }),
        Opcode::Reduce => f(Operation::Reduce { dimensions }),
        Opcode::Pad => {
            f(Operation::Pad(&instruction.attribute("padding").expect("the padding").padding().expect("a padding")))
        }
        Opcode::ReduceWindow => f(Operation::ReduceWindow(
            &instruction.attribute("window").expect("the window").window().expect("a window"),
        )),
        Opcode::Dot => {
            let list = |name| numbers(instruction, name);
            f(Operation::Dot(DotDimensions {
                lhs_batch: &list("lhs_batch_dims"),
                rhs_batch: &list("rhs_batch_dims"),
                lhs_contracting: &list("lhs_contracting_dims"),
                rhs_contracting: &list("rhs_contracting_dims"),
            }))
        }
        Opcode::Convolution => {
            let labels = instruction.attribute("dim_labels").expect("the labels").dim_labels().expect("labels");
            let window = instruction.attribute("window").map_or(Ok(Vec::new()), Value::window).expect("a window");
            let count = |name| instruction.attribute(name).map_or(Ok(1), Value::number).expect("a number");
            let groups = ConvolutionGroups {
                feature: count("feature_group_count") as u64,
                batch: count("batch_group_count") as u64,
            };
            f(Operation::Convolution { dimensions: convolution_dimensions(&labels), window: &window, groups })
        }
        other => panic!("no rows have {other}"),
    }
}

/// The dimensions that the rule for an instruction infers, for a result with this many dimensions.
fn inferred(instruction: Instruction<'_>, num_dimensions: usize) -> Result<Vec<Dimension>, InferError> {
    let shapes: Vec<&ArrayShape> = operands(instruction);
    let operands: Vec<&[Dimension]> = shapes.iter().map(|shape| shape.dimensions()).collect();
    let mut result = vec![Dimension::Unbounded; num_dimensions];
    let out = &mut result[..];
    with_operation(instruction, |operation| match operation {
        Operation::Elementwise | Operation::Compare => infer::elementwise(&operands, out),
        Operation::Select => infer::select(operands[0], operands[1], operands[2], out),
        Operation::Clamp => infer::clamp(operands[0], operands[1], operands[2], out),
        Operation::Transpose { dimensions } => infer::transpose(operands[0], dimensions, out),
        Operation::Reverse { dimensions } => infer::reverse(operands[0], dimensions, out),
        Operation::Concatenate { dimension } => infer::concatenate(&operands, dimension, out),
        Operation::Reduce { dimensions } => infer::reduce(operands[0], dimensions, out),
        Operation::Pad(padding) => infer::pad(operands[0], padding, out),
        Operation::ReduceWindow(window) => infer::reduce_window(operands[0], window, out),
        Operation::Dot(dimensions) => infer::dot(operands[0], operands[1], dimensions, out),
        Operation::Convolution { dimensions, window, groups } => {
            infer::convolution(operands[0], operands[1], dimensions, window, groups, out)
        }
        other => panic!("no rows have {other:?}"),
    })?;
    Ok(result)
}

fn operands<'m>(instruction: Instruction<'m>) -> Vec<&'m ArrayShape> {
    instruction.operands().map(|operand| operand.shape().and_then(|shape| shape.array()).expect("an array")).collect()
}

/// The error if an operation does not have this result.
fn obstacle(instruction: Instruction<'_>, result: &ArrayShape) -> Option<String> {
    let operands = operands(instruction);
    with_operation(instruction, |operation| {
        operation.obstacle(&operands, result).map(|obstacle| obstacle.as_str().to_owned())
    })
}

fn convolution_dimensions(labels: &DimLabels) -> ConvolutionDimensions<'_> {
    ConvolutionDimensions {
        input_batch: labels.input.first,
        input_feature: labels.input.second,
        input_spatial: &labels.input.spatial,
        kernel_input_feature: labels.kernel.first,
        kernel_output_feature: labels.kernel.second,
        kernel_spatial: &labels.kernel.spatial,
        output_batch: labels.output.first,
        output_feature: labels.output.second,
        output_spatial: &labels.output.spatial,
    }
}

/// The rules infer the same results as XLA, also for dynamic dimensions, and refuse what XLA refuses. So do the check of a module and an operation
/// as a value.
#[test]
fn rules_infer_what_xla_infers() {
    let mut counts = BTreeMap::<String, [usize; 2]>::new();
    let mut wrong = Vec::new();
    for row in corpus::<Row>("infer.jsonl") {
        let opcode = row.instruction.split('(').next().unwrap_or_default().to_owned();
        counts.entry(opcode).or_default()[usize::from(row.result.is_none())] += 1;
        let place = format!("{} of {}", row.instruction, row.operands.join(", "));
        let text = module(&row, row.result.as_deref().unwrap_or("f32[]"));
        let module = match Module::parse(&text) {
            Ok(module) => module,
            Err(_) if row.result.is_none() => continue,
            Err(error) => panic!("{place}: {error}"),
        };
        let root = module.entry().expect("the entry computation").root();
        let findings = module.check();
        match &row.result {
            Some(result) => {
                let array: ArrayShape = result.parse().expect("a shape of XLA");
                let found = inferred(root, array.num_dimensions());
                if found.as_deref() != Ok(array.dimensions()) {
                    wrong.push(format!("{place}: expected {result}, found {found:?}"));
                }
                if let Some(obstacle) = obstacle(root, &array) {
                    wrong.push(format!("{place}: {obstacle}"));
                }
                if let Some(other) = other_result(&array)
                    && obstacle(root, &other).is_none()
                {
                    wrong.push(format!("{place}: {other} is taken too"));
                }
                if !findings.is_empty() {
                    wrong.push(format!("{place}: {}", findings[0]));
                }
            }
            // Convolutions with invalid labels give no operation to check.
            None if root.opcode() != Opcode::Convolution
                && obstacle(root, &"f32[]".parse().expect("a shape")).is_none() =>
            {
                wrong.push(format!("{place}: the operation takes it"));
            }
            None if findings.is_empty() => wrong.push(format!("{place}: expected an error")),
            None => {}
        }
    }
    println!("inferred and refused: {counts:?}");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The same shape with another size, if a size is known.
fn other_result(array: &ArrayShape) -> Option<ArrayShape> {
    let mut dimensions = array.dimensions().to_vec();
    let dimension = dimensions.iter_mut().find(|dimension| dimension.extent().is_some())?;
    *dimension = Static(dimension.extent()? + 1);
    ArrayShape::new(array.element_type(), &dimensions, array.layout().clone()).ok()
}

/// These sizes as static dimensions.
fn fixed(sizes: &[u64]) -> Vec<Dimension> {
    sizes.iter().copied().map(Static).collect()
}

/// The sizes that a rule infers, for a result with `num_dimensions` dimensions.
fn sizes_of(
    num_dimensions: usize,
    rule: impl FnOnce(&mut [Dimension]) -> Result<(), InferError>,
) -> Result<Vec<u64>, InferError> {
    let mut result = vec![Dimension::Unbounded; num_dimensions];
    rule(&mut result)?;
    Ok(result.into_iter().map(|size| size.extent().expect("static operands have static results")).collect())
}

fn sizes() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0..9_u64, 0..5)
}

fn window_dimension() -> impl Strategy<Value = WindowDimension> {
    (1..5_u64, 1..4_u64, -3..5_i64, -3..5_i64, 1..4_u64, 1..4_u64, any::<bool>()).prop_map(
        |(size, stride, padding_low, padding_high, base_dilation, window_dilation, reversal)| WindowDimension {
            size,
            stride,
            padding_low,
            padding_high,
            base_dilation,
            window_dilation,
            reversal,
        },
    )
}

/// The places of a window along one dimension, found by moving it; `None` if negative padding removes more than there is.
fn places(size: u64, window: WindowDimension) -> Option<u64> {
    // First spread the elements by the dilation, then pad them. Only the resulting length matters.
    let dilated: u64 = (0..size).map(|i| if i == 0 { 1 } else { window.base_dilation }).sum();
    let padded = i64::try_from(dilated).unwrap() + window.padding_low + window.padding_high;
    let padded = u64::try_from(padded).ok()?;
    let looks_at = |place: u64| (0..window.size).map(move |i| place + i * window.window_dilation);
    let places = (0..padded).step_by(window.stride as usize).filter(|&place| looks_at(place).all(|at| at < padded));
    Some(places.count() as u64)
}

proptest! {
    #[test]
    fn a_transpose_and_its_inverse_give_the_operand(
        (sizes, permutation) in sizes().prop_flat_map(|sizes| { let n = sizes.len(); (Just(sizes), permutation(n)) })
    ) {
        let n = sizes.len();
        let there = sizes_of(n, |result| infer::transpose(&fixed(&sizes), &permutation, result))?;
        let mut inverse = vec![0; n];
        permutation.iter().enumerate().for_each(|(i, &dimension)| inverse[dimension] = i);
        prop_assert!((0..n).all(|i| there[i] == sizes[permutation[i]]));
        prop_assert_eq!(sizes_of(n, |result| infer::transpose(&fixed(&there), &inverse, result))?, sizes.clone());
        // The number of elements is the same, so it is also a valid reshape.
        prop_assert_eq!(infer::reshape(&fixed(&sizes), &fixed(&there)), Ok(()));
    }

    #[test]
    fn reshapes_keep_the_number_of_elements(a in sizes(), b in sizes()) {
        let same = a.iter().product::<u64>() == b.iter().product::<u64>();
        prop_assert_eq!(infer::reshape(&fixed(&a), &fixed(&b)).is_ok(), same);
    }

    #[test]
    fn slices_take_what_counting_gives(
        (size, start, limit, stride) in (0..20_u64, 0..22_u64, 0..22_u64, 0..6_u64)
    ) {
        let slices = [SliceDimension { start, limit, stride }];
        let found = sizes_of(1, |result| infer::slice(&[Static(size)], &slices, result));
        if stride == 0 || start > limit || limit > size {
            prop_assert!(found.is_err());
        } else {
            prop_assert_eq!(found, Ok(vec![(start..limit).step_by(stride as usize).count() as u64]));
        }
    }

    #[test]
    fn padding_adds_what_counting_gives(
        (size, low, high, interior) in (0..20_u64, -6..6_i64, -6..6_i64, 0..4_u64)
    ) {
        let padding = [PaddingDimension { low, high, interior }];
        let found = sizes_of(1, |result| infer::pad(&[Static(size)], &padding, result));
        let apart = (0..size).map(|i| if i == 0 { 1 } else { 1 + interior }).sum::<u64>();
        match u64::try_from(i64::try_from(apart).unwrap() + low + high) {
            Ok(expected) => prop_assert_eq!(found, Ok(vec![expected])),
            Err(_) => prop_assert_eq!(found, Err(InferError::NegativeSize { dimension: 0 })),
        }
    }

    #[test]
    fn slicing_off_a_padding_gives_the_operand(sizes in sizes(), low in 0..5_u64, high in 0..5_u64) {
        let n = sizes.len();
        let amount = |n: u64| i64::try_from(n).unwrap();
        let padding = vec![PaddingDimension { low: amount(low), high: amount(high), interior: 0 }; n];
        let padded = sizes_of(n, |result| infer::pad(&fixed(&sizes), &padding, result))?;
        let slice = |size: &u64| SliceDimension { start: low, limit: low + size, stride: 1 };
        let slices: Vec<_> = sizes.iter().map(slice).collect();
        prop_assert_eq!(sizes_of(n, |result| infer::slice(&fixed(&padded), &slices, result))?, sizes);
    }

    #[test]
    fn parts_that_are_put_together_give_the_whole(sizes in sizes(), dimension: Index, at in 0..9_u64) {
        // Without dimensions, there is none along which to concatenate.
        if sizes.is_empty() {
            return Ok(());
        }
        let dimension = dimension.index(sizes.len());
        let at = at.min(sizes[dimension]);
        let (mut first, mut second) = (sizes.clone(), sizes.clone());
        first[dimension] = at;
        second[dimension] -= at;
        let (first, second) = (fixed(&first), fixed(&second));
        let whole = sizes_of(sizes.len(), |result| infer::concatenate(&[&first, &second], dimension, result));
        prop_assert_eq!(whole, Ok(sizes));
    }

    #[test]
    fn a_reduction_undoes_a_broadcast(
        (sizes, added) in sizes().prop_flat_map(|sizes| {
            let all: Vec<usize> = (0..sizes.len()).collect();
            let n = all.len();
            (Just(sizes), subsequence(all, 0..=n))
        })
    ) {
        // `added` are the dimensions of the result that the operand does not have.
        let kept: Vec<usize> = (0..sizes.len()).filter(|dimension| !added.contains(dimension)).collect();
        let reduced = sizes_of(kept.len(), |result| infer::reduce(&fixed(&sizes), &added, result))?;
        prop_assert_eq!(&reduced, &kept.iter().map(|&dimension| sizes[dimension]).collect::<Vec<_>>());
        prop_assert_eq!(infer::broadcast(&fixed(&reduced), &kept, &fixed(&sizes)), Ok(()));
    }

    #[test]
    fn windows_have_the_places_that_moving_them_finds(size in 0..12_u64, window in window_dimension()) {
        let found = sizes_of(1, |result| infer::reduce_window(&[Static(size)], &[window], result));
        match places(size, window) {
            Some(places) => prop_assert_eq!(found, Ok(vec![places])),
            None => prop_assert_eq!(found, Err(InferError::NegativeSize { dimension: 0 })),
        }
    }

    /// A convolution is a window over each spatial dimension, at whatever places the labels put them.
    #[test]
    fn convolutions_are_windows_over_the_spatial_dimensions(
        spatial in prop::collection::vec((0..8_u64, window_dimension()), 0..4),
        (batch, features, outputs, feature_groups) in (1..5_u64, 1..4_u64, 1..4_u64, 1..3_u64),
        seed in any::<[Index; 15]>(),
    ) {
        let n = spatial.len() + 2;
        let mut seed = seed.into_iter();
        let mut order = || {
            let mut order: Vec<usize> = (0..n).collect();
            (1..n).rev().for_each(|i| order.swap(i, seed.next().unwrap().index(i + 1)));
            order
        };
        let (input, kernel, output) = (order(), order(), order());
        let put = |order: &[usize], sizes: &[u64]| {
            let mut placed = vec![Static(0); n];
            order.iter().zip(sizes).for_each(|(&place, &size)| placed[place] = Static(size));
            placed
        };
        let sizes: Vec<_> = [batch, features * feature_groups].into_iter().chain(spatial.iter().map(|s| s.0)).collect();
        let windows: Vec<_> = spatial.iter().map(|s| s.1).collect();
        let kernel_sizes = windows.iter().map(|window| window.size);
        let weights: Vec<_> = [features, outputs * feature_groups].into_iter().chain(kernel_sizes).collect();
        let dimensions = ConvolutionDimensions {
            input_batch: input[0],
            input_feature: input[1],
            input_spatial: &input[2..],
            kernel_input_feature: kernel[0],
            kernel_output_feature: kernel[1],
            kernel_spatial: &kernel[2..],
            output_batch: output[0],
            output_feature: output[1],
            output_spatial: &output[2..],
        };
        let groups = ConvolutionGroups { feature: feature_groups, batch: 1 };
        let mut result = vec![Dimension::Unbounded; n];
        let (lhs, rhs) = (put(&input, &sizes), put(&kernel, &weights));
        let found = infer::convolution(&lhs, &rhs, dimensions, &windows, groups, &mut result);
        let places: Option<Vec<_>> = spatial.iter().map(|&(size, window)| places(size, window)).collect();
        match places {
            Some(places) => {
                let expected: Vec<_> = [batch, outputs * feature_groups].into_iter().chain(places).collect();
                prop_assert_eq!(found, Ok(()));
                prop_assert_eq!(result, put(&output, &expected));
            }
            None => prop_assert!(matches!(found, Err(InferError::NegativeSize { .. })), "{found:?}"),
        }
    }

    /// `dot` multiplies every pair of elements whose batch and contracting indices are equal. The number of these pairs, counted one by one, is the
    /// size of the result times the contracted sizes.
    #[test]
    fn a_dot_multiplies_as_many_elements_as_its_result_sums(
        (batch, contracting) in (prop::collection::vec(1..3_u64, 0..3), prop::collection::vec(1..4_u64, 0..3)),
        (left, right) in (prop::collection::vec(1..4_u64, 0..3), prop::collection::vec(1..4_u64, 0..3)),
        seed in any::<[Index; 12]>(),
    ) {
        let (b, c) = (batch.len(), contracting.len());
        let mut seed = seed.into_iter();
        // Shuffles the batch, contracting and other dimensions. Returns the sizes, and the new place of each dimension.
        let mut shuffled = |others: &[u64]| {
            let sizes: Vec<u64> = batch.iter().chain(&contracting).chain(others).copied().collect();
            let mut places: Vec<usize> = (0..sizes.len()).collect();
            (1..places.len()).rev().for_each(|i| places.swap(i, seed.next().unwrap().index(i + 1)));
            let mut placed = vec![0; sizes.len()];
            places.iter().zip(&sizes).for_each(|(&place, &size)| placed[place] = size);
            (placed, places)
        };
        let (lhs, lhs_places) = shuffled(&left);
        let (rhs, rhs_places) = shuffled(&right);
        let dimensions = DotDimensions {
            lhs_batch: &lhs_places[..b],
            rhs_batch: &rhs_places[..b],
            lhs_contracting: &lhs_places[b..b + c],
            rhs_contracting: &rhs_places[b..b + c],
        };
        let n = b + left.len() + right.len();
        let result = sizes_of(n, |result| infer::dot(&fixed(&lhs), &fixed(&rhs), dimensions, result))?;
        let indices = |sizes: &[u64]| -> Vec<Vec<u64>> {
            sizes.iter().fold(vec![vec![]], |all, &size| {
                let longer = |index: &Vec<u64>| {
                    (0..size).map(|i| [index.as_slice(), &[i]].concat()).collect::<Vec<_>>()
                };
                all.iter().flat_map(longer).collect()
            })
        };
        let (of_lhs, of_rhs) = (indices(&lhs), indices(&rhs));
        let meet = |l: &[u64], r: &[u64]| (0..b + c).all(|i| l[lhs_places[i]] == r[rhs_places[i]]);
        let pairs: u64 = of_lhs.iter().map(|l| of_rhs.iter().filter(|r| meet(l, r)).count() as u64).sum();
        prop_assert_eq!(pairs, result.iter().product::<u64>() * contracting.iter().product::<u64>());
        // The result has the batch dimensions, then those of the left and of the right operand, in the order of the operand.
        let others = |sizes: &[u64], places: &[usize]| -> Vec<u64> {
            let others = (0..sizes.len()).filter(|dimension| !places[..b + c].contains(dimension));
            others.map(|dimension| sizes[dimension]).collect()
        };
        let expected = [batch.clone(), others(&lhs, &lhs_places), others(&rhs, &rhs_places)].concat();
        prop_assert_eq!(result, expected);
    }

    #[test]
    fn elementwise_wants_the_same_sizes(a in sizes(), b in sizes(), scalar in any::<bool>()) {
        let (a, b) = (fixed(&a), fixed(&b));
        let mut result = a.clone();
        prop_assert_eq!(infer::elementwise(&[&a, &b], &mut result).is_ok(), a == b);
        prop_assert_eq!(infer::elementwise(&[&a, &a, &a], &mut result), Ok(()));
        let predicate: &[Dimension] = if scalar { &[] } else { &b };
        prop_assert_eq!(infer::select(predicate, &a, &a, &mut result).is_ok(), scalar || b.is_empty() || a == b);
        prop_assert_eq!(infer::clamp(predicate, &a, predicate, &mut result).is_ok(), scalar || b.is_empty() || a == b);
        prop_assert_eq!(&result, &a);
    }

    /// Known sizes stay known. A bound gives a dynamic size with the same bound; an unbounded size agrees with any size except 1.
    #[test]
    fn dynamic_sizes_stay_dynamic(sizes in sizes(), dynamic in any::<[bool; 5]>(), window in window_dimension()) {
        let mix = |(&size, dynamic)| if dynamic { Dimension::Bounded(size) } else { Static(size) };
        let mixed: Vec<_> = sizes.iter().zip(dynamic).map(mix).collect();
        let windows = vec![window; sizes.len()];
        let mut result = mixed.clone();
        if infer::reduce_window(&mixed, &windows, &mut result).is_ok() {
            prop_assert!(result.iter().zip(&mixed).all(|(result, from)| result.is_dynamic() == from.is_dynamic()));
            let places = sizes_of(sizes.len(), |result| infer::reduce_window(&fixed(&sizes), &windows, result))?;
            prop_assert!(infer::all_agree(&result, &fixed(&places)));
        }
        let unbounded = vec![Dimension::Unbounded; sizes.len()];
        infer::elementwise(&[&unbounded, &mixed, &unbounded], &mut result)?;
        // A static 1 does not determine an unknown size, because XLA would repeat the element.
        let known = |size: &Dimension| if *size == Static(1) { Dimension::Unbounded } else { *size };
        prop_assert_eq!(&result, &mixed.iter().map(known).collect::<Vec<_>>());
        infer::elementwise(&[&fixed(&sizes), &mixed], &mut result)?;
        prop_assert_eq!(result, mixed);
    }

    /// No input makes a rule panic or overflow.
    #[test]
    fn any_numbers_are_survived(
        dimensions in prop::collection::vec(prop_oneof![
            any::<u64>().prop_map(Static),
            any::<u64>().prop_map(Dimension::Bounded),
            Just(Dimension::Unbounded),
            (0..4_u64).prop_map(Static),
        ], 0..4),
        numbers in prop::collection::vec(prop_oneof![0..5_usize, any::<usize>()], 0..4),
        (low, high) in (any::<i64>(), any::<i64>()),
        length in 0..5_usize,
    ) {
        let result = &mut vec![Dimension::Unbounded; length][..];
        let number = |i: usize| numbers.get(i).copied().unwrap_or(1);
        let d = &dimensions[..];
        let window = WindowDimension {
            size: number(0) as u64,
            stride: number(1) as u64,
            padding_low: low,
            padding_high: high,
            base_dilation: number(2) as u64,
            window_dilation: number(3) as u64,
            reversal: false,
        };
        let windows = vec![window; d.len()];
        let labels = ConvolutionDimensions {
            input_batch: number(0),
            input_feature: number(1),
            input_spatial: &numbers,
            kernel_input_feature: number(1),
            kernel_output_feature: number(0),
            kernel_spatial: &numbers,
            output_batch: number(2),
            output_feature: number(0),
            output_spatial: &numbers,
        };
        let groups = ConvolutionGroups { feature: number(2) as u64, batch: number(3) as u64 };
        let dot = DotDimensions {
            lhs_batch: &numbers,
            rhs_batch: &numbers,
            lhs_contracting: &numbers,
            rhs_contracting: &[],
        };
        let padding = vec![PaddingDimension { low, high, interior: number(0) as u64 }; d.len()];
        let slices = vec![SliceDimension { start: number(0) as u64, limit: number(1) as u64, stride: number(2) as u64 }; d.len()];
        let _ = infer::elementwise(&[d, d], result);
        let _ = infer::select(d, d, &[], result);
        let _ = infer::clamp(&[], d, d, result);
        let _ = infer::broadcast(d, &numbers, result);
        let _ = infer::iota(number(0), d);
        let _ = infer::reshape(d, result);
        let _ = infer::transpose(d, &numbers, result);
        let _ = infer::reverse(d, &numbers, result);
        let _ = infer::slice(d, &slices, result);
        let _ = infer::pad(d, &padding, result);
        let _ = infer::concatenate(&[d, d], number(0), result);
        let _ = infer::dynamic_slice(d, &numbers.iter().map(|&size| size as u64).collect::<Vec<_>>(), result);
        let _ = infer::dynamic_update_slice(d, d, result);
        let _ = infer::reduce(d, &numbers, result);
        let _ = infer::dot(d, d, dot, result);
        let _ = infer::reduce_window(d, &windows, result);
        let _ = infer::convolution(d, d, labels, &windows, groups, result);
    }
}

/// A finding of `any_numbers_are_survived`: the product of two numbers near 2^64 does not fit in an i128.
#[test]
fn a_padding_that_is_far_too_large_is_an_error() {
    let padding = [PaddingDimension { low: 0, high: 0, interior: 13_972_019_769_631_643_138 }];
    let found = sizes_of(1, |result| infer::pad(&[Static(u64::MAX)], &padding, result));
    assert_eq!(found, Err(InferError::Overflow));
}

#[test]
fn a_result_has_at_most_32_dimensions() {
    let array = |count| ArrayShape::with_default_layout(ElementType::F32, &vec![1; count]).unwrap();
    let negate = Operation::Elementwise;
    assert!(negate.obstacle(&[&array(32)], &array(32)).is_none());
    let obstacle = negate.obstacle(&[&array(33)], &array(33)).unwrap();
    assert!(obstacle.as_str().ends_with("expected at most 32 dimensions, found 33"), "{}", obstacle.as_str());
}
