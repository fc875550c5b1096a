//! Tables of many columns, and columns that one value spoils.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use facts_run::{Config, Outlook, Silent, Table, outlook};

fn seen(text: String) -> Outlook {
    let settings = "[protected.group]\n[label]\ncolumn = \"outcome\"\nfavourable = \"yes\"\n";
    let config = Config::parse("facts.toml", settings, &[]).unwrap();
    let table = Table::embedded("t.csv", text.leak().as_bytes(), &config.data).unwrap();
    outlook(&config, &table, &Silent).unwrap()
}

/// The time is that of reading the cells, not of comparing columns with columns: else this would not end.
#[test]
fn a_hundred_thousand_columns_are_looked_at_one_by_one() {
    const COLUMNS: usize = 99_998;
    let mut text = "group".to_owned();
    for column in 0..COLUMNS {
        write!(text, ",c{column}").unwrap();
    }
    text += ",outcome\n";
    for row in 0..20 {
        text += ["a", "b"][row % 2];
        for column in 0..COLUMNS {
            write!(text, ",{}", (row * (column % 97 + 3) / 7) % 4).unwrap();
        }
        writeln!(text, ",{}", ["no", "yes"][row / 3 % 2]).unwrap();
    }
    let seen = seen(text);
    assert_eq!(seen.guessed.len(), COLUMNS + 2);
    let same = seen.guessed.iter().filter(|guess| guess.same_as.is_some());
    assert!(same.count() > COLUMNS / 2, "columns repeat after 97");
}

#[test]
fn one_value_that_is_no_number_is_told() {
    let table = |years: &dyn Fn(usize) -> String| {
        let mut text = "group,years,outcome\n".to_owned();
        for row in 0..60 {
            let (group, outcome) = (["a", "b"][row % 2], ["no", "yes"][row / 3 % 2]);
            writeln!(text, "{group},{},{outcome}", years(row)).unwrap();
        }
        seen(text)
    };
    let years = |row: usize| (row % 9).to_string();
    let odd = |row: usize| {
        if row == 7 {
            "inf".to_owned()
        } else {
            years(row)
        }
    };
    let about = |seen: &Outlook| {
        let told = seen
            .notes
            .iter()
            .find(|note| note.contains("taken for text"));
        told.cloned()
    };
    assert_eq!(about(&table(&years)), None);
    let note = about(&table(&odd)).unwrap();
    assert!(note.ends_with("years (`inf`)"), "{note}");
    // A third of the values are words: the column is one of texts.
    let words = |row: usize| {
        if row.is_multiple_of(3) {
            "few".to_owned()
        } else {
            years(row)
        }
    };
    assert_eq!(about(&table(&words)), None);
}
