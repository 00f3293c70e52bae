//! `serve`: the explorer in a browser, on the files of a directory.

use crate::args::ServeArguments;
use crate::failure::Failure;
use crate::io;
use crate::serve::{Folder, Server, Site, TIME_TO_OPEN};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;
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
        && let Some(page) = server.url_once().and_then(|url| page(&url)).ok()
    {
        open(page);
    }
    server.run()
}

/// The name of the page that leads to an address.
const PAGE: &str = "open.html";

/// A folder with a page that leads to an address. Other users can see the browser's command line, so it has the path of this page, not the
/// address; and they can read neither the folder nor the page.
fn page(url: &str) -> std::io::Result<TempDir> {
    let mut folder = tempfile::Builder::new();
    #[cfg(unix)]
    folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let folder = folder.prefix("xla-shape-").tempdir()?;
    let text = format!(
        "<!doctype html><meta charset=\"utf-8\"><title>xla-shape</title><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\"><a href=\"{url}\">The explorer</a>\n"
    );
    let mut file = fs::File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    file.write(true).create_new(true).open(folder.path().join(PAGE))?.write_all(text.as_bytes())?;
    Ok(folder)
}

/// Starts the user's browser, if there is one: the address has been printed, so nothing is said if there is none.
fn open(page: TempDir) {
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
    let started =
        command.arg(page.path().join(PAGE)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Ok(mut browser) = started {
        std::thread::spawn(move || {
            let _ = browser.wait();
            // What starts the browser may end before the browser has read the page. The address in it works no longer then.
            std::thread::sleep(TIME_TO_OPEN);
            drop(page);
        });
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::{PAGE, page};
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn only_this_user_can_read_the_page_that_leads_to_the_address() {
        let url = "http://127.0.0.1:1/open/0123456789abcdef";
        let folder = page(url).unwrap();
        let file = folder.path().join(PAGE);
        let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(folder.path()), mode(&file)), (0o700, 0o600));
        assert!(std::fs::read_to_string(&file).unwrap().contains(&format!("content=\"0;url={url}\"")));
        assert!(!file.to_str().unwrap().contains("0123456789abcdef"));
    }
}
