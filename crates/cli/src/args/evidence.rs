//! What is typed about evidence.

use std::str::FromStr;

use clap::Args;
use facts_run::Config;
use facts_run::config::Evidence;

use super::replace;

/// How findings are told from chance.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Evidence (facts explain evidence)")]
pub(crate) struct EvidenceArgs {
    /// How often, at most, chance alone may pass for a finding [default: 0.05]
    #[arg(long, value_name = "SHARE", value_parser = level, allow_negative_numbers = true)]
    alpha: Option<f64>,
    /// A gap between groups that does not matter: fair means that all lie within it [default: 0.1]
    #[arg(long, value_name = "SHARE", value_parser = part, allow_negative_numbers = true)]
    delta: Option<f64>,
    /// How many permutations each subgroup is tested with; 0 tests nothing
    /// [default: 1000]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    shuffles: Option<usize>,
    /// How often members are drawn again for the intervals of the first findings; 0 gives none
    /// [default: 1000]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    resamples: Option<usize>,
    /// The seed of all random draws: the same seed gives the same evidence [default: 1]
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    evidence_seed: Option<u64>,
    /// Audit again under 20 other settings and samples, and tell where the first findings still hold
    #[arg(long)]
    stability: bool,
    /// Find among this share of the people, such as 0.5, and test what was found among the others
    #[arg(long, value_name = "SHARE", value_parser = part, allow_negative_numbers = true)]
    hold_out: Option<f64>,
    /// Gather none: findings are listed as they come, chance or not
    #[arg(long, conflicts_with_all = ["alpha", "delta", "shuffles", "resamples", "evidence_seed", "stability", "hold_out"])]
    no_evidence: bool,
}

impl EvidenceArgs {
    /// Puts what the flags say over the configuration.
    pub(crate) fn apply(self, config: &mut Config) {
        if self.no_evidence {
            config.evidence = Evidence::none();
            return;
        }
        let evidence = &mut config.evidence;
        replace(&mut evidence.alpha, self.alpha);
        replace(&mut evidence.delta, self.delta);
        replace(&mut evidence.shuffles, self.shuffles);
        replace(&mut evidence.resamples, self.resamples);
        replace(&mut evidence.seed, self.evidence_seed);
        if self.stability {
            evidence.stability = Some(true);
        }
        replace(&mut evidence.hold_out, self.hold_out);
    }
}

/// The level α.
fn level(text: &str) -> Result<f64, String> {
    share(text, "0.05")
}

/// The part of the people among whom findings are made.
fn part(text: &str) -> Result<f64, String> {
    share(text, "0.5")
}

/// A share that is neither none nor all.
fn share(text: &str, example: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err(format!(
            "give a number above 0 and below 1, such as {example}"
        )),
    }
}

/// A whole number.
fn whole<N: FromStr>(text: &str) -> Result<N, String> {
    let why = |_| "give a whole number that is not below 0, such as 1000".to_owned();
    text.parse().map_err(why)
}
