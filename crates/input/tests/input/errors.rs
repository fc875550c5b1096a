//! Every mistake has an answer; here are the words.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use facts_input::Format;
use facts_input::csv::{ColumnType, Encoding, Header};

use super::formats::{arrow_file, arrow_stream, parquet, people};
use super::*;

/// What is said about a file from a pipe, on opening or on reading it.
fn said(name: &str, bytes: impl AsRef<[u8]>, options: &Options) -> String {
    let result = read(name, bytes, options).and_then(cells);
    result.unwrap_err().to_string()
}

fn said_by_default(name: &str, bytes: impl AsRef<[u8]>) -> String {
    said(name, bytes, &Options::default())
}

#[test]
fn no_such_file() {
    let error = open("no/such.csv", &Options::default()).unwrap_err();
    assert!(matches!(error, InputError::NotFound { .. }));
    assert_eq!(
        error.to_string(),
        "no/such.csv: no such file; check the path, which starts from the current folder"
    );
}

#[test]
fn a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_path_buf();
    let name = path.display().to_string();
    let error = open(path, &Options::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{name} is a folder; name one file in it")
    );
}

#[test]
fn errors_of_the_system() {
    struct Failing(std::io::ErrorKind);
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(self.0.into())
        }
    }
    let said = |kind| {
        let source = Source::reader("t.csv", Failing(kind));
        open(source, &Options::default()).unwrap_err().to_string()
    };
    assert_eq!(
        said(std::io::ErrorKind::PermissionDenied),
        "t.csv: permission denied; make the file readable for this user"
    );
    assert_eq!(
        said(std::io::ErrorKind::TimedOut),
        "t.csv could not be read: timed out"
    );
}

#[test]
fn archives_cut_and_damaged() {
    let bytes = gzip(b"a,b\n1,2\n3,4\n");
    assert_eq!(
        said_by_default("t.csv.gz", &bytes[..bytes.len() - 9]),
        "t.csv.gz is cut short: its gzip data ends early; copy or download it again"
    );
    let mut damaged = bytes.clone();
    damaged[bytes.len() - 8] ^= 0xff;
    assert_eq!(
        said_by_default("t.csv.gz", &damaged),
        "t.csv.gz is damaged: its gzip data cannot be unpacked; copy or download it again"
    );
    let zst = zstd::encode_all(&b"a,b\n1,2\n"[..], 0).unwrap();
    assert_eq!(
        said_by_default("t.csv.zst", &zst[..zst.len() - 4]),
        "t.csv.zst is cut short: its zstd data ends early; copy or download it again"
    );
    // The same under a decoder that wraps what it is told.
    let stream = gzip(&arrow_stream(&people()));
    assert_eq!(
        said_by_default("t.arrows.gz", &stream[..stream.len() / 2]),
        "t.arrows.gz is cut short: its gzip data ends early; copy or download it again"
    );
}

#[test]
fn nothing_in_it() {
    let empty = "t.csv is empty; check the path, or the command that writes it";
    assert_eq!(said_by_default("t.csv", ""), empty);
    assert_eq!(said_by_default("t.csv", "\n \n"), empty);
    assert_eq!(said_by_default("t.csv", gzip(b"")), empty);
    assert_eq!(said_by_default("t.csv", "\u{feff}"), empty);
}

#[test]
fn columns_but_no_rows() {
    let no_rows = "t has column names but no rows; check the export that wrote it \
        (a CSV file whose first line is data has to be read without a header)";
    assert_eq!(said_by_default("t", "a,b\n"), no_rows);
    let nobody = people().slice(0, 0);
    assert_eq!(said_by_default("t", parquet(&nobody)), no_rows);
    assert_eq!(said_by_default("t", arrow_file(&nobody, None)), no_rows);
    assert_eq!(said_by_default("t", arrow_stream(&nobody)), no_rows);
}

#[test]
fn files_of_another_kind() {
    assert_eq!(
        said_by_default("t.xlsx", b"PK\x03\x04\x14\0"),
        "t.xlsx is a zip archive or an Excel workbook, which is not read; \
        unpack it, or save the sheet as CSV"
    );
    assert_eq!(
        said_by_default("t.feather", b"FEA1\0\0\0\0"),
        "t.feather is a Feather version 1 file, which is not read; \
        write it again as Feather version 2 (Arrow IPC) or Parquet"
    );
    assert_eq!(
        said_by_default("t.parquet", "<html>not found</html>"),
        "t.parquet is not in Parquet format; check where it came from, \
        or set the format to CSV if it is text"
    );
    let told = Options {
        format: Some(Format::Parquet),
        ..Options::default()
    };
    assert_eq!(
        said("t.bin", arrow_file(&people(), None), &told),
        "t.bin is not in Parquet but in Arrow IPC format; leave the format out, \
        or set it to Arrow IPC"
    );
}

