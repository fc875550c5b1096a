//! How far the stand-ins are off: fits the authors' models to generated rows and compares what the
//! refused look like with the published figures, those that were fitted and those held out.
//!
//! `cargo run --release -p facts-stand-in --example errors -- DATA [RULES]`
//!
//! DATA is a folder with `ssl/` and `ad-campaign/`, the published figures (see README.md); RULES is
//! the authors' file of effectivenesses for Ad Campaign, and may be left out.
#![allow(clippy::print_stdout)]

mod measure;

use std::path::PathBuf;
use std::time::Instant;

use facts_stand_in::{AD_CAMPAIGN_ROWS, SSL_ROWS};
use measure::{AdCampaign, Errors, Outcome, Ssl};

const SEED: u64 = 131_313;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(data) = arguments.next() else {
        return Err("usage: errors DATA [RULES]".into());
    };
    let start = Instant::now();
    let rows = facts_stand_in::ssl(SSL_ROWS, SEED).num_rows();
    let drawn = start.elapsed().as_secs_f64();
    println!("{rows} rows of SSL drawn in {drawn:.2} s");
    let start = Instant::now();
    let rows = facts_stand_in::ad_campaign(AD_CAMPAIGN_ROWS, SEED).num_rows();
    let drawn = start.elapsed().as_secs_f64();
    let profiles = facts_stand_in::ad_campaign_profiles(AD_CAMPAIGN_ROWS, SEED).num_rows();
    println!("{rows} rows of Ad Campaign, {profiles} of them distinct, drawn in {drawn:.2} s\n");

    let start = Instant::now();
    let ssl = Ssl::fit(SEED)?;
    println!(
        "SSL, drawn, cleaned and fitted in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    println!(
        "  after cleaning {:?}, trend cut at {:?}",
        ssl.cleaned, ssl.edges
    );
    print_outcomes(&ssl.outcomes);
    print_errors(&ssl.coverages(&data.join("ssl"))?, "coverage");

    let start = Instant::now();
    let ad = AdCampaign::fit(SEED)?;
    println!(
        "\nAd Campaign, drawn and fitted in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    print_outcomes(&ad.outcomes);
    print_errors(&ad.supports(&data.join("ad-campaign"))?, "support");
    if let Some(rules) = arguments.next() {
        print_errors(&ad.effectivenesses(&rules)?, "effectiveness");
    }
    Ok(())
}

fn print_outcomes(outcomes: &[Outcome]) {
    for Outcome {
        group,
        people,
        affected,
        published,
    } in outcomes
    {
        let off = 100.0 * (affected / published - 1.0);
        println!("  {group}: {affected} affected of {people} (published {published}, {off:+.1} %)");
    }
}

fn print_errors(errors: &[Errors], what: &str) {
    println!("\n| {what} | items | figures | mean error (points) | greatest | mean relative |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for e in errors {
        let part = if e.held_out { "held out" } else { "fitted" };
        let length = e
            .length
            .map_or("all".to_owned(), |length| length.to_string());
        println!(
            "| {part} | {length} | {} | {:.3} | {:.2} | {:.1} % |",
            e.figures,
            e.mean,
            e.greatest,
            100.0 * e.relative
        );
    }
}
