//! `facts init`: looks at a table and writes a configuration to start from.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use facts_engine::population::Value;
use facts_input::csv::Duplicates;
use facts_report::text::count;
use facts_run::columns::{Guess, Guessed, May, guess};
use facts_run::config::Protected;
use facts_run::{
    Config, Failure, Listener, Table, database_beside, files, outlook, shown_database,
};

use crate::args::InitArgs;
use crate::ask::ask;
use crate::commands::dry_run;
use crate::output;
use crate::progress::Reporter;

pub(crate) fn init(mut args: InitArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    let prints = args.out == Path::new("-");
    if !prints && !args.force && args.out.exists() {
        return Err(Failure::usage(format!(
            "{} exists; --force replaces it, -o names another file",
            args.out.display()
        )));
    }
    if args.data.to_str().is_none() {
        return Err(Failure::usage(format!(
            "{}: a configuration is written in UTF-8, and this path is not; rename the file",
            args.data.display()
        )));
    }
    let mut config = Config::default();
    std::mem::take(&mut args.reading).apply(&mut config);
    reporter.step("reading the table");
    let table = Table::read(&args.data, &config.data)?;
    for name in args.protected.iter().chain(&args.label) {
        if !table.names().contains(&name.as_str()) {
            return Err(Failure::usage(format!(
                "{name}: the table has no such column; it has: {}",
                table.names().join(", ")
            )));
        }
    }
    config.label.column = args.label.clone();
    for name in &args.protected {
        config.protected.insert(name.clone(), Protected::default());
    }
    let guessed = guess(&table.cells, &config);
    reporter.clear();
    let mut sketch = Sketch {
        args: &args,
        config: &config,
        guessed: &guessed,
        rows: table.rows(),
        favourable: args.favourable.clone(),
    };
    let draft = Config::parse("what would be written", &sketch.body(), &[])?;
    let outlook = if draft.protected.is_empty() {
        None
    } else {
        Some(outlook(&draft, &table, reporter))
    };
    match (&args.favourable, sketch.label()) {
        (Some(value), Some(label)) => check(value, label, &table).map_err(Failure::usage)?,
        (Some(value), None) => {
            return Err(Failure::usage(format!(
                "--favourable {value}: no column looks like the outcome; name it with --label"
            )));
        }
        (None, Some(label)) if reporter.can_ask() => {
            let readings = outlook
                .as_ref()
                .and_then(|outlook| outlook.as_ref().ok()?.readings());
            sketch.favourable = ask_about(label, readings, &table)?;
        }
        (None, _) => {}
    }
    let picture = match &outlook {
        None => String::new(),
        Some(Ok(outlook)) => dry_run::groups(outlook).text(2),
        Some(Err(error)) => format!("An audit would stop: {error}\n"),
    };
    let text = sketch.head(&picture) + &sketch.body();
    // What is written must be read back: a column may be called anything.
    Config::parse("what would be written", &text, &[])?;
    if prints {
        output::print_raw(text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    files::write(&args.out, text.as_bytes(), reporter)?;
    reporter.note(&format!(
        "wrote {}: look it over, then run `facts audit{}`; for an audit that is handed on, add --suppress-below 10",
        args.out.display(),
        if args.out == Path::new("facts.toml") {
            String::new()
        } else {
            format!(" --config {}", args.out.display())
        }
    ));
    Ok(ExitCode::SUCCESS)
}

/// Asks which outcome is good, with what each would mean.
fn ask_about(
    label: &Guessed,
    readings: Option<String>,
    table: &Table,
) -> Result<Option<String>, Failure> {
    let readings = readings.unwrap_or_else(|| {
        let lines = refused(label).map(|(value, refused)| {
            format!("  if `{value}` is the yes, {refused} of the rows are refused")
        });
        lines.collect::<Vec<_>>().join("\n")
    });
    let question = format!(
        "Which value of `{}` is good for people? The data cannot tell.\n{readings}\nType the value, or nothing to leave it open:",
        one_line(&label.name)
    );
    ask(
        &question,
        |answer| check(answer, label, table),
        std::io::stdin().lock(),
        std::io::stderr(),
    )
    .map_err(|error| Failure::output("the terminal", error))
}

/// Refuses an outcome that the label never has.
fn check(value: &str, label: &Guessed, table: &Table) -> Result<(), String> {
    let is_missing = |known: &Value| {
        let mut codes = label.missing_codes.iter();
        codes.any(|(code, _)| known.reads_as(code))
    };
    let column = table.cells.column(&label.name);
    let column = column.map_err(|error| error.to_string())?;
    let known = column.column().values().iter();
    let mut known = known.filter(|known| !is_missing(known));
    if known.any(|known| known.reads_as(value)) {
        return Ok(());
    }
    let mut values: Vec<&str> = (label.values.iter())
        .map(|(value, _)| value.trim())
        .collect();
    values.sort_unstable();
    let (name, values) = (&label.name, values.join(", "));
    Err(format!(
        "`{name}` never has the value {value}; it has: {values}"
    ))
}

/// The values of a label, each with the share of the rows that have another.
fn refused(label: &Guessed) -> impl Iterator<Item = (&str, String)> {
    let known: usize = label.values.iter().map(|(_, rows)| rows).sum();
    let values = label.values.iter();
    values.map(move |(value, rows)| {
        (
            value.trim(),
            dry_run::share((known - rows) as u64, known as u64),
        )
    })
}

/// A configuration in the making.
struct Sketch<'a> {
    args: &'a InitArgs,
    config: &'a Config,
    guessed: &'a [Guessed],
    rows: usize,
    /// The outcome that is good for people, if somebody said so.
    favourable: Option<String>,
}

impl Sketch<'_> {
    /// What the table looks like, for a person who does not code.
    fn head(&self, picture: &str) -> String {
        let columns = self.guessed.len();
        let rows = self.rows;
        let mut lines = vec![
            format!(
                "How to audit {}: {} rows, {columns} columns. Guessed from the names and values of the",
                one_line(&facts_run::shown_path(&self.args.data)),
                count(rows as u64)
            ),
            "columns: read it before you trust it. `facts explain config` lists every key."
                .to_owned(),
            String::new(),
        ];
        if !picture.is_empty() {
            lines.extend(picture.lines().map(one_line));
            lines.push(String::new());
        }
        let missing: Vec<String> = (self.guessed.iter())
            .filter(|guess| guess.nulls > 0 || !guess.missing_codes.is_empty())
            .map(|guess| format!("  {}: {}", one_line(&guess.name), missing(guess)))
            .collect();
        if missing.is_empty() {
            lines.push("No value is missing.".to_owned());
        } else {
            lines.push("Missing, or perhaps a code for missing:".to_owned());
            lines.extend(missing);
        }
        let mut text = String::new();
        for line in lines {
            text += format!("# {line}").trim_end();
            text.push('\n');
        }
        text.push('\n');
        text
    }

    fn body(&self) -> String {
        let protected = self.protected();
        let is_protected = |guess: &Guessed| protected.iter().any(|p| p.name == guess.name);
        let free = |guess: &&Guessed| !guess.is_label && !is_protected(guess);
        let (features, others): (Vec<&Guessed>, Vec<&Guessed>) =
            (self.guessed.iter().filter(free)).partition(|guess| why_not(guess).is_none());
        let (context, features): (Vec<&Guessed>, Vec<&Guessed>) =
            features.into_iter().partition(|guess| guess.is_context);
        let mut text = self.data(&others, &context);
        text += &model(self.label(), self.favourable.as_deref());
        text += &self.protected_text(&protected);
        text += "# What people differ in. A feature may change at a cost of weight × distance, unless\n\
                 # a rule forbids it: immutable, only, max-step, not-a-target, forbidden, linked.\n";
        for (may, head) in [
            (May::Change, "May change"),
            (May::OnlyUp, "Only up"),
            (May::OnlyDown, "Only down"),
            (May::Not, "May not change"),
        ] {
            let mut of = (features.iter().filter(|guess| may_change(guess) == may)).peekable();
            if of.peek().is_some() {
                let _ = writeln!(text, "\n# --- {head} ---");
            }
            of.for_each(|feature| text += &of_feature(feature));
        }
        text += "\n# Recommended for an audit that is handed on: nothing in it then tells of fewer than 10 people.\n\
                 # [audit]\n# suppress-below = 10\n";
        text
    }

    /// The outcome, unless it is protected.
    fn label(&self) -> Option<&Guessed> {
        let protected = self.protected();
        let is_protected = |guess: &Guessed| protected.iter().any(|p| p.name == guess.name);
        (self.guessed.iter()).find(|guess| guess.is_label && !is_protected(guess))
    }

    /// What the user named, or else the likeliest column.
    fn protected(&self) -> Vec<&Guessed> {
        let named = self.args.protected.iter();
        let named: Vec<&Guessed> = named
            .filter_map(|name| self.guessed.iter().find(|guess| guess.name == *name))
            .collect();
        if !named.is_empty() {
            return named;
        }
        let likely = self.guessed.iter().filter(|guess| guess.maybe_protected);
        likely
            .min_by_key(|guess| (guess.distinct < 2, guess.distinct))
            .into_iter()
            .collect()
    }

    /// The database that the table lies in, without what nobody is to read.
    fn database(&self, database: &str) -> String {
        let is_beside = (self.args.out.parent()).is_none_or(|folder| folder == Path::new(""));
        let here = std::env::current_dir().ok().filter(|_| !is_beside);
        // Paths in a configuration are read from where it lies.
        let database = here.map_or(database.to_owned(), |here| database_beside(database, &here));
        let shown = match database.starts_with("env:") {
            true => database.clone(),
            false => shown_database(&database),
        };
        let mut text = format!("database = {}\n", quoted(&shown));
        if shown != database {
            text += "# What followed the host, and a password, is not written down: give --database when you audit, or set\n# FACTS_DATABASE. Postgres also reads PGPASSWORD and ~/.pgpass.\n";
        }
        text
    }

    fn data(&self, others: &[&Guessed], context: &[&Guessed]) -> String {
        let data = &self.config.data;
        let mut text = String::from("[data]\n");
        if facts_run::is_elsewhere(&self.args.data) {
            let address = facts_run::shown_path(&self.args.data);
            let _ = writeln!(text, "path = {}", quoted(&address));
            if let Some(database) = &data.database {
                text += &self.database(database);
            }
            if Path::new(&address) != self.args.data {
                text += "# It was given with a password or a signature, which is not written down: name it again when you\n# audit, as in `facts audit 'https://…'`.\n";
            }
        } else if self.args.data != Path::new("-") {
            let path = std::path::absolute(&self.args.data).unwrap_or(self.args.data.clone());
            let folder = self.args.out.parent().map(std::path::absolute);
            // Paths in a configuration are read from where it lies.
            let beside = match folder {
                Some(Ok(folder)) => path
                    .strip_prefix(&folder)
                    .map_or(path.clone(), Path::to_owned),
                _ => self.args.data.clone(),
            };
            let _ = writeln!(text, "path = {}", quoted(&beside.display().to_string()));
        }
        if let Some(delimiter) = &data.delimiter {
            let _ = writeln!(text, "delimiter = {}", quoted(delimiter));
        }
        if data.header == Some(false) {
            text += "header = false\n";
        }
        if data.duplicates == Some(Duplicates::Number) {
            text += "duplicates = \"number\"\n";
        }
        if let Some(encoding) = &data.encoding {
            let _ = writeln!(text, "encoding = {}", quoted(encoding));
        }
        if !data.nulls.is_empty() {
            let _ = writeln!(
                text,
                "nulls = {}",
                list(data.nulls.iter().map(String::as_str))
            );
        }
        if !others.is_empty() {
            let names = list(others.iter().map(|guess| guess.name.as_str()));
            let _ = writeln!(text, "ignore = {names}");
            for guess in others {
                if let Some(why) = why_not(guess) {
                    let _ = writeln!(text, "# {}: {}", one_line(&guess.name), one_line(&why));
                }
            }
            text += "# If the model reads one of them, move it to: context = [...]\n";
        }
        if !context.is_empty() {
            let names = list(context.iter().map(|guess| guess.name.as_str()));
            let _ = writeln!(
                text,
                "context = {names}\n# The model sees these. The features below go more with the outcome, and all together are too many."
            );
        }
        text.push('\n');
        text
    }

    fn protected_text(&self, protected: &[&Guessed]) -> String {
        let mut text = String::from("# Whose recourse is compared.\n");
        if protected.is_empty() {
            text += "# No column's name speaks of a protected attribute: name one.\n# [protected.COLUMN]\n\n";
        }
        for guess in protected {
            let _ = writeln!(text, "[protected.{}]{}", key(&guess.name), values(guess));
            if matches!(guess.guess, Guess::Binned) {
                text += "quantiles = 2\n";
            }
            if !guess.missing_codes.is_empty() {
                let codes = guess.missing_codes.iter().map(|(code, _)| code.trim());
                let _ = writeln!(text, "missing-codes = {}", list(codes));
            }
        }
        let others: Vec<&str> = (self.guessed.iter())
            .filter(|guess| guess.maybe_protected && guess.distinct > 1)
            .filter(|guess| !protected.iter().any(|p| p.name == guess.name))
            .map(|guess| guess.name.as_str())
            .collect();
        if !others.is_empty() {
            let _ = writeln!(text, "# Other candidates: {}", one_line(&others.join(", ")));
        }
        text.push('\n');
        text
    }
}

