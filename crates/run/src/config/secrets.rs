//! What may be secret in a configuration, by the key that it stands under.
//!
//! What is secret in a text, and how it is shown, is said in `facts-guard`; here only where such texts stand.

use std::path::Path;

use facts_guard::secret::{self, HIDDEN};
use facts_models::ModelSpec;

use super::setting_table;
use crate::failure::Failure;
use crate::in_database::{shown as shown_database, shown_path};

/// A text of a configuration as it may be shown.
fn shown(key: &[String], text: &str) -> String {
    let key: Vec<&str> = key.iter().map(String::as_str).collect();
    match key[..] {
        // The name of an environment variable.
        ["data", "database"] | ["model", "headers", _] if text.starts_with("env:") => {
            text.to_owned()
        }
        ["data", "database"] => shown_database(text),
        ["data", "path"] => shown_path(Path::new(text)),
        ["model", "headers", _] => HIDDEN.to_owned(),
        ["model", "spec"] => (text.parse::<ModelSpec>())
            .map_or_else(|_| secret::hidden(text), |spec| spec.to_string()),
        _ => secret::hidden_in_urls(text),
    }
}

/// What to do with a secret instead of writing it under a key.
fn remedy(key: &str) -> &'static str {
    match key {
        "data.database" => "write env:NAME, or leave it out and set FACTS_DATABASE",
        "data.path" => "name the table on the command line instead",
        "model.spec" => {
            "let the program read it from an environment variable; what a server wants goes into model.headers, as env:NAME"
        }
        key if key.starts_with("model.headers") => "write env:NAME",
        _ => "leave it out",
    }
}

/// Hides what may be secret in a table; under which keys it stood.
pub(super) fn hide(table: &mut toml::Table) -> Vec<String> {
    let mut hidden = Vec::new();
    for (key, value) in table {
        hide_in(value, &mut vec![key.clone()], &mut hidden);
    }
    hidden
}

fn hide_in(value: &mut toml::Value, key: &mut Vec<String>, hidden: &mut Vec<String>) {
    match value {
        toml::Value::String(text) => {
            let shown = shown(key, text);
            if shown != *text {
                *text = shown;
                hidden.push(key.join("."));
            }
        }
        toml::Value::Array(values) => {
            for value in values {
                hide_in(value, key, hidden);
            }
        }
        toml::Value::Table(table) => {
            for (name, value) in table {
                key.push(name.clone());
                hide_in(value, key, hidden);
                key.pop();
            }
        }
        _ => {}
    }
}

/// A `KEY=VALUE` setting as it may be shown.
pub fn shown_setting(setting: &str) -> String {
    let (Ok(mut table), Some((key, _))) = (setting_table(setting), setting.split_once('=')) else {
        return secret::hidden(setting);
    };
    match hide(&mut table).is_empty() {
        true => setting.to_owned(),
        false => format!("{key}={HIDDEN}"),
    }
}

/// The part of a `KEY=VALUE` setting that a message names.
pub(super) fn key_of(setting: &str) -> String {
    let key = setting.split_once('=').map_or(setting, |(key, _)| key);
    secret::hidden(key.trim())
}

/// Refuses to hand on a configuration, and settings given beside it, that hold what may be secret.
pub(crate) fn refuse(name: &str, text: &str, settings: &[String]) -> Result<(), Failure> {
    let mut table = super::table_of(name, text)?;
    if let Some(key) = hide(&mut table).first() {
        return Err(Failure::usage(format!(
            "{name} holds what may be a secret in {key}, and so would the pack; {}",
            remedy(key)
        )));
    }
    let is_secret = |line: &str| {
        let comment = line.trim_start().strip_prefix('#');
        comment.is_some_and(|comment| secret::hidden_in_urls(comment) != comment)
    };
    if let Some(line) = text.lines().position(is_secret) {
        return Err(Failure::usage(format!(
            "{name}, line {}: this comment holds what may be a secret, and so would the pack; take it out",
            line + 1
        )));
    }
    for setting in settings {
        let mut table = setting_table(setting).unwrap_or_default();
        if let Some(key) = hide(&mut table).first() {
            return Err(Failure::usage(format!(
                "--set {key} holds what may be a secret, and so would the manifest of the pack; {}",
                remedy(key)
            )));
        }
    }
    Ok(())
}

