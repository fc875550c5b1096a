//! The gate on pairs of audits in which nothing changed, and on planted regressions; how long it takes on a
//! saved audit of Adult. Writes `verification/records/gate.md`.
//!
//! `cargo run -p facts-verification --example gate [PAIRS]`
#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use facts_report::Report;
use facts_reproduce::tables::ADULT;
use facts_run::gate::{Baseline, Place, form, judge};
use facts_run::{Config, Silent, Table, run, saved};
use facts_verification::gate::{EQUAL, WORSE};
use facts_verification::machine;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let pairs: u64 = std::env::args().nth(1).map_or(Ok(1000), |n| n.parse())?;
    let mut page = format!(
        "# Does the gate hold?\n\nMade by `cargo run -p facts-verification --example gate` on {}.\n\n\
         ## Nothing changed\n\nPairs of audits of made-up people: the first is accepted, the second judged beside it, by the rule \
         that is judged when none is written, at α = 0.05. The gap is that of people without a job. *The same people*: \
         the model was trained again, and answers otherwise for some.\n\n\
         | people | gap | second audit | pairs | false alarms | share |\n| ---: | ---: | --- | ---: | ---: | ---: |\n",
        machine()
    );
    for case in EQUAL {
        let judged = case.judged(pairs)?;
        let alarms = judged.iter().filter(|judged| judged.failed).count();
        let people = if case.same_people {
            "the same people"
        } else {
            "other people"
        };
        let _ = writeln!(
            page,
            "| {} | {} | {people} | {pairs} | {alarms} | {:.3} |",
            case.people,
            case.now,
            alarms as f64 / pairs as f64
        );
        println!("{}: {alarms} of {pairs}", case.heading());
    }
    let fewer = pairs.div_ceil(2);
    let _ = writeln!(
        page,
        "\n## The gap grew\n\nOf {fewer} pairs of other people, the share in which the gate fails and names the people without a \
         job or some of them as new or grown.\n\n| people | gap before | gap now | named |\n| ---: | ---: | ---: | ---: |"
    );
    for case in WORSE {
        let judged = case.judged(fewer)?;
        let share = |number: usize| 100.0 * number as f64 / fewer as f64;
        let named = share(judged.iter().filter(|judged| judged.named).count());
        let _ = writeln!(
            page,
            "| {} | {} | {} | {named:.0} % |",
            case.people, case.before, case.now
        );
        println!("{}: {named:.0} %", case.heading());
    }
    time(&mut page)?;
    print!("{page}");
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("records/gate.md");
    std::fs::write(record, page)?;
    Ok(())
}

/// How long the gate takes on the saved audit of the demo: Adult at 1 %.
fn time(page: &mut String) -> Result<(), Failure> {
    let text = include_str!("../../data/adult/facts.toml");
    let config = Config::parse("the demo's configuration", text, &[])?;
    let table = Table::embedded("adult.csv.gz", ADULT, &config.data)?;
    let record = run(&config, &table, &Silent)?;
    let packed = saved::packed(&record)?;
    let today = "2026-01-31";
    let place = Place {
        config: "facts.toml".to_owned(),
        audit: "result".to_owned(),
    };
    let mut seconds = Vec::new();
    for _ in 0..11 {
        let start = Instant::now();
        // As `facts check result` does: read both audits, judge, write.
        let now = saved::unpacked("now", packed.clone())?;
        let before = saved::unpacked("before", packed.clone())?;
        let report = Report::new(&now)?;
        let accepted = judge(&report, &config, None, today)?;
        let baseline = Baseline::new(&before, saved::sha256(&packed), &accepted.rules);
        let gate = judge(&report, &config, Some(&(baseline, before)), today)?;
        for name in ["text", "sarif", "junit"] {
            form(&gate, &place, name)?;
        }
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    let _ = writeln!(
        page,
        "\n## How long it takes\n\nThe saved audit of the demo (Adult, support {} %, {} subgroups) and its baseline read, judged without \
         and with it, written in three forms: {:.2} s (median of {}, {:.2} to {:.2}).",
        100.0 * record.audit.settings.support.to_string().parse::<f64>()?,
        record.audit.subgroups.len(),
        seconds[seconds.len() / 2],
        seconds.len(),
        seconds[0],
        seconds[seconds.len() - 1]
    );
    Ok(())
}
