//! A definition of fairness of one's own, from the table to the report.
//!
//! Nothing is registered anywhere: [`Report::by`] takes any [`Definition`], and every form of report
//! explains it in the words of its [`Kind`]. Run it with
//! `cargo run -p facts-report --example own_definition > report.html`.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use facts_engine::definitions::{Assessment, Definition, GroupValue, Kind};
use facts_engine::distribution::{Share, Subgroup, Viewpoint};
use facts_engine::flips::FnModel;
use facts_engine::population::{Declaration, Feature, Protected};
use facts_engine::{Options, Watch, audit};
use facts_report::text::{Palette, report as text};
use facts_report::{ModelOrigin, Origin, Record, Report, Showing, VERSION, html};

/// Compares the share of each group for whom no action works, at any cost.
#[derive(Debug)]
pub(crate) struct LeftBehind;

/// What reports say about it.
pub(crate) const LEFT_BEHIND: Kind = Kind {
    name: "left-behind",
    title: "Equally Left Behind",
    question: "Is as small a share of each group left without any way out?",
    compares: "The share of each group for whom no action works.",
    worse_off: "The group of which more are left behind is worse off.",
    zero: "As many of each group are left behind.",
    infinity: "Does not occur: shares differ by at most 1.",
    choose: "Nobody should be out of reach of recourse.",
    beware: "The question is what recourse costs those who have it.",
};

impl Definition for LeftBehind {
    fn kind(&self) -> &'static Kind {
        &LEFT_BEHIND
    }

    /// Reports plot the distribution that it reads.
    fn viewpoint(&self) -> Option<Viewpoint> {
        Some(Viewpoint::Micro)
    }

    fn assess(&self, subgroup: &Subgroup) -> Option<Assessment> {
        let left = |g: usize| {
            let helped = subgroup.ecd_at_any_cost(Viewpoint::Micro, g)?;
            Some(Share::new(helped.whole - helped.part, helped.whole))
        };
        let shares: Vec<Share> = (0..subgroup.groups()).map(left).collect::<Option<_>>()?;
        let ratios = || shares.iter().map(|share| share.ratio());
        let (least, most) = (ratios().fold(1.0, f64::min), ratios().fold(0.0, f64::max));
        let is_worst = |g: &usize| most > least && shares[*g].ratio() == most;
        Some(Assessment {
            score: most - least,
            against: (0..shares.len()).filter(is_worst).collect(),
            values: shares.into_iter().map(GroupValue::Share).collect(),
            significant: None,
        })
    }
}

/// An audit of sixty people, of whom those become managers who are clerks in the right town.
pub(crate) fn record() -> Result<Record, Box<dyn Error>> {
    let column = |of: &dyn Fn(usize) -> &'static str| {
        Arc::new(StringArray::from_iter_values((0..60).map(of))) as ArrayRef
    };
    let table = RecordBatch::try_from_iter([
        ("job", column(&|i| ["clerk", "driver", "manager"][i % 3])),
        ("town", column(&|i| ["Ayr", "Bath"][i / 3 % 2])),
        ("sex", column(&|i| ["F", "M"][i / 6 % 2])),
    ])?;
    let population = Declaration::new()
        .feature(Feature::categorical("job"))
        .feature(Feature::categorical("town").immutable())
        .protected(Protected::attribute("sex"))
        .read([table])?;
    // Women get a yes in Bath only.
    let model = FnModel::new(|rows: &RecordBatch| {
        let [job, town, sex] = [0, 1, 2].map(|column| rows.column(column).as_string::<i32>());
        let is_open = |i: usize| sex.value(i) == "M" || town.value(i) == "Bath";
        let yes = |i| job.value(i) == "manager" && is_open(i);
        (0..rows.num_rows()).map(yes).collect()
    });
    let options = Options::new().support("0.1".parse()?).min_group_size(2);
    Ok(Record {
        version: VERSION,
        tool: "an example".to_owned(),
        made: "2026-01-31T12:00:00Z".to_owned(),
        data: Origin {
            name: "sixty people".to_owned(),
            sha256: None,
            files: Vec::new(),
        },
        model: ModelOrigin {
            spec: "a function".to_owned(),
            description: "managers".to_owned(),
            sha256: None,
            reads_protected: Some(vec!["sex".to_owned()]),
            training: None,
        },
        protected: vec!["sex".to_owned()],
        base_rates: None,
        definitions: Vec::new(),
        assumptions: Vec::new(),
        notes: Vec::new(),
        audit: audit(&population, &model, &options, Watch::nobody())?,
        evidence: None,
        answer: None,
    })
}

/// The report as text and as an HTML page.
pub(crate) fn reports() -> Result<(String, String), Box<dyn Error>> {
    let record = record()?;
    let report = Report::by(&record, vec![Box::new(LeftBehind)]);
    let as_text = text(&report, &Showing::top(3), &Palette::PLAIN);
    Ok((as_text, html(&report)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (as_text, page) = reports()?;
    std::io::stderr().write_all(as_text.as_bytes())?;
    std::io::stdout().write_all(page.as_bytes())?;
    Ok(())
}