/// What is wrong with a TOML file, and where. The line itself is not quoted: it may hold a secret.
pub(crate) fn toml_error(name: &str, text: &str, error: &toml::de::Error) -> Failure {
    let place = error.span().and_then(|span| text.get(..span.start));
    let place = place.map_or_else(String::new, |before| {
        let line = before.matches('\n').count() + 1;
        let begun = before.rsplit('\n').next().unwrap_or_default();
        format!(" at line {line}, column {}", begun.chars().count() + 1)
    });
    let why = without_value(error.message());
    Failure::usage(format!(
        "{name}: TOML parse error{place}: {}",
        why.trim_end()
    ))
}

/// Why a value is refused, without the value: it may be a secret.
pub(crate) fn without_value(why: &str) -> String {
    let kinds = ["invalid type: ", "invalid value: "];
    let Some(kind) = kinds.into_iter().find(|kind| why.starts_with(kind)) else {
        return why.to_owned();
    };
    let Some((found, expected)) = why[kind.len()..].rsplit_once(", expected ") else {
        return kind.trim_end_matches(": ").to_owned();
    };
    let found = found.split(['"', '`']).next().unwrap_or_default();
    format!("{kind}{}, expected {expected}", found.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_not_quoted() {
        for (why, told) in [
            (
                "invalid type: string \"a, expected b\", expected a map",
                "invalid type: string, expected a map",
            ),
            (
                "invalid type: integer `5`, expected a string",
                "invalid type: integer, expected a string",
            ),
            (
                "unknown field `a`, expected `b`",
                "unknown field `a`, expected `b`",
            ),
        ] {
            assert_eq!(without_value(why), told);
        }
    }

    #[test]
    fn settings_are_shown_without_secrets() {
        for (setting, shown) in [
            (
                "data.database=postgresql://me:hush@h/d",
                "data.database=***",
            ),
            ("data.database=env:DB", "data.database=env:DB"),
            ("model.headers.Tenant=hush", "model.headers.Tenant=***"),
            ("model.headers={Tenant=\"hush\"}", "model.headers=***"),
            ("model.spec=exec:m --token hush", "model.spec=***"),
            ("features.key.weight=2", "features.key.weight=2"),
            (
                "protected.token.merge={a=[\"b\"]}",
                "protected.token.merge={a=[\"b\"]}",
            ),
            ("postgresql://me:hush@h/d", "postgresql://***@h/d"),
        ] {
            assert_eq!(shown_setting(setting), shown);
        }
    }

    #[test]
    fn what_is_handed_on_holds_no_secret() {
        let error = |text: &str, settings: &[&str]| {
            let settings: Vec<String> = settings.iter().map(|&one| one.to_owned()).collect();
            let refused = refuse("facts.toml", text, &settings);
            refused.map_err(|refused| refused.to_string()).unwrap_err()
        };
        for (text, key) in [
            (
                "[data]\ndatabase = \"postgresql://me:hush@h/d\"",
                "data.database",
            ),
            (
                "[data]\npath = [\"a\", \"https://h/a.csv?sig=hush\"]",
                "data.path",
            ),
            ("[model.headers]\nTenant = \"hush\"", "model.headers.Tenant"),
            ("[model]\nspec = \"exec:m --token hush\"", "model.spec"),
            ("# see http://me:hush@h/", "line 1"),
        ] {
            let error = error(text, &[]);
            assert!(error.contains(key) && !error.contains("hush"), "{error}");
        }
        let error = error("", &["model.headers.Tenant=hush"]);
        assert!(
            error.contains("model.headers.Tenant") && !error.contains("hush"),
            "{error}"
        );
        let fine = "# key: value\n[data]\npath = \"people.csv\"\ndatabase = \"env:DB\"\n[model]\nspec = \"exec:python m.py\"\nheaders = { Authorization = \"env:TOKEN\" }\n";
        refuse("facts.toml", fine, &["audit.support=0.1".to_owned()]).unwrap();
    }
}