/// The model, and the outcome that it is fitted to. Which outcome is good is never guessed.
fn model(label: Option<&Guessed>, favourable: Option<&str>) -> String {
    let mut text = String::from(
        "[model]\n# Your model: onnx:FILE, lightgbm:FILE, xgboost:FILE, linear:FILE, exec:COMMAND, http://…\n\
         # (facts explain models); or train, which fits one on 70 % of the rows.\n",
    );
    let Some(label) = label else {
        return text + "# spec = \"onnx:model.onnx\"\n\n";
    };
    let _ = writeln!(
        text,
        "spec = \"train\"\n\n[label]\ncolumn = {}",
        quoted(&label.name)
    );
    if let Some(favourable) = favourable {
        let _ = writeln!(text, "favourable = {}\n", quoted(favourable));
        return text;
    }
    text += "# Which outcome is good for people? Only you can say: take away the # before one of these.\n";
    for (value, refused) in refused(label) {
        let _ = writeln!(
            text,
            "# favourable = {}   # then {refused} of the rows are refused",
            quoted(value)
        );
    }
    text.push('\n');
    text
}

/// Why a column should be no feature, if it should be none.
fn why_not(guess: &Guessed) -> Option<String> {
    let nearly = |share: f64| {
        format!(
            "it nearly gives the outcome away: the outcome of {:.0} % of the rows follows from it",
            100.0 * share
        )
    };
    guess
        .why_not
        .clone()
        .or_else(|| guess.nearly_label.map(nearly))
}

