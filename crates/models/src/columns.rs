//! Whether a table's columns are what a model reads.
//!
//! A model that reads `Age` where the table has `age`, or that never saw one of the table's
//! categories, answers something all the same. [`Fit`] says so before an audit is built on it.

use std::collections::HashSet;
use std::fmt;

use arrow_schema::{DataType, Schema};
use facts_engine::flips::ModelError;
use facts_engine::population::{Column, Value};
use facts_engine::similar::probably_meant;

use crate::open::{Input, InputKind, Spelling};

/// How many names or values of a kind are written out.
const SHOWN: usize = 5;

/// The difference between what a model reads and what a table holds.
///
/// Written out, it is a diff of one line a kind:
///
/// ```
/// # use facts_models::{Fit, Input, InputKind, Spelling};
/// # use arrow_schema::{DataType, Field, Schema};
/// let hours = Input { column: "Hours".into(), kind: InputKind::Number, spelling: Spelling::Exact };
/// let table = Schema::new(vec![Field::new("hours", DataType::Int64, true)]);
/// let fit = Fit::check_schema(&[hours], &table, &["sex"]);
/// assert!(!fit.is_ok());
/// assert_eq!(
///     fit.to_string(),
///     "the table does not fit the model:\n\
///      \x20 - missing    `Hours`; did you mean the table's `hours`?\n\
///      \x20 + unused     `hours`: the model does not read it"
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fit {
    /// Columns that the model reads and the table does not have.
    pub missing: Vec<MissingColumn>,
    /// Columns that the model's file spells in another way, as exporters do.
    pub respelled: Vec<Respelled>,
    /// Columns that the table has and the model does not read, protected attributes aside.
    pub extra: Vec<String>,
    /// Columns that hold something else than the model reads.
    pub wrong_type: Vec<WrongType>,
    /// Columns with values that the model does not know.
    pub unseen: Vec<UnseenValues>,
    /// Protected attributes that the model reads. That is a finding of its own: who they are decides
    /// directly about people.
    pub reads_protected: Vec<String>,
}

/// A column that the model reads and the table does not have.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingColumn {
    /// The name that the model reads.
    pub column: String,
    /// A column of the table that is called almost so.
    pub closest: Option<String>,
}

/// A column that the model's file spells in another way.
#[derive(Clone, Debug, PartialEq)]
pub struct Respelled {
    /// The file's spelling: `hours_per_week`.
    pub input: String,
    /// The table's: `hours-per-week`.
    pub column: String,
}

/// A column that holds something else than the model reads.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongType {
    /// The column.
    pub column: String,
    /// What the model reads: `numbers`.
    pub reads: &'static str,
    /// What the table holds: "text such as `many`".
    pub holds: String,
}

/// A column with values that the model does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct UnseenValues {
    /// The column.
    pub column: String,
    /// The values, in order of first appearance; a missing value is `(missing)`.
    pub values: Vec<String>,
    /// The values that the model knows.
    pub known: Vec<String>,
}

impl Fit {
    /// Compares what a model reads with the columns of a population, value by value.
    ///
    /// `columns` are those the model is given, [`Population::columns`]; `protected` the names of the
    /// protected attributes.
    ///
    /// [`Population::columns`]: facts_engine::population::Population::columns
    pub fn check(inputs: &[Input], columns: &[Column], protected: &[&str]) -> Self {
        let names: Vec<&str> = columns.iter().map(Column::name).collect();
        let mut fit = Self::by_name(inputs, &names, protected);
        for input in inputs {
            let Some(column) = find(&input.column, input.spelling, &names).map(|at| &columns[at])
            else {
                continue;
            };
            match &input.kind {
                InputKind::Number => fit.wrong_type.extend(text_for_numbers(column)),
                InputKind::Text(Some(known)) => fit.unseen.extend(unseen(column, known)),
                InputKind::Text(None) | InputKind::Any => {}
            }
        }
        fit
    }

    /// Compares what a model reads with a table of which only the names and types are known: values
    /// are not looked at.
    pub fn check_schema(inputs: &[Input], schema: &Schema, protected: &[&str]) -> Self {
        let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        let mut fit = Self::by_name(inputs, &names, protected);
        for input in inputs {
            if let Some(at) = find(&input.column, input.spelling, &names)
                && input.kind == InputKind::Number
                && is_text(schema.field(at).data_type())
            {
                fit.wrong_type.push(WrongType {
                    column: names[at].to_owned(),
                    reads: "numbers",
                    holds: "text".to_owned(),
                });
            }
        }
        fit
    }

    /// What the names alone tell.
    fn by_name(inputs: &[Input], table: &[&str], protected: &[&str]) -> Self {
        let mut fit = Self::default();
        let mut read = HashSet::new();
        for input in inputs {
            let found = find(&input.column, input.spelling, table).map(|at| table[at]);
            let input = input.column.as_str();
            // A column may feed several inputs: as a level and as a number.
            if !read.insert(found.unwrap_or(input)) {
                continue;
            }
            match found {
                None => fit.missing.push(MissingColumn {
                    column: input.to_owned(),
                    closest: probably_meant(input, table.iter().copied()).map(str::to_owned),
                }),
                Some(column) if column != input => fit.respelled.push(Respelled {
                    input: input.to_owned(),
                    column: column.to_owned(),
                }),
                Some(_) => {}
            }
        }
        for &column in table {
            match (read.contains(column), protected.contains(&column)) {
                (true, true) => fit.reads_protected.push(column.to_owned()),
                (false, false) => fit.extra.push(column.to_owned()),
                _ => {}
            }
        }
        fit
    }

