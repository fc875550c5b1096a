//! Who may ask: nobody but the person who started the server.
//!
//! A page elsewhere on the web can make a browser send requests here. It is kept out four times over:
//! the `Host` must be this server's own (a foreign name that was made to point here is refused), an
//! `Origin` or `Sec-Fetch-Site` that is not this server's own is refused, nothing is answered without
//! the cookie, and the cookie is `SameSite=Strict`. The cookie is given for the token in the address
//! that the command prints, once for the token of the browser that the command opens, or for the
//! password. Programs send the token as `Authorization: Bearer`.
//!
//! A browser that follows a link from another site keeps a strict cookie back, though whoever sits before
//! it may be known here. It gets a page that tells nothing, whose script goes to [`AGAIN`]: asked for by a
//! page of this server, that comes with the cookie. The other site sees neither page nor answer, and
//! cannot put them into a frame.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use subtle::ConstantTimeEq;

use crate::assets;
use crate::http::{Method, Request, Response};

/// Where a page of this server sends a browser that may have kept its cookie back.
const AGAIN: &str = "/continue";

/// What does so. What is seen stands in the hash, which no server is told.
const GO_AGAIN: &[u8] = b"location.replace(\"/continue\" + location.hash);\n";

/// What a wrong password costs in time, so that guessing takes longer than it is worth.
const WRONG: Duration = Duration::from_secs(1);

/// So many who gave a password may wait at once: whoever waits keeps a connection.
const WAITING: usize = 8;

/// Whether the browser that the command opened has come in.
#[derive(Clone, Debug, Default)]
pub struct Arrival(Arc<(Mutex<bool>, Condvar)>);

impl Arrival {
    /// Waits until it has.
    pub fn wait(&self) {
        let (arrived, changed) = &*self.0;
        let arrived = arrived.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_while(arrived, |arrived| !*arrived);
        drop(waited);
    }

    fn note(&self) {
        let (arrived, changed) = &*self.0;
        *arrived.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }
}

/// The secrets of one server, and where it listens.
#[derive(Debug)]
pub(crate) struct Gate {
    address: SocketAddr,
    /// In the address that is printed, and in the header that programs send.
    token: String,
    /// In the cookie.
    session: String,
    password: Option<String>,
    /// Lets one browser in, once.
    once: Mutex<Option<String>>,
    arrival: Arrival,
    /// Wrong passwords wait for one another.
    wrong: Mutex<()>,
    /// How many wait for an answer about their password.
    waiting: AtomicUsize,
}

/// What the gate says of a request.
pub(crate) enum Entry {
    /// It may be answered.
    Admitted,
    /// This is the answer.
    Answered(Response),
}

impl Gate {
    pub(crate) fn new(address: SocketAddr, password: Option<String>) -> std::io::Result<Self> {
        Ok(Self {
            address,
            token: secret()?,
            session: secret()?,
            password,
            once: Mutex::default(),
            arrival: Arrival::default(),
            wrong: Mutex::new(()),
            waiting: AtomicUsize::new(0),
        })
    }

    /// The address to open in a browser.
    pub(crate) fn url(&self) -> String {
        self.with_token(&self.token)
    }

    /// An address that lets one browser in, once, and what tells when it has.
    pub(crate) fn url_for_one(&self) -> std::io::Result<(String, Arrival)> {
        let token = secret()?;
        let url = self.with_token(&token);
        *self.once.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
        Ok((url, self.arrival.clone()))
    }

    fn with_token(&self, token: &str) -> String {
        let mut shown = self.address;
        if shown.ip().is_unspecified() {
            shown.set_ip(IpAddr::from([127, 0, 0, 1]));
        }
        format!("http://{shown}/?token={token}")
    }

