//! A record under the definitions that are to be reported: what every form of report starts from.

use facts_engine::Error;
use facts_engine::definitions::{self, Definition};
use facts_engine::ranking::{Filters, Ranking};

use crate::csc::Csc;
use crate::record::Record;

/// A record and its rankings.
#[derive(Debug)]
pub struct Report<'a> {
    /// The audit and where it comes from.
    pub record: &'a Record,
    /// The definitions reported, in order.
    pub columns: Vec<Column>,
}

/// One definition and how the subgroups rank by it.
#[derive(Debug)]
pub struct Column {
    /// The definition.
    pub definition: Box<dyn Definition>,
    /// The subgroups, most unfair first.
    pub ranking: Ranking,
}

impl Column {
    /// The kind of definition, for its explanation.
    pub fn kind(&self) -> Option<&'static definitions::Kind> {
        let name = self.ranking.definition.split(':').next();
        definitions::KINDS
            .iter()
            .find(|kind| Some(kind.name) == name)
    }
}

impl<'a> Report<'a> {
    /// Ranks by the definitions that the record asks for.
    pub fn new(record: &'a Record) -> Result<Self, Error> {
        let definitions = record.definitions.iter().map(|id| definitions::parse(id));
        Ok(Self::by(record, definitions.collect::<Result<_, _>>()?))
    }

    /// Ranks by other definitions.
    pub fn by(record: &'a Record, definitions: Vec<Box<dyn Definition>>) -> Self {
        let rankings = record.audit.rank_all(&definitions);
        let columns = definitions.into_iter().zip(rankings);
        Self {
            record,
            columns: columns
                .map(|(definition, ranking)| Column {
                    definition,
                    ranking,
                })
                .collect(),
        }
    }

    /// The first `top` findings by one of the columns.
    pub fn findings(&self, column: &Column, filters: &Filters, top: usize) -> Vec<Csc> {
        let audit = &self.record.audit;
        let shown = audit.show(&column.ranking, column.definition.as_ref(), filters);
        let first = shown.iter().take(top);
        first
            .map(|shown| Csc::new(audit, &column.ranking, shown))
            .collect()
    }
}
