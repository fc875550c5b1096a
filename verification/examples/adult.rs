//! Is the way out of "earns at most 50K" as open to women as to men?
//!
//! Audits the reference logistic regression on the Adult census data and prints the most unfair
//! subgroup under each of the paper's definitions.
//!
//! `cargo run --release --example adult`
#![allow(clippy::print_stdout)]

use std::time::Instant;

use facts_engine::ranking::Filters;
use facts_engine::{Options, Watch, audit};
use facts_report::{Column, Csc, text};
use facts_verification::{adult_declaration, adult_model, adult_rows};

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let rows = adult_rows()?;
    let model = adult_model()?;

    let start = Instant::now();
    let population = adult_declaration().trim(true).read(&rows)?;
    let audit = audit(&population, &model, &Options::new(), Watch::nobody())?;
    let columns = audit.paper_columns()?;
    let rankings = audit.rank_all(&columns);
    let seconds = start.elapsed().as_secs_f64();

    println!(
        "Adult census data, sex protected, support {}.",
        audit.settings.support
    );
    for group in &audit.groups {
        let (affected, people) = (text::count(group.affected), text::count(group.people));
        println!(
            "  {}: {affected} of {people} get the unfavourable prediction",
            group.name
        );
    }
    println!(
        "{} subgroups, {} pairs of subgroup and action, twelve rankings in {seconds:.3} s.\n",
        text::count(audit.subgroups.len() as u64),
        text::count(audit.sizes.pairs as u64),
    );
    let filters = Filters {
        drop_fair: true,
        ..Filters::default()
    };
    for (definition, ranking) in columns.into_iter().zip(rankings) {
        let column = Column {
            definition,
            ranking,
        };
        let shown = audit.show(&column.ranking, column.definition.as_ref(), &filters);
        if let Some(first) = shown.first() {
            println!("{}", Csc::new(&audit, None, &column, first));
        }
    }
    Ok(())
}
