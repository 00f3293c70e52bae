//! Connections, the token, and which answer a path has.

use super::folder::Folder;
use super::request::Request;
use super::response::Response;
use super::site::{SERVED, Site};
use serde_json::json;
use std::hint::black_box;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many connections are served at once.
const MOST_CONNECTIONS: usize = 32;

/// How long a connection stays open without a token if others wait. A browser on this computer sends its request sooner.
const TIME_WITHOUT_TOKEN: Duration = Duration::from_millis(20);

/// How long the address that a browser is started with can be used.
pub(crate) const TIME_TO_OPEN: Duration = Duration::from_secs(60);

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
    /// What leads to the token once, and until when: the page that a browser is started with has only this.
    once: Mutex<Option<(String, Instant)>>,
    name: String,
    folder: Folder,
    site: Site,
    connections: Mutex<Connections>,
    ended: Condvar,
}

/// The connections that are served, the oldest first.
#[derive(Debug, Default)]
struct Connections {
    open: Vec<Connection>,
    /// How many there have been.
    count: u64,
}

#[derive(Debug)]
struct Connection {
    number: u64,
    stream: TcpStream,
    since: Instant,
    /// Whether its request had the token. Anyone on this computer can open connections, so others give way to it.
    has_token: bool,
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
            let accepted = server.listener.accept().and_then(|(stream, _)| Ok((stream.try_clone()?, stream)));
            let Ok((other, stream)) = accepted else {
                // Too many open files, perhaps.
                thread::sleep(Duration::from_millis(100));
                continue;
            };
            let number = server.add(other);
            let own = Arc::clone(&server);
            let started = thread::Builder::new().spawn(move || {
                let _ended = Ended(&own, number);
                // The client's trouble is not the server's.
                let _ = own.serve(stream, number);
            });
            if started.is_err() {
                server.end(number);
            }
        }
    }

    /// Adds a connection, once there is room for it. If there is none, the oldest connection without a token ends, unless it has just begun.
    fn add(&self, stream: TcpStream) -> u64 {
        let mut connections = self.lock();
        while connections.open.len() >= MOST_CONNECTIONS {
            let oldest = connections.open.iter().enumerate().find(|(_, connection)| !connection.has_token);
            let left = oldest.map(|(_, oldest)| TIME_WITHOUT_TOKEN.saturating_sub(oldest.since.elapsed()));
            let oldest = oldest.map(|(place, _)| place);
            connections = match (oldest, left) {
                (Some(oldest), Some(Duration::ZERO)) => {
                    // Its thread finds out when it next reads or writes. An error means that the client has gone.
                    let _ = connections.open.remove(oldest).stream.shutdown(Shutdown::Both);
                    continue;
                }
                (_, Some(left)) => self.ended.wait_timeout(connections, left).unwrap_or_else(PoisonError::into_inner).0,
                _ => self.ended.wait(connections).unwrap_or_else(PoisonError::into_inner),
            };
        }
        let number = connections.count;
        connections.count += 1;
        connections.open.push(Connection { number, stream, since: Instant::now(), has_token: false });
        number
    }

    fn end(&self, number: u64) {
        self.lock().open.retain(|connection| connection.number != number);
        self.ended.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut stream: TcpStream, number: u64) -> io::Result<()> {
        match Request::read(&mut stream) {
            Ok(request) => {
                if request.path.first().is_some_and(|token| is_same(token, &self.token)) {
                    let mut connections = self.lock();
                    let own = connections.open.iter_mut().find(|connection| connection.number == number);
                    own.into_iter().for_each(|own| own.has_token = true);
                }
                self.answer(&request).send(stream, request.is_head)
            }
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
struct Ended<'a>(&'a Server, u64);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.end(self.1);
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
