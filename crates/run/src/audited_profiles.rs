//! The profiles behind an audit, for whoever wants to recount it: who was audited, what the model says of
//! them, and whom each change helps. `verification/recount.py` reads it.

use std::io::Write;
use std::path::Path;

use facts_engine::population::Population;
use facts_engine::{Audit, Individuals};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use crate::failure::Failure;
use crate::listener::Listener;

/// The version of the form.
const VERSION: u32 = 1;

/// What the file holds. Levels and changes are named by their places in the audit.
#[derive(Serialize)]
struct Profiles<'a> {
    kind: &'static str,
    version: u32,
    /// All groups of the population, compared or not.
    groups: &'a [String],
    profiles: Vec<Profile>,
    /// By change: the profiles that it helps, by place, ascending.
    helped: Vec<Vec<usize>>,
}

/// People who are alike in everything that the model and the audit see.
#[derive(Serialize)]
struct Profile {
    group: usize,
    people: u64,
    favourable: bool,
    /// By feature of the audit.
    levels: Vec<u32>,
}

/// Writes the profiles of an audit.
pub(crate) fn write(
    path: &Path,
    population: &Population,
    audit: &Audit,
    individuals: &Individuals,
    listener: &dyn Listener,
) -> Result<(), Failure> {
    if audit.suppression.is_some() {
        return Err(Failure::usage(
            "`report.profiles` tells of single people, and `audit.suppress-below` hides them: give one of the two",
        ));
    }
    let profile = |place: usize| Profile {
        group: population.group(place),
        people: population.people(place),
        favourable: individuals.favours(place),
        levels: (0..audit.features.len())
            .map(|feature| population.level(feature, place))
            .collect(),
    };
    let helped = |change| {
        let mut helped: Vec<usize> = individuals.helped(change).collect();
        helped.sort_unstable();
        helped
    };
    let profiles = Profiles {
        kind: "facts-profiles",
        version: VERSION,
        groups: population.groups(),
        profiles: (0..population.profiles()).map(profile).collect(),
        helped: (0..audit.changes.len()).map(helped).collect(),
    };
    let refuse = |error: std::io::Error| Failure::output(path.display(), error);
    let text = serde_json::to_vec(&profiles).map_err(|error| refuse(error.into()))?;
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(&text).map_err(refuse)?;
    crate::files::write(path, &packer.finish().map_err(refuse)?, listener)
}
