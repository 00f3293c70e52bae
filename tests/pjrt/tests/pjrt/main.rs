//! Plug-ins: where they are found, and what they answer.

mod libtpu;
mod plugin;
mod search;
