//! `facts init`: looks at a table and writes a configuration to start from.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use facts_input::csv::Duplicates;
use facts_run::columns::{Guess, Guessed, guess};
use facts_run::{Config, Failure, Listener, Table, files};

use crate::args::InitArgs;
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
    let guessed = guess(&table.cells);
    reporter.clear();
    for name in &args.protected {
        if !guessed.iter().any(|guess| guess.name == *name) {
            return Err(Failure::usage(format!(
                "--protected {name}: the table has no such column; it has: {}",
                table.names().join(", ")
            )));
        }
    }
    let sketch = Sketch {
        args: &args,
        config: &config,
        guessed: &guessed,
        rows: table.rows(),
    };
    let text = sketch.text();
    // What is written must be read back: a column may be called anything.
    Config::parse("what would be written", &text, &[])?;
    if prints {
        output::print_raw(text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    files::write(&args.out, text.as_bytes(), reporter)?;
    reporter.note(&format!(
        "wrote {}: look it over, then run `facts audit{}`",
        args.out.display(),
        if args.out == Path::new("facts.toml") {
            String::new()
        } else {
            format!(" --config {}", args.out.display())
        }
    ));
    Ok(ExitCode::SUCCESS)
}

/// A configuration in the making.
struct Sketch<'a> {
    args: &'a InitArgs,
    config: &'a Config,
    guessed: &'a [Guessed],
    rows: usize,
}

impl Sketch<'_> {
    fn text(&self) -> String {
        let protected = self.protected();
        let label = self
            .guessed
            .iter()
            .find(|guess| guess.maybe_label && !protected.iter().any(|p| p.name == guess.name));
        let is_feature = |guess: &&Guessed| {
            guess.guess.why_not().is_none()
                && !protected.iter().any(|p| p.name == guess.name)
                && label.is_none_or(|label| label.name != guess.name)
        };
        let features: Vec<&Guessed> = self.guessed.iter().filter(is_feature).collect();
        let others: Vec<&Guessed> = (self.guessed.iter())
            .filter(|guess| guess.guess.why_not().is_some())
            .filter(|guess| !protected.iter().any(|p| p.name == guess.name))
            .collect();
        // Writing to a string cannot fail.
        let mut text = String::new();
        let _ = writeln!(
            text,
            "# How to audit {}: {} rows, {} columns. Guessed from the names and values of the columns:\n\
             # read it before you trust it. `facts explain config` lists every key.\n",
            self.args
                .data
                .display()
                .to_string()
                .replace(['\n', '\r'], " "),
            self.rows,
            self.guessed.len()
        );
        text += &self.data(&others);
        text += &model(label);
        text += &self.protected_text(&protected);
        text += "# What people differ in. A feature may change at a cost of weight × distance, unless\n\
                 # a rule forbids it: immutable, only, max-step, not-a-target, forbidden, linked.\n";
        for feature in features {
            text += &of_feature(feature);
        }
        text += "\n[audit]\nsupport = 0.01                      # a subgroup must have this share of each group\n";
        text
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

    fn data(&self, others: &[&Guessed]) -> String {
        let data = &self.config.data;
        let mut text = String::from("[data]\n");
        if self.args.data != Path::new("-") {
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
                if let Some(why) = guess.guess.why_not() {
                    let _ = writeln!(text, "# {}: {why}", one_line(&guess.name));
                }
            }
            text += "# If the model reads one of them, move it to: context = [...]\n";
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

fn model(label: Option<&Guessed>) -> String {
    let mut text = String::from(
        "[model]\n# Your model: onnx:FILE, lightgbm:FILE, xgboost:FILE, linear:FILE, exec:COMMAND, http://…\n\
         # (facts explain models); or train, which fits one on 70 % of the rows.\n",
    );
    match label {
        None => text += "# spec = \"onnx:model.onnx\"\n\n",
        Some(label) => {
            let favourable = favourable(label);
            let _ = writeln!(
                text,
                "spec = \"train\"\n\n[label]\ncolumn = {}\nfavourable = {}   # a guess: which of {} is good for people?\n",
                quoted(&label.name),
                quoted(&favourable),
                some_values(label)
            );
        }
    }
    text
}

/// The rarer of two values, unless one says yes.
fn favourable(label: &Guessed) -> String {
    let says_yes = |text: &str| {
        ["1", "true", "yes", "approved", "good"].contains(&text.to_lowercase().as_str())
    };
    let mut values = label.values.iter().map(|(value, _)| value.trim());
    let yes = values.clone().find(|value| says_yes(value));
    yes.or_else(|| values.next_back())
        .unwrap_or_default()
        .to_owned()
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
            line(format!("quantiles = 5{range}"));
            line(
                "model-sees = \"number\"   # \"label\" if the model was trained on the bins"
                    .to_owned(),
            );
        }
        Guess::Numeric => line("kind = \"numeric\"".to_owned()),
        Guess::Categorical | Guess::Context(_) | Guess::Unreadable => {
            line("kind = \"categorical\"".to_owned())
        }
    }
    if guess.maybe_immutable {
        line("immutable = true       # by its name".to_owned());
    } else if guess.only_increases && guess.guess != Guess::Categorical {
        line("only = \"increase\"      # by its name".to_owned());
    }
    if guess.nulls > 0 || !guess.missing_codes.is_empty() {
        line(format!(
            "missing = \"drop\"       # or \"level\"; {}",
            missing(guess)
        ));
    }
    if !guess.missing_codes.is_empty() {
        let codes = guess.missing_codes.iter().map(|(code, _)| code.trim());
        line(format!("missing-codes = {}", list(codes)));
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

/// The values of a label.
fn some_values(guess: &Guessed) -> String {
    let some: Vec<&str> = guess.values.iter().map(|(value, _)| value.trim()).collect();
    one_line(&some.join(", "))
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
