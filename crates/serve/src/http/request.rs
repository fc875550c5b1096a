//! Reading one request, within limits of size and time.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The most headers of a request.
const MOST_HEADERS: usize = 64;

/// How large a request may be, and how long it may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes of the request line and headers.
    pub(crate) head: usize,
    /// Bytes of the body.
    pub(crate) body: usize,
    /// How long a connection may be idle before a request begins.
    pub(crate) idle: Duration,
    /// How long a request may take from its first byte to its last.
    pub(crate) whole: Duration,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Delete,
}

/// One request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The path, decoded.
    pub(crate) path: String,
    /// The parameters after the question mark, decoded.
    pub(crate) query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether the client wants the connection closed afterwards.
    pub(crate) closes: bool,
}

/// Why no request was read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The client went away, or had nothing to ask.
    Gone,
    /// What came is no request that is answered: the status, and why.
    Refused(u16, &'static str),
}

impl Request {
    /// Reads the next request of a connection. `left` holds what was read beyond the one before.
    pub(crate) fn read(
        stream: &mut TcpStream,
        left: &mut Vec<u8>,
        limits: &Limits,
    ) -> Result<Self, ReadError> {
        let mut reading = Reading {
            stream,
            bytes: std::mem::take(left),
            until: Instant::now() + limits.idle,
        };
        if reading.bytes.is_empty() {
            reading.more()?;
        }
        reading.until = Instant::now() + limits.whole;
        let head = loop {
            let end = end_of_head(&reading.bytes);
            if end.unwrap_or(reading.bytes.len()) > limits.head {
                return Err(ReadError::Refused(
                    431,
                    "the head of the request is too long",
                ));
            }
            match end {
                Some(end) => break end,
                None => reading.more()?,
            }
        };
        let (mut request, length) = parsed(&reading.bytes[..head])?;
        if length > limits.body {
            return Err(ReadError::Refused(
                413,
                "the body of the request is too long",
            ));
        }
        while reading.bytes.len() < head + length {
            reading.more()?;
        }
        request.body = reading.bytes[head..head + length].to_vec();
        *left = reading.bytes.split_off(head + length);
        Ok(request)
    }

    /// A header by its name in lower case; none if it is not there.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }

    /// How often a header is given.
    pub(crate) fn times(&self, name: &str) -> usize {
        self.headers
            .iter()
            .filter(|(known, _)| known == name)
            .count()
    }

    /// A parameter by its name.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let mut found = self.query.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }

    /// A cookie by its name.
    pub(crate) fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.header("cookie")?.split(';');
        let mut pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
        pairs
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }
}

/// A connection that is read from until a moment.
struct Reading<'s> {
    stream: &'s mut TcpStream,
    bytes: Vec<u8>,
    until: Instant,
}

impl Reading<'_> {
    /// Reads some more bytes. A client that sends a byte now and then does not get more time.
    fn more(&mut self) -> Result<(), ReadError> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(self.late());
        }
        let wait = self.stream.set_read_timeout(Some(left));
        wait.map_err(|_| ReadError::Gone)?;
        let mut buffer = [0; 8192];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(ReadError::Gone),
            Ok(read) => {
                self.bytes.extend_from_slice(&buffer[..read]);
                Ok(())
            }
            Err(error) => match error.kind() {
                ErrorKind::Interrupted => Ok(()),
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Err(self.late()),
                _ => Err(ReadError::Gone),
            },
        }
    }

    fn late(&self) -> ReadError {
        match self.bytes.is_empty() {
            true => ReadError::Gone,
            false => ReadError::Refused(408, "the request did not come in time"),
        }
    }
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some(end + 4)
}

