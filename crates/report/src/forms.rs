//! The forms a report can be written in.

use crate::report::{Report, Showing};
use crate::text::Palette;
use crate::{csv, json, markdown, parquet, sheets, text};

/// Why a form could not be written.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// One form of report.
pub struct Form {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The file it is written to when an audit is written whole.
    pub file: &'static str,
    /// One line about it, for help texts.
    pub about: &'static str,
    /// Whether it shows chosen findings; if not, it holds all subgroups whatever is chosen.
    pub chooses: bool,
    /// Writes it.
    pub write: fn(&Report<'_>, &Showing) -> Result<Vec<u8>, Failure>,
}

/// All forms there are.
pub const FORMS: &[Form] = &[
    Form {
        name: "text",
        file: "report.txt",
        about: "plain text, as on the terminal",
        chooses: true,
        write: |report, showing| Ok(text::report(report, showing, &Palette::PLAIN).into_bytes()),
    },
    Form {
        name: "markdown",
        file: "report.md",
        about: "Markdown, for pull requests and notes",
        chooses: true,
        write: |report, showing| Ok(markdown::markdown(report, showing).into_bytes()),
    },
    Form {
        name: "json",
        file: "report.json",
        about: "JSON, for programs (docs/schema/report.schema.json)",
        chooses: true,
        write: |report, showing| Ok(json::json(report, showing)?),
    },
    Form {
        name: "html",
        file: "report.html",
        about: "one page to open in a browser: tables, plots, every subgroup",
        chooses: false,
        write: |report, _| Ok(crate::html::html(report).into_bytes()),
    },
    Form {
        name: "csv",
        file: "subgroups.csv",
        about: "all subgroups by all definitions, as CSV",
        chooses: false,
        write: |report, showing| Ok(csv::csv(&sheets::subgroups(report), showing.formulas)),
    },
    Form {
        name: "parquet",
        file: "subgroups.parquet",
        about: "all subgroups by all definitions, as Parquet",
        chooses: false,
        write: |report, _| Ok(parquet::parquet(&sheets::subgroups(report))?),
    },
    Form {
        name: "actions-csv",
        file: "actions.csv",
        about: "all pairs of a subgroup and an action, as CSV",
        chooses: false,
        write: |report, showing| Ok(csv::csv(&sheets::actions(report), showing.formulas)),
    },
    Form {
        name: "actions-parquet",
        file: "actions.parquet",
        about: "all pairs of a subgroup and an action, as Parquet",
        chooses: false,
        write: |report, _| Ok(parquet::parquet(&sheets::actions(report))?),
    },
    Form {
        name: "people-csv",
        file: "people.csv",
        about: "who is refused and who has a way out, by group, as CSV",
        chooses: false,
        write: |report, showing| Ok(csv::csv(&sheets::people(report), showing.formulas)),
    },
    Form {
        name: "people-parquet",
        file: "people.parquet",
        about: "who is refused and who has a way out, by group, as Parquet",
        chooses: false,
        write: |report, _| Ok(parquet::parquet(&sheets::people(report))?),
    },
    Form {
        name: "stories-csv",
        file: "stories.csv",
        about: "the stories, as CSV",
        chooses: false,
        write: |report, showing| Ok(csv::csv(&sheets::stories(report), showing.formulas)),
    },
    Form {
        name: "stories-parquet",
        file: "stories.parquet",
        about: "the stories, as Parquet",
        chooses: false,
        write: |report, _| Ok(parquet::parquet(&sheets::stories(report))?),
    },
    Form {
        name: "drivers-csv",
        file: "drivers.csv",
        about: "which characteristics go with the gap, as CSV",
        chooses: false,
        write: |report, showing| Ok(csv::csv(&sheets::drivers(report), showing.formulas)),
    },
    Form {
        name: "drivers-parquet",
        file: "drivers.parquet",
        about: "which characteristics go with the gap, as Parquet",
        chooses: false,
        write: |report, _| Ok(parquet::parquet(&sheets::drivers(report))?),
    },
    Form {
        name: "impact-ratios",
        file: "impact-ratios.md",
        about: "selection rates and impact ratios, as NYC Local Law 144 asks, in Markdown",
        chooses: false,
        write: |report, _| Ok(crate::impact::page(report.record).into_bytes()),
    },
    Form {
        name: "impact-csv",
        file: "impact-ratios.csv",
        about: "selection rates and impact ratios, as CSV",
        chooses: false,
        write: |report, showing| Ok(csv::csv(&sheets::impact(report), showing.formulas)),
    },
];
