//! The computations that instructions call, except those of fusions and reductions.

use crate::asynchronous::Step;
use crate::schema::Key;
use crate::{Computation, Instruction, Module, Opcode};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The computations that an instruction calls, except those of fusions and reductions: their values have no buffers of their own.
pub(crate) fn called<'m>(instruction: Instruction<'m>) -> Vec<Computation<'m>> {
    called_in_order(instruction).into_iter().flatten().collect()
}

/// Like [`called`], but with `None` for a name that the module does not define, so that branches keep their numbers.
pub(crate) fn called_in_order<'m>(instruction: Instruction<'m>) -> Vec<Option<Computation<'m>>> {
    let keys: &[Key] = match instruction.opcode() {
        Opcode::While => &[Key::Condition, Key::Body],
        Opcode::Call => &[Key::ToApply],
        Opcode::Conditional => &[Key::BranchComputations, Key::TrueComputation, Key::FalseComputation],
        Opcode::AsyncStart => &[Key::Calls],
        _ if instruction.short_form() == Some(("call", Step::Start)) => &[Key::ToApply],
        _ => return Vec::new(),
    };
    let values = keys.iter().filter_map(|key| instruction.value_of(*key));
    let names = values.filter_map(|value| value.names().ok()).flatten();
    names.map(|name| instruction.module().computation(name)).collect()
}

/// Computations in the order of their calls.
pub(crate) struct CallOrder<'m> {
    /// The numbers of the computations that the program reaches, each before those that call it. Calls in a circle are left out.
    pub(crate) callees_first: Vec<u32>,
    /// A call that closes a circle, and the computation that it calls.
    pub(crate) circle: Option<(Instruction<'m>, Computation<'m>)>,
}

impl<'m> CallOrder<'m> {
    /// The order of the computations that a program reaches from its entry. `called` returns the computations that an instruction calls.
    pub(crate) fn new(module: &'m Module, called: impl Fn(Instruction<'m>) -> Vec<Computation<'m>>) -> Self {
        enum Step<'m> {
            Enter(Instruction<'m>, Computation<'m>),
            Leave(u32),
        }
        // For each computation that was entered: whether it and everything that it calls is in the list.
        let mut is_done = BTreeMap::new();
        let mut order = Self { callees_first: Vec::new(), circle: None };
        let begin = module.computations().filter(|computation| super::is_entry_point(*computation));
        let mut steps: Vec<_> = begin.map(|computation| Step::Enter(computation.root(), computation)).collect();
        while let Some(step) = steps.pop() {
            match step {
                Step::Leave(number) => {
                    is_done.insert(number, true);
                    order.callees_first.push(number);
                }
                Step::Enter(caller, computation) => match is_done.get(&computation.number()) {
                    Some(true) => {}
                    Some(false) => order.circle = order.circle.or(Some((caller, computation))),
                    None => {
                        is_done.insert(computation.number(), false);
                        steps.push(Step::Leave(computation.number()));
                        for caller in computation.instructions() {
                            steps
                                .extend(called(caller).into_iter().map(|computation| Step::Enter(caller, computation)));
                        }
                    }
                },
            }
        }
        order
    }
}

/// The computations that the instructions of a computation [call](called).
pub(super) fn callees<'m>(computation: Computation<'m>) -> Vec<Computation<'m>> {
    computation.instructions().flat_map(called).collect()
}
