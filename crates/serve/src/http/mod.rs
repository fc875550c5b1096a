//! As much of HTTP/1.1 as a page on the same machine needs: requests with a bounded head and body, and
//! answers of a known length or streams of events. No chunked requests, no upgrades, no ranges.

mod request;
mod response;

pub(crate) use self::request::{Limits, Method, ReadError, Request};
pub(crate) use self::response::{Events, Response};
