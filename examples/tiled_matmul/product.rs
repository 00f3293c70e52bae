//! Finds a matrix product in an HLO module.

use xla_shape::hlo::{Instruction, Module, Opcode};
use xla_shape::{ArrayShape, ElementType, Shape};

/// A product of two bf16 matrices. On TPU, XLA compiles it to a convolution without a window.
pub(crate) struct Product {
    /// The name of the instruction.
    pub(crate) name: String,
    pub(crate) lhs: ArrayShape,
    pub(crate) rhs: ArrayShape,
    pub(crate) out: ArrayShape,
}

/// The first product `[M,K] × [K,N] → [M,N]` of bf16 in the module.
pub(crate) fn find(module: &Module) -> Option<Product> {
    module.instructions().find_map(product)
}

fn product(instruction: Instruction<'_>) -> Option<Product> {
    let attribute = |name| instruction.attribute(name).map(|value| value.text());
    let is_product = match instruction.opcode() {
        // Labels: batch and feature of the left operand, input and output feature of the right operand.
        Opcode::Convolution => attribute("dim_labels") == Some("bf_io->bf") && attribute("window").is_none(),
        Opcode::Dot => {
            attribute("lhs_contracting_dims") == Some("{1}") && attribute("rhs_contracting_dims") == Some("{0}")
        }
        _ => false,
    };
    if !is_product {
        return None;
    }
    let lhs = matrix(instruction.operand(0)?.shape()?)?;
    let rhs = matrix(instruction.operand(1)?.shape()?)?;
    let out = matrix(instruction.shape())?;
    // A module may be inconsistent, so check the sizes of `[M,K] × [K,N] → [M,N]`.
    let agree = lhs.dimensions()[1] == rhs.dimensions()[0]
        && [lhs.dimensions()[0], rhs.dimensions()[1]] == [out.dimensions()[0], out.dimensions()[1]];
    agree.then(|| Product { name: instruction.name().to_owned(), lhs, rhs, out })
}

fn matrix(shape: &Shape) -> Option<ArrayShape> {
    let array = shape.array()?;
    (array.element_type() == ElementType::Bf16 && array.num_dimensions() == 2 && array.is_static())
        .then(|| array.clone())
}
