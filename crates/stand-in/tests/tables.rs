//! The tables as a reader of them sees them; needs no file from elsewhere.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use facts_stand_in::{
    AD_CAMPAIGN_ROWS, NOTICE, NOTICE_KEY, PEOPLE, SSL_ROWS, ad_campaign, ad_campaign_profiles, ssl,
};
use serde_json::Value;

const SEED: u64 = 131_313;

fn parameters(name: &str) -> Value {
    let path = format!("{}/parameters/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A column as text, nulls as ∅.
fn texts(table: &RecordBatch, name: &str) -> Vec<String> {
    let array = table.column_by_name(name).unwrap();
    let shown = |text: Option<String>| text.unwrap_or("∅".to_owned());
    match array.data_type() {
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let values = dictionary.values().as_string::<i32>();
            let keys = dictionary.normalized_keys();
            keys.into_iter()
                .map(|key| values.value(key).to_owned())
                .collect()
        }
        DataType::Int64 => array
            .as_primitive::<Int64Type>()
            .iter()
            .map(|n| shown(n.map(|n| n.to_string())))
            .collect(),
        _ => array
            .as_primitive::<Float64Type>()
            .iter()
            .map(|n| shown(n.map(|n| n.to_string())))
            .collect(),
    }
}

fn names(table: &RecordBatch) -> Vec<String> {
    let schema = table.schema();
    schema.fields().iter().map(|f| f.name().clone()).collect()
}

fn counts<T: Ord>(values: impl IntoIterator<Item = T>) -> BTreeMap<T, u64> {
    let mut found = BTreeMap::new();
    for value in values {
        *found.entry(value).or_default() += 1;
    }
    found
}

/// FNV-1a of every cell.
fn fingerprint(table: &RecordBatch) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for name in names(table) {
        for text in texts(table, &name) {
            for byte in text.bytes().chain([0]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
            }
        }
    }
    hash
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|v| v * v).sum::<f64>() / n;
    (mean, (square - mean * mean).sqrt())
}

#[test]
fn ad_campaign_has_the_columns_and_values_of_the_real_file() {
    let table = ad_campaign(100_000, SEED);
    assert_eq!(
        names(&table),
        [
            "religion",
            "politics",
            "college_educated",
            "parents",
            "homeowner",
            "gender",
            "age",
            "income",
            "area",
            "true_conversion",
            "predicted_conversion",
            "predicted_probability"
        ]
    );
    let values = |name: &str| -> Vec<String> {
        let distinct: BTreeSet<String> = texts(&table, name).into_iter().collect();
        distinct.into_iter().collect()
    };
    assert_eq!(values("religion"), ["Christianity", "Other", "Unknown"]);
    assert_eq!(
        values("politics"),
        [
            "Communism",
            "Conservatism",
            "Conservative",
            "Environmentalism",
            "Liberal",
            "Liberalism",
            "Moderate",
            "Socialism",
            "Unknown"
        ]
    );
    assert_eq!(values("gender"), ["F", "M", "Unknown"]);
    assert_eq!(
        values("age"),
        ["18-24", "25-34", "45-54", "55-64", "Unknown"]
    );
    assert_eq!(values("income"), ["<100K", ">100K", "Unknown"]);
    assert_eq!(values("area"), ["Rural", "Unknown", "Urban"]);
    for name in [
        "college_educated",
        "parents",
        "homeowner",
        "true_conversion",
    ] {
        assert_eq!(values(name), ["0", "1"], "{name}");
    }
    for name in ["predicted_conversion", "predicted_probability"] {
        assert_eq!(values(name), ["∅"], "{name}");
    }
    assert_eq!(table.schema().metadata()[NOTICE_KEY], NOTICE);
}

#[test]
fn all_of_ad_campaign_has_the_published_margins() {
    let given = parameters("ad_campaign");
    for seed in [SEED, 1, 2] {
        let table = ad_campaign_profiles(AD_CAMPAIGN_ROWS, seed);
        let people = table.column_by_name(PEOPLE).unwrap();
        let people = people.as_primitive::<Int64Type>().values();
        let of = |name: &str| {
            let mut found: BTreeMap<String, i64> = BTreeMap::new();
            for (value, people) in texts(&table, name).into_iter().zip(people) {
                *found.entry(value).or_default() += people;
            }
            found
        };
        for (name, levels) in given["people"].as_object().unwrap() {
            for (level, count) in levels.as_object().unwrap() {
                assert_eq!(Some(of(name)[level]), count.as_i64(), "{name} = {level}");
            }
        }
        let conversions = of("true_conversion")["1"];
        assert_eq!(Some(conversions), given["conversions"].as_i64());
        assert_eq!(people.iter().sum::<i64>(), AD_CAMPAIGN_ROWS as i64);
    }
}

