//! What a client asks for: the head of an HTTP request, bounded in size and time.

use super::response::Response;
use std::io::{ErrorKind, Read as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest head, in bytes. Browsers send about 1,000.
const LONGEST: usize = 16 << 10;

/// The most lines in a head.
const MOST_HEADERS: usize = 64;

/// How long a head may take.
const TIME: Duration = Duration::from_secs(10);

/// A request without its headers, of which only one matters here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Request {
    /// Whether only the head of the answer is wanted.
    pub(super) is_head: bool,
    /// The server's name and port, as the client knows them.
    pub(super) host: String,
    /// The names on the path; the last one is empty if the path ends with `/`.
    pub(super) path: Vec<String>,
}

impl Request {
    /// Reads a request. `Err(None)` if the client has gone.
    pub(super) fn read(stream: &mut TcpStream) -> Result<Self, Option<Response>> {
        Self::read_within(stream, TIME)
    }

    fn read_within(stream: &mut TcpStream, time: Duration) -> Result<Self, Option<Response>> {
        let end = Instant::now() + time;
        let too_slow = || Response::refused(408, "the request took longer than 10 seconds");
        let mut head = Vec::new();
        let mut chunk = [0; 2048];
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Some(too_slow()));
            }
            stream.set_read_timeout(Some(left)).map_err(|_| None)?;
            let count = match stream.read(&mut chunk) {
                Ok(0) => return Err(None),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err(Some(too_slow()));
                }
                Err(_) => return Err(None),
            };
            // Where the head's last line may end, if it was not there before.
            let from = head.len().saturating_sub(3);
            head.extend(chunk.iter().take(count));
            if head.len() > LONGEST {
                return Err(Some(Response::refused(431, "the request's head is longer than 16 KiB")));
            }
            let is_end = |window: &[u8]| window.starts_with(b"\n\n") || window.starts_with(b"\n\r\n");
            if let Some(rest) = head.get(from..)
                && (0..rest.len()).any(|at| rest.get(at..).is_some_and(is_end))
            {
                return Self::parse(&head).map_err(Some);
            }
        }
    }

    /// Reads the bytes of a head.
    pub(super) fn parse(head: &[u8]) -> Result<Self, Response> {
        let wrong = |message| Response::refused(400, message);
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(head) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) => return Err(wrong("the request is not whole")),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Response::refused(431, "the request has more than 64 headers"));
            }
            Err(_) => return Err(wrong("expected an HTTP request")),
        }
        let is_head = match request.method {
            Some("GET") => false,
            Some("HEAD") => true,
            _ => return Err(Response::refused(405, "expected GET or HEAD").with("allow", "GET, HEAD")),
        };
        let mut hosts = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("host"));
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(wrong("expected one Host")) };
        let host = std::str::from_utf8(host.value).map_err(|_| wrong("the Host is not UTF-8"))?.to_owned();
        let target = request.path.unwrap_or_default();
        let path = target.split(['?', '#']).next().and_then(|path| path.strip_prefix('/'));
        let path = path.and_then(|path| path.split('/').map(decoded).collect());
        Ok(Self { is_head, host, path: path.ok_or_else(|| wrong("expected a path of the server"))? })
    }
}

/// A name, percent-decoded; `None` if that fails or the result is not UTF-8.
fn decoded(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let value = digit()? * 16 + digit()?;
                u8::try_from(value).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{Request, decoded};
    use proptest::collection::vec;
    use proptest::prelude::{ProptestConfig, Strategy as _, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
    use std::fmt::Write as _;
    use std::io::Write as _;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::time::Duration;

    fn parse(head: &str) -> Result<Request, u16> {
        Request::parse(head.as_bytes()).map_err(|response| response.status())
    }

    #[test]
    fn requests() {
        let path = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let request = parse("GET /a/b%20c/?x=/y HTTP/1.1\r\nHost: localhost:1\r\nAccept: */*\r\n\r\n").unwrap();
        assert_eq!(request, Request { is_head: false, host: "localhost:1".to_owned(), path: path(&["a", "b c", ""]) });
        let request = parse("HEAD / HTTP/1.0\nhost: x\n\n").unwrap();
        assert_eq!(request, Request { is_head: true, host: "x".to_owned(), path: path(&[""]) });
        // Names stay names: what they mean is decided where a file is opened.
        assert_eq!(parse("GET /%2e%2e/..%2Fa HTTP/1.1\r\nHost: x\r\n\r\n").unwrap().path, ["..", "../a"]);
    }

    #[test]
    fn wrong_requests() {
        for (head, status) in [
            ("", 400),
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: \u{e9}\r\n\r\n", 200),
            ("POST / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
            ("get / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
            ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 405),
            ("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 400),
            ("\u{16}\u{3}\u{1} a TLS client", 400),
        ] {
            assert_eq!(parse(head).map_or_else(|status| status, |_| 200), status, "{head:?}");
        }
        let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "a: b\r\n".repeat(64));
        assert_eq!(parse(&many), Err(431));
    }

    #[test]
    fn a_request_that_does_not_end_is_refused() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(b"GET / HT").unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        for time in [Duration::ZERO, Duration::from_millis(1)] {
            let refused = Request::read_within(&mut stream, time).unwrap_err().unwrap();
            assert_eq!(refused.status(), 408, "{time:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever comes is a request or is refused; what is made of parts of requests gets further than bytes alone.
        #[test]
        fn any_bytes(parts in vec(prop_oneof![
            vec(any::<u8>(), 0..20),
            proptest::sample::select(vec![
                "GET ", "HEAD ", "/", "/a%2f%00", "%", "%e2%80", "?", "#", "//", " HTTP/1.1", " HTTP/1.0", "\r\n", "\n", "\r", "Host: a", "Host:", ": ",
                "a: b\r\n", "\0", "\u{e9}",
            ]).prop_map(|part| part.as_bytes().to_vec()),
        ], 0..40)) {
            match Request::parse(&parts.concat()) {
                Ok(request) => prop_assert!(!request.path.is_empty()),
                Err(response) => prop_assert!([400, 405, 431].contains(&response.status())),
            }
        }

        /// Names of any letters arrive as they are, however they are written.
        #[test]
        fn names_arrive(names in vec(any::<String>(), 1..6), is_head in any::<bool>(), is_all in any::<bool>()) {
            let mut head = if is_head { "HEAD" } else { "GET" }.to_owned() + " ";
            for name in &names {
                head.push('/');
                for byte in name.bytes() {
                    match byte {
                        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' if !is_all => head.push(byte.into()),
                        _ => write!(head, "%{byte:02x}").unwrap(),
                    }
                }
            }
            head += " HTTP/1.1\r\nHost: localhost\r\n\r\n";
            let request = Request { is_head, host: "localhost".to_owned(), path: names };
            prop_assert_eq!(Request::parse(head.as_bytes()).map_err(|refused| refused.status()), Ok(request));
        }
    }

    #[test]
    fn names_are_decoded_once() {
        assert_eq!(decoded("%252e").as_deref(), Some("%2e"));
        assert_eq!(decoded("%E2%80%A6%00").as_deref(), Some("…\0"));
        for wrong in ["%", "%2", "%2g", "%c3", "%+1"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }
}