#[test]
fn decoders_that_give_up() {
    let again = "; if it was copied or downloaded, do so again, else write it again";
    let bytes = parquet(&people());
    assert_eq!(
        said_by_default("t.parquet", &bytes[..bytes.len() - 10]),
        format!(
            "t.parquet cannot be decoded as Parquet: \
            Parquet error: Invalid Parquet file. Corrupt footer{again}"
        )
    );
    let bytes = arrow_file(&people(), None);
    assert_eq!(
        said_by_default("t.arrow", &bytes[..bytes.len() - 10]),
        format!(
            "t.arrow cannot be decoded as Arrow IPC: \
            Arrow file does not contain correct footer{again}"
        )
    );
    let bytes = arrow_stream(&people());
    assert_eq!(
        said_by_default("t.arrows", &bytes[..bytes.len() - 20]),
        format!("t.arrows cannot be decoded as Arrow IPC stream: it ends early{again}")
    );
}

#[test]
fn columns_that_are_not_there() {
    let wanting = |name: &str| Options {
        columns: Some(strings(&["age", name])),
        ..Options::default()
    };
    let near = "t has no column 'Sexe', which `columns` names; did you mean 'sex'? \
        Its columns: age, sex, rate, member";
    let batch = people();
    for bytes in [
        parquet(&batch),
        arrow_file(&batch, None),
        arrow_stream(&batch),
        b"age,sex,rate,member\n1,2,3,4\n".to_vec(),
    ] {
        assert_eq!(said("t", bytes, &wanting("Sexe")), near);
    }
    assert_eq!(
        said("t.csv", "age,sex\n1,2\n", &wanting("income")),
        "t.csv has no column 'income', which `columns` names. Its columns: age, sex"
    );
    assert_eq!(
        said("t.csv", "age;sex\n1;2\n", &wanting("income")),
        "t.csv has no column 'age', which `columns` names; is ';' the delimiter? \
        Its columns: age;sex"
    );
    let typed = csv(|o| {
        o.types.insert("Age".into(), ColumnType::Text);
    });
    assert_eq!(
        said("t.csv", "age,sex\n1,2\n", &typed),
        "t.csv has no column 'Age', which `types` names; did you mean 'age'? Its columns: age, sex"
    );
}

#[test]
fn two_columns_of_one_name() {
    assert_eq!(
        said_by_default("t.csv", "a,b, a\n1,2,3\n"),
        "t.csv: columns 1 and 3 are both named ' a'; rename one, or have duplicates numbered \
        (a second 'score' is then 'score.1')"
    );
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let batch = RecordBatch::try_from_iter([("a", column.clone()), ("a", column)]).unwrap();
    assert_eq!(
        said_by_default("t.arrow", arrow_file(&batch, None)),
        "t.arrow: columns 1 and 2 are both named 'a'; write the file again with distinct names"
    );
}

#[test]
fn separators_that_cannot_be() {
    let with = |delimiter, quote| {
        let options = csv(|o| {
            o.delimiter = Some(delimiter);
            o.quote = Some(quote);
        });
        said("t.csv", "a\n1\n", &options)
    };
    assert_eq!(
        with(b'\n', b'"'),
        r"'\n' cannot be the delimiter: it ends a line; choose one ASCII character such as ',' or ';'"
    );
    assert_eq!(
        with(b'"', b'"'),
        "'\"' cannot be the delimiter: it is the quote already; \
        choose one ASCII character such as ',' or ';'"
    );
    assert_eq!(
        with(b',', 0xab),
        "the byte 0xab cannot be the quote: it is only a part of a character; \
        choose one ASCII character such as '\"'"
    );
}

#[test]
fn words_that_name_nothing() {
    assert_eq!(
        "utf8000".parse::<Encoding>().unwrap_err().to_string(),
        "unknown encoding 'utf8000'; use a name such as utf-8, windows-1252, iso-8859-15, \
        utf-16le or shift_jis"
    );
}

#[test]
fn bytes_that_are_no_text() {
    let latin1 = "set the encoding the file was written in, most likely windows-1252 (latin1)";
    assert_eq!(
        said_by_default("t.csv", b"name,city\n\"a\nb\",K\xf6ln\n"),
        format!("t.csv, line 3, column 'city': the bytes F6 are not UTF-8; {latin1}")
    );
    assert_eq!(
        said_by_default("t.csv", b"nam\xe9,city\n"),
        format!("t.csv, line 1: the bytes E9 are not UTF-8; {latin1}")
    );
    // Half a character at the end of one field, the other half in the next.
    assert_eq!(
        said_by_default("t.csv", b"a,b\n\xc3,\xa9\n"),
        format!("t.csv, line 2, column 'a': the bytes C3 are not UTF-8; {latin1}")
    );
    assert_eq!(
        said_by_default("t.csv", b"\xff\xfea\0,\0b\0\n\x001\0,\0\x00\xd8\n\0"),
        "t.csv, line 2, column 'b': the bytes that follow are not UTF-16LE; \
        set the encoding the file was written in, such as utf-8 or windows-1252, \
        or copy it again if it is cut"
    );
    assert_eq!(
        said_by_default("t.csv", b"a\0,\0b\0\n\x001\0,\x002\0\n\0"),
        "t.csv, line 1: the bytes 00 are not text in this encoding; \
        set the encoding the file was written in, most likely utf-16le or utf-16be"
    );
}

