//! The gate: whether an audit meets the rules that a release must meet.
//!
//! [`Settings`] are what `facts.toml` says under `[check]`; [`Rule`]s are the same, checked. [`check`]
//! judges a report by them: each rule holds, fails or is undecided, because there is too little data to
//! tell. What a [`Baseline`] already holds counts again only if it has grown beyond chance, and what is
//! waived does not count until the waiver lapses. [`FORMS`] say it to people and to other programs.
//!
//! Nothing here counts people or decides what passes: that is the engine's. Nothing here knows files, a
//! clock or a terminal: whoever calls brings them.

mod baseline;
mod date;
mod error;
pub mod forms;
mod gate;
mod judging;
mod rules;
mod settings;
mod waivers;

pub use self::baseline::{Baseline, KIND as BASELINE_KIND, News};
pub use self::date::Date;
pub use self::error::CheckError;
pub use self::forms::{FORMS, Form, Place};
pub use self::gate::{Gate, check};
pub use self::judging::{Finding, Judged, STORY, State, Status};
pub use self::rules::{Demand, Rule};
pub use self::settings::{
    EvidenceWanted, OnUndecided, RuleSettings, Settings, Severity, VerdictWanted, WaiverSettings,
};
pub use self::waivers::{Waived, WaiverState};
