//! Connections, the token, and which answer a path has.

use super::folder::Folder;
use super::request::Request;
use super::response::Response;
use super::site::{SERVED, Site};
use serde_json::json;
use std::hint::black_box;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many connections are served at once; others wait.
const MOST_CONNECTIONS: usize = 32;

/// How long the address that a browser is started with can be used.
const TIME_TO_OPEN: Duration = Duration::from_secs(60);

/// The first name on the path of files of the directory, behind the token.
const FILES: &str = "served";

/// The first name on the path that a browser is started with.
const OPEN: &str = "open";

/// A server for one directory.
#[derive(Debug)]
pub(crate) struct Server {
    listener: TcpListener,
    address: SocketAddr,
    /// What a path must begin with.
    token: String,
    /// What leads to the token once, and until when: the command line of a browser, which other users can see, has only this.
    once: Mutex<Option<(String, Instant)>>,
    name: String,
    folder: Folder,
    site: Site,
    connections: Mutex<usize>,
    ended: Condvar,
}

impl Server {
    /// Listens at a port of this computer; 0 for any that is free. `name` is what the page calls the directory.
    pub(crate) fn new(port: u16, name: String, folder: Folder, site: Site) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let (token, once) = (random()?, Mutex::new(None));
        let (connections, ended) = Default::default();
        Ok(Self { listener, address, token, once, name, folder, site, connections, ended })
    }

    /// The address of the page.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token)
    }

    /// An address that leads to the page once, soon.
    pub(crate) fn url_once(&self) -> io::Result<String> {
        let code = random()?;
        let url = format!("http://{}/{OPEN}/{code}", self.address);
        *self.once.lock().unwrap_or_else(PoisonError::into_inner) = Some((code, Instant::now() + TIME_TO_OPEN));
        Ok(url)
    }

    /// Serves until the process ends.
    pub(crate) fn run(self) -> ! {
        let server = Arc::new(self);
        loop {
            server.wait();
            let Ok((stream, _)) = server.listener.accept() else {
                // Too many open files, perhaps.
                server.end();
                thread::sleep(Duration::from_millis(100));
                continue;
            };
            let own = Arc::clone(&server);
            let started = thread::Builder::new().spawn(move || {
                let _ended = Ended(&own);
                // The client's trouble is not the server's.
                let _ = own.serve(stream);
            });
            if started.is_err() {
                server.end();
            }
        }
    }

    /// Counts a connection, once there may be another.
    fn wait(&self) {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |connections: &mut usize| *connections >= MOST_CONNECTIONS;
        *self.ended.wait_while(connections, is_full).unwrap_or_else(PoisonError::into_inner) += 1;
    }

    fn end(&self) {
        *self.connections.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.ended.notify_one();
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        match Request::read(&mut stream) {
            Ok(request) => self.answer(&request).send(stream, request.is_head),
            Err(Some(refused)) => refused.send(stream, false),
            Err(None) => Ok(()),
        }
    }

    fn answer(&self, request: &Request) -> Response {
        // A site may give its own name the address of this computer: then the browser takes this server for that site.
        let port = self.address.port();
        if ![format!("{}:{port}", Ipv4Addr::LOCALHOST), format!("localhost:{port}")].contains(&request.host) {
            return Response::refused(421, "this server answers as 127.0.0.1 and localhost, with its own port");
        }
        let missing = || Response::refused(404, "there is no such file");
        match &*request.path {
            [open, code] if open == OPEN && self.is_once(code) => Response::moved(format!("/{}/", self.token)),
            [token, rest @ ..] if is_same(token, &self.token) => match rest {
                [] => Response::moved(format!("/{}/", self.token)),
                [name] if name == SERVED => self.listing(),
                [first, names @ ..] if first == FILES => match self.folder.file(names) {
                    // Whatever it is, it is data: a browser that is sent there may not show or run it.
                    Ok(file) => Response::file("application/octet-stream", file)
                        .with("content-disposition", "attachment")
                        .with("content-security-policy", "default-src 'none'; sandbox"),
                    Err(_) => missing(),
                },
                [name] if name.is_empty() => self.page(&["index.html".to_owned()]).unwrap_or_else(missing),
                names => self.page(names).unwrap_or_else(missing),
            },
            _ => Response::refused(403, "expected the address that `xla-shape serve` printed: a token is a part of it"),
        }
    }

    fn page(&self, names: &[String]) -> Option<Response> {
        // The page has the rest of its policy in itself; this part only counts here.
        Some(self.site.file(names)?.with("content-security-policy", "frame-ancestors 'none'"))
    }

    /// The module that tells the page which files there are.
    fn listing(&self) -> Response {
        match self.folder.list() {
            Ok(listing) => {
                let served = json!({ "name": self.name, "files": listing.files, "is_partial": listing.is_partial });
                let module = format!("export const SERVED = {served};\n");
                Response::bytes("text/javascript; charset=utf-8", module.into_bytes())
            }
            Err(_) => Response::refused(404, "the directory cannot be read"),
        }
    }

    /// Whether this is the code that leads to the token. It is used up then.
    fn is_once(&self, code: &str) -> bool {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        let is_right = once.as_ref().is_some_and(|(right, end)| is_same(code, right) && Instant::now() < *end);
        if is_right {
            *once = None;
        }
        is_right
    }
}

/// Ends a connection even if its thread panics.
struct Ended<'a>(&'a Server);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// 128 random bits, as hexadecimal digits.
fn random() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether two texts are the same, in a time that depends only on their lengths: it does not tell how much of a guess was right.
fn is_same(one: &str, other: &str) -> bool {
    let difference = one.bytes().zip(other.bytes()).fold(0, |sum, (one, other)| black_box(sum | (one ^ other)));
    one.len() == other.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::{is_same, random};

    #[test]
    fn tokens_are_long_and_differ() {
        let (one, other) = (random().unwrap(), random().unwrap());
        assert_eq!((one.len(), one == other), (32, false));
        assert!(is_same(&one, &one) && !is_same(&one, &other));
        for part in 0..one.len() {
            assert!(!is_same(&one[..part], &one));
        }
    }
}
