//! Selection rates and impact ratios as a table.

use super::Sheet;
use crate::impact::{Impact, ImpactRow};
use crate::report::Report;

/// Selection rates and impact ratios: a row a category.
pub fn impact(report: &Report<'_>) -> Sheet {
    let impact = Impact::new(report.record);
    let rows: Vec<(String, &ImpactRow)> = (impact.tables.iter())
        .flat_map(|table| table.rows.iter().map(|row| (table.by.join(" & "), row)))
        .collect();
    let selected = || rows.iter().map(|(_, row)| row.selected);
    let mut sheet = Sheet::new();
    sheet.text("by", rows.iter().map(|(by, _)| by.clone()));
    let category = |(_, row): &(String, &ImpactRow)| row.category.join(" & ");
    sheet.text("category", rows.iter().map(category));
    sheet.count("people", selected().map(|share| Some(share?.whole)));
    sheet.count("selected", selected().map(|share| Some(share?.part)));
    sheet.number(
        "selection rate",
        selected().map(|share| Some(share?.ratio())),
    );
    sheet.number("impact ratio", rows.iter().map(|(_, row)| row.ratio));
    sheet.flag("under 2 %", rows.iter().map(|(_, row)| Some(row.is_small)));
    sheet
}
