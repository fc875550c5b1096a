//! What is answered.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::json;

/// What the page may do: run its own script, apply its own style, ask this server; nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A stream of events, which hears whether the client is still there.
pub(crate) type Events = Box<dyn FnOnce(&mut dyn FnMut(&str) -> io::Result<()>) + Send>;

/// The body of an answer.
pub(crate) enum Body {
    /// All of it.
    Whole(Cow<'static, [u8]>),
    /// Server-sent events, until there are no more.
    Events(Events),
}

/// An answer.
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(&'static str, String)>,
    pub(crate) body: Body,
}

impl Response {
    /// An answer with a body of some type.
    pub(crate) fn new(status: u16, kind: &str, body: impl Into<Cow<'static, [u8]>>) -> Self {
        Self {
            status,
            headers: vec![("Content-Type", kind.to_owned())],
            body: Body::Whole(body.into()),
        }
    }

    /// JSON.
    pub(crate) fn json(value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(text) => Self::new(200, "application/json", text),
            Err(error) => Self::error(500, &error.to_string()),
        }
    }

    /// An error in words.
    pub(crate) fn error(status: u16, why: &str) -> Self {
        let text = json!({ "error": why }).to_string();
        Self::new(status, "application/json", text.into_bytes())
    }

    /// Sends the browser elsewhere.
    pub(crate) fn see(path: &str) -> Self {
        Self::new(303, "text/plain; charset=utf-8", &b""[..]).with("Location", path)
    }

    /// A stream of events.
    pub(crate) fn events(events: Events) -> Self {
        Self {
            status: 200,
            headers: vec![("Content-Type", "text/event-stream".to_owned())],
            body: Body::Events(events),
        }
    }

    /// With one more header.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Writes the answer. Whether the connection stays open is for the caller to know.
    pub(crate) fn write(self, stream: &mut impl Write, closes: bool) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        let mut line = |name: &str, value: &str| {
            // Writing to a string cannot fail. A line break would start another header.
            let value = value.replace(['\r', '\n'], " ");
            let _ = write!(head, "{name}: {value}\r\n");
        };
        for (name, value) in &self.headers {
            line(name, value);
        }
        line("Content-Security-Policy", POLICY);
        line("X-Content-Type-Options", "nosniff");
        line("X-Frame-Options", "DENY");
        line("Referrer-Policy", "no-referrer");
        line("Cross-Origin-Resource-Policy", "same-origin");
        line("Cross-Origin-Opener-Policy", "same-origin");
        line("Cache-Control", "no-store");
        let closes = closes || matches!(self.body, Body::Events(_));
        line("Connection", if closes { "close" } else { "keep-alive" });
        match self.body {
            Body::Whole(bytes) => {
                line("Content-Length", &bytes.len().to_string());
                head += "\r\n";
                // In one piece, so that small answers take one packet.
                let mut all = head.into_bytes();
                all.extend_from_slice(&bytes);
                stream.write_all(&all)
            }
            Body::Events(events) => {
                head += "\r\n";
                stream.write_all(head.as_bytes())?;
                events(&mut |event| {
                    stream.write_all(event.as_bytes())?;
                    stream.flush()
                });
                Ok(())
            }
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        303 => "See Other",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Error",
    }
}
