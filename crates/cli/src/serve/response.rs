//! What is sent: a head, and a text or a file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// How long one piece may take to send, and a whole response.
const TIME_OF_PIECE: Duration = Duration::from_secs(30);
const TIME: Duration = Duration::from_secs(600);

/// How long a client is listened to after the response: until it has read all of it.
const TIME_TO_READ: Duration = Duration::from_secs(2);

/// What every response forbids: other sites may not use, show or remember it.
const HEADERS: &str = "connection: close\r\ncache-control: no-store\r\nreferrer-policy: no-referrer\r\nx-content-type-options: nosniff\r\n\
    cross-origin-resource-policy: same-origin\r\ncross-origin-opener-policy: same-origin\r\n";

/// A response.
#[derive(Debug)]
pub(super) struct Response {
    status: u16,
    headers: Vec<(&'static str, Cow<'static, str>)>,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Bytes(Cow<'static, [u8]>),
    /// So many bytes of a file. If it has less when it is read, the response ends early, and the client knows.
    File(File, u64),
}

impl Response {
    pub(super) fn bytes(kind: &'static str, bytes: impl Into<Cow<'static, [u8]>>) -> Self {
        Self { status: 200, headers: vec![("content-type", kind.into())], body: Body::Bytes(bytes.into()) }
    }

    pub(super) fn file(kind: &'static str, (file, size): (File, u64)) -> Self {
        Self { status: 200, headers: vec![("content-type", kind.into())], body: Body::File(file, size) }
    }

    /// A refusal, with a line for people.
    pub(super) fn refused(status: u16, message: &'static str) -> Self {
        Self { status, ..Self::bytes("text/plain; charset=utf-8", format!("{message}\n").into_bytes()) }
    }

    pub(super) fn moved(to: String) -> Self {
        Self { status: 303, ..Self::bytes("text/plain; charset=utf-8", &b""[..]) }.with("location", to)
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    #[cfg(test)]
    pub(super) fn status(&self) -> u16 {
        self.status
    }

    fn head(&self) -> String {
        let reason = match self.status {
            200 => "OK",
            303 => "See Other",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            421 => "Misdirected Request",
            431 => "Request Header Fields Too Large",
            _ => "Internal Server Error",
        };
        let length = match &self.body {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::File(_, size) => *size,
        };
        let own = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect::<String>();
        format!("HTTP/1.1 {} {reason}\r\ncontent-length: {length}\r\n{own}{HEADERS}\r\n", self.status)
    }

    /// Sends it, and ends the connection.
    pub(super) fn send(self, mut stream: TcpStream, is_head: bool) -> io::Result<()> {
        let end = Instant::now() + TIME;
        stream.set_write_timeout(Some(TIME_OF_PIECE))?;
        stream.write_all(self.head().as_bytes())?;
        match self.body {
            _ if is_head => {}
            Body::Bytes(bytes) => stream.write_all(&bytes)?,
            Body::File(file, size) => {
                let (mut rest, mut piece) = (file.take(size), vec![0; 64 << 10]);
                loop {
                    let count = rest.read(&mut piece)?;
                    let Some(read @ [_, ..]) = piece.get(..count) else { break };
                    if Instant::now() > end {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    stream.write_all(read)?;
                }
            }
        }
        // If a connection is closed while the client still sends, the system tells the client, which then loses the response.
        stream.shutdown(Shutdown::Write)?;
        stream.set_read_timeout(Some(TIME_TO_READ))?;
        let (end, mut rest) = (Instant::now() + TIME_TO_READ, [0; 4096]);
        while stream.read(&mut rest)? > 0 && Instant::now() < end {}
        Ok(())
    }
}
