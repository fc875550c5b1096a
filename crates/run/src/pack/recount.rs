//! What a saved audit says and its own counts give: worked out again. The reports are made from the
//! counts anew whenever they are written, so that here is only what the audit itself holds.

use std::collections::HashSet;

use facts_engine::answer::{Answer, Loss, Verdict};
use facts_report::Record;

/// Works out again what an audit holds besides counts. What does not follow from them, if something
/// does not.
pub(super) fn recount(record: &Record) -> Result<(), String> {
    let Some(answer) = &record.answer else {
        return Ok(());
    };
    for (place, story) in answer.stories.iter().enumerate() {
        let (worse, better) = (story.told[story.worse_off], story.told[story.better_off]);
        if Loss::new(worse, better, answer.parameters.z) != story.loss {
            return Err(format!(
                "the people at a loss in story {} do not follow from its counts",
                place + 1
            ));
        }
    }
    match &answer.verdict {
        Some(verdict) if !follows(verdict, answer, record) => {
            Err("the verdict does not follow from the tests".to_owned())
        }
        _ => Ok(()),
    }
}

/// Whether the verdict is unfair if and only if findings pass, and of so many as it says.
fn follows(verdict: &Verdict, answer: &Answer, record: &Record) -> bool {
    let (mut passing, mut about) = (0, HashSet::new());
    let evidence = record.evidence.iter();
    for (evidence, tests) in evidence.flat_map(|e| e.tests.iter().map(move |tests| (e, tests))) {
        for place in 0..record.audit.subgroups.len() {
            if evidence.passes_together(tests, place) {
                passing += 1;
                about.insert(answer.same_as[place]);
            }
        }
    }
    match verdict {
        Verdict::Unfair { findings, sets, .. } => (*findings, *sets) == (passing, about.len()),
        _ => passing == 0,
    }
}