    /// Whether a token lets a browser in. One that does so once has then done so.
    fn is_right(&self, token: &str) -> bool {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        if once.as_ref().is_some_and(|once| same(token, once)) {
            *once = None;
            self.arrival.note();
            return true;
        }
        same(token, &self.token)
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Decides about a request.
    pub(crate) fn enter(&self, request: &Request) -> Entry {
        use Entry::{Admitted, Answered};
        if !request.header("host").is_some_and(|host| self.is_own(host)) {
            return Answered(Response::error(
                421,
                "this server does not answer to that host",
            ));
        }
        if !self.is_from_here(request) {
            return Answered(Response::error(403, "other sites may not ask this server"));
        }
        let is_known = self.has_cookie(request) || self.has_bearer(request);
        let asked = (request.method, request.path.as_str());
        if asked == (Method::Get, "/")
            && let Some(token) = request.parameter("token")
        {
            return Answered(match self.is_right(token) {
                true => self.welcome(),
                // Whoever is in already needs no token, and none stays in the address.
                false if is_known => Response::see("/"),
                false => self.stranger("This address is not (or no longer) the right one.", false),
            });
        }
        match asked {
            (Method::Get, "/continue.js") => Answered(Response::new(
                200,
                "text/javascript; charset=utf-8",
                GO_AGAIN,
            )),
            (Method::Get, AGAIN) if is_known => Answered(Response::see("/")),
            _ if is_known => Admitted,
            (Method::Get, AGAIN) => Answered(self.stranger("", false)),
            (Method::Get, "/") => Answered(self.stranger("", may_keep_a_cookie_back(request))),
            (Method::Post, "/login") => Answered(self.login(request)),
            // The style of the page for strangers tells nothing.
            (Method::Get, "/explorer.css") => {
                assets::file("/explorer.css").map_or(Admitted, Answered)
            }
            _ => Answered(Response::error(
                401,
                "open the address that `facts serve` printed, or send its token as Authorization: Bearer",
            )),
        }
    }

    /// Whether a host is this server: its own address, or any address by number where it listens on
    /// all of them. A name could have been made to point here.
    fn is_own(&self, host: &str) -> bool {
        let suffix = format!(":{}", self.address.port());
        let name = match host.strip_suffix(suffix.as_str()) {
            Some(name) => name,
            None if self.address.port() == 80 => host,
            None => return false,
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        match name.parse::<IpAddr>() {
            Ok(ip) if self.address.ip().is_unspecified() => !ip.is_unspecified(),
            Ok(ip) => ip == self.address.ip(),
            Err(_) => name.eq_ignore_ascii_case("localhost") && self.hears_localhost(),
        }
    }

    fn hears_localhost(&self) -> bool {
        self.address.ip().is_loopback() || self.address.ip().is_unspecified()
    }

    /// Whether a request comes from this server's own page, from the address bar, or from a program.
    fn is_from_here(&self, request: &Request) -> bool {
        let is_page = request.method == Method::Get && !request.path.starts_with("/api/");
        let site_is_own = match request.header("sec-fetch-site") {
            None | Some("same-origin" | "none") => true,
            // A link that somebody was sent may be followed; scripts and images may not be taken.
            Some(_) => is_page && request.header("sec-fetch-mode") == Some("navigate"),
        };
        let origin_is_own = match request.header("origin") {
            Some(origin) => {
                let host = origin.strip_prefix("http://");
                host.is_some_and(|host| self.is_own(host))
            }
            // Browsers name the origin of whatever changes something.
            None => request.method == Method::Get || self.has_bearer(request),
        };
        site_is_own && origin_is_own
    }

    /// One name a port: cookies do not tell the servers of one machine apart.
    fn cookie(&self) -> String {
        format!("facts-{}", self.address.port())
    }

    fn has_cookie(&self, request: &Request) -> bool {
        let given = request.cookie(&self.cookie());
        given.is_some_and(|given| same(given, &self.session))
    }

    fn has_bearer(&self, request: &Request) -> bool {
        let given = request.header("authorization");
        let given = given.and_then(|given| given.strip_prefix("Bearer "));
        given.is_some_and(|given| same(given, &self.token))
    }

    /// Exchanges the token for the cookie.
    fn welcome(&self) -> Response {
        let cookie = format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict",
            self.cookie(),
            self.session
        );
        Response::see("/").with("Set-Cookie", cookie)
    }

    fn login(&self, request: &Request) -> Response {
        let _place = Waiting::new(&self.waiting);
        if self.waiting.load(Ordering::SeqCst) > WAITING {
            // Not even looked at, or guessing would be quick.
            let mut later =
                self.stranger("Too many passwords at once. Try again in a while.", false);
            later.status = 429;
            return later;
        }
        let fields = request.form().unwrap_or_default();
        let given = fields.iter().find(|(name, _)| name == "password");
        let right = match (&self.password, given) {
            (Some(password), Some((_, given))) => same(given, password),
            _ => false,
        };
        if right {
            return self.welcome();
        }
        // One after another: many connections guess no faster than one.
        let _waiting = self.wrong.lock();
        std::thread::sleep(WRONG);
        self.stranger("That is not the password.", false)
    }

    /// The page for whoever has no cookie, or may have kept it back.
    fn stranger(&self, why: &str, again: bool) -> Response {
        let how = match self.password {
            Some(_) => {
                "<form method=\"post\" action=\"/login\"><label>Password <input type=\"password\" name=\"password\" autocomplete=\"current-password\" required autofocus></label> <button>Log in</button></form>"
            }
            None => "<p>Open the address that <code>facts serve</code> printed.</p>",
        };
        let again = match again {
            true => {
                "<p>If this browser was let in before: <a href=\"/continue\">Continue</a></p><script src=\"/continue.js\"></script>"
            }
            false => "",
        };
        let page = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>facts</title><link rel=\"stylesheet\" href=\"/explorer.css\"><body><main class=\"stranger\"><h1>facts</h1><p>{why}</p>{how}{again}</main></body></html>"
        );
        Response::new(401, "text/html; charset=utf-8", page.into_bytes())
    }
}

