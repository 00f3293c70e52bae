//! `guard expect`: claims about a compiled program, which a test checks.
//!
//! A file of claims is TOML. Each claim is a table. The table's name says what kind of things it is about; its fields select some of these things,
//! and say what must hold.
//!
//! ```
//! use xla_shape_answers::guard::claims::{Claims, Expectation};
//! use xla_shape_hlo::Module;
//!
//! let claims = Claims::parse("
//! [[arrays]]                      # nothing larger than a shard of the weights
//! size = '>bf16[4096,4096]'
//! memory = 'HBM'
//! count = 0
//!
//! [[copies]]
//! line = 'model.py:40'
//! count = 0
//! ")?;
//! let module = Module::parse("
//! HloModule m, is_scheduled=true
//! ENTRY main {
//!   a = f32[8,128]{1,0} parameter(0)
//!   ROOT b = f32[8,128]{0,1} copy(a), metadata={op_name=\"jit(f)/transpose\" source_file=\"model.py\" source_line=40}
//! }")?;
//! let found = Expectation::new(&claims, &module, None);
//! assert!(!found.passed);
//! assert_eq!((found.claims[1].line, found.claims[1].instead[0].name.as_str()), (7, "b"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bound;
mod check;
mod claim;
mod file;
mod found;
mod fused;
mod select;
mod start;

pub use bound::{Bound, Bytes, Count};
pub use check::{CheckedClaim, ClaimState, Expectation, Expectations};
pub use claim::{
    Arguments, Arrays, Claim, Collectives, Copies, CustomCalls, Fused, Instructions, Loops, Number, Operation, Program,
    Results, Table,
};
pub use file::{Claims, ClaimsError};
pub use found::{Differs, Instead};
pub use select::{Line, Path, Scope, Space};
