//! Small examples worked by hand, for what random cases reach seldom or not at all.

// A test's helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use facts_engine::distribution::{Count, Subgroup};
use facts_engine::flips::FnModel;
use facts_engine::population::{
    Bins, Declaration, Distance, Edges, Feature, Kind, Missing, Move, Population, Protected,
    TransitionRule, View,
};
use facts_engine::{Audit, Error, Options, Watch, audit, audit_again, audit_with_individuals};

fn texts<'t, T: Into<Option<&'t str>>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    let values = values.into_iter().map(Into::into);
    Arc::new(values.collect::<StringArray>())
}

fn numbers<T: Into<Option<i64>>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    let values = values.into_iter().map(Into::into);
    Arc::new(values.collect::<Int64Array>())
}

fn table<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The text in a column and row of a batch; null is empty.
fn text<'b>(batch: &'b RecordBatch, name: &str, row: usize) -> &'b str {
    let column = batch.column_by_name(name).unwrap().as_string::<i32>();
    if column.is_null(row) {
        return "";
    }
    column.value(row)
}

/// Audits with a model that favours the rows of which `favours` says so.
fn run(
    declaration: Declaration,
    table: &RecordBatch,
    options: &Options,
    favours: impl Fn(&RecordBatch, usize) -> bool + Sync,
) -> Result<Audit, Error> {
    let population = declaration.read([table])?;
    let model = FnModel::new(|batch: &RecordBatch| {
        let rows = 0..batch.num_rows();
        rows.map(|row| favours(batch, row)).collect()
    });
    audit(&population, &model, options, Watch::nobody())
}

fn support(text: &str) -> Options {
    Options::new().support(text.parse().unwrap())
}

fn group_names(audit: &Audit) -> Vec<&str> {
    audit
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect()
}

/// The subgroup with this predicate.
fn subgroup<'a>(audit: &'a Audit, predicate: &str) -> &'a Subgroup {
    let mut subgroups = audit.subgroups.iter();
    let found = subgroups.find(|one| audit.text(&one.predicate) == predicate);
    found.unwrap_or_else(|| panic!("no subgroup {predicate}"))
}

/// The actions of a subgroup as (change, cost, flips by group).
fn actions(audit: &Audit, subgroup: &Subgroup) -> Vec<(String, f64, Vec<u64>)> {
    let actions = subgroup.actions.iter().enumerate();
    actions
        .map(|(place, action)| {
            let change = subgroup.change(place, &audit.changes).text(&audit.features);
            let flips = (0..subgroup.groups()).map(|g| subgroup.flips(place, g).known().unwrap());
            (change, action.cost, flips.collect())
        })
        .collect()
}

/// `job` and `sex`: clerks are refused, bosses are not, and only `c` has pilots, who are not.
fn workers() -> RecordBatch {
    let rows = [
        ("a", "clerk", 4),
        ("a", "boss", 3),
        ("b", "clerk", 3),
        ("b", "boss", 1),
        ("c", "clerk", 2),
        ("c", "pilot", 6),
        ("d", "boss", 5),
    ];
    table([
        ("sex", texts(rows.map(|row| row.0))),
        ("job", texts(rows.map(|row| row.1))),
        ("people", numbers(rows.map(|row| row.2))),
    ])
}

fn declared() -> Declaration {
    Declaration::new()
        .feature(Feature::categorical("job"))
        .protected(Protected::attribute("sex"))
        .weight("people")
}

fn no_clerk(batch: &RecordBatch, row: usize) -> bool {
    text(batch, "job", row).trim() != "clerk"
}