    /// Whether the model can be asked: every column it reads is there and holds what it reads.
    ///
    /// Values that it does not know, columns that it leaves unread and protected attributes that it
    /// reads do not stand in the way; they are written out all the same.
    pub fn is_ok(&self) -> bool {
        self.missing.is_empty() && self.wrong_type.is_empty()
    }

    /// Whether there is nothing at all to say.
    pub fn is_exact(&self) -> bool {
        *self == Self::default()
    }
}

/// The input of a model that is read from a column, if there is one.
pub fn input_of<'a>(inputs: &'a [Input], column: &str) -> Option<&'a Input> {
    let reads = |input: &&Input| find(&input.column, input.spelling, &[column]).is_some();
    inputs.iter().find(reads)
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exact() {
            return f.write_str("the table has exactly the columns that the model reads");
        }
        f.write_str(if self.is_ok() {
            "the table fits the model, but note:"
        } else {
            "the table does not fit the model:"
        })?;
        for missing in &self.missing {
            write!(f, "\n  - missing    `{}`", missing.column)?;
            match &missing.closest {
                Some(closest) => write!(f, "; did you mean the table's `{closest}`?")?,
                None => f.write_str(": the model reads it, and the table does not have it")?,
            }
        }
        for respelled in &self.respelled {
            write!(
                f,
                "\n  ~ respelled  `{}` is read from the table's `{}`",
                respelled.input, respelled.column
            )?;
        }
        for wrong in &self.wrong_type {
            write!(
                f,
                "\n  ! type       `{}`: the model reads {}, and the table holds {}",
                wrong.column, wrong.reads, wrong.holds
            )?;
        }
        for unseen in &self.unseen {
            write!(
                f,
                "\n  ? unseen     `{}`: the model does not know {}; it knows {}",
                unseen.column,
                listed(&unseen.values),
                listed(&unseen.known)
            )?;
        }
        if !self.extra.is_empty() {
            let them = if self.extra.len() == 1 { "it" } else { "them" };
            let extra = listed(&self.extra);
            write!(
                f,
                "\n  + unused     {extra}: the model does not read {them}"
            )?;
        }
        if !self.reads_protected.is_empty() {
            write!(
                f,
                "\n  * protected  {}: the model reads the protected attribute itself, so people are treated differently by it directly",
                listed(&self.reads_protected)
            )?;
        }
        Ok(())
    }
}

/// "`a`, `b` and 3 more".
fn listed(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        other => matches!(
            other,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
        ),
    }
}

fn text_for_numbers(column: &Column) -> Option<WrongType> {
    let is_no_number = |value: &&Value| **value != Value::Null && value.number().is_none();
    let value = column.values().iter().find(is_no_number)?;
    Some(WrongType {
        column: column.name().to_owned(),
        reads: "numbers",
        holds: format!("text such as `{}`", value.label()),
    })
}

fn unseen(column: &Column, known: &[String]) -> Option<UnseenValues> {
    let is_known: HashSet<&str> = known.iter().map(String::as_str).collect();
    let values: Vec<String> = column
        .values()
        .iter()
        .filter(|value| **value == Value::Null || !is_known.contains(value.label().as_str()))
        .map(|value| match value {
            Value::Null => "(missing)".to_owned(),
            value => value.label(),
        })
        .collect();
    (!values.is_empty()).then(|| UnseenValues {
        column: column.name().to_owned(),
        values,
        known: known.to_vec(),
    })
}

/// The column that an input is fed from: the one of that name, else the only one that the model's
/// file may spell so.
pub(crate) fn find(input: &str, spelling: Spelling, table: &[&str]) -> Option<usize> {
    if let Some(at) = table.iter().position(|&column| column == input) {
        return Some(at);
    }
    let with_blanks = |column: &str| column.replace(' ', "_") == input;
    let mut alike = (0..table.len()).filter(|&at| match spelling {
        Spelling::Exact => false,
        Spelling::Blanks => with_blanks(table[at]),
        Spelling::Exported => spelled(table[at]) == input || with_blanks(table[at]),
    });
    match (alike.next(), alike.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// What is wrong where no column feeds an input.
pub(crate) fn not_given(column: &str) -> ModelError {
    ModelError::column(
        column,
        "it is not among the columns that the model is given; declare it as a feature or as context, or say which column is this input of the model",
    )
}

/// A name as a graph may hold it.
fn spelled(name: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || c == '_' || c == '+';
    let letters = name.chars().map(|c| if kept(c) { c } else { '_' });
    let digit = name.starts_with(|c: char| c.is_ascii_digit());
    digit.then_some('_').into_iter().chain(letters).collect()
}

/// Fails if a model's file calls two inputs by the same name: the table has one column for them.
pub(crate) fn refuse_repeated(key: &str, names: &[impl AsRef<str>]) -> Result<(), String> {
    let mut known = std::collections::HashSet::new();
    let repeated = names
        .iter()
        .map(AsRef::as_ref)
        .find(|&name: &&str| !known.insert(name));
    repeated.map_or(Ok(()), |name| {
        Err(format!(
            "`{key}` has `{name}` twice; fit the model with a name for each column"
        ))
    })
}
