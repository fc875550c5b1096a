//! `facts diff`: two saved audits compared.

use std::process::ExitCode;

use facts_report::Diff;
use facts_report::diff::{Change, Changed, Standing};
use facts_report::text::Palette;
use facts_run::{Config, Failure, definitions_for, saved};

use crate::args::{DiffArgs, DiffForm};
use crate::output;

pub(crate) fn diff(args: DiffArgs) -> Result<ExitCode, Failure> {
    let (old, new) = (saved::load(&args.old)?, saved::load(&args.new)?);
    let asked = args.definitions.any();
    let mut config = Config::default();
    args.definitions.apply(&mut config);
    let ids = if !asked {
        old.definitions.clone()
    } else {
        let definitions = definitions_for(&config, &old.audit)?.all;
        definitions
            .iter()
            .map(|definition| definition.id())
            .collect()
    };
    if args.passing {
        let tested = new.check_tested(ids.iter().map(String::as_str));
        tested.map_err(|error| Failure::from(error).with("--passing heeds the newer audit"))?;
    }
    let mut diff = Diff::new(&old, &new, &ids)?;
    if args.passing {
        let passes = |standing: &Standing| {
            matches!(
                standing,
                Standing::Unfair {
                    passes: Some(true),
                    ..
                }
            )
        };
        diff.changed
            .retain(|changed| passes(&changed.old) || passes(&changed.new));
    }
    match args.format {
        DiffForm::Json => {
            let text =
                serde_json::to_string_pretty(&diff).map_err(|e| Failure::output("JSON", e))?;
            output::print_raw(format!("{text}\n").as_bytes())?;
        }
        DiffForm::Text => output::print(&diff.text(args.top, &Palette::COLOURED))?,
        DiffForm::Html => output::print_raw(diff.html(args.top).as_bytes())?,
        DiffForm::Markdown => output::print_raw(diff.markdown(args.top).as_bytes())?,
    }
    let over = |changed: &Changed| {
        let worse = matches!(changed.change, Change::Appeared | Change::Grew);
        let Standing::Unfair { score, passes, .. } = changed.new else {
            return false;
        };
        let counts = worse && (!args.passing || passes == Some(true));
        counts && args.fail_over.is_some_and(|limit| score > limit)
    };
    Ok(if diff.changed.iter().any(over) {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}
