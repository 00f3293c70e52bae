//! The number of operations of a convolution by cuDNN.

use crate::schema::Key;
use crate::{Instruction, Opcode};
use xla_shape_core::infer::WindowDimension;
use xla_shape_core::{ArrayShape, ElementType, Shape};

/// Windows with more elements along a dimension than this are not counted.
const LARGEST_WINDOW: u64 = 1 << 16;

/// The multiplications and additions of a convolution by cuDNN, without those on padding, as `HloCostAnalysis::HandleConvolution` counts them
/// (`xla/service/hlo_cost_analysis.cc`), and the type of its elements. `None` for another instruction, and for an input with holes.
pub(super) fn operations(call: Instruction<'_>) -> Option<(u64, ElementType)> {
    let kind = target(call)?.strip_prefix("__cudnn$conv")?;
    let result = call.shape().tuple_shapes()?.first()?.array()?;
    let operand = |number| call.operand(number).and_then(|operand| operand.shape()).and_then(Shape::array);
    // The labels and the window always describe the forward convolution.
    let (input, filter, output) = match kind {
        "BackwardInput" => (result, operand(1)?, operand(0)?),
        "BackwardFilter" => (operand(0)?, result, operand(1)?),
        _ => (operand(0)?, operand(1)?, result),
    };
    let labels = call.value_of(Key::DimLabels)?.dim_labels().ok()?;
    let window = call.value_of(Key::Window)?.window().ok()?;
    // There is a multiplication for each pair of channels, each image, and each pair of an output and a window element
    // within the input.
    let mut count = size(filter, labels.kernel.first)?
        .checked_mul(size(filter, labels.kernel.second)?)?
        .checked_mul(size(output, labels.output.first)?)?;
    let spatial = labels.input.spatial.iter().zip(&labels.output.spatial).zip(&window);
    for ((&from, &to), window) in spatial {
        count = count.checked_mul(pairs(size(input, from)?, size(output, to)?, window)?)?;
    }
    Some((count.checked_mul(2)?, operand(0)?.element_type()))
}

/// The target of a custom call.
pub(super) fn target(call: Instruction<'_>) -> Option<&str> {
    let target = call.value_of(Key::CustomCallTarget).filter(|_| call.opcode() == Opcode::CustomCall)?;
    Some(target.text().trim_matches('"'))
}

fn size(array: &ArrayShape, dimension: usize) -> Option<u64> {
    array.dimensions().get(dimension)?.extent()
}

/// The number of pairs of an output element and a window element, along one dimension, that read an element of the input and
/// not padding.
fn pairs(input: u64, output: u64, window: &WindowDimension) -> Option<u64> {
    if window.base_dilation != 1 || window.size > LARGEST_WINDOW {
        return None;
    }
    let [input, output, stride] = [input, output, window.stride.max(1)].map(|size| i64::try_from(size).ok());
    let (input, output, stride) = (input?, output?, stride?);
    let mut all = 0_i64;
    for element in 0..window.size {
        // The window at `output` reads `output * stride + offset`.
        let offset =
            i64::try_from(element.checked_mul(window.window_dilation)?).ok()?.checked_sub(window.padding_low)?;
        let before = |limit: i64| {
            let reached = limit.checked_sub(offset)?.checked_add(stride.checked_sub(1)?)?.checked_div_euclid(stride)?;
            Some(reached.clamp(0, output))
        };
        all = all.checked_add(before(input)?.checked_sub(before(0)?)?)?;
    }
    u64::try_from(all).ok()
}

#[cfg(test)]
mod tests {
    use super::{operations, pairs};
    use crate::Module;
    use xla_shape_core::ElementType;
    use xla_shape_core::infer::WindowDimension;

    #[test]
    fn pairs_are_those_that_are_counted_one_by_one() {
        for (input, output, size, stride, padding_low, window_dilation) in
            [(56, 56, 3, 1, 1, 1), (56, 28, 3, 2, 0, 1), (7, 9, 5, 1, 4, 2), (5, 3, 2, 3, -1, 1), (4, 0, 3, 1, 0, 1)]
        {
            let window = WindowDimension { size, stride, padding_low, window_dilation, ..WindowDimension::ONE };
            let mut count = 0;
            for at in 0..output {
                for element in 0..size {
                    let read = at as i64 * stride as i64 + (element * window_dilation) as i64 - padding_low;
                    count += u64::from((0..input as i64).contains(&read));
                }
            }
            assert_eq!(pairs(input, output, &window), Some(count));
        }
        assert_eq!(pairs(4, 4, &WindowDimension { base_dilation: 2, ..WindowDimension::ONE }), None);
    }

    #[test]
    fn forward_and_backward_convolutions_are_as_many_operations() {
        let text = r#"
x = bf16[8,56,56,64]{3,2,1,0} parameter(0)
w = bf16[128,3,3,64]{3,2,1,0} parameter(1)
y = bf16[8,56,56,128]{3,2,1,0} parameter(2)
f = (bf16[8,56,56,128]{3,2,1,0}, u8[0]{0}) custom-call(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_o01i->b01f, custom_call_target="__cudnn$convForward"
i = (bf16[8,56,56,64]{3,2,1,0}, u8[0]{0}) custom-call(y, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_o01i->b01f, custom_call_target="__cudnn$convBackwardInput"
k = (bf16[128,3,3,64]{3,2,1,0}, u8[0]{0}) custom-call(x, y), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_o01i->b01f, custom_call_target="__cudnn$convBackwardFilter"
g = (bf16[8,8]{1,0}, u8[0]{0}) custom-call(x), custom_call_target="__cublas$gemm""#;
        let module = Module::parse(text).unwrap();
        let of = |name| operations(module.instruction(name).unwrap());
        // 56 * 3 - 2 pairs along each spatial dimension.
        let all = Some((2 * 8 * 64 * 128 * 166 * 166, ElementType::Bf16));
        assert_eq!([of("f"), of("i"), of("k"), of("g")], [all, all, all, None]);
    }
}
