//! Answers that are kept: audits that go on where they stopped, and files that are not trusted.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod support;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use facts_engine::flips::{Favourable, FnModel, Model, ModelError};
use facts_engine::population::{Declaration, Feature, Population, Protected};
use facts_engine::{Audit, Options, Watch, audit};
use facts_models::{ModelSpec, OpenOptions, RememberError, Remembering, open};
use proptest::prelude::*;

use support::{people, with_column, yes};

/// In which form a model gives its classes.
#[derive(Clone, Copy, Debug)]
enum Form {
    Booleans,
    Integers,
    Floats,
    Names,
    Dictionary,
    /// Booleans, or floats if a batch has one class only: what models do that answer with
    /// probabilities, some of which are exactly 0 or 1.
    Mixed,
}

const FORMS: [Form; 6] = [
    Form::Booleans,
    Form::Integers,
    Form::Floats,
    Form::Names,
    Form::Dictionary,
    Form::Mixed,
];

impl Form {
    fn favourable(self) -> Favourable {
        match self {
            Self::Names | Self::Dictionary => Favourable::Class("good".to_owned()),
            _ => Favourable::Positive,
        }
    }

    fn answer(self, yes: &[bool]) -> ArrayRef {
        let names = || yes.iter().map(|&yes| if yes { "good" } else { "bad" });
        let floats = || Float64Array::from_iter_values(yes.iter().map(|&yes| f64::from(yes)));
        match self {
            Self::Booleans => Arc::new(BooleanArray::from(yes.to_vec())),
            Self::Integers => Arc::new(Int32Array::from_iter_values(
                yes.iter().map(|&yes| i32::from(yes)),
            )),
            Self::Floats => Arc::new(floats()),
            Self::Names => Arc::new(StringArray::from_iter_values(names())),
            Self::Dictionary => {
                let names: arrow_array::DictionaryArray<arrow_array::types::Int8Type> =
                    names().collect();
                Arc::new(names)
            }
            Self::Mixed if yes.iter().all(|&one| one == yes[0]) => Arc::new(floats()),
            Self::Mixed => Arc::new(BooleanArray::from(yes.to_vec())),
        }
    }
}

/// A model that answers so many rows, and then fails for good.
struct Mortal {
    form: Form,
    /// Another one is another model.
    seed: u64,
    rows: usize,
    concurrency: usize,
    answered: Arc<AtomicUsize>,
}

impl Mortal {
    fn boxed(form: Form, seed: u64, rows: usize, concurrency: usize) -> Box<Self> {
        Box::new(Self {
            form,
            seed,
            rows,
            concurrency,
            answered: Arc::default(),
        })
    }
}

impl Model for Mortal {
    fn predict(&self, rows: &RecordBatch) -> Result<ArrayRef, ModelError> {
        let before = self.answered.fetch_add(rows.num_rows(), Ordering::SeqCst);
        if before + rows.num_rows() > self.rows {
            return Err(ModelError::Failed("out of memory".to_owned()));
        }
        let answer = |row: usize| {
            let mut hasher = DefaultHasher::new();
            self.seed.hash(&mut hasher);
            for column in rows.columns() {
                match column.as_string_opt::<i32>() {
                    Some(texts) => texts.value(row).hash(&mut hasher),
                    None => column
                        .as_primitive::<Int64Type>()
                        .value(row)
                        .hash(&mut hasher),
                }
            }
            hasher.finish().is_multiple_of(3)
        };
        let answers: Vec<bool> = (0..rows.num_rows()).map(answer).collect();
        Ok(self.form.answer(&answers))
    }

    fn concurrency(&self) -> usize {
        self.concurrency
    }
}

/// A population of so many people with three features.
fn population(people: usize, seed: u64) -> Population {
    let draw = |row: usize, column: u64, of: u64| {
        let mut hasher = DefaultHasher::new();
        (row, column, seed).hash(&mut hasher);
        hasher.finish() % of
    };
    let texts = |column: u64, values: &'static [&'static str]| {
        let texts = (0..people).map(|i| values[draw(i, column, values.len() as u64) as usize]);
        Arc::new(StringArray::from_iter_values(texts)) as ArrayRef
    };
    let hours = Int64Array::from_iter_values((0..people).map(|i| draw(i, 2, 6) as i64 * 10));
    let rows = RecordBatch::try_from_iter([
        ("job", texts(0, &["clerk", "manager", "driver", "juggler"])),
        ("city", texts(1, &["Oslo", "Bergen", "Bodø"])),
        ("hours", Arc::new(hours) as ArrayRef),
        ("sex", texts(3, &["f", "m"])),
    ]);
    Declaration::new()
        .features([Feature::categorical("job"), Feature::categorical("city")])
        .feature(Feature::numeric("hours"))
        .protected(Protected::attribute("sex"))
        .read([rows.unwrap()])
        .unwrap()
}

