//! What programs and servers send, read without running any: for fuzzing, and no part of what this crate
//! promises.

use std::io::Read;
use std::sync::atomic::AtomicUsize;

use crate::Wire;
use crate::exec::wire::{Output, read_answers};

/// Reads what a program wrote as the answers to batches of so many rows; how many batches it answered.
pub fn exec_answers(wire: Wire, output: impl Read, asked: usize) -> usize {
    let mut answers = 0;
    read_answers(wire, output, &AtomicUsize::new(asked), |output| {
        answers += usize::from(matches!(output, Output::Answer(_)));
        true
    });
    answers
}

/// Reads what a server sent as the answer to so many rows; how many protocols find one in it.
pub fn http_answers(body: &str, asked: usize) -> usize {
    crate::http::readable(body, asked)
}
