//! One audit with everything that questions about it need, on a thread of its own.
//!
//! A [`Report`] borrows its record, so both live on one thread's stack and questions come to them. They
//! are answered one after another; each is computed on all cores.

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};

use facts_engine::definitions;
use facts_engine::distribution::Subgroup;
use facts_engine::evidence::Tests;
use facts_report::evidence::Judging;
use facts_report::views::{self, Places};
use facts_report::{Column, Record, Report};
use facts_run::Behind;

use crate::failure::Failed;
use crate::views::subgroups::Remembered;

/// So many definitions are remembered besides the audit's own: those that a slider passed last.
const REMEMBERED: usize = 12;

/// So many tests that were made since the audit are kept: those of 150,000 subgroups are large.
const TESTED: usize = 20;

type Question = Box<dyn FnOnce(&mut Desk<'_>) + Send>;

/// An audit that can be asked.
pub(crate) struct Held {
    /// What it is called.
    pub(crate) name: String,
    /// How a command names it: a folder, or what it was made with.
    pub(crate) source: Source,
    pub(crate) record: Arc<Record>,
    /// The people behind it, where they are at hand.
    pub(crate) behind: Option<Arc<Behind>>,
    questions: Mutex<Sender<Question>>,
}

/// Where an audit comes from, as a command names it.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A saved audit, by its path.
    Saved(String),
    /// An audit made here: what `facts audit` is given, and the settings of a what-if put over it.
    Made {
        arguments: Vec<String>,
        settings: Vec<String>,
    },
}

impl Held {
    /// Ranks an audit, and waits for questions.
    pub(crate) fn new(
        name: String,
        source: Source,
        record: Record,
        behind: Option<Behind>,
    ) -> Result<Self, Failed> {
        let record = Arc::new(record);
        let (questions, asked) = mpsc::channel::<Question>();
        let (ready, is_ready) = mpsc::channel();
        let on_the_desk = Arc::clone(&record);
        let spawned = std::thread::Builder::new().spawn(move || {
            let mut desk = match Desk::new(&on_the_desk) {
                Ok(desk) => desk,
                Err(error) => {
                    // Nobody waits only if the program is ending.
                    let _ = ready.send(Err(error));
                    return;
                }
            };
            let _ = ready.send(Ok(()));
            // The first view needs it, and it takes a moment; until somebody asks there is time.
            let _ = desk.report.gaps();
            for question in asked {
                question(&mut desk);
            }
        });
        spawned.map_err(|error| Failed::internal(error.to_string()))?;
        is_ready.recv().map_err(|_| Failed::gone())??;
        Ok(Self {
            name,
            source,
            record,
            behind: behind.map(Arc::new),
            questions: Mutex::new(questions),
        })
    }

    /// The settings of its what-if, if it was made here.
    pub(crate) fn settings(&self) -> Option<&[String]> {
        match &self.source {
            Source::Saved(_) => None,
            Source::Made { settings, .. } => Some(settings),
        }
    }

    /// Asks a question and waits for the answer.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Desk<'_>) -> Result<T, Failed> + Send + 'static,
    ) -> Result<T, Failed> {
        let (answer, answered) = mpsc::channel();
        let question: Question = Box::new(move |desk| {
            // Nobody waits only if the program is ending.
            let _ = answer.send(question(desk));
        });
        let sent = self
            .questions
            .lock()
            .map_err(|_| Failed::gone())?
            .send(question);
        sent.map_err(|_| Failed::gone())?;
        answered.recv().map_err(|_| Failed::gone())?
    }
}

