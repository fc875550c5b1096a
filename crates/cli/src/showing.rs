//! From flags to which findings are shown.

use facts_engine::ranking::{ActionFilter, Filters};
use facts_report::{Record, Report, Showing, Wanted};
use facts_run::Failure;

use crate::args::ShowingArgs;

/// How many findings of each definition are shown unless said otherwise.
const TOP: usize = 3;

/// Which findings of an audit are shown.
pub(crate) fn showing(args: &ShowingArgs, record: &Record) -> Result<Showing, Failure> {
    let audit = &record.audit;
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
    let wanted = args
        .wanted
        .as_deref()
        .map(|text| Wanted::parse(text, &audit.features));
    Ok(Showing {
        top: args.top.unwrap_or(TOP),
        filters: Filters {
            drop_fair: !args.fair,
            drop_contained: args.drop_contained,
            against,
            all_actions: args.all_actions,
            actions,
        },
        wanted: wanted
            .transpose()
            .map_err(|why| Failure::usage(format!("--where: {why}")))?,
    })
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

/// Whether a finding scores over a limit.
pub(crate) fn any_over(report: &Report<'_>, limit: f64) -> bool {
    let first =
        |column: &facts_report::Column| column.ranking.ranked.first().map(|r| r.assessment.score);
    report
        .columns
        .iter()
        .filter_map(first)
        .any(|score| score > limit)
}
