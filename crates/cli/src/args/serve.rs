//! The verb that shows the explorer.

use clap::Args;
use std::path::PathBuf;

/// Show the explorer in a browser, on the files of a directory
///
/// The page is the one that needs no installation: a box for shapes, error texts, HLO and dumps, and here the files below the directory
/// as well. Only this computer can open it, and only at the address that is printed, which has a random token. Files are read, never
/// written. Symbolic links are not followed, and names that begin with a dot are left out. Over ssh, forward the same port:
/// `ssh -L 8000:localhost:8000`, and --port 8000.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape serve dump
  xla-shape serve dump --port 8000 --no-open")]
pub(crate) struct ServeArguments {
    /// The directory
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,

    /// The port to listen at; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,

    /// Only print the address, and start no browser
    #[arg(long)]
    pub(crate) no_open: bool,

    /// The page's files, as `scripts/web.sh build` makes them, if not those that the program carries
    #[arg(long, value_name = "DIR")]
    pub(crate) site: Option<PathBuf>,
}
