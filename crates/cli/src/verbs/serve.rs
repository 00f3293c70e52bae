//! `serve`: the explorer in a browser, on the files of a directory.

use crate::args::ServeArguments;
use crate::failure::Failure;
use crate::io;
use crate::serve::{Folder, Server, Site};
use std::path::Path;
use std::process::{Command, Stdio};
use xla_shape_render::harmless;

pub(crate) fn run(arguments: &ServeArguments) -> Result<(), Failure> {
    let shown = arguments.folder.display();
    let folder = Folder::open(&arguments.folder)
        .map_err(|error| Failure::said(format_args!("{shown}: cannot read this directory: {error}")))?;
    let site = Site::find(arguments.site.as_deref()).map_err(Failure::said)?;
    let server = Server::new(arguments.port, shown.to_string(), folder, site)
        .map_err(|error| Failure::said(format_args!("cannot listen at port {}: {error}", arguments.port)))?;
    let (name, url) = (shown.to_string(), server.url());
    io::write(
        format!("The explorer, on {}:\n  {url}\nIt serves this computer alone. Ctrl-C ends it.\n", harmless(&name))
            .as_bytes(),
    )?;
    if !arguments.no_open
        && let Ok(url) = server.url_once()
    {
        open(&url);
    }
    server.run()
}

/// Starts the user's browser, if there is one: the address has been printed, so nothing is said if there is none.
fn open(url: &str) {
    let has_screen = || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    // By absolute paths: a directory in `PATH` may be anyone's.
    let mut command = match std::env::var_os("SystemRoot") {
        Some(system) if cfg!(windows) => {
            let mut command = Command::new(Path::new(&system).join("System32").join("rundll32.exe"));
            command.arg("url.dll,FileProtocolHandler");
            command
        }
        _ if cfg!(target_os = "macos") => Command::new("/usr/bin/open"),
        _ if has_screen() => Command::new("/usr/bin/xdg-open"),
        _ => return,
    };
    let started = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Ok(mut browser) = started {
        std::thread::spawn(move || browser.wait());
    }
}