#[test]
fn profiles_are_the_same_people_as_rows() {
    let (rows, profiles) = (ad_campaign(20_000, 5), ad_campaign_profiles(20_000, 5));
    let lines = |table: &RecordBatch| -> Vec<Vec<String>> {
        let columns: Vec<Vec<String>> = names(&rows).iter().map(|n| texts(table, n)).collect();
        let line = |i: usize| columns.iter().map(|column| column[i].clone()).collect();
        (0..table.num_rows()).map(line).collect()
    };
    let people = profiles.column_by_name(PEOPLE).unwrap();
    let people = people.as_primitive::<Int64Type>().values();
    let weighted = lines(&profiles).into_iter().zip(people);
    let weighted: BTreeMap<_, _> = weighted.map(|(line, n)| (line, *n as u64)).collect();
    assert_eq!(
        weighted.len(),
        profiles.num_rows(),
        "a profile appears twice"
    );
    assert_eq!(counts(lines(&rows)), weighted);
}

#[test]
fn any_number_of_rows_can_be_drawn() {
    for rows in [0, 1, 7, 1_000] {
        assert_eq!(ad_campaign(rows, SEED).num_rows(), rows);
        assert_eq!(ssl(rows, SEED).num_rows(), rows);
    }
    assert_eq!(ssl(SSL_ROWS + 1_000, SEED).num_rows(), SSL_ROWS + 1_000);
}

#[test]
fn a_seed_gives_the_same_rows_everywhere() {
    let tables = [ad_campaign(50_000, SEED), ssl(50_000, SEED)];
    let recorded = [12_598_890_456_446_818_817, 17_375_600_061_437_429_630];
    assert_eq!(tables.map(|table| fingerprint(&table)), recorded);
    assert_ne!(
        fingerprint(&ad_campaign(5_000, 1)),
        fingerprint(&ad_campaign(5_000, 2))
    );
    assert_ne!(fingerprint(&ssl(5_000, 1)), fingerprint(&ssl(5_000, 2)));
}

