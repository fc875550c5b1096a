//! The hot steps of an audit, each by itself: Adult, sex protected, 1 % support.
//!
//! `cargo bench -p facts-verification --bench engine`

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, RecordBatch};
use criterion::{Criterion, criterion_group, criterion_main};
use facts_engine::flips::{Model, ModelError};
use facts_engine::population::Population;
use facts_engine::{Options, Phase, Watch, audit};
use facts_models::AdditiveModel;
use facts_verification::{adult_declaration, adult_model, adult_rows};

/// The reference model as a black box.
struct BlackBox(AdditiveModel);

impl Model for BlackBox {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        self.0.predict(rows)
    }

    fn concurrency(&self) -> usize {
        self.0.concurrency()
    }
}

/// How long an audit spends in one phase: from its first report to the first of the next.
fn time_of<M: Model>(phase: Phase, population: &Population, model: &M) -> Duration {
    let starts: Mutex<Vec<(Phase, Instant)>> = Mutex::default();
    let note = |progress: facts_engine::Progress| {
        let mut starts = starts.lock().expect("no thread panics");
        if starts.last().is_none_or(|(last, _)| *last < progress.phase) {
            starts.push((progress.phase, Instant::now()));
        }
        ControlFlow::Continue(())
    };
    audit(population, model, &Options::new(), Watch::new(&note)).expect("the audit runs");
    let end = Instant::now();
    let starts = starts.into_inner().expect("no thread panics");
    let start = |p: Phase| {
        starts
            .iter()
            .find(|(phase, _)| *phase >= p)
            .map(|(_, at)| *at)
    };
    let begin = start(phase).expect("every phase reports");
    let next = starts
        .iter()
        .find(|(other, _)| *other > phase)
        .map_or(end, |(_, at)| *at);
    next - begin
}

fn steps(criterion: &mut Criterion) {
    let rows = adult_rows().expect("the reference data");
    let model = adult_model().expect("the reference model");
    let read = || {
        adult_declaration()
            .read(&rows)
            .expect("the declaration fits")
    };
    let population = read();

    let mut group = criterion.benchmark_group("adult-sex-1-percent");
    group.sample_size(10);
    group.bench_function("population", |bencher| bencher.iter(read));
    for phase in [
        Phase::Predictions,
        Phase::Subgroups,
        Phase::Actions,
        Phase::Validity,
        Phase::Flips,
        Phase::Effectiveness,
    ] {
        group.bench_function(phase.to_string(), |bencher| {
            bencher.iter_custom(|times| {
                (0..times)
                    .map(|_| time_of(phase, &population, &model))
                    .sum()
            });
        });
    }
    let black_box = BlackBox(model.clone());
    group.bench_function("flips of a black box", |bencher| {
        bencher.iter_custom(|times| {
            (0..times)
                .map(|_| time_of(Phase::Flips, &population, &black_box))
                .sum()
        });
    });
    let found = audit(&population, &model, &Options::new(), Watch::nobody()).expect("it runs");
    group.bench_function("twelve columns ranked", |bencher| {
        bencher.iter(|| found.rank_all(&found.paper_columns().expect("budgets are found")));
    });
    group.bench_function("whole", |bencher| {
        bencher.iter(|| {
            let audit = audit(&read(), &model, &Options::new(), Watch::nobody()).expect("it runs");
            audit.rank_all(&audit.paper_columns().expect("budgets are found"))
        });
    });
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