#[test]
fn small_groups_are_set_aside_and_named() {
    let options = support("0.1").min_group_size(3);
    let found = run(declared(), &workers(), &options, no_clerk).unwrap();
    assert_eq!(group_names(&found), ["a", "b"]);
    assert_eq!((found.groups[0].people, found.groups[0].affected), (7, 4));
    let set_aside: Vec<_> = found
        .set_aside
        .iter()
        .map(|group| {
            (
                group.name.as_str(),
                group.people,
                group.affected,
                group.why.as_str(),
            )
        })
        .collect();
    let known = Count::Known;
    assert_eq!(
        set_aside,
        [
            ("c", known(8), known(2), "fewer than 3 affected"),
            ("d", known(5), known(0), "nobody affected"),
        ]
    );
    // Those who are set aside still show what works: pilots are all of group `c`.
    assert_eq!(found.unaffected, 15);
    let clerks = subgroup(&found, "job = clerk");
    assert_eq!(
        actions(&found, clerks),
        [
            ("job = boss".to_owned(), 1.0, vec![4, 3]),
            ("job = pilot".to_owned(), 1.0, vec![4, 3]),
        ]
    );
    // By default only a group with nobody affected is set aside.
    let found = run(declared(), &workers(), &support("0.1"), no_clerk).unwrap();
    assert_eq!(group_names(&found), ["a", "b", "c"]);
}

#[test]
fn too_few_groups_are_an_error_that_names_all() {
    let options = support("0.1").min_group_size(4);
    let error = run(declared(), &workers(), &options, no_clerk).unwrap_err();
    assert_eq!(
        error.to_string(),
        "only `a` of the groups can be compared, and it takes two; set aside: `b` (fewer than 4 affected: 3), `c` (fewer than 4 affected: 2), `d` (nobody affected); lower the least group size, merge groups, compare others, or audit more people"
    );
}

#[test]
fn only_the_groups_asked_for_are_compared() {
    let options = support("0.1").compare(["c", "a"]);
    let found = run(declared(), &workers(), &options, no_clerk).unwrap();
    assert_eq!(group_names(&found), ["a", "c"]);
    let set_aside: Vec<_> = found
        .set_aside
        .iter()
        .map(|group| (group.name.as_str(), group.why.as_str()))
        .collect();
    let why = "not among the groups to compare";
    assert_eq!(set_aside, [("b", why), ("d", why)]);
    assert_eq!(found.unaffected, 15);

    let options = support("0.1").compare(["a", "B"]);
    let error = run(declared(), &workers(), &options, no_clerk).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no group `B` (did you mean `b`?); the groups are: a, b, c, d"
    );
    let options = support("0.1").compare(["a", "d"]);
    let error = run(declared(), &workers(), &options, no_clerk).unwrap_err();
    assert!(matches!(error, Error::TooFewGroups { kept, .. } if kept == ["a"]));
}

#[test]
fn groups_are_merged_and_a_star_takes_the_rest() {
    let merged = |attribute: Protected| {
        Declaration::new()
            .feature(Feature::categorical("job"))
            .protected(attribute)
            .weight("people")
    };
    let attribute = Protected::attribute("sex")
        .merge("first", ["a"])
        .merge("rest", ["*"]);
    let found = run(merged(attribute), &workers(), &support("0.1"), no_clerk).unwrap();
    assert_eq!(group_names(&found), ["first", "rest"]);
    assert_eq!((found.groups[1].people, found.groups[1].affected), (17, 5));

    // A name that is mapped by itself is not in the rest; a value that nobody has is noticed.
    let attribute = Protected::attribute("sex")
        .merge("*", ["x"])
        .merge("some", ["b", "c"])
        .merge("rest", ["*"]);
    let found = run(merged(attribute), &workers(), &support("0.1"), no_clerk).unwrap();
    assert_eq!(group_names(&found), ["rest", "some"]);
    assert_eq!(
        found.population.notices,
        ["protected attribute `sex`: nobody has the value `x`, which is mapped to group `*`"]
    );

    // Each attribute is merged before the attributes are crossed.
    let crossed = Declaration::new()
        .protected(
            Protected::attribute("sex")
                .merge("ab", ["a", "b"])
                .merge("cd", ["*"]),
        )
        .protected(
            Protected::attribute("people")
                .merge("one", ["1"])
                .merge("more", ["*"]),
        )
        .feature(Feature::categorical("job"));
    let found = run(crossed, &workers(), &support("0.1"), no_clerk).unwrap();
    assert_eq!(group_names(&found), ["ab & more", "cd & more"]);
    assert_eq!(found.set_aside[0].name, "ab & one");
}