/// One who waits for an answer about a password.
struct Waiting<'g>(&'g AtomicUsize);

impl<'g> Waiting<'g> {
    fn new(waiting: &'g AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether a browser may have a cookie that it does not send: it follows a link from another site, or does
/// not say where it comes from, as over plain HTTP to another machine.
fn may_keep_a_cookie_back(request: &Request) -> bool {
    let from = request.header("sec-fetch-site");
    let fills = request.header("sec-fetch-dest");
    matches!(from, None | Some("cross-site")) && fills.is_none_or(|fills| fills == "document")
}

/// Whether two secrets are the same, found out in the same time wherever they differ.
fn same(given: &str, secret: &str) -> bool {
    given.as_bytes().ct_eq(secret.as_bytes()).into()
}

/// 256 random bits in hexadecimal.
fn secret() -> std::io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(address: &str) -> Gate {
        Gate::new(address.parse().unwrap(), None).unwrap()
    }

    #[test]
    fn a_host_is_an_address_by_number() {
        let own = |address: &str, host: &str| gate(address).is_own(host);
        assert!(own("127.0.0.1:7878", "127.0.0.1:7878"));
        assert!(own("127.0.0.1:7878", "localhost:7878"));
        assert!(!own("127.0.0.1:7878", "127.0.0.1:7879"));
        assert!(!own("127.0.0.1:7878", "127.0.0.1"));
        assert!(!own("127.0.0.1:7878", "attacker.example:7878"));
        assert!(!own("127.0.0.1:7878", "192.168.0.7:7878"));
        assert!(own("[::1]:7878", "[::1]:7878"));
        assert!(own("192.168.0.7:80", "192.168.0.7"));
        assert!(!own("192.168.0.7:80", "localhost"));
        assert!(own("0.0.0.0:7878", "192.168.0.7:7878"));
        assert!(!own("0.0.0.0:7878", "attacker.example:7878"));
    }

    #[test]
    fn secrets_differ() {
        let (one, other) = (secret().unwrap(), secret().unwrap());
        assert_eq!(one.len(), 64);
        assert_ne!(one, other);
        assert!(same(&one, &one) && !same(&one, &other) && !same("", &one));
    }
}
