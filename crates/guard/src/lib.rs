//! What comes from outside, bounded and checked before it is trusted.
//!
//! Files, and the answers of models, may be damaged or made to do harm. The decoders that read them
//! believe the lengths that they find, and some assert instead of reporting. Here lengths are compared
//! with what is there before a decoder sees them ([`Messages`], [`check_file`]), bytes are read without
//! more memory than they fill ([`read_exactly`]), files up to a size ([`read_file`]), and an assertion in a decoder is an error that prints
//! nothing ([`quietly`]). Native libraries are loaded from known places alone ([`library`]). And what goes out
//! again, in a message or a record, is without the secrets that came in ([`secret`]).

pub mod library;
pub mod secret;

mod ipc;
mod quiet;
mod read;

pub use self::ipc::{Messages, check_file};
pub use self::quiet::{guarded, quietly};
pub use self::read::{
    LARGEST_LIST, LARGEST_MODEL, LARGEST_TEXT, is_cut, read_exactly, read_file, read_text,
};
