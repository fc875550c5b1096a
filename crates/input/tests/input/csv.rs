//! What CSV options do to a table.

use arrow_schema::DataType;
use facts_input::csv::{ColumnType, Duplicates, Header};

use super::*;

fn table(text: impl AsRef<[u8]>, options: &Options) -> Vec<Vec<String>> {
    cells(read("t.csv", text, options).unwrap()).unwrap()
}

fn inferred(text: &str, options: &Options) -> Vec<DataType> {
    types(&read("t.csv", text, options).unwrap())
}

#[test]
fn delimiters_and_names_that_imply_one() {
    let semicolons = csv(|o| o.delimiter = Some(b';'));
    assert_eq!(table("a;b\n1,5;2\n", &semicolons)[1], ["1,5", "2"]);
    let tabs = read("T.tsv.gz", gzip(b"a\tb\n1\t2\n"), &Options::default()).unwrap();
    assert_eq!(cells(tabs).unwrap(), [["a", "b"], ["1", "2"]]);
    let spaces = csv(|o| o.delimiter = Some(b' '));
    assert_eq!(table("a b\nA11 6\n", &spaces)[1], ["A11", "6"]);
}

#[test]
fn quotes() {
    let text = "a,b\n\"x, \"\"y\"\"\nz\",5\" pipe\n\"\",\n";
    assert_eq!(
        table(text, &Options::default())[1..],
        [["x, \"y\"\nz", "5\" pipe"], ["", "∅"]]
    );
    let single = csv(|o| o.quote = Some(b'\''));
    assert_eq!(table("a,b\n'x,y',\"\n", &single)[1], ["x,y", "\""]);
    let none = csv(|o| o.quote = None);
    assert_eq!(table("a,b\n\"x,y\"\n", &none)[1], ["\"x", "y\""]);
}

#[test]
fn line_ends_of_three_kinds_and_a_last_line_without() {
    for text in ["a,b\n1,x\n2,y", "a,b\r\n1,x\r\n2,y\r\n", "a,b\r1,x\r2,y\r"] {
        assert_eq!(
            table(text, &Options::default())[1..],
            [["1", "x"], ["2", "y"]],
            "{text:?}"
        );
    }
    // A last line that ends in a delimiter has one more field.
    assert_eq!(table("a,b\n1,", &Options::default())[1], ["1", "∅"]);
}

#[test]
fn empty_lines_are_skipped_unless_they_are_a_value() {
    let text = "\n  \na,b\n\n1,2\n  \n3,4\n\n";
    assert_eq!(
        table(text, &Options::default()),
        [["a", "b"], ["1", "2"], ["3", "4"]]
    );
    let one = "a\n1\n\n3\n";
    assert_eq!(
        table(one, &Options::default()),
        [["a"], ["1"], ["∅"], ["3"]]
    );
}

#[test]
fn names_from_the_first_line_from_nowhere_and_from_the_user() {
    let text = "x,,z\n1,2,3\n";
    assert_eq!(table(text, &Options::default())[0], ["x", "column_2", "z"]);
    let absent = csv(|o| o.header = Header::Absent);
    assert_eq!(
        table(text, &absent),
        [
            ["column_1", "column_2", "column_3"],
            ["x", "∅", "z"],
            ["1", "2", "3"]
        ]
    );
    let named = csv(|o| o.header = Header::Names(strings(&["p", "q", "r"])));
    assert_eq!(table(text, &named)[..2], [["p", "q", "r"], ["x", "∅", "z"]]);
}

#[test]
fn duplicate_names_are_numbered_on_request() {
    let numbered = csv(|o| {
        o.duplicates = Duplicates::Number;
        o.types.insert("score.1".into(), ColumnType::Text);
    });
    let text = "score,score\n1,2\n";
    assert_eq!(table(text, &numbered)[0], ["score", "score.1"]);
    assert_eq!(inferred(text, &numbered), [DataType::Int64, DataType::Utf8]);
}

#[test]
fn encodings() {
    let expected = [["città"], ["é€"]];
    let encoded = |label: &str| csv(|o| o.encoding = label.parse().unwrap());
    let text = "città\né€\n";
    let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
    for (bytes, label) in [
        (text.as_bytes().to_vec(), "utf-8"),
        (marked(b"\xef\xbb\xbf", text.as_bytes()), "utf-8"),
        (marked(b"\xff\xfe", &le), "utf-8"),
        (marked(b"\xfe\xff", &be), "utf-16"),
        (le.clone(), "utf-16le"),
        (be, "utf-16be"),
        (b"citt\xe0\n\xe9\x80\n".to_vec(), "latin1"),
        (b"citt\xe0\n\xe9\x80\n".to_vec(), "Windows-1252"),
        (b"citt\xe0\n\xe9\xa4\n".to_vec(), "iso-8859-15"),
    ] {
        assert_eq!(table(&bytes, &encoded(label)), expected, "{label}");
    }
}