#[test]
fn a_protected_number_is_cut_into_groups() {
    let table = table([
        ("age", numbers([18, 25, 30, 40, 65])),
        ("job", texts(["clerk", "boss", "clerk", "clerk", "boss"])),
    ]);
    let bins = |labels: Option<Vec<String>>| {
        Kind::Binned(Bins {
            edges: Edges::At(vec![18.0, 30.0, f64::INFINITY]),
            labels,
            view: View::Raw(Move::Linear),
        })
    };
    let declaration = |labels| {
        Declaration::new()
            .feature(Feature::categorical("job"))
            .protected(Protected::attribute("age").kind(bins(labels)))
    };
    let seen = Mutex::new(Vec::new());
    let favours = |batch: &RecordBatch, row: usize| {
        let ages = batch
            .column_by_name("age")
            .unwrap()
            .as_primitive::<Int64Type>();
        seen.lock().unwrap().push(ages.value(row));
        // The model sees the age itself: being a boss does not help at 18.
        text(batch, "job", row) == "boss" && ages.value(row) != 18
    };
    let found = run(declaration(None), &table, &support("0.1"), favours).unwrap();
    assert_eq!(group_names(&found), ["(18.0, 30.0]", "(30.0, inf]"]);
    assert_eq!((found.groups[0].people, found.groups[0].affected), (3, 2));
    let clerks = subgroup(&found, "job = clerk");
    assert_eq!(clerks.members, [2, 1]);
    assert_eq!(
        actions(&found, clerks),
        [("job = boss".to_owned(), 1.0, vec![1, 1])]
    );
    assert!(
        seen.into_inner()
            .unwrap()
            .iter()
            .all(|age| [18, 25, 30, 40, 65].contains(age))
    );

    let labels = Some(vec!["young".to_owned(), "old".to_owned()]);
    let found = run(
        declaration(labels),
        &table,
        &support("0.1"),
        |batch, row| text(batch, "job", row) == "boss",
    );
    assert_eq!(group_names(&found.unwrap()), ["old", "young"]);
}

#[test]
fn the_model_sees_context_and_the_audit_does_not_speak_of_it() {
    let table = table([
        ("note", texts(["x", "x", "y", "x", "y"])),
        ("job", texts(["clerk", "clerk", "clerk", "clerk", "boss"])),
        ("sex", texts(["a", "b", "b", "b", "a"])),
        ("unused", numbers([1, 2, 3, 4, 5])),
    ]);
    let declaration = Declaration::new()
        .feature(Feature::categorical("job"))
        .protected(Protected::attribute("sex"))
        .context("note");
    let population = declaration.clone().read([&table]).unwrap();
    let columns: Vec<&str> = population.columns().iter().map(|c| c.name()).collect();
    assert_eq!(columns, ["note", "job", "sex"]);
    // The last two clerks of `b` differ in their context alone; the first and the last in nothing.
    assert_eq!(population.profiles(), 4);
    assert_eq!(population.summary().ignored_columns, ["unused"]);

    // A boss is favoured where the note is `y`.
    let favours = |batch: &RecordBatch, row: usize| {
        text(batch, "job", row) == "boss" && text(batch, "note", row) == "y"
    };
    let found = run(declaration, &table, &support("0.1"), favours).unwrap();
    let features: Vec<&str> = found.features.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(features, ["job"]);
    let clerks = subgroup(&found, "job = clerk");
    assert_eq!(
        actions(&found, clerks),
        [("job = boss".to_owned(), 1.0, vec![0, 1])]
    );
}

