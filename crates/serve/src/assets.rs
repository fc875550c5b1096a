//! The page: built from `web/` by Vite, committed, and carried inside the program.

use crate::http::Response;

/// Path, type and bytes of each file.
const FILES: [(&str, &str, &[u8]); 4] = [
    (
        "/",
        "text/html; charset=utf-8",
        include_bytes!("../web/dist/index.html"),
    ),
    (
        "/explorer.js",
        "text/javascript; charset=utf-8",
        include_bytes!("../web/dist/explorer.js"),
    ),
    (
        "/explorer.css",
        "text/css; charset=utf-8",
        include_bytes!("../web/dist/explorer.css"),
    ),
    (
        "/icon.svg",
        "image/svg+xml",
        include_bytes!("../web/dist/icon.svg"),
    ),
];

/// A file by its path; none but these are there to be found.
pub(crate) fn file(path: &str) -> Option<Response> {
    let (_, kind, bytes) = FILES.iter().find(|(known, ..)| *known == path)?;
    Some(Response::new(200, kind, *bytes))
}
