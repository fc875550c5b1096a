//! From flags to which findings are shown.

use facts_engine::ranking::{ActionFilter, Filters};
use facts_report::{Conditions, Record, Report, Showing};
use facts_run::Failure;

use crate::args::ShowingArgs;

/// How many findings of each definition are shown unless said otherwise.
const TOP: usize = 3;

/// Which findings of an audit are shown.
pub(crate) fn showing(args: &ShowingArgs, record: &Record) -> Result<Showing, Failure> {
    let audit = &record.audit;
    if args.passing && !record.is_tested() {
        return Err(Failure::usage(
            "--passing: nothing was tested in this audit, so nothing can pass; audit again with tests, without --no-evidence or --shuffles 0",
        ));
    }
    let against = args
        .against
        .as_deref()
        .map(|name| group(name, record))
        .transpose()?;
    let mut actions = Vec::new();
    if let Some(phi) = &args.min_effectiveness {
        actions.push(ActionFilter::AtLeast(
            phi.parse().map_err(Failure::engine_usage)?,
        ));
    }
    actions.extend(args.max_cost.map(ActionFilter::AtMost));
    if args.least_cost {
        actions.push(ActionFilter::LeastCost);
    }
    let conditions = args
        .wanted
        .as_deref()
        .map(|text| Conditions::parse(text, &audit.features));
    Ok(Showing {
        top: args.top.unwrap_or(TOP),
        filters: Filters {
            drop_fair: !args.fair,
            drop_contained: args.drop_contained,
            against,
            all_actions: args.all_actions,
            actions,
        },
        conditions: conditions
            .transpose()
            .map_err(|why| Failure::usage(format!("--where: {why}")))?,
        passing: args.passing,
    })
}

/// Refuses to look for what passes where none of the definitions was tested.
pub(crate) fn check_tested(report: &Report<'_>, showing: &Showing) -> Result<(), Failure> {
    let is_tested = (report.columns.iter()).any(|column| report.tests(column).is_some());
    if showing.passing && !is_tested {
        return Err(Failure::usage(
            "--passing: none of these definitions was tested in this audit, so nothing can pass; audit again with -d for them",
        ));
    }
    Ok(())
}

/// A group by its name.
fn group(name: &str, record: &Record) -> Result<usize, Failure> {
    let groups = &record.audit.groups;
    let found = groups
        .iter()
        .position(|group| group.name.trim() == name.trim());
    found.ok_or_else(|| {
        let names: Vec<&str> = groups.iter().map(|group| group.name.trim()).collect();
        Failure::usage(format!(
            "--against {name}: there is no such group; compared are: {}",
            names.join(", ")
        ))
    })
}

/// Whether a finding scores over a limit, of those that are asked for: that pass, are against a group,
/// have a predicate that says so.
pub(crate) fn any_over(report: &Report<'_>, limit: f64, showing: &Showing) -> bool {
    let first = Showing {
        top: 1,
        filters: Filters {
            drop_fair: true,
            against: showing.filters.against,
            ..Filters::default()
        },
        conditions: showing.conditions.clone(),
        passing: showing.passing,
    };
    let mut columns = report.columns.iter();
    columns.any(|column| {
        let findings = report.findings(column, &first);
        findings.iter().any(|finding| finding.score > limit)
    })
}