#[test]
fn rows_that_are_too_short_or_too_long() {
    assert_eq!(
        said_by_default("t.csv", "a,b,c\n1,\"2\n\r\n2\",3\n\n4,5\n"),
        "t.csv, line 6: 2 fields where the header has 3; check for a stray delimiter or quote \
        in this line, and that the delimiter is ','"
    );
    let absent = csv(|o| o.header = Header::Absent);
    assert_eq!(
        said("t.tsv", "1\t2\n3\t4\t5\n", &absent),
        r"t.tsv, line 2: 3 fields where the first line has 2; check for a stray delimiter or quote in this line, and that the delimiter is '\t'"
    );
    let named = csv(|o| o.header = Header::Names(strings(&["a", "b"])));
    assert_eq!(
        said("t.csv", "1,2,3\n", &named),
        "t.csv, line 1: 3 fields where the list of column names has 2; check for a stray \
        delimiter or quote in this line, and that the delimiter is ','"
    );
}

#[test]
fn quotes_gone_wrong() {
    assert_eq!(
        said_by_default("t.csv", "a,b\n\"x\ny\",\"z\n1,2\n"),
        "t.csv, line 3, column 'b': the quote that opens here is never closed; close it, \
        or read without quotes if they are plain text in this file"
    );
    assert_eq!(
        said_by_default("t.csv", "a,b\n1,\"Bob \"the man\"\"\n"),
        "t.csv, line 2, column 'b': text after the closing quote; write a quote inside a \
        quoted field twice, or read without quotes if they are plain text in this file"
    );
}

#[test]
fn a_row_without_end() {
    let endless =
        std::io::Cursor::new(b"a,b\n1,\"".to_vec()).chain(std::io::repeat(b'x').take(65 << 20));
    let options = csv(|o| {
        for name in ["a", "b"] {
            o.types.insert(name.into(), ColumnType::Text);
        }
    });
    let error = open(Source::reader("t.csv", endless), &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.csv, line 2: the row that starts here is longer than 64 MiB; \
        check that this is a text file, and its quotes"
    );
}

#[test]
fn values_that_do_not_fit_their_type() {
    let typed = |kind| {
        csv(|o| {
            o.types.insert("v".into(), kind);
        })
    };
    let advice = "give the column the type text, \
        or list this value in nulls if it means that none is known";
    assert_eq!(
        said(
            "t.csv",
            "n,v\n\"x\ny\",1\nz,n/k\n",
            &typed(ColumnType::Int64)
        ),
        format!("t.csv, line 4, column 'v': \"n/k\" is not an int64 (a whole number); {advice}")
    );
    // The line of the field, not that on which its row begins.
    assert_eq!(
        said("t.csv", "n,v\n\"x\ny\",1.5\n", &typed(ColumnType::Int64)),
        format!("t.csv, line 3, column 'v': \"1.5\" is not an int64 (a whole number); {advice}")
    );
    assert_eq!(
        said("t.csv", "v\ninf\n", &typed(ColumnType::Float64)),
        format!(
            "t.csv, line 2, column 'v': \"inf\" is not a float64 \
            (a finite decimal number); {advice}"
        )
    );
    assert_eq!(
        said("t.csv", "v\nyes\n", &typed(ColumnType::Boolean)),
        format!("t.csv, line 2, column 'v': \"yes\" is not a boolean (true or false); {advice}")
    );
    let mut untrimmed = typed(ColumnType::Int64);
    untrimmed.csv.trim = false;
    assert_eq!(
        said("t.csv", "v\n 39\n", &untrimmed),
        "t.csv, line 2, column 'v': \" 39\" is not an int64 (a whole number); read with trim, \
        which ignores the blanks around numbers, or give the column the type text"
    );
}

#[test]
fn after_an_error_there_is_nothing() {
    let mut options = csv(|o| {
        o.types.insert("v".into(), ColumnType::Int64);
    });
    options.batch_rows = std::num::NonZeroUsize::MIN;
    let mut table = read("t.csv", "v\n1\nx\n3\n", &options).unwrap();
    assert_eq!(table.next().unwrap().unwrap().num_rows(), 1);
    assert!(table.next().unwrap().is_err());
    assert!(table.next().is_none());
}