#[test]
fn spellings_are_one_level_and_the_model_gets_the_usual_one() {
    let table = table([
        (
            "job",
            texts([
                " clerk", "clerk", "clerk ", " boss", " boss", "boss", "? ", "boss\t",
            ]),
        ),
        ("sex", texts(["a", " a", "b", "a", "b", "b ", "a", "a"])),
    ]);
    let declaration = Declaration::new()
        .feature(
            Feature::categorical("job")
                .missing(Missing::Drop)
                .missing_codes(["?"]),
        )
        .protected(Protected::attribute("sex"))
        .trim(true);
    let seen = Mutex::new(Vec::new());
    let favours = |batch: &RecordBatch, row: usize| {
        let row_seen = (
            text(batch, "job", row).to_owned(),
            text(batch, "sex", row).to_owned(),
        );
        seen.lock().unwrap().push(row_seen);
        no_clerk(batch, row)
    };
    let found = run(declaration, &table, &support("0.1"), favours).unwrap();
    assert_eq!(group_names(&found), ["a", "b"]);
    assert_eq!((found.population.dropped, found.population.people), (1, 7));
    let labels: Vec<&str> = found.features[0]
        .levels
        .iter()
        .map(|l| l.label.as_str())
        .collect();
    assert_eq!(labels, ["boss", "clerk"]);
    assert_eq!(subgroup(&found, "job = clerk").members, [2, 1]);
    let seen = seen.into_inner().unwrap();
    let row = |job: &str, sex: &str| (job.to_owned(), sex.to_owned());
    // As they stand in the table, in the order of their values; then clerks as bosses: two of four bosses are
    // spelled ` boss`.
    // The clerks of `a` and `b` in their usual spelling would be rows of the population.
    assert_eq!(seen[..2], [row(" boss", "a"), row(" boss", "b")]);
    assert_eq!(seen.len(), 7 + 1);
    assert_eq!(seen[7], row(" boss", " a"));
}

#[test]
fn equally_usual_spellings_go_to_the_first_in_text_order() {
    let table = table([
        (
            "job",
            texts(["clerk", "clerk", "boss ", " boss", "boss ", " boss"]),
        ),
        ("sex", texts(["a", "b", "a", "a", "a", "a"])),
    ]);
    let declaration = Declaration::new()
        .feature(Feature::categorical("job"))
        .protected(Protected::attribute("sex"))
        .trim(true);
    let seen = Mutex::new(Vec::new());
    let favours = |batch: &RecordBatch, row: usize| {
        seen.lock()
            .unwrap()
            .push(text(batch, "job", row).to_owned());
        no_clerk(batch, row)
    };
    run(declaration, &table, &support("0.1"), favours).unwrap();
    // The clerk of `a` as a ` boss` is a row of the population; that of `b` is new.
    assert_eq!(
        seen.into_inner().unwrap(),
        [" boss", "boss ", "clerk", "clerk", " boss"]
    );
}

/// Texts that read as one number are one level, called as most people have it.
#[test]
fn spellings_of_a_number_are_one_level() {
    let jobs = ["1", "01", "01", "2", "02", "3.0"];
    let sexes = ["a", "b", "a", "a", "b", "b"];
    let labels = |table: &RecordBatch| -> Vec<String> {
        let declaration = Declaration::new()
            .feature(Feature::numeric("n"))
            .protected(Protected::attribute("sex"));
        let population = declaration.read([table]).unwrap();
        let levels = population.features()[0].levels.iter();
        levels.map(|level| level.label.clone()).collect()
    };
    let forwards = table([("n", texts(jobs)), ("sex", texts(sexes))]);
    assert_eq!(labels(&forwards), ["01", "02", "3.0"]);
    let (mut jobs, mut sexes) = (jobs, sexes);
    jobs.reverse();
    sexes.reverse();
    let backwards = table([("n", texts(jobs)), ("sex", texts(sexes))]);
    assert_eq!(labels(&backwards), labels(&forwards));
}