fn run(
    population: &Population,
    model: &dyn Model,
    form: Form,
    threads: usize,
) -> Result<Audit, String> {
    let options = Options::new()
        .support("0.02".parse().unwrap())
        .favourable(form.favourable())
        .batch_rows(32)
        .threads(threads);
    audit(population, model, &options, Watch::nobody()).map_err(|error| error.to_string())
}

fn bytes(audit: &Audit) -> Vec<u8> {
    serde_json::to_vec(audit).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// However often it fails, and whatever it answers with: the audit is that of the bare model,
    /// to the byte, and no row is answered twice.
    #[test]
    fn an_audit_that_is_begun_again_is_the_same(
        seed in 0_u64..1000,
        form in prop::sample::select(&FORMS[..]),
        batch_rows in 1_usize..40,
        more in 0_usize..120,
        concurrency in 1_usize..4,
        threads in 1_usize..4,
    ) {
        let population = population(150, seed);
        let bare = Mortal::boxed(form, seed, usize::MAX, concurrency);
        let Ok(expected) = run(&population, &*bare, form, threads) else {
            // Nobody affected, or nobody else: nothing to audit.
            return Ok(());
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers");
        let mut asked = 0;
        for attempt in 0.. {
            // Enough for every batch that may be asked at the same time.
            let mortal = Mortal::boxed(form, seed, batch_rows * concurrency + more, concurrency);
            let wrapped = Remembering::open(mortal, &path, "mortal").unwrap();
            let wrapped = wrapped.batch_rows(batch_rows);
            prop_assert_eq!(wrapped.remembered(), asked);
            let found = run(&population, &wrapped, form, 1 + attempt % 3);
            asked += wrapped.asked();
            match found {
                Ok(found) => {
                    prop_assert!(bytes(&found) == bytes(&expected), "other findings");
                    break;
                }
                Err(error) => prop_assert!(error.contains("out of memory"), "{}", error),
            }
            prop_assert!(wrapped.asked() > 0);
        }
        let sizes = expected.sizes;
        prop_assert_eq!(asked, sizes.rows_asked + sizes.counterfactual_rows_asked);
    }
}

#[test]
fn what_is_known_is_not_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers");
    let rows = people(&["clerk", "manager"], 1000);
    let asked = Arc::new(AtomicUsize::new(0));
    let model = |asked: Arc<AtomicUsize>| {
        Box::new(FnModel::new(move |rows: &RecordBatch| {
            asked.fetch_add(rows.num_rows(), Ordering::SeqCst);
            let hours = rows.column(1).as_primitive::<Int64Type>();
            hours.values().iter().map(|&hours| hours > 40).collect()
        }))
    };
    let expected: Vec<bool> = (0..1000).map(|i| i * 7 % 61 > 40).collect();

    let first = Remembering::open(model(Arc::clone(&asked)), &path, "hours").unwrap();
    let part = first.predict(&rows.slice(100, 300)).unwrap();
    assert_eq!(yes(&part), expected[100..400]);
    assert_eq!(asked.load(Ordering::SeqCst), 300);
    // The same rows, with some before and after, and some twice.
    let indices: arrow_array::UInt32Array = (0..1000).chain(0..50).collect();
    let more = arrow_select::take::take_record_batch(&rows, &indices).unwrap();
    let whole = first.predict(&more).unwrap();
    assert_eq!(yes(&whole), [&expected[..], &expected[..50]].concat());
    assert_eq!(asked.load(Ordering::SeqCst), 1000);
    assert_eq!((first.remembered(), first.asked()), (0, 1000));
    assert_eq!(first.predict(&rows.slice(0, 0)).unwrap().len(), 0);
    drop(first);

    let second = Remembering::open(model(Arc::clone(&asked)), &path, "hours").unwrap();
    assert_eq!((second.remembered(), second.cut_off()), (1000, 0));
    assert_eq!(yes(&second.predict(&rows).unwrap()), expected);
    assert_eq!(second.asked(), 0);

    // A table with another column, or with a column of another name or type, has other rows.
    let one = Arc::new(Int64Array::from(vec![1; 1000]));
    second.predict(&with_column(&rows, "one", one)).unwrap();
    assert_eq!(second.asked(), 1000);
    let names = ["job", "hours", "debts"].into_iter();
    let renamed = RecordBatch::try_from_iter(names.zip(rows.columns().iter().cloned())).unwrap();
    second.predict(&renamed).unwrap();
    assert_eq!(second.asked(), 2000);
}

