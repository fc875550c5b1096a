//! The rows that come along.

/// UCI Adult; `data/adult` says where it comes from.
pub const ADULT: &[u8] = include_bytes!("../data/adult/adult.csv.gz");

/// How `facts demo` audits Adult.
pub const ADULT_CONFIG: &str = include_str!("../data/adult/facts.toml");

/// ProPublica's COMPAS table; `data/compas` says where it comes from.
pub const COMPAS: &[u8] = include_bytes!("../data/compas/compas-scores-two-years.csv.gz");
