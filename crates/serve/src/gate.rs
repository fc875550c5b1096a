//! Who may ask: nobody but the person who started the server.
//!
//! A page elsewhere on the web can make a browser send requests here. It is kept out four times over:
//! the `Host` must be this server's own (a foreign name that was made to point here is refused), an
//! `Origin` or `Sec-Fetch-Site` that is not this server's own is refused, nothing is answered without
//! the cookie, and the cookie is `SameSite=Strict`. The cookie is given for the token in the address
//! that the command prints, or for the password. Programs send the token as `Authorization: Bearer`.

use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::time::Duration;

use subtle::ConstantTimeEq;

use crate::http::{Method, Request, Response};

/// What a wrong password costs in time, so that guessing takes longer than it is worth.
const WRONG: Duration = Duration::from_secs(1);

/// The secrets of one server, and where it listens.
#[derive(Debug)]
pub(crate) struct Gate {
    address: SocketAddr,
    /// In the address that is printed, and in the header that programs send.
    token: String,
    /// In the cookie.
    session: String,
    password: Option<String>,
    /// Wrong passwords wait for one another.
    wrong: Mutex<()>,
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
            wrong: Mutex::new(()),
        })
    }

    /// The address to open in a browser.
    pub(crate) fn url(&self) -> String {
        let mut shown = self.address;
        if shown.ip().is_unspecified() {
            shown.set_ip(IpAddr::from([127, 0, 0, 1]));
        }
        format!("http://{shown}/?token={}", self.token)
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
        if self.has_cookie(request) || self.has_bearer(request) {
            return Admitted;
        }
        match (request.method, request.path.as_str()) {
            (Method::Get, "/") if request.parameter("token").is_some() => {
                Answered(match request.parameter("token") {
                    Some(token) if same(token, &self.token) => self.welcome(),
                    _ => self.stranger(401, "This address is not (or no longer) the right one."),
                })
            }
            (Method::Post, "/login") => Answered(self.login(request)),
            (Method::Get, "/") => Answered(self.stranger(401, "")),
            // The style of the page that asks for the password tells nothing.
            (Method::Get, "/explorer.css") => Admitted,
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
        self.stranger(401, "That is not the password.")
    }

    /// The page for whoever has no cookie.
    fn stranger(&self, status: u16, why: &str) -> Response {
        let how = match self.password {
            Some(_) => {
                "<form method=\"post\" action=\"/login\"><label>Password <input type=\"password\" name=\"password\" autocomplete=\"current-password\" required autofocus></label> <button>Come in</button></form>"
            }
            None => "<p>Open the address that <code>facts serve</code> printed.</p>",
        };
        let page = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>facts</title><link rel=\"stylesheet\" href=\"/explorer.css\"><body><main class=\"stranger\"><h1>facts</h1><p>{why}</p>{how}</main></body></html>"
        );
        Response::new(status, "text/html; charset=utf-8", page.into_bytes())
    }
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
