//! A server for the explorer on one directory: this computer alone, read only, for those who have the token.
//!
//! | file | what is in it |
//! |---|---|
//! | `request.rs` | what a client asks for: bounded in size and time |
//! | `folder.rs` | the files below a directory, and nothing else |
//! | `site.rs` | the files of the page |
//! | `response.rs` | what is sent |
//! | `server.rs` | connections, the token, and which answer a path has |

mod folder;
mod request;
mod response;
mod server;
mod site;

pub(crate) use folder::Folder;
pub(crate) use server::{Server, TIME_TO_OPEN};
pub(crate) use site::Site;
