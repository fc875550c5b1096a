//! The FACTS method as a library: is the way out of a model's refusal as open to one group as to
//! another?
//!
//! In goes a table as Arrow record batches, a model behind a [trait](flips::Model), and
//! [`Options`]; out comes one [`Audit`], which can be asked for any definition of fairness, saved
//! and loaded. The crate knows no files, no terminal and no network.
//!
//! ```
//! use arrow_array::{ArrayRef, RecordBatch, StringArray, cast::AsArray};
//! use facts_engine::population::{Declaration, Feature, Protected};
//! use facts_engine::{Options, Watch, audit, definitions, flips::FnModel};
//!
//! let column = |values: [&str; 6]| std::sync::Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
//! let table = RecordBatch::try_from_iter([
//!     ("job", column(["clerk", "clerk", "clerk", "clerk", "manager", "manager"])),
//!     ("city", column(["A", "B", "A", "B", "A", "B"])),
//!     ("sex", column(["Female", "Female", "Male", "Male", "Female", "Male"])),
//! ])?;
//! let population = Declaration::new()
//!     .feature(Feature::categorical("job").weight(4.0))
//!     .feature(Feature::categorical("city").immutable())
//!     .protected(Protected::attribute("sex"))
//!     .read([table])?;
//! // Managers get a yes, but women only in city A.
//! let model = FnModel::new(|rows: &RecordBatch| {
//!     let [job, city, sex] = [0, 1, 2].map(|column| rows.column(column).as_string::<i32>());
//!     let yes = |i| job.value(i) == "manager" && (city.value(i) == "A" || sex.value(i) == "Male");
//!     (0..rows.num_rows()).map(yes).collect()
//! });
//! let options = Options::new().support("0.1".parse()?);
//! let audit = audit(&population, &model, &options, Watch::nobody())?;
//! let ranking = audit.rank(definitions::parse("equal-effectiveness:micro")?.as_ref());
//! let worst = &audit.subgroups[ranking.ranked[0].subgroup];
//! assert_eq!(audit.text(&worst.predicate), "city = B, job = clerk");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The modules, in the order in which data flows: [`population`] → [`subgroups`] and [`actions`] →
//! [`flips`] → [`distribution`] → [`definitions`] → [`ranking`] → [`evidence`].

pub mod actions;
mod audit;
mod bits;
mod decimal;
pub mod definitions;
pub mod distribution;
mod error;
pub mod evidence;
pub mod flips;
mod infinity;
pub mod population;
pub mod ranking;
mod rows;
pub mod similar;
pub mod subgroups;
mod watch;

pub use self::audit::{
    Audit, FORMAT, Group, Individuals, Options, SetAside, Settings, Sizes, Suppression,
    WithoutActions, audit, audit_again, audit_with_individuals,
};
pub use self::bits::Words;
pub use self::decimal::{Decimal, Phi, Support};
pub use self::error::Error;
pub use self::watch::{Phase, Progress, Watch};