/// A request without its body, and how long that is.
fn parsed(head: &[u8]) -> Result<(Request, usize), ReadError> {
    let refuse = |why| ReadError::Refused(400, why);
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => {
            return Err(ReadError::Refused(431, "the request has too many headers"));
        }
        _ => return Err(refuse("this is no HTTP request")),
    }
    let method = match parsed.method {
        Some("GET") => Method::Get,
        Some("POST") => Method::Post,
        Some("DELETE") => Method::Delete,
        _ => return Err(ReadError::Refused(405, "GET, POST and DELETE are answered")),
    };
    let mut named = Vec::with_capacity(parsed.headers.len());
    for header in parsed.headers.iter() {
        let value = std::str::from_utf8(header.value);
        let value = value.map_err(|_| refuse("a header is not UTF-8"))?;
        named.push((header.name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let target = parsed.path.unwrap_or_default();
    if !target.starts_with('/') {
        return Err(refuse("the target is no path"));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method,
        path: decoded(path, false).ok_or_else(|| refuse("the path is not UTF-8"))?,
        query: parameters(query).ok_or_else(|| refuse("a parameter is not UTF-8"))?,
        headers: named,
        body: Vec::new(),
        closes: parsed.version != Some(1),
    };
    request.closes |= (request.header("connection"))
        .is_some_and(|connection| connection.eq_ignore_ascii_case("close"));
    if request.header("transfer-encoding").is_some() {
        return Err(ReadError::Refused(501, "bodies come with their length"));
    }
    if ["content-length", "host", "cookie", "origin"]
        .iter()
        .any(|name| request.times(name) > 1)
    {
        return Err(refuse("a header is given twice"));
    }
    let length = match request.header("content-length") {
        None => Some(0),
        // A number has digits and nothing else: others might read a sign differently.
        Some(text) if !text.bytes().all(|byte| byte.is_ascii_digit()) => None,
        Some(text) => text.parse().ok(),
    };
    let length = length.ok_or_else(|| refuse("Content-Length is no number"))?;
    Ok((request, length))
}

/// The parameters of a query or a form.
fn parameters(text: &str) -> Option<Vec<(String, String)>> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name, true)?, decoded(value, true)?))
        })
        .collect()
}

/// Text with `%41` decoded, and with `+` as a blank in queries; none if it is not UTF-8 then.
pub(crate) fn decoded(text: &str, plus: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        bytes.push(match byte {
            b'+' if plus => b' ',
            b'%' => {
                let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

impl Request {
    /// The fields of a form in the body.
    pub(crate) fn form(&self) -> Option<Vec<(String, String)>> {
        parameters(std::str::from_utf8(&self.body).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(head: &str) -> Result<Request, ReadError> {
        parsed(head.as_bytes()).map(|(request, _)| request)
    }

    #[test]
    fn a_request_is_read() {
        let read = request(
            "GET /api/a%20b?x=1&where=age+%3D%20%2841%5D HTTP/1.1\r\nHost: a\r\nCookie: b=1; c=2\r\n\r\n",
        )
        .unwrap();
        assert_eq!((read.method, read.path.as_str()), (Method::Get, "/api/a b"));
        assert_eq!(read.parameter("where"), Some("age = (41]"));
        assert_eq!((read.cookie("c"), read.cookie("d")), (Some("2"), None));
        assert!(!read.closes);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let status = |head: &str| match request(head) {
            Err(ReadError::Refused(status, _)) => status,
            other => panic!("{other:?}"),
        };
        assert_eq!(status("nonsense\r\n\r\n"), 400);
        assert_eq!(status("PUT / HTTP/1.1\r\n\r\n"), 405);
        assert_eq!(status("GET http://elsewhere/ HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
        assert_eq!(
            status("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"),
            501
        );
        assert_eq!(status("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"), 400);
        assert_eq!(status("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n"), 400);
        assert_eq!(status("GET /%ff HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status("GET /%4 HTTP/1.1\r\n\r\n"), 400);
        let many = "X: 1\r\n".repeat(MOST_HEADERS + 1);
        assert_eq!(status(&format!("GET / HTTP/1.1\r\n{many}\r\n")), 431);
    }
}