/// Three features of which all pairs, and one triple, are common.
fn three_features() -> (RecordBatch, Declaration) {
    let table = table([
        ("x", texts(["p", "p", "p", "p", "q"])),
        ("y", texts(["p", "p", "p", "p", "q"])),
        ("z", texts(["p", "p", "q", "q", "q"])),
        ("sex", texts(["a", "b", "a", "b", "a"])),
    ]);
    let declaration = Declaration::new()
        .features(["x", "y", "z"].map(Feature::categorical))
        .protected(Protected::attribute("sex"));
    (table, declaration)
}

#[test]
fn the_search_ends_at_the_longest_predicate_wanted() {
    let (table, declaration) = three_features();
    let favours = |batch: &RecordBatch, row: usize| text(batch, "x", row) == "q";
    let sizes = |options: Options| {
        let found = run(declaration.clone(), &table, &options, favours).unwrap();
        (found.sizes.common_subgroups, found.sizes.action_itemsets)
    };
    // Among the affected: x, y, both; and each of these with either z. One person is unaffected.
    assert_eq!(sizes(support("0.3")), (11, 7));
    assert_eq!(sizes(support("0.3").max_length(3)), (11, 7));
    assert_eq!(sizes(support("0.3").max_length(2)), (9, 6));
    assert_eq!(sizes(support("0.3").max_length(1)), (4, 3));
}

/// Two of each group have `x = p`, and one of each has it with either `z`.
#[test]
fn a_subgroup_needs_so_many_people_in_each_group() {
    let (table, declaration) = three_features();
    let favours = |batch: &RecordBatch, row: usize| text(batch, "x", row) == "q";
    let common = |members| {
        let options = support("0.3").min_members(members);
        let found = run(declaration.clone(), &table, &options, favours).unwrap();
        found.sizes.common_subgroups
    };
    assert_eq!([1, 2, 3].map(common), [11, 3, 0]);
}

/// What is chosen where no support is given.
#[test]
fn the_least_support_of_the_ladder_that_gives_few_enough_is_chosen() {
    let (table, declaration) = three_features();
    let favours = |batch: &RecordBatch, row: usize| text(batch, "x", row) == "q";
    let chosen = |most| {
        let options = Options::new().choose_support(most);
        let found = run(declaration.clone(), &table, &options, favours).unwrap();
        let settings = &found.settings;
        (
            settings.support.to_string(),
            settings.max_length,
            found.sizes.common_subgroups,
        )
    };
    assert_eq!(chosen(11), ("0.01".to_owned(), None, 11));
    // Half of each group are in the rarest, so no step up to 0.5 has fewer of any length.
    assert_eq!(chosen(10), ("0.01".to_owned(), Some(2), 9));
    assert_eq!(chosen(4), ("0.01".to_owned(), Some(1), 4));
    let options = Options::new().choose_support(3);
    assert_eq!(
        run(declaration, &table, &options, favours)
            .unwrap()
            .settings
            .support
            .to_string(),
        "0.01",
        "where nothing fits, the audit is made as it was asked for"
    );
}

/// From `missing` a normalised number costs 1, though all who have a number have the same one.
#[test]
fn the_longest_move_of_a_single_number() {
    let table = table([
        ("years", numbers([None, None, Some(4)])),
        ("sex", texts(["a", "b", "a"])),
    ]);
    let favours =
        |batch: &RecordBatch, row: usize| batch.column_by_name("years").unwrap().is_valid(row);
    for (normalised, cost) in [(true, 1.0), (false, 0.0)] {
        let declaration = Declaration::new()
            .feature(
                Feature::numeric("years")
                    .missing(Missing::Level)
                    .distance(Distance::Numeric { normalised }),
            )
            .protected(Protected::attribute("sex"));
        let found = run(declaration, &table, &support("0.1"), favours).unwrap();
        let unknown = subgroup(&found, "years = missing");
        assert_eq!(
            actions(&found, unknown),
            [("years = 4".to_owned(), cost, vec![1, 1])]
        );
    }
}

