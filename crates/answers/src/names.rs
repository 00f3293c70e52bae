//! How values from other crates are written as JSON: by their names, or as their text.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};
use std::fmt::Display;
use xla_shape_hlo::{Role, Severity, ShardedArrayKind};

/// Writes a value as its text.
pub(crate) fn text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

pub(crate) fn role<S: Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(role.name())
}

pub(crate) fn read_role<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Role, D::Error> {
    const ALL: [Role; 5] = [Role::Argument, Role::Donated, Role::Output, Role::Constant, Role::Temporary];
    let name = String::deserialize(deserializer)?;
    ALL.into_iter()
        .find(|role| role.name() == name)
        .ok_or_else(|| D::Error::custom(format_args!("no role is called {name}")))
}

pub(crate) fn role_or_null<S: Serializer>(role: &Option<Role>, serializer: S) -> Result<S::Ok, S::Error> {
    match role {
        Some(role) => serializer.serialize_str(role.name()),
        None => serializer.serialize_none(),
    }
}

pub(crate) fn severity<S: Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(severity.name())
}

pub(crate) fn place<S: Serializer>(place: &ShardedArrayKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(place.name())
}
