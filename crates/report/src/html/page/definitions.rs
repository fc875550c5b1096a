//! The definitions in plain words.

use facts_engine::definitions::Kind;

use crate::report::Report;

/// One kind of definition, and where the report uses it.
pub(super) struct KindPart {
    pub(super) kind: &'static Kind,
    pub(super) columns: Vec<(usize, String)>,
}

/// The kinds of definition that the report uses, in their order of appearance.
pub(super) fn kinds(report: &Report<'_>) -> Vec<KindPart> {
    let mut kinds: Vec<KindPart> = Vec::new();
    for (index, column) in report.columns.iter().enumerate() {
        let kind = column.definition.kind();
        let named = (index + 1, column.ranking.title.clone());
        match kinds.iter_mut().find(|part| part.kind == kind) {
            Some(part) => part.columns.push(named),
            None => kinds.push(KindPart {
                kind,
                columns: vec![named],
            }),
        }
    }
    kinds
}