/// Whether a feature may change, by its name; without an order there is no up and down.
fn may_change(guess: &Guessed) -> May {
    match guess.change {
        _ if guess.same_as.is_some() => May::Not,
        Some((May::OnlyUp | May::OnlyDown, _)) if guess.guess == Guess::Categorical => May::Change,
        Some((may, _)) => may,
        None => May::Change,
    }
}

fn of_feature(guess: &Guessed) -> String {
    let mut text = format!("\n[features.{}]{}\n", key(&guess.name), values(guess));
    let mut line = |line: String| {
        text += &line;
        text.push('\n');
    };
    match guess.guess {
        Guess::Binned => {
            let range = guess.range.map_or_else(String::new, |(low, high)| {
                format!("          # from {low} to {high}; or edges = [...]")
            });
            line(format!("quantiles = {}{range}", guess.bins));
            line(
                "model-sees = \"number\"   # \"label\" if the model was trained on the bins"
                    .to_owned(),
            );
        }
        Guess::Numeric => line("kind = \"numeric\"".to_owned()),
        Guess::Categorical if guess.is_coded => line(
            "kind = \"categorical\"   # numbers, but the outcome does not follow their order: codes?"
                .to_owned(),
        ),
        Guess::Categorical => line("kind = \"categorical\"".to_owned()),
    }
    let same = guess.same_as.as_ref();
    let same = same.map(|other| format!("it says the same as {}", one_line(other)));
    match (guess.change, may_change(guess)) {
        (_, May::Not) if same.is_some() => {
            line(format!(
                "immutable = true       # {}",
                same.unwrap_or_default()
            ));
        }
        (Some((_, why)), May::Not) => line(format!("immutable = true       # {why}")),
        (Some((_, why)), May::OnlyUp) => line(format!("only = \"increase\"      # {why}")),
        (Some((_, why)), May::OnlyDown) => line(format!("only = \"decrease\"      # {why}")),
        (Some((may, why)), May::Change) => {
            let only = if may == May::OnlyUp {
                "increase"
            } else {
                "decrease"
            };
            line(format!(
                "# only = \"{only}\"    # {why}; needs order = [...], the lowest level first"
            ));
        }
        (None, _) => line("# assumed: nothing is known about whether it may change".to_owned()),
    }
    if guess.nulls > 0 || !guess.missing_codes.is_empty() {
        line(format!(
            "missing = \"level\"      # or \"drop\"; {}",
            missing(guess)
        ));
    }
    if !guess.missing_codes.is_empty() {
        let codes = guess.missing_codes.iter().map(|(code, _)| code.trim());
        let confirm = if guess.range.is_some() {
            "   # a proposal: do these numbers stand for missing?"
        } else {
            ""
        };
        line(format!("missing-codes = {}{confirm}", list(codes)));
    }
    line("weight = 1".to_owned());
    text
}

fn missing(guess: &Guessed) -> String {
    let mut parts = Vec::new();
    if guess.nulls > 0 {
        parts.push(format!("{} rows have no value", guess.nulls));
    }
    for (code, rows) in &guess.missing_codes {
        parts.push(format!("{rows} rows have {}", one_line(code.trim())));
    }
    parts.join(", ")
}

/// Some values, as a comment.
fn values(guess: &Guessed) -> String {
    if matches!(guess.guess, Guess::Binned) {
        return String::new();
    }
    let some: Vec<&str> = guess
        .values
        .iter()
        .take(6)
        .map(|(value, _)| value.trim())
        .collect();
    let more = if guess.distinct > some.len() {
        format!(", … ({} in all)", guess.distinct)
    } else {
        String::new()
    };
    format!("   # {}{more}", one_line(&some.join(", ")))
}

/// Text that cannot end a comment.
fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(plain).collect()
}

/// A TOML key: quoted where it has to be.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

fn list<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let quoted: Vec<String> = texts.map(quoted).collect();
    format!("[{}]", quoted.join(", "))
}