/// No two of these rows may be taken for one another.
#[test]
fn rows_that_are_almost_the_same_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let model = || {
        Box::new(FnModel::new(|rows: &RecordBatch| {
            vec![true; rows.num_rows()]
        }))
    };
    let open = || Remembering::open(model(), folder.path().join("answers"), "all").unwrap();
    let texts = |texts: Vec<Option<&str>>| Arc::new(StringArray::from(texts)) as ArrayRef;
    let table = |a: ArrayRef, b: ArrayRef| RecordBatch::try_from_iter([("a", a), ("b", b)]);
    let rows = table(
        texts(vec![Some("x"), Some("xy"), None, Some(""), Some("")]),
        texts(vec![Some("yz"), Some("z"), Some(""), None, Some("")]),
    );
    let remembering = open();
    remembering.predict(&rows.unwrap()).unwrap();
    assert_eq!(remembering.asked(), 5);
    let numbers = [
        0.0,
        -0.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-300,
    ];
    let numbers = Float64Array::from_iter(numbers.map(Some).into_iter().chain([None]));
    let rows = table(Arc::new(numbers), texts(vec![Some("x"); 7]));
    remembering.predict(&rows.unwrap()).unwrap();
    assert_eq!(remembering.asked(), 12);
}

/// Wherever a write is cut off: what was whole before is known, the rest is asked again, and the
/// file can be used on.
#[test]
fn a_torn_end_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers");
    let rows = people(&["clerk"], 9);
    let model = |form| Mortal::boxed(form, 1, usize::MAX, 1);
    let rows = rows.project(&[0, 1]).unwrap();
    for form in [Form::Booleans, Form::Names] {
        let _ = std::fs::remove_file(&path);
        let whole = Remembering::open(model(form), &path, "m").unwrap();
        let whole = whole.batch_rows(3);
        let header = std::fs::metadata(&path).unwrap().len();
        let expected = whole.predict(&rows).unwrap();
        drop(whole);
        let kept = std::fs::read(&path).unwrap();
        let batch = (kept.len() as u64 - header) / 3;
        for length in 0..=kept.len() as u64 {
            std::fs::write(&path, &kept[..length as usize]).unwrap();
            let again = Remembering::open(model(form), &path, "m").unwrap();
            let batches = length.saturating_sub(header) / batch;
            assert_eq!(again.remembered(), 3 * batches, "cut at {length}");
            let torn = match length.checked_sub(header) {
                Some(after) => after % batch,
                None => length,
            };
            assert_eq!(again.cut_off(), torn, "cut at {length}");
            assert_eq!(&again.predict(&rows).unwrap(), &expected);
            assert_eq!(again.asked(), 9 - 3 * batches);
            drop(again);
            // Sound again.
            let last = Remembering::open(model(form), &path, "m").unwrap();
            assert_eq!((last.remembered(), last.cut_off()), (9, 0));
        }
        // A byte changed anywhere after the header is noticed: never a wrong answer.
        for at in header..kept.len() as u64 {
            let mut damaged = kept.clone();
            damaged[at as usize] ^= 0x10;
            std::fs::write(&path, &damaged).unwrap();
            let again = Remembering::open(model(form), &path, "m").unwrap();
            assert_eq!(again.remembered(), 3 * ((at - header) / batch));
            assert_eq!(&again.predict(&rows).unwrap(), &expected);
        }
    }
}

