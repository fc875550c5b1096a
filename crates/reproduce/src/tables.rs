//! The rows that come along.

/// UCI Adult; `data/adult` says where it comes from.
pub const ADULT: &[u8] = include_bytes!("../../../data/adult/adult.csv.gz");

/// ProPublica's COMPAS table; `data/compas` says where it comes from.
pub const COMPAS: &[u8] = include_bytes!("../../../data/compas/compas-scores-two-years.csv.gz");
