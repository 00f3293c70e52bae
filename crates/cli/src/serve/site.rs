//! The files of the page: those that the program carries, or those of a directory.

use super::folder::Folder;
use super::response::Response;
use std::path::Path;

/// The files that `scripts/web.sh embed` made before the program was built; none if it did not run.
const CARRIED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/site.rs"));

/// The file by which the page learns of the directory: the server's is another than the site's.
pub(super) const SERVED: &str = "served.js";

/// Where the files of the page are.
#[derive(Debug)]
pub(crate) enum Site {
    /// In the program.
    Carried,
    /// In a directory, as `scripts/web.sh build` makes it.
    Folder(Folder),
}

impl Site {
    /// The site in a directory, or the one that the program carries.
    ///
    /// # Errors
    /// If there is none. The error is a sentence.
    pub(crate) fn find(path: Option<&Path>) -> Result<Self, String> {
        let Some(path) = path else {
            let carried = || "this program was built without the explorer's files: expected --site with a directory, which `scripts/web.sh build DIRECTORY` makes";
            return if CARRIED.is_empty() { Err(carried().to_owned()) } else { Ok(Self::Carried) };
        };
        let shown = path.display();
        let folder = Folder::open(path).map_err(|error| format!("{shown}: cannot read this directory: {error}"))?;
        match folder.file(&[SERVED.to_owned()]) {
            Ok(_) => Ok(Self::Folder(folder)),
            Err(_) => Err(format!(
                "{shown}: expected the explorer's files, as `scripts/web.sh build` makes them; there is no {SERVED}"
            )),
        }
    }

    /// A file of the page; `None` if there is none of this name.
    pub(super) fn file(&self, names: &[String]) -> Option<Response> {
        let last = names.last()?;
        match self {
            Self::Carried => {
                let path = names.join("/");
                let packed = format!("{path}.gz");
                let (name, bytes) = CARRIED.iter().find(|(name, _)| *name == path || *name == packed)?;
                let response = Response::bytes(kind(last), *bytes);
                // Every browser that runs WebAssembly reads this encoding.
                Some(if *name == packed { response.with("content-encoding", "gzip") } else { response })
            }
            Self::Folder(folder) => Some(Response::file(kind(last), folder.file(names).ok()?)),
        }
    }
}

/// The type of a file of the page, by its name.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, end)| end) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}