#[test]
fn trim_reads_through_blanks_and_leaves_text_alone() {
    let text = "age, sex ,flag,note\n 39 , Male , true,  \n40,Female,false,\" \"\n";
    let trimmed = csv(|_| {});
    assert_eq!(
        inferred(text, &trimmed),
        [
            DataType::Int64,
            DataType::Utf8,
            DataType::Boolean,
            DataType::Utf8
        ]
    );
    assert_eq!(
        table(text, &trimmed),
        [
            ["age", " sex ", "flag", "note"],
            ["39", " Male ", "true", "∅"],
            ["40", "Female", "false", " "],
        ]
    );
    let raw = csv(|o| o.trim = false);
    assert_eq!(inferred(text, &raw), vec![DataType::Utf8; 4]);
    assert_eq!(table(text, &raw)[1], [" 39 ", " Male ", " true", "  "]);
}

#[test]
fn names_are_found_without_their_blanks() {
    let mut options = csv(|o| {
        o.types.insert("b".into(), ColumnType::Text);
    });
    options.columns = Some(strings(&["b"]));
    assert_eq!(table("a, b\n1,2\n", &options), [[" b"], ["2"]]);
}

#[test]
fn nulls() {
    let text = "a,b\n?,\"?\"\n ? ,x\n1,\"\"\n";
    let marks = csv(|o| o.nulls = strings(&["?"]));
    assert_eq!(inferred(text, &marks), [DataType::Int64, DataType::Utf8]);
    assert_eq!(
        table(text, &marks)[1..],
        [["∅", "∅"], ["∅", "x"], ["1", ""]]
    );
    let empty = csv(|o| o.nulls = strings(&["", "?"]));
    assert_eq!(table(text, &empty)[3], ["1", "∅"]);
    let raw = csv(|o| {
        o.nulls = strings(&["?"]);
        o.trim = false;
    });
    assert_eq!(table(text, &raw)[2], [" ? ", "x"]);
}

#[test]
fn words_for_missing_are_missing_beside_numbers() {
    let text = "a,b,c\n1,NA,NA\nNA,x,0.5\n2, ? ,null\n";
    let options = Options::default();
    let expected = [DataType::Int64, DataType::Utf8, DataType::Float64];
    assert_eq!(inferred(text, &options), expected);
    assert_eq!(
        table(text, &options)[1..],
        [["1", "NA", "∅"], ["∅", "x", "0.5"], ["2", " ? ", "∅"]]
    );
}

#[test]
fn types_are_those_of_all_rows() {
    let mut text = String::from("early,late,code\n");
    for row in 1..=20_000 {
        text += &format!("{row},{row},{row}\n");
    }
    text += "1.5,n/k,007\n";
    let options = Options::default();
    let expected = [DataType::Float64, DataType::Utf8, DataType::Utf8];
    assert_eq!(inferred(&text, &options), expected);
    let rows = table(&text, &options);
    assert_eq!(rows[1], ["1.0", "1", "1"]);
    assert_eq!(rows[20_001], ["1.5", "n/k", "007"]);
}

#[test]
fn a_column_of_nothing_is_text() {
    assert_eq!(
        inferred("a,b\n,1\n,2\n", &Options::default()),
        [DataType::Utf8, DataType::Int64]
    );
}

#[test]
fn overrides() {
    let options = csv(|o| {
        o.types.insert("zip".into(), ColumnType::Text);
        o.types.insert("code".into(), ColumnType::Int64);
        o.types.insert("rate".into(), ColumnType::Float64);
    });
    let text = "zip,code,rate\n10115,007,1\n20095,+8, 2 \n";
    assert_eq!(
        inferred(text, &options),
        [DataType::Utf8, DataType::Int64, DataType::Float64]
    );
    assert_eq!(
        table(text, &options)[1..],
        [["10115", "7", "1.0"], ["20095", "8", "2.0"]]
    );
}

#[test]
fn records_may_be_longer_than_any_buffer() {
    let long = "x,\n\"".repeat(300_000);
    let text = format!("a,b\n1,\"{}\"\n2,y\n", long.replace('"', "\"\""));
    let rows = table(&text, &Options::default());
    assert_eq!(rows[1][1], long);
    assert_eq!(rows[2], ["2", "y"]);
}

#[test]
fn a_line_of_commas_is_no_table() {
    let commas = ",".repeat(1_000_000) + "\n" + &",".repeat(1_000_000) + "\n";
    let source =
        facts_input::Source::reader("commas.csv", std::io::Cursor::new(commas.into_bytes()));
    let error = facts_input::open(source, &facts_input::Options::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "commas.csv: 1000001 columns, and a table may have 100000; if rows and columns are the wrong way round, turn the table; if this is no table, name another file or its format"
    );
}
