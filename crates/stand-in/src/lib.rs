//! Tables that stand in for two data sets of the paper whose rows cannot be shipped: the Strategic
//! Subject List of Chicago ([`ssl`]) and IBM's Bias in Advertising ([`ad_campaign`]).
//!
//! **These are not the data.** What is published about the two (joint counts, margins, moments, the
//! supports of itemsets among the affected) is restated in `parameters/`, with its source; the
//! generators were fitted to four fifths of the supports, and `README.md` reports how far they are
//! off on those and on the fifth that was held out. Every table carries [`NOTICE`] in its schema's
//! metadata under [`NOTICE_KEY`], and every result from it must say so.
//!
//! The tables have the columns, the values and the *raw* form of the real files, so that the same
//! preparation fits both.
//!
//! ```
//! let table = facts_stand_in::ad_campaign(1_000, 131_313);
//! assert_eq!(table.num_rows(), 1_000);
//! assert!(table.schema().metadata().contains_key(facts_stand_in::NOTICE_KEY));
//! ```
//!
//! # Rows, or profiles with weights
//! Ad Campaign has 1,443,140 rows but only a few thousand distinct ones. [`ad_campaign`] gives rows,
//! because a model is fitted on rows; its texts are dictionary-encoded, so that a row costs a few
//! bytes and all of them are drawn in a fraction of a second. [`ad_campaign_profiles`] gives each
//! distinct row once with the number of people it stands for, in the column [`PEOPLE`]: an audit
//! with that column as its weight reads three hundred times fewer rows and finds the same.
//!
//! # A training and a test part
//! A model of Ad Campaign rests on some 1,700 conversions, and most scores lie near its boundary: a
//! random split of one table moves the boundary by chance, as it did in the paper. Two tables drawn
//! apart, one as large as the training part and one as large as the test part
//! ([`AD_CAMPAIGN_TEST_ROWS`]), both have balanced conversions, and the model comes out as the one
//! that the stand-in was fitted to.
//!
//! # The same rows everywhere
//! A number of rows and a seed give the same table on every machine: a generator of our own, whole
//! numbers wherever a row is decided, and elsewhere only additions, multiplications and divisions,
//! which round the same way everywhere.

mod ad_campaign;
mod balance;
mod log_linear;
mod random;
mod ssl;
mod table;

pub use ad_campaign::{ad_campaign, ad_campaign_profiles};
pub use ssl::ssl;

/// How many rows the real Ad Campaign has.
pub const AD_CAMPAIGN_ROWS: usize = 1_443_140;

/// How many of them the paper's test part has: 30 %, rounded up.
pub const AD_CAMPAIGN_TEST_ROWS: usize = 432_943;

/// How many rows the real SSL has.
pub const SSL_ROWS: usize = 398_684;

/// The column of [`ad_campaign_profiles`] that says how many people a row stands for.
pub const PEOPLE: &str = "people";

/// Where a table's metadata says that it is a stand-in.
pub const NOTICE_KEY: &str = "facts.stand-in";

/// What it says there, and what every result from such a table must say.
pub const NOTICE: &str = "Generated rows that stand in for data that could not be had; \
    fitted to published figures, not the data themselves.";