/// A record, ranked, with what is looked up again and again.
pub(crate) struct Desk<'a> {
    pub(crate) record: &'a Record,
    /// Under the definitions that the audit was made for.
    pub(crate) report: Report<'a>,
    /// Predicates as one reads them, by place.
    pub(crate) texts: Vec<String>,
    /// How many people each has, by place: they lie close together here.
    pub(crate) people: Vec<u64>,
    /// The places of subgroups, by their items.
    pub(crate) places: Places<'a>,
    /// Other definitions, the last asked for last.
    others: Vec<Column>,
    /// Tests of other definitions, or at other levels, that were made since.
    tested: Vec<(f64, Tests)>,
    /// The last question about all subgroups, which a table that scrolls asks again and again.
    pub(crate) remembered: Option<Remembered>,
}

impl<'a> Desk<'a> {
    pub(crate) fn new(record: &'a Record) -> Result<Self, Failed> {
        let audit = &record.audit;
        Ok(Self {
            record,
            report: Report::new(record)?,
            texts: (audit.subgroups.iter().map(|one| audit.text(&one.predicate))).collect(),
            people: audit.subgroups.iter().map(Subgroup::people).collect(),
            places: Places::new(audit),
            others: Vec::new(),
            tested: Vec::new(),
            remembered: None,
        })
    }

    /// The ranking by a definition: one of the audit's own, or any other, which is ranked now.
    pub(crate) fn column(&mut self, id: &str) -> Result<&Column, Failed> {
        let definition = definitions::parse(id)?;
        let id = definition.id();
        let is_it = |column: &Column| column.ranking.definition == id;
        if let Some(own) = self.report.columns.iter().position(is_it) {
            return Ok(&self.report.columns[own]);
        }
        if let Some(known) = self.others.iter().position(is_it) {
            let column = self.others.remove(known);
            self.others.push(column);
        } else {
            let ranking = self.record.audit.rank(definition.as_ref());
            if self.others.len() == REMEMBERED {
                self.others.remove(0);
            }
            self.others.push(Column {
                definition,
                ranking,
            });
        }
        self.others.last().ok_or_else(Failed::gone)
    }

    /// The ranking by a definition that was ranked before, by its id.
    pub(crate) fn known(&self, id: &str) -> Option<&Column> {
        let mut all = self.report.columns.iter().chain(&self.others);
        all.find(|column| column.ranking.definition == id)
    }

    /// Keeps tests that were made since the audit, at a level.
    pub(crate) fn keep(&mut self, alpha: f64, tests: Tests) {
        // The same at another level, or the oldest, makes room.
        self.tested
            .retain(|(level, known)| *level > alpha || known.definition != tests.definition);
        if self.tested.len() == TESTED {
            self.tested.remove(0);
        }
        self.tested.push((alpha, tests));
        self.remembered = None;
    }

    /// The tests of a definition that tell what passes at a level; none if it was not tested, or at a
    /// lower level only: p-values above the level of the tests are not all known.
    pub(crate) fn tests(&self, id: &str, alpha: f64) -> Option<&Tests> {
        self.judging(id, alpha).tests
    }

    /// By which tests the findings of a definition are judged at a level: those of the audit, or those that
    /// were made since.
    pub(crate) fn judging(&self, id: &str, alpha: f64) -> Judging<'_> {
        let own = self.record.evidence.as_ref().and_then(|found| {
            let tests = self.record.tests_of(id)?;
            Some((found.gathering.alpha, tests, found.tests.len()))
        });
        let since = (self.tested.iter().rev())
            .filter(|(_, tests)| tests.definition == id)
            .map(|(level, tests)| (*level, tests, 1));
        let all = || own.into_iter().chain(since.clone());
        let told = all().find(|(level, ..)| alpha <= *level);
        let highest = all().map(|(level, ..)| level).reduce(f64::max);
        Judging {
            alpha,
            tests: told.map(|(_, tests, _)| tests),
            tested_at: told.map(|(level, ..)| level).or(highest),
            definitions: told.map_or(1, |(.., definitions)| definitions),
        }
    }

    /// The level α that the audit was tested at, or the usual one.
    pub(crate) fn alpha(&self) -> f64 {
        views::alpha(self.record)
    }
}