#[test]
fn other_files_are_refused_and_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers");
    let model = || Mortal::boxed(Form::Booleans, 1, usize::MAX, 1);
    let first = Remembering::open(model(), &path, "loans, version 3").unwrap();
    let error = Remembering::open(model(), &path, "loans, version 3").unwrap_err();
    assert!(matches!(error, RememberError::InUse { .. }), "{error}");
    drop(first);

    for other in [
        "loans, version 4",
        "loans",
        "loans, version 3, and a threshold",
    ] {
        let error = Remembering::open(model(), &path, other).unwrap_err();
        assert!(matches!(error, RememberError::OtherModel { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("begun with  loans, version 3\n"), "{text}");
        assert!(
            text.contains(&format!("this one is    {other}\n")),
            "{text}"
        );
    }
    let kept = std::fs::read(&path).unwrap();
    let mut newer = kept.clone();
    newer[8] = 2;
    let mut damaged = kept.clone();
    *damaged.last_mut().unwrap() ^= 1;
    for (content, told) in [
        (&newer[..], "of version 2"),
        (&damaged, "no file of remembered answers"),
        (b"age,sex\n17,f\n", "no file of remembered answers"),
        (b"x", "no file of remembered answers"),
    ] {
        std::fs::write(&path, content).unwrap();
        let error = Remembering::open(model(), &path, "loans, version 3").unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), content);
    }
    let nowhere = folder.path().join("no/such/folder");
    let error = Remembering::open(model(), nowhere, "m").unwrap_err();
    assert!(error.to_string().contains("cannot be kept in"), "{error}");
}

#[test]
fn what_is_no_class_is_not_remembered() {
    struct Says(ArrayRef);
    impl Model for Says {
        fn predict(&self, _: &RecordBatch) -> Result<ArrayRef, ModelError> {
            Ok(Arc::clone(&self.0))
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers");
    let rows = people(&["clerk"], 2);
    for (answer, told) in [
        (
            Arc::new(Float64Array::from(vec![1.0, 0.37])) as ArrayRef,
            "answered 0.37 for row 2",
        ),
        (
            Arc::new(Int64Array::from(vec![Some(1), None])),
            "answered nothing (null) for row 2",
        ),
        (
            Arc::new(BooleanArray::from(vec![true])),
            "asked for 2 rows and answered 1",
        ),
        (
            Arc::new(arrow_array::Date32Array::from(vec![1, 2])),
            "values of type Date32",
        ),
    ] {
        let model = Remembering::open(Box::new(Says(answer)), &path, "m").unwrap();
        let error = model.predict(&rows).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
        assert_eq!((model.remembered(), model.asked()), (0, 0));
    }
}

fn fingerprint(spec: &str, options: &OpenOptions) -> String {
    let spec: ModelSpec = spec.parse().unwrap();
    spec.fingerprint(options).unwrap()
}

#[test]
fn a_fingerprint_stands_for_all_that_answers_depend_on() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("predict it.py");
    let weights = folder.path().join("weights");
    std::fs::write(&script, "print(1)").unwrap();
    std::fs::write(&weights, "1").unwrap();
    let spec = format!("exec:python '{}' {}", script.display(), weights.display());
    let of = |change: fn(&mut OpenOptions)| {
        let mut options = OpenOptions::default();
        change(&mut options);
        fingerprint(&spec, &options)
    };
    let first = of(|_| {});
    assert_eq!(first, of(|options| options.workers = Some(7)));
    assert_ne!(first, of(|options| options.threshold = Some(0.7)));
    assert_ne!(first, of(|options| options.output = Some("label".into())));
    assert_ne!(first, of(|options| options.order = vec!["age".into()]));
    assert_ne!(
        first,
        of(|options| options.columns = [("a".into(), "b".into())].into())
    );
    for file in [&script, &weights] {
        let before = std::fs::read(file).unwrap();
        std::fs::write(file, "changed").unwrap();
        assert_ne!(first, of(|_| {}));
        std::fs::write(file, before).unwrap();
    }
    assert_eq!(first, of(|_| {}));
    // With and without a prefix, and where there is no file.
    let weights = weights.display();
    let options = OpenOptions::default();
    for spec in [weights.to_string(), format!("onnx:{weights}")] {
        let of_file = fingerprint(&spec, &options);
        assert!(of_file.starts_with(&format!("{spec}; ")), "{of_file}");
    }
    let url = "http://host/invocations";
    assert_eq!(fingerprint(url, &options), url);
}

/// A program that answers so many rows in its life, says `last_act`, and stays dead as long as the
/// file `dead` is there.
#[cfg(unix)]
fn mortal_program(folder: &Path, rows: usize, last_act: &str) -> String {
    let folder = folder.display();
    let script = format!(
        r#"[ -e {folder}/dead ] && exit 3; read -r header; n=0
while IFS= read -r line; do
    if [ -z "$line" ]; then echo; continue; fi
    n=$((n+1)); echo "$line" >> {folder}/log
    if [ -e {folder}/mortal ] && [ $n -gt {rows} ]; then : > {folder}/dead; {last_act}; exit 3; fi
    case $line in manager,*,[2-5]0,*|*,Oslo,[345]0,*) echo 1;; *) echo 0;; esac
done"#
    );
    format!("exec-csv:sh -c '{script}'")
}

