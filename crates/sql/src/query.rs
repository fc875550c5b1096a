//! What is asked of a database.

use std::fmt;
use std::path::Path;

use facts_guard::secret;

/// What a query begins with, in the place of a path.
const PREFIX: &str = "sql:";

/// The words that a query can begin with. Anything else is what could stand after FROM.
const QUERIES: [&str; 5] = ["select", "with", "from", "values", "table"];

/// The most characters of a query in a message or a record.
const SHOWN: usize = 200;

/// A query in the place of a table.
#[derive(Clone, PartialEq, Eq)]
pub struct Query(String);

impl Query {
    /// The query that stands in the place of a path; none if it is a path. What follows `sql:` is a query, or
    /// a table: a name, or whatever else can stand after FROM.
    pub fn of(path: &Path) -> Option<Self> {
        let text = path.to_str()?.strip_prefix(PREFIX)?.trim();
        let text = text.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
        Some(Self(text.to_owned()))
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The whole of what stands in the place of a path, without what may be secret; none if it is a path.
    pub fn shown(path: &Path) -> Option<String> {
        let text = path.to_str()?;
        text.starts_with(PREFIX).then(|| secret::hidden(text))
    }

    /// What may be secret in it.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let secrets = secret::secrets(&self.0).into_iter();
        secrets.map(str::to_owned).collect()
    }

    /// The query as a table that another query can select from.
    pub(crate) fn as_table(&self) -> String {
        let text = &self.0;
        let word = text
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .next();
        let is_query = QUERIES
            .iter()
            .any(|q| word.is_some_and(|w| w.eq_ignore_ascii_case(q)));
        // The last line of a query may be a comment: what follows stands on a line of its own.
        match is_query || text.starts_with('(') {
            true => format!("({text}\n) AS facts_rows"),
            false => format!("(SELECT * FROM {text}\n) AS facts_rows"),
        }
    }
}

impl fmt::Display for Query {
    /// Without what may be secret, on one line, cut where it is long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = secret::hidden(&self.0);
        let words: Vec<&str> = shown.split_whitespace().collect();
        let line = words.join(" ");
        match line.char_indices().nth(SHOWN) {
            Some((end, _)) => write!(f, "{PREFIX}{}…", &line[..end]),
            None => write!(f, "{PREFIX}{line}"),
        }
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Query({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::of(Path::new(text)).unwrap()
    }

    #[test]
    fn a_path_is_no_query() {
        assert_eq!(Query::of(Path::new("people.csv")), None);
        assert_eq!(Query::of(Path::new("./sql:people")), None);
        assert!(query("sql: ;").is_empty());
    }

    #[test]
    fn tables_and_queries_can_be_selected_from() {
        let table = |text| query(text).as_table();
        assert_eq!(
            table("sql:people"),
            "(SELECT * FROM people\n) AS facts_rows"
        );
        assert_eq!(
            table("sql: read_csv('a b.csv'); "),
            "(SELECT * FROM read_csv('a b.csv')\n) AS facts_rows"
        );
        assert_eq!(
            table("sql:select * from t -- all"),
            "(select * from t -- all\n) AS facts_rows"
        );
        assert_eq!(
            table("sql:selected"),
            "(SELECT * FROM selected\n) AS facts_rows"
        );
        assert_eq!(table("sql:(values (1))"), "((values (1))\n) AS facts_rows");
    }

    #[test]
    fn a_query_is_shown_on_one_line() {
        assert_eq!(
            query("sql:SELECT *\n  FROM t").to_string(),
            "sql:SELECT * FROM t"
        );
        let long = query(&format!("sql:{}", "é".repeat(300))).to_string();
        assert_eq!(long.chars().count(), 4 + SHOWN + 1);
    }

    #[test]
    fn a_query_is_shown_without_secrets() {
        let url = format!("https://me:hush@host/{}?sig=hush", "a".repeat(300));
        let text = format!("sql:FROM '{url}', f('password=hush');");
        let (long, whole) = (query(&text), Query::shown(Path::new(&text)).unwrap());
        for shown in [long.to_string(), format!("{long:?}"), whole.clone()] {
            assert!(!shown.contains("hush"), "{shown}");
        }
        assert!(whole.ends_with("f('password=***');"));
        assert_eq!(long.secrets(), ["me:hush", "sig=hush", "hush"]);
    }
}
