//! The FACTS method as a library: is the way out of a model's refusal as open to one group as to
//! another?
//!
//! Read the modules in the order in which data flows:
//! [`population`] → [`subgroups`] and [`actions`] → [`flips`] → [`distribution`] →
//! [`definitions`] → [`ranking`] → [`Audit`].

pub mod actions;
mod audit;
mod bits;
mod decimal;
pub mod definitions;
pub mod distribution;
mod error;
pub mod flips;
mod infinity;
pub mod population;
pub mod ranking;
mod rows;
pub mod subgroups;
mod watch;

pub use self::audit::{
    Audit, FORMAT, Group, Options, SetAside, Settings, Sizes, Suppression, WithoutActions, audit,
};
pub use self::bits::Words;
pub use self::decimal::{Decimal, Phi, Support};
pub use self::error::Error;
pub use self::watch::{Phase, Progress, Watch};