/// Audits a population of 200 by a program whose answers are kept.
#[cfg(unix)]
fn audit_by_program(folder: &Path, spec: &str) -> (Result<Audit, String>, Remembering) {
    let mut options = OpenOptions::default();
    options.workers = Some(1);
    let model = open(spec, &options).unwrap().model;
    let fingerprint = fingerprint(spec, &options);
    let wrapped = Remembering::open(model, folder.join("answers"), &fingerprint).unwrap();
    let wrapped = wrapped.batch_rows(16);
    let found = run(&population(200, 5), &wrapped, Form::Floats, 2);
    (found, wrapped)
}

#[cfg(unix)]
fn assert_the_rest_is_asked(folder: &Path, spec: &str) {
    let asked_first = std::fs::read_to_string(folder.join("log")).unwrap();
    for file in ["mortal", "dead", "log"] {
        std::fs::remove_file(folder.join(file)).unwrap();
    }
    let (found, wrapped) = audit_by_program(folder, spec);
    let found = found.unwrap();
    let remembered = wrapped.remembered();
    assert!(remembered > 100, "the population, and a part of the rest");
    // At most the batch that was being answered is lost, and asked a second time when the program
    // is started again.
    let asked_first = asked_first.lines().count() as u64;
    assert!(asked_first - remembered <= 32, "{asked_first} {remembered}");
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    assert_eq!(log.lines().count() as u64, wrapped.asked());
    let sizes = found.sizes;
    let all = sizes.rows_asked + sizes.counterfactual_rows_asked;
    assert_eq!(remembered + wrapped.asked(), all);

    let bare = open(spec, &OpenOptions::default()).unwrap();
    let expected = run(&population(200, 5), &*bare.model, Form::Floats, 1).unwrap();
    assert!(bytes(&found) == bytes(&expected), "other findings");
}

#[cfg(unix)]
#[test]
fn an_audit_goes_on_where_a_program_died() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let spec = mortal_program(folder, 120, "echo out of memory >&2");
    std::fs::write(folder.join("mortal"), "").unwrap();
    let (failed, wrapped) = audit_by_program(folder, &spec);
    let error = failed.map(|_| ()).unwrap_err();
    assert!(error.contains("exit status: 3"), "{error}");
    assert!(wrapped.asked() > 0);
    drop(wrapped);
    assert_the_rest_is_asked(folder, &spec);
}

/// The program kills the process that audits it: nothing is left that could tidy up.
#[cfg(unix)]
#[test]
fn an_audit_goes_on_where_it_was_killed() {
    use std::os::unix::process::ExitStatusExt;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("mortal"), "").unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_audit_that_is_killed", "--ignored"])
        .env("FACTS_KILLED", folder)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.signal(), Some(9));
    assert_the_rest_is_asked(folder, &killer(folder));
}

#[cfg(unix)]
fn killer(folder: &Path) -> String {
    mortal_program(folder, 120, "kill -9 $PPID")
}

#[cfg(unix)]
#[test]
#[ignore = "is run, and killed, by another test"]
fn the_audit_that_is_killed() {
    let Ok(folder) = std::env::var("FACTS_KILLED") else {
        return;
    };
    let folder = Path::new(&folder);
    let (found, _) = audit_by_program(folder, &killer(folder));
    panic!("it should not have come to an end: {:?}", found.map(|_| ()));
}

/// Several threads ask at the same time, as a caller of its own may.
#[test]
fn it_can_be_asked_by_several_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers");
    let rows = people(&["clerk", "manager"], 4000);
    let rows = rows.project(&[0, 1]).unwrap();
    let model = Mortal::boxed(Form::Integers, 1, usize::MAX, 3);
    let expected = yes(&Remembering::open(model, &path, "m")
        .unwrap()
        .predict(&rows)
        .unwrap());
    std::fs::remove_file(&path).unwrap();
    let failed = AtomicBool::new(false);
    let model = Mortal::boxed(Form::Integers, 1, usize::MAX, 3);
    let wrapped = Remembering::open(model, &path, "m").unwrap();
    let wrapped = wrapped.batch_rows(50);
    std::thread::scope(|scope| {
        for part in 0..4 {
            let (wrapped, rows, expected, failed) = (&wrapped, &rows, &expected, &failed);
            scope.spawn(move || {
                let answer = wrapped.predict(&rows.slice(part * 700, 1900)).unwrap();
                let right = yes(&answer) == expected[part * 700..part * 700 + 1900];
                failed.fetch_or(!right, Ordering::SeqCst);
            });
        }
    });
    assert!(!failed.load(Ordering::SeqCst));
    drop(wrapped);
    let model = Mortal::boxed(Form::Integers, 1, 0, 3);
    let again = Remembering::open(model, &path, "m").unwrap();
    assert_eq!(yes(&again.predict(&rows).unwrap()), expected);
}