/// Where the model sees labels, a code for missing has none.
#[test]
fn a_code_among_labels_is_null_to_the_model() {
    let table = table([
        ("age", numbers([Some(-1), None, Some(20), Some(60)])),
        ("sex", texts(["a", "b", "a", "b"])),
    ]);
    let bins = Edges::At(vec![0.0, 30.0, 100.0]);
    let declaration = Declaration::new()
        .feature(
            Feature::binned("age", bins)
                .labels(["young", "old"])
                .view(View::Label)
                .missing(Missing::Level)
                .missing_codes(["-1"]),
        )
        .protected(Protected::attribute("sex"));
    let seen = Mutex::new(Vec::new());
    let favours = |batch: &RecordBatch, row: usize| {
        seen.lock()
            .unwrap()
            .push(text(batch, "age", row).to_owned());
        text(batch, "age", row) == "old"
    };
    run(declaration, &table, &support("0.1"), favours).unwrap();
    assert_eq!(seen.into_inner().unwrap()[..4], ["", "", "young", "old"]);
}

/// A function cannot be saved, but what it cost can.
#[test]
fn costs_by_a_function_survive_saving() {
    let declaration = Declaration::new()
        .feature(
            Feature::categorical("job").distance(Distance::Function(Arc::new(|from, to| {
                (from.label.len() * to.label.len()) as f64
            }))),
        )
        .protected(Protected::attribute("sex"))
        .weight("people");
    let found = run(declaration, &workers(), &support("0.1"), no_clerk).unwrap();
    let saved = serde_json::to_string(&found).unwrap();
    let loaded: Audit = serde_json::from_str(&saved).unwrap();
    assert_eq!(serde_json::to_string(&loaded).unwrap(), saved);
    let costs: Vec<f64> = actions(&loaded, subgroup(&loaded, "job = clerk"))
        .into_iter()
        .map(|(_, cost, _)| cost)
        .collect();
    assert_eq!(costs, [20.0, 25.0]);
}

#[test]
fn people_are_reached_in_any_order_of_actions() {
    // Of four clerks in each group, managers are wanted from A and drivers from A and B.
    let jobs = ["clerk", "clerk", "clerk", "clerk", "driver", "manager"];
    let towns = ["A", "A", "B", "C", "A", "A"];
    let people = |group: &'static str| {
        table([
            ("job", texts(jobs)),
            ("town", texts(towns)),
            ("group", texts([group; 6])),
        ])
    };
    let declaration = Declaration::new()
        .feature(Feature::categorical("job"))
        .context("town")
        .protected(Protected::attribute("group"));
    let population = declaration.read([&people("f"), &people("m")]).unwrap();
    let model = FnModel::new(|batch: &RecordBatch| {
        let rows = 0..batch.num_rows();
        rows.map(|row| match text(batch, "job", row) {
            "manager" => text(batch, "town", row) == "A",
            "driver" => text(batch, "town", row) != "C",
            _ => false,
        })
        .collect()
    });
    let (audit, individuals) =
        audit_with_individuals(&population, &model, &support("0.1"), Watch::nobody()).unwrap();
    let clerks = subgroup(&audit, "job = clerk");
    let places = ["job = manager", "job = driver"].map(|wanted| {
        let mut actions = actions(&audit, clerks).into_iter();
        actions.position(|(change, ..)| change == wanted).unwrap()
    });
    let [manager, driver] = places;
    for g in [0, 1] {
        let reached = |order: &[usize]| individuals.reached_in_order(clerks, g, order);
        assert_eq!(reached(&[manager, driver]), [2, 3]);
        assert_eq!(reached(&[driver, manager]), [3, 3]);
        assert_eq!(reached(&[]), [0; 0]);
    }
}

