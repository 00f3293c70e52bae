//! `serve`: who may ask, for what, and how.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The program on a directory of its own, until the test ends.
struct Served {
    child: Child,
    place: TempDir,
    port: u16,
    token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program(arguments: &[&str], folder: &Path) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_xla-shape"));
    program.arg("serve").args(arguments).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    program
}

impl Served {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        for folder in ["site/examples", "dump/deep"] {
            fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        for (path, text) in [
            ("site/index.html", "the page"),
            ("site/served.js", "export const SERVED = null;"),
            ("site/xla_shape_web.wasm", "\0asm"),
            ("site/examples/a.hlo", "HloModule a"),
            ("dump/b.hlo", "HloModule b"),
            ("dump/deep/…ü %.txt", "deep"),
            ("dump/.hidden", "hidden"),
            ("dump/page.html", "<script>alert(1)</script>"),
            ("secret", "secret"),
        ] {
            fs::write(place.path().join(path), text).unwrap();
        }
        let arguments = ["dump", "--site", "site", "--no-open"];
        let mut child = program(&arguments, place.path()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "The explorer, on dump:");
        let url = lines.next().unwrap().unwrap();
        let (address, token) = url.trim().strip_prefix("http://127.0.0.1:").unwrap().split_once('/').unwrap();
        let (port, token) = (address.parse().unwrap(), token.strip_suffix('/').unwrap().to_owned());
        Self { child, place, port, token }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// The whole answer to these bytes, as text.
    fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may answer, and close, before it has all.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    fn ask(&self, method: &str, host: &str, path: &str) -> String {
        self.raw(format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
    }

    fn get(&self, path: &str) -> String {
        self.ask("GET", &format!("127.0.0.1:{}", self.port), path)
    }

    /// The status of an answer to a path behind the token.
    fn status(&self, path: &str) -> u16 {
        status(&self.get(&format!("/{}/{path}", self.token)))
    }
}

fn status(answer: &str) -> u16 {
    answer.strip_prefix("HTTP/1.1 ").unwrap_or_else(|| panic!("{answer:?}"))[..3].parse().unwrap()
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn the_page_and_the_files_of_the_directory() {
    let served = Served::new();
    let path = |path: &str| format!("/{}/{path}", served.token);
    let page = served.get(&path(""));
    assert_eq!((status(&page), body(&page)), (200, "the page"));
    for header in
        ["content-type: text/html", "frame-ancestors 'none'", "no-store", "nosniff", "no-referrer", "same-origin"]
    {
        assert!(page.contains(header), "{header}: {page}");
    }
    assert_eq!(body(&served.get(&path("examples/a.hlo"))), "HloModule a");
    assert!(served.get(&path("xla_shape_web.wasm")).contains("content-type: application/wasm\r\n"));
    assert_eq!(
        body(&served.get(&path("served.js"))),
        "export const SERVED = {\"name\":\"dump\",\"files\":[[\"b.hlo\",11],[\"deep/…ü %.txt\",4],[\"page.html\",25]],\"is_partial\":false};\n"
    );
    assert_eq!(body(&served.get(&path("served/b.hlo?x=1"))), "HloModule b");
    assert_eq!(body(&served.get(&path("served/deep/%E2%80%A6%c3%bc%20%25.txt"))), "deep");
    let html = served.get(&path("served/page.html"));
    assert!(html.contains("octet-stream") && html.contains("attachment") && html.contains("sandbox"), "{html}");
    let head = served.ask("HEAD", &format!("localhost:{}", served.port), &path("served/b.hlo"));
    assert!(status(&head) == 200 && head.contains("content-length: 11\r\n") && body(&head).is_empty(), "{head}");
    // What is there now counts, not what was there at first.
    fs::write(served.place.path().join("dump/new"), "new").unwrap();
    assert!(served.get(&path("served.js")).contains("[\"new\",3]"));
    assert_eq!(body(&served.get(&path("served/new"))), "new");
}

#[test]
fn nothing_without_the_token() {
    let served = Served::new();
    let token = &served.token;
    assert_eq!(token.len(), 32);
    let other = token.chars().rev().collect::<String>();
    let paths =
        ["", "index.html", "served.js", "served/b.hlo", "open/", "open/x", &other, &token[..31], &token.to_uppercase()];
    for path in paths.into_iter().filter(|path| path != token) {
        let answer = served.get(&format!("/{path}"));
        // Two tokens may be the same in upper case.
        if path.eq_ignore_ascii_case(token) && token.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        assert_eq!(status(&answer), 403, "{path}");
        assert!(!answer.contains(token.as_str()) && body(&answer).contains("token"), "{answer}");
    }
    assert_eq!(status(&served.get(&format!("/x/{token}/"))), 403);
    assert_eq!(status(&served.get(&format!("//{token}/"))), 403);
    assert_eq!(status(&served.get(&format!("/{token}"))), 303);
}

#[test]
fn nothing_outside_of_the_directory() {
    let served = Served::new();
    let absolute = served.place.path().join("secret");
    let absolute = absolute.to_str().unwrap();
    for path in [
        "served/../secret",
        "served/%2e%2e/secret",
        "served/%2E%2E%2Fsecret",
        "served/..%2fsecret",
        "served/..%5csecret",
        "served/deep/../../secret",
        "served/deep/..",
        "served/./b.hlo",
        "served//b.hlo",
        "served/b.hlo/",
        "served/b.hlo%00",
        "served/%00",
        "served/deep",
        "served/",
        "served",
        "served/.hidden",
        "../dump/b.hlo",
        "%2e%2e/secret",
        "examples/../../secret",
        "missing.js",
        &format!("served/{absolute}"),
        &format!("served/{}", absolute.replace('/', "%2f")),
        &format!("served/{}b.hlo", "deep/".repeat(1000)),
    ] {
        let answer = served.get(&format!("/{}/{path}", served.token));
        assert_eq!(status(&answer), 404, "{path}: {answer}");
    }
    assert_eq!(served.status("served/%zz"), 400);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let served = Served::new();
    let dump = served.place.path().join("dump");
    symlink("../secret", dump.join("out")).unwrap();
    symlink("..", dump.join("parent")).unwrap();
    symlink("loop", dump.join("loop")).unwrap();
    symlink("b.hlo", dump.join("inside")).unwrap();
    for path in ["out", "parent/secret", "loop", "loop/loop", "inside"] {
        assert_eq!(served.status(&format!("served/{path}")), 404, "{path}");
    }
    let listing = served.get(&format!("/{}/served.js", served.token));
    assert!(!listing.contains("out") && !listing.contains("secret") && !listing.contains("inside"), "{listing}");
    // A directory that becomes a link after it was listed.
    fs::rename(dump.join("deep"), served.place.path().join("moved")).unwrap();
    symlink("../moved", dump.join("deep")).unwrap();
    assert_eq!(served.status("served/deep/%E2%80%A6%c3%bc%20%25.txt"), 404);
}

#[test]
fn other_hosts_methods_and_heads_are_refused() {
    let served = Served::new();
    let (port, path) = (served.port, format!("/{}/", served.token));
    for host in ["evil.example", "127.0.0.1", "localhost", "127.0.0.1:1", "", "localhost.evil.example", "[::1]"] {
        assert_eq!(status(&served.ask("GET", host, &path)), 421, "{host}");
    }
    for host in [format!("evil.example:{port}"), format!("127.0.0.2:{port}"), format!("a@localhost:{port}")] {
        assert_eq!(status(&served.ask("GET", &host, &path)), 421, "{host}");
    }
    let host = format!("localhost:{port}");
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PROPFIND"] {
        let answer = served.ask(method, &host, &path);
        assert!(status(&answer) == 405 && answer.contains("allow: GET, HEAD\r\n"), "{answer}");
    }
    let with =
        |lines: &str| status(&served.raw(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n").as_bytes()));
    assert_eq!(with(""), 200);
    assert_eq!(with(&format!("a: {}\r\n", "b".repeat(17 << 10))), 431);
    assert_eq!(with(&"a: b\r\n".repeat(100)), 431);
    assert_eq!(status(&served.raw(&vec![b'a'; 1 << 20])), 431);
    assert_eq!(with("Host: evil.example\r\n"), 400);
    assert_eq!(
        status(&served.raw(format!("GET http://{host}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())),
        400
    );
    assert_eq!(status(&served.raw(b"\x16\x03\x01\r\n\r\n")), 400);
}

#[test]
fn a_slow_client_holds_nobody_up() {
    let served = Served::new();
    // All but one of the connections that are served at once.
    let idle = (0..30).map(|_| served.connect()).collect::<Vec<_>>();
    let mut slow = served.connect();
    slow.write_all(b"GET / HT").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| assert_eq!(served.status("served/b.hlo"), 200));
        }
    });
    drop(idle);
    // A client that has gone in the middle.
    let mut gone = served.connect();
    gone.write_all(b"GET / HT").unwrap();
    gone.shutdown(Shutdown::Both).unwrap();
    assert_eq!(served.status(""), 200);
}

/// Any user of the computer can open connections. Those without the token give way, so that the owner is served.
#[test]
fn connections_without_the_token_give_way() {
    let served = Served::new();
    // At ten seconds for 32 of them, they would be in the way for longer than the request below waits.
    let idle = (0..250).map(|_| served.connect()).collect::<Vec<_>>();
    let slow = (0..250).map(|_| {
        let mut slow = served.connect();
        let _ = slow.write_all(b"GET / HT");
        slow
    });
    let slow = slow.collect::<Vec<_>>();
    assert_eq!(served.status("served/b.hlo"), 200);
    drop((idle, slow));
    // A request with the token stays, also if its answer is not taken.
    fs::write(served.place.path().join("dump/large"), vec![b'x'; 64 << 20]).unwrap();
    let mut own = served.connect();
    let request = format!("GET /{}/served/large HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", served.token, served.port);
    own.write_all(request.as_bytes()).unwrap();
    own.read_exact(&mut [0; 1000]).unwrap();
    let idle = (0..100).map(|_| served.connect()).collect::<Vec<_>>();
    assert_eq!(served.status("served/b.hlo"), 200);
    let mut rest = Vec::new();
    own.read_to_end(&mut rest).unwrap();
    assert!(rest.len() > (64 << 20) - 1000, "{}", rest.len());
    drop(idle);
}

#[test]
fn files_may_change_and_vanish() {
    let served = Served::new();
    let (path, size) = (served.place.path().join("dump/large"), 64_usize << 20);
    fs::write(&path, vec![b'x'; size]).unwrap();
    let mut stream = served.connect();
    let request = format!("GET /{}/served/large HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", served.token, served.port);
    stream.write_all(request.as_bytes()).unwrap();
    let mut start = [0; 1000];
    stream.read_exact(&mut start).unwrap();
    assert!(String::from_utf8_lossy(&start).contains(&format!("content-length: {size}\r\n")));
    // The answer ends early, which the client can tell from the length.
    fs::write(&path, "shorter").unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(rest.len() < size, "{}", rest.len());
    assert_eq!(served.status("served/large"), 200);
    fs::remove_file(&path).unwrap();
    assert_eq!(served.status("served/large"), 404);
    fs::remove_dir_all(served.place.path().join("dump")).unwrap();
    assert_eq!(served.status("served/b.hlo"), 404);
    assert_eq!(served.status(""), 200);
}

#[test]
fn wrong_arguments() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("empty")).unwrap();
    fs::write(place.path().join("file"), "").unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    fs::create_dir(place.path().join("site")).unwrap();
    fs::write(place.path().join("site/served.js"), "").unwrap();
    for (arguments, expected, code) in [
        (&["missing"][..], "missing: cannot read this directory: ", 1),
        (&["file"], "file: cannot read this directory: ", 1),
        (
            &["empty", "--site", "empty"],
            "empty: expected the explorer's files, as `scripts/web.sh build` makes them",
            1,
        ),
        (&["empty", "--site", "missing"], "missing: cannot read this directory: ", 1),
        (&["empty", "--site", "site", "--port", &port], &format!("cannot listen at port {port}: "), 1),
        (&["empty", "--port", "65536"], "invalid value '65536' for '--port <N>'", 2),
    ] {
        let output = program(arguments, place.path()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with(&format!("error: {expected}")), "{said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{said}");
    }
}
