//! Whatever is declared about whatever table, and audits that are stopped.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use arrow_array::types::Int8Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, NullArray,
    RecordBatch, UInt8Array,
};
use arrow_schema::{Field, Schema};
use facts_engine::actions::Validity;
use facts_engine::flips::FnModel;
use facts_engine::population::{
    Bins, Declaration, Direction, Distance, Edges, Feature, Kind, Missing, Move, Protected, Rules,
    Step, View,
};
use facts_engine::{Audit, Error, Options, Phase, Progress, Watch, audit};
use proptest::prelude::*;
use proptest::sample::select;

use super::{audit_crowd, config, crowd, floats, integers, texts};

#[test]
fn an_audit_stops_in_any_phase() {
    let table = crowd(80, 5);
    let phases = [
        (Phase::Predictions, "cancelled during predictions"),
        (Phase::Subgroups, "cancelled during subgroups"),
        (Phase::Actions, "cancelled during actions"),
        (Phase::Validity, "cancelled during validity"),
        (Phase::Flips, "cancelled during flips"),
        (Phase::Effectiveness, "cancelled during effectiveness"),
    ];
    for (phase, message) in phases {
        for at_once in [true, false] {
            let told = Mutex::new(BTreeSet::new());
            let callback = |progress: Progress| {
                told.lock().unwrap().insert(progress.phase);
                assert!(progress.done <= progress.total);
                let started = at_once || progress.done > 0;
                match progress.phase == phase && started {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            let options = Options::new().batch_rows(5);
            let error = audit_crowd(&table, &options, Watch::new(&callback)).unwrap_err();
            assert_eq!(error, Error::Cancelled(phase));
            assert_eq!(error.to_string(), message);
            let told = told.into_inner().unwrap();
            assert!(
                told.into_iter().all(|one| one <= phase),
                "{phase} was not the last"
            );
        }
    }
}

/// Columns of every readable type, mostly sound, some full of surprises.
fn columns(rows: usize) -> impl Strategy<Value = ArrayRef> {
    use prop::collection::vec;
    let words = vec(select(vec!["a", "b", "a ", "1", "0", "7"]), rows);
    let odd_words = vec(
        select(vec![Some("a"), Some("missing"), Some(""), None]),
        rows,
    );
    let digits = vec(select(vec!["1", "2.5", " 3 ", "0", "7"]), rows);
    let odd_digits = vec(select(vec![Some("1"), Some("nan"), Some("x"), None]), rows);
    let numbers = vec(
        select(vec![Some(0.0), Some(-0.0), Some(1.0), Some(2.5), None]),
        rows,
    );
    let extremes = vec(
        select(vec![1e300, -1e300, 5e-324, f64::MAX, f64::MIN, 0.1]),
        rows,
    );
    let not_finite = vec(select(vec![0.5, f64::NAN, f64::INFINITY]), rows);
    let whole = vec(
        select(vec![Some(0), Some(1), Some(7), Some(-3), None]),
        rows,
    );
    let large = vec(select(vec![i64::MAX, i64::MIN, 1 << 53, 0]), rows);
    let bytes = || vec(0..5_u8, rows);
    prop_oneof![
        8 => words.clone().prop_map(texts),
        2 => odd_words.clone().prop_map(texts),
        4 => digits.prop_map(texts),
        2 => odd_digits.prop_map(texts),
        2 => odd_words.prop_map(|words| {
            Arc::new(words.into_iter().collect::<DictionaryArray<Int8Type>>()) as ArrayRef
        }),
        8 => numbers.prop_map(floats),
        2 => extremes.prop_map(floats),
        1 => not_finite.prop_map(floats),
        8 => whole.prop_map(integers),
        2 => large.prop_map(integers),
        4 => bytes().prop_map(|bytes| {
            let booleans = bytes.into_iter().map(|byte| (byte > 0).then_some(byte % 2 == 0));
            Arc::new(booleans.collect::<BooleanArray>()) as ArrayRef
        }),
        4 => bytes().prop_map(|bytes| {
            Arc::new(UInt8Array::from(bytes)) as ArrayRef
        }),
        4 => bytes().prop_map(|bytes| {
            let halves = bytes.into_iter().map(|byte| f32::from(byte) / 2.0);
            Arc::new(Float32Array::from_iter_values(halves)) as ArrayRef
        }),
        1 => Just(Arc::new(NullArray::new(rows)) as ArrayRef),
        1 => Just(Arc::new(Date32Array::from(vec![0; rows])) as ArrayRef),
    ]
}

fn kinds() -> impl Strategy<Value = Kind> {
    let edge = select(vec![
        f64::NEG_INFINITY,
        -3.0,
        0.0,
        0.5,
        1.0,
        2.5,
        100.0,
        1e300,
        f64::INFINITY,
        f64::NAN,
    ]);
    let sorted = |mut edges: Vec<f64>| {
        edges.sort_by(f64::total_cmp);
        edges.dedup();
        edges
    };
    let edges = prop_oneof![
        3 => (0..5_usize).prop_map(Edges::Quantiles),
        3 => (0..5_usize).prop_map(Edges::EqualWidth),
        1 => prop::collection::vec(edge.clone(), 0..5).prop_map(Edges::At),
        3 => prop::collection::vec(edge, 2..8).prop_map(move |edges| Edges::At(sorted(edges))),
    ];
    let view = select(vec![
        View::Label,
        View::Raw(Move::Linear),
        View::Raw(Move::Median),
        View::Raw(Move::Nearest),
    ]);
    let labels = prop_oneof![
        9 => Just(None),
        1 => prop::collection::vec(select(vec!["a", "b", "missing"]), 0..4).prop_map(Some),
    ];
    let binned = (edges, view, labels).prop_map(|(edges, view, labels)| {
        let labels = labels.map(|labels| labels.into_iter().map(str::to_owned).collect());
        Kind::Binned(Bins {
            edges,
            labels,
            view,
        })
    });
    let words = [
        "a", "b", "a ", "1", "0", "7", "-3", "2", "3", "4", "true", "false",
    ];
    let order = prop_oneof![
        3 => Just(words.to_vec()).prop_shuffle(),
        1 => prop::collection::vec(select(words.to_vec()), 0..7),
    ];
    prop_oneof![
        2 => Just(Kind::Categorical),
        2 => Just(Kind::Numeric),
        1 => order.prop_map(|order| Kind::Ordinal(order.into_iter().map(str::to_owned).collect())),
        3 => binned,
    ]
}

fn features(name: &'static str) -> impl Strategy<Value = Feature> {
    let distance = prop_oneof![
        4 => Just(None),
        1 => Just(Some(Distance::Categorical)),
        1 => Just(Some(Distance::Ordinal)),
        1 => any::<bool>().prop_map(|normalised| Some(Distance::Numeric { normalised })),
        1 => Just(Some(Distance::Table(vec![("a".into(), "b".into(), 1.0)]))),
    ];
    let direction = select(vec![
        None,
        None,
        Some(Direction::Increase),
        Some(Direction::Decrease),
    ]);
    let step = select(vec![
        None,
        None,
        None,
        Some(Step::Levels(1)),
        Some(Step::Units(2.0)),
    ]);
    let missing = prop_oneof![
        8 => Just(Missing::Level),
        2 => Just(Missing::Drop),
        1 => Just(Missing::Error),
    ];
    let codes = select(vec![
        None,
        None,
        None,
        Some("a"),
        Some("1"),
        Some("missing"),
        Some("0"),
    ]);
    (
        kinds(),
        distance,
        direction,
        step,
        missing,
        codes,
        any::<bool>(),
    )
        .prop_map(
            move |(kind, distance, direction, max_step, missing, codes, linked)| {
                let feature = Feature::new(name, kind)
                    .missing(missing)
                    .missing_codes(codes)
                    .rules(Rules {
                        direction,
                        max_step,
                        not_a_target: vec!["b".into()],
                        linked: if linked { vec!["x".into()] } else { Vec::new() },
                        ..Rules::default()
                    });
                match distance {
                    None => feature,
                    Some(distance) => feature.distance(distance),
                }
            },
        )
}

proptest! {
    #![proptest_config(config(4000))]

    /// Whatever is declared about whatever table, there is an audit or an error.
    #[test]
    fn nothing_panics(
        (x, y, sex) in (0..40_usize).prop_flat_map(|rows| (columns(rows), columns(rows), columns(rows))),
        (of_x, of_y) in (features("x"), features("y")),
        protected in prop_oneof![3 => Just(Kind::Categorical), 1 => kinds()],
        (trim, ranges, subset) in any::<(bool, bool, bool)>(),
        seed in any::<u64>(),
    ) {
        let fields = [("x", &x), ("y", &y), ("sex", &sex)]
            .map(|(name, column)| Field::new(name, column.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.to_vec()));
        let table = RecordBatch::try_new(schema, vec![x, y, sex]).unwrap();
        let declaration = Declaration::new()
            .features([of_x, of_y])
            .protected(Protected::attribute("sex").kind(protected))
            .trim(trim);
        let Ok(population) = declaration.read([table]) else { return Ok(()) };
        // Any function of the rows will do.
        let model = FnModel::new(|batch: &RecordBatch| {
            (0..batch.num_rows())
                .map(|row| {
                    let row = format!("{seed} {:?}", batch.slice(row, 1).columns());
                    let sum: usize = row.bytes().enumerate().map(|(i, b)| (i + 7) * usize::from(b)).sum();
                    sum.is_multiple_of(3)
                })
                .collect()
        });
        let validity = if subset { Validity::Subset } else { Validity::Joint };
        let options = Options::new().ranges(ranges).validity(validity);
        let Ok(found) = audit(&population, &model, &options, Watch::nobody()) else { return Ok(()) };
        let saved = serde_json::to_string(&found).unwrap();
        let loaded: Audit = serde_json::from_str(&saved).unwrap();
        prop_assert_eq!(serde_json::to_string(&loaded).unwrap(), saved);
        for definition in loaded.paper_columns().unwrap_or_default() {
            loaded.rank(definition.as_ref());
        }
    }
}