#[test]
fn a_rule_given_as_code_is_one_more_rule() {
    let jobs = ["clerk", "clerk", "driver", "manager"];
    let people = |group: &'static str| table([("job", texts(jobs)), ("group", texts([group; 4]))]);
    let both = [people("f"), people("m")];
    let changes = |feature: Feature| {
        let declaration = Declaration::new()
            .feature(feature)
            .protected(Protected::attribute("group"));
        let population = declaration.read(&both).unwrap();
        let model = FnModel::new(|batch: &RecordBatch| {
            let rows = 0..batch.num_rows();
            rows.map(|row| text(batch, "job", row) != "clerk").collect()
        });
        let audit = audit(&population, &model, &support("0.1"), Watch::nobody()).unwrap();
        let changes = audit.changes.iter();
        let changes = changes.map(|change| change.text(&audit.features));
        changes.collect::<Vec<_>>()
    };
    let job = || Feature::categorical("job");
    let never_manager = TransitionRule::new(|_, to| to.label != "manager");
    assert_eq!(changes(job()).len(), 2);
    assert_eq!(
        changes(job().allow(never_manager.clone())),
        ["job = driver"]
    );
    let nothing_left = job().allow(never_manager).not_a_target(["driver"]);
    assert_eq!(changes(nothing_left), [""; 0]);
}

#[test]
fn people_beyond_counting_are_an_error() {
    let people = table([
        ("job", texts(["clerk", "boss"])),
        ("group", texts(["f", "m"])),
        ("people", numbers([i64::MAX, i64::MAX])),
    ]);
    let declaration = || {
        Declaration::new()
            .feature(Feature::categorical("job"))
            .protected(Protected::attribute("group"))
            .weight("people")
    };
    assert!(declaration().read([&people]).is_ok());
    let error = declaration().read([&people, &people]).unwrap_err();
    let start = "the weights add up to more than 18446744073709551615 people, which cannot be counted (at row 2 or a later one)";
    assert!(error.to_string().starts_with(start), "{error}");
}

#[test]
fn an_audit_is_counted_again_only_where_its_words_mean_the_same() {
    let table = workers();
    let model = FnModel::new(|batch: &RecordBatch| {
        let rows = 0..batch.num_rows();
        rows.map(|row| no_clerk(batch, row)).collect()
    });
    let options = support("0.1").compare(["a", "b"]);
    let population = declared().read([&table]).unwrap();
    let found = audit(&population, &model, &options, Watch::nobody()).unwrap();
    let again = |population: &Population| {
        audit_again(population, &model, &found, &options, Watch::nobody())
    };
    let (counted, _) = again(&population).unwrap();
    assert_eq!(counted.subgroups, found.subgroups);
    assert_eq!(counted.subgroups.len(), 1);
    assert_eq!(counted.groups, found.groups);

    // Nobody of the second part of b is a clerk: the subgroup is not there.
    let rows = [
        ("a", "clerk", 4),
        ("a", "boss", 3),
        ("b", "boss", 3),
        ("c", "pilot", 1),
    ];
    let others = table_of(&rows);
    let (counted, _) = again(&declared().read([others]).unwrap()).unwrap();
    assert!(counted.subgroups.is_empty());
    assert_eq!(counted.groups[1].affected, 0);

    let rows = [("a", "clerk", 4), ("c", "boss", 3), ("c", "pilot", 1)];
    let refused = again(&declared().read([table_of(&rows)]).unwrap());
    let refused = refused.unwrap_err().to_string();
    assert!(refused.starts_with("there is no group `b`"), "{refused}");

    let rows = [("a", "clerk", 4), ("b", "boss", 3)];
    let refused = again(&declared().read([table_of(&rows)]).unwrap());
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.starts_with("feature `job` does not have the levels"),
        "{refused}"
    );
}

/// `job` and `sex`, with so many people a row.
fn table_of(rows: &[(&str, &str, i64)]) -> RecordBatch {
    table([
        ("sex", texts(rows.iter().map(|row| row.0))),
        ("job", texts(rows.iter().map(|row| row.1))),
        ("people", numbers(rows.iter().map(|row| row.2))),
    ])
}