/// `cargo test -p facts-models --release --test remember -- --ignored --nocapture a_million_rows`
#[test]
#[ignore = "a measurement"]
fn a_million_rows() {
    const ROWS: usize = 1_000_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers");
    let texts = |column: usize| {
        let texts = (0..ROWS).map(|i| format!("value {}", i * (column + 3) % 17));
        Arc::new(StringArray::from_iter_values(texts)) as ArrayRef
    };
    let id = Arc::new(Int64Array::from_iter_values(0..ROWS as i64)) as ArrayRef;
    let columns = (0..8).map(|column| (format!("column {column}"), texts(column)));
    let numbers = (0..4).map(|column| (format!("number {column}"), Arc::clone(&id)));
    let rows = RecordBatch::try_from_iter(columns.chain(numbers)).unwrap();
    let model = || {
        Box::new(FnModel::new(|rows: &RecordBatch| {
            let ids = rows.column(8).as_primitive::<Int64Type>().values();
            ids.iter().map(|id| id % 3 == 0).collect()
        }))
    };
    let time = |what: &str, work: &mut dyn FnMut()| {
        let begin = Instant::now();
        work();
        println!("{:7.0} ms  {what}", begin.elapsed().as_secs_f64() * 1e3);
    };
    let in_batches = |model: &dyn Model| {
        for start in (0..ROWS).step_by(1 << 16) {
            let rows = rows.slice(start, (ROWS - start).min(1 << 16));
            model.predict(&rows).unwrap();
        }
    };
    time("bare", &mut || in_batches(&*model()));
    let first = Remembering::open(model(), &path, "m").unwrap();
    time("asked and kept", &mut || in_batches(&first));
    drop(first);
    let length = std::fs::metadata(&path).unwrap().len();
    println!("{:7.1} MB  the file", length as f64 / 1e6);
    let mut second = None;
    time("file read", &mut || {
        second = Some(Remembering::open(model(), &path, "m").unwrap());
    });
    let second = second.unwrap();
    time("all remembered", &mut || in_batches(&second));
    assert_eq!((second.remembered(), second.asked()), (ROWS as u64, 0));
}

/// A model whose fingerprint stays while its answers change: what a program imports, or a server serves.
#[test]
fn answers_of_a_model_that_changed_unseen_are_not_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers");
    let rows = |from: i64, to: i64| {
        let hours: ArrayRef = Arc::new(Int64Array::from_iter_values(from..to));
        RecordBatch::try_from_iter([("hours", hours)]).unwrap()
    };
    let over = |limit: i64| {
        Box::new(FnModel::new(move |rows: &RecordBatch| {
            let hours = rows.column(0).as_primitive::<Int64Type>();
            hours.values().iter().map(|&hours| hours > limit).collect()
        }))
    };
    let open = |limit| Remembering::open(over(limit), &path, "the same").unwrap();
    let first = open(500).predict(&rows(0, 1000)).unwrap();

    // The same model goes on: some rows are asked again, and not counted.
    let again = open(500).checking(100);
    assert_eq!(&again.predict(&rows(0, 1000)).unwrap(), &first);
    assert_eq!((again.remembered(), again.asked()), (1000, 0));
    again.predict(&rows(500, 1500)).unwrap();
    assert_eq!(again.asked(), 500);
    drop(again);

    let other = open(800).checking(100);
    // Nothing is known of these rows, so there is nothing to check.
    other.predict(&rows(2000, 2010)).unwrap();
    let error = other.predict(&rows(0, 1000)).unwrap_err().to_string();
    assert!(
        error.contains("it answers 30 of 100 rows otherwise than in"),
        "{error}"
    );
    assert!(
        error.contains("what stands behind it has changed"),
        "{error}"
    );
}