#[test]
fn the_readme_shows_the_first_rows() {
    let readme = format!("{}/README.md", env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(readme).unwrap();
    for table in [ssl(SSL_ROWS, SEED), ad_campaign(AD_CAMPAIGN_ROWS, SEED)] {
        let first = table.slice(0, 1);
        let cells: Vec<String> = names(&first)
            .iter()
            .map(|name| texts(&first, name).remove(0))
            .collect();
        let line = format!("| {} |", cells.join(" | "));
        assert!(readme.contains(&line), "README.md does not show {line}");
    }
}

#[test]
fn ssl_has_the_columns_and_values_of_the_raw_file() {
    let table = ssl(SSL_ROWS, SEED);
    assert_eq!(
        names(&table),
        [
            "SSL SCORE",
            "PREDICTOR RAT AGE AT LATEST ARREST",
            "PREDICTOR RAT VICTIM SHOOTING INCIDENTS",
            "PREDICTOR RAT VICTIM BATTERY OR ASSAULT",
            "PREDICTOR RAT ARRESTS VIOLENT OFFENSES",
            "PREDICTOR RAT GANG AFFILIATION",
            "PREDICTOR RAT NARCOTIC ARRESTS",
            "PREDICTOR RAT TREND IN CRIMINAL ACTIVITY",
            "PREDICTOR RAT UUW ARRESTS",
            "SEX CODE CD",
            "RACE CODE CD"
        ]
    );
    let ages: BTreeSet<String> = texts(&table, "PREDICTOR RAT AGE AT LATEST ARREST")
        .into_iter()
        .collect();
    assert_eq!(
        ages.into_iter().collect::<Vec<_>>(),
        [
            "20-30",
            "30-40",
            "40-50",
            "50-60",
            "60-70",
            "70-80",
            "less than 20"
        ]
    );
    let races = counts(texts(&table, "RACE CODE CD"));
    let given = parameters("ssl");
    let codes: Vec<&String> = races.keys().collect();
    assert_eq!(codes, ["API", "BLK", "I", "U", "WBH", "WHI", "WWH"]);
    // Whom the joint counts name, and what cleaning must leave.
    assert_eq!(
        (races["BLK"], races["WHI"], races["API"], races["I"]),
        (207_760, 82_317, 4_614, 2_174)
    );
    assert_eq!(Some(races["U"]), given["unknown_race"].as_u64());
    let black_hispanic = given["black_hispanic"].as_u64().unwrap();
    assert!(races["WBH"].abs_diff(black_hispanic) <= 1, "{races:?}");
    assert_eq!(table.schema().metadata()[NOTICE_KEY], NOTICE);
}

#[test]
fn all_of_ssl_has_the_published_joint_counts() {
    let table = ssl(SSL_ROWS, SEED);
    let mut published: BTreeMap<(String, String, String), u64> = BTreeMap::new();
    for stratum in parameters("ssl")["strata"].as_array().unwrap() {
        let sex = match stratum["sex"].as_str().unwrap() {
            "Men" => "M",
            "Women" => "F",
            _ => "X",
        };
        let race = stratum["race"].as_str().unwrap();
        for pair in stratum["scores"].as_array().unwrap() {
            let key = (pair[0].to_string(), race.to_owned(), sex.to_owned());
            *published.entry(key).or_default() += pair[1].as_u64().unwrap();
        }
    }
    let race = |code: String| match code.as_str() {
        "BLK" => "Black",
        "WHI" => "White",
        "API" => "Asian",
        "I" => "Unknown-Not-Listed",
        _ => "Hispanic",
    };
    let scores = texts(&table, "SSL SCORE").into_iter();
    let races = texts(&table, "RACE CODE CD").into_iter();
    let sexes = texts(&table, "SEX CODE CD").into_iter();
    let rows = scores
        .zip(races)
        .zip(sexes)
        .filter(|((_, race), _)| race != "U");
    let here = counts(rows.map(|((score, code), sex)| (score, race(code).to_owned(), sex)));
    let mut extra = 0;
    for (key, count) in &here {
        let there = published.get(key).copied().unwrap_or(0);
        if key.1 == "Hispanic" {
            // With the few who have no age group in the published counts.
            extra += count - there;
        } else {
            assert_eq!(*count, there, "{key:?}");
        }
    }
    assert!(published.keys().all(|key| here.contains_key(key)));
    assert_eq!(Some(extra), parameters("ssl")["without_age_group"].as_u64());
}

#[test]
fn ssl_columns_have_about_the_published_moments() {
    let table = ssl(SSL_ROWS, SEED);
    // Column, mean and deviation as describe() printed them, and how far the mean may be off.
    for (name, mean, deviation, greatest) in [
        (
            "PREDICTOR RAT VICTIM SHOOTING INCIDENTS",
            0.020227,
            0.152919,
            4.0,
        ),
        (
            "PREDICTOR RAT VICTIM BATTERY OR ASSAULT",
            0.035916,
            0.210601,
            10.0,
        ),
        (
            "PREDICTOR RAT ARRESTS VIOLENT OFFENSES",
            0.114988,
            0.405583,
            12.0,
        ),
        ("PREDICTOR RAT GANG AFFILIATION", 0.162903, 0.369278, 1.0),
        ("PREDICTOR RAT NARCOTIC ARRESTS", 0.335752, 0.837828, 29.0),
        ("PREDICTOR RAT UUW ARRESTS", 0.033297, 0.193237, 4.0),
        (
            "PREDICTOR RAT TREND IN CRIMINAL ACTIVITY",
            -0.049534,
            0.4049,
            7.3,
        ),
    ] {
        let values: Vec<f64> = texts(&table, name)
            .iter()
            .map(|t| t.parse().unwrap())
            .collect();
        let (here, spread) = mean_and_deviation(&values);
        assert!(
            (here - mean).abs() < 0.05 * deviation,
            "{name}: {here} for {mean}"
        );
        assert!(
            (spread / deviation - 1.0).abs() < 0.08,
            "{name}: {spread} for {deviation}"
        );
        assert!(values.iter().all(|v| *v <= greatest), "{name}");
    }
}
