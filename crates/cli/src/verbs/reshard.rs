//! `reshard`: what moves between devices when the sharding of an array changes.

use crate::args::ReshardArguments;
use crate::failure::Failure;
use crate::given::{array_of, sharding_of};
use xla_shape_answers::reshard::{Change, ReshardError, Resharding};
use xla_shape_program::Host;

pub(crate) fn run(arguments: &ReshardArguments, host: &Host) -> Result<(), Failure> {
    let layout = arguments.layout.as_deref().map(|text| text.parse().map_err(|error| Failure::shape(&error, text)));
    let rearrangement = arguments.rearrange.as_deref().map(str::parse).transpose();
    let change = Change {
        array: array_of(&arguments.shape)?,
        from: sharding_of(&arguments.from)?,
        to: sharding_of(&arguments.to)?,
        rearrangement: rearrangement.map_err(|error| Failure::said(ReshardError::Rearrangement(error)))?,
        layout: layout.transpose()?,
        hosts: arguments.hosts.clone(),
        devices: arguments.devices.clone(),
    };
    let resharding = match &arguments.target {
        Some(devices) => devices.reshard(&change, &arguments.compiler.compiler(), host),
        None => Resharding::new(&change),
    };
    super::show(&resharding.map_err(Failure::said)?, arguments.answer.format)
}
