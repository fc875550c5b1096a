//! Many models on one table: a list of them, and one audit each.
//!
//! What the models share is done once: the table is read, settings are checked, and people are taken in once for
//! all models that read the same columns.
//!
//! **Error across models.** With m models, each is tested at α / m. A model's own p-values hold for all its
//! subgroups and definitions together, so the chance that any finding of any model passes wrongly is at most
//! α. (Holm's procedure over the models' smallest p-values would call a few more models unfair. But it covers
//! "unfair somewhere" only: which findings inside such a model pass would be left open. It would also wait for
//! the last model before it said anything of the first, and one that fails would change the others.)

use std::collections::HashSet;
use std::path::Path;

use facts_models::ModelSpec;
use facts_report::Record;
use facts_report::models::{MODEL_FORMS, ModelRow, Models};
use serde::Deserialize;

use crate::config::{self, Config};
use crate::evidence::Plan;
use crate::failure::{Failure, FailureKind};
use crate::listener::Listener;
use crate::prepared::{Basis, Taken};
use crate::run::{FromCode, TOOL, audited_on};
use crate::table::Table;

/// One model of a list: what it is called, and what is said of it.
#[derive(Clone, Debug)]
pub struct NamedModel {
    /// What it is called. A folder can have this name.
    pub name: String,
    /// The keys of `[model]` that are its own; the configuration says the others.
    pub model: config::Model,
}

impl NamedModel {
    /// Whether it is to be fitted on the table.
    pub fn is_train(&self) -> bool {
        self.model.spec == Some(ModelSpec::Train)
    }
}

/// Reads a list of models: a file with a `[[model]]` for each, which has a `name` and keys of `[model]`. Files
/// that it names lie beside it.
pub fn read_list(path: &Path) -> Result<Vec<NamedModel>, Failure> {
    let refuse = |why: String| Failure::usage(format!("{}: {}", path.display(), why.trim_end()));
    let text = facts_guard::read_text(path, facts_guard::LARGEST_TEXT);
    let text = text.map_err(|error| refuse(error.to_string()))?;
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct List {
        #[serde(default)]
        model: Vec<toml::Table>,
    }
    let shown = path.display().to_string();
    let list: List =
        toml::from_str(&text).map_err(|error| config::toml_error(&shown, &text, &error))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut models = Vec::new();
    for (place, mut keys) in list.model.into_iter().enumerate() {
        let name = match keys.remove("name") {
            Some(toml::Value::String(name)) => name,
            Some(_) => return Err(refuse(format!("model {}: `name` is not text", place + 1))),
            None => {
                return Err(refuse(format!(
                    "model {} has no name; write name = \"…\"",
                    place + 1
                )));
            }
        };
        if keys.contains_key("check") {
            return Err(refuse(format!(
                "model `{name}`: `check` is a column of the table, and so is the same for all models; write it in the configuration"
            )));
        }
        let mut model: config::Model = (keys.try_into()).map_err(|error: toml::de::Error| {
            let why = config::without_value(&error.to_string());
            refuse(format!("model `{name}`: {why}"))
        })?;
        model.beside(folder);
        models.push(NamedModel { name, model });
    }
    check_names(&models).map_err(|failure| refuse(failure.to_string()))?;
    Ok(models)
}

/// Refuses names that no folder can have, and two models of one name.
fn check_names(models: &[NamedModel]) -> Result<(), Failure> {
    if models.is_empty() {
        return Err(Failure::usage(
            "no model is listed; write a [[model]] with a name and a spec for each",
        ));
    }
    let mut known = HashSet::new();
    for NamedModel { name, .. } in models {
        let strange = |c: char| c.is_control() || "/\\:*?\"<>|".contains(c);
        if name.trim() != name || name.is_empty() || name.starts_with('.') || name.contains(strange)
        {
            return Err(Failure::usage(format!(
                "`{name}` cannot be the name of a model, since its results go to a folder of that name; leave out /, \\, :, *, ?, quotes, <, >, |, a dot at the start and blanks at the ends"
            )));
        }
        if MODEL_FORMS
            .iter()
            .any(|form| form.file.eq_ignore_ascii_case(name))
        {
            return Err(Failure::usage(format!(
                "`{name}` cannot be the name of a model, since the summary of all models is written to a file of that name"
            )));
        }
        // Some file systems do not tell capitals from small letters.
        if !known.insert(name.to_lowercase()) {
            return Err(Failure::usage(format!(
                "two models are called `{name}`; give each its own name"
            )));
        }
    }
    Ok(())
}

/// Refuses to write what several models have into one file.
fn check_files(config: &Config, models: &[NamedModel]) -> Result<(), Failure> {
    let fitted = models.iter().filter(|model| model.is_train()).count();
    let several = models.len() > 1;
    let key = match (
        &config.report.profiles,
        &config.model.answers,
        &config.train.save,
    ) {
        (Some(_), _, _) if several => "report.profiles",
        (_, Some(_), _) if several => "model.answers",
        (_, _, Some(_)) if fitted > 1 => "train.save",
        _ => return Ok(()),
    };
    Err(Failure::usage(format!(
        "`{key}` names one file, and several models would be written to it; leave it out, or audit one model"
    )))
}

/// A configuration for each of so many models: the level of the tests is divided among them.
fn for_each_of(config: &Config, models: usize) -> Result<Config, Failure> {
    // What is wrong with the settings themselves is told in their own terms.
    let Some(plan) = Plan::new(config)? else {
        return Ok(config.clone());
    };
    let mut config = config.clone();
    let alpha = plan.alpha() / models as f64;
    config.evidence.alpha = Some(alpha);
    if config.evidence.shuffles.is_none() {
        config.evidence.shuffles = Some(plan.shuffles_for(alpha));
    }
    Ok(config)
}

/// Whether findings are tested, and at which level over all models.
fn alpha_of(config: &Config) -> Result<Option<f64>, Failure> {
    let plan = Plan::new(config)?.filter(Plan::tests);
    Ok(plan.map(|plan| plan.alpha()))
}

/// Audits each model of a list on one table, in order, and hands over what came of it. A model that fails is
/// handed over with why, and the others are audited; whoever wants to stop is obeyed at once.
///
/// `code` gives what comes from code for a model, by its place in the list. `each` is given the name, the
/// configuration that the model was audited under, and what was found; what it makes of it comes back in the
/// order of the list.
pub fn run_models<T>(
    config: &Config,
    table: &Table,
    models: Vec<NamedModel>,
    listener: &dyn Listener,
    mut code: impl FnMut(usize) -> FromCode,
    mut each: impl FnMut(&str, &Config, Result<Record, Failure>) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    check_names(&models)?;
    check_files(config, &models)?;
    let count = models.len();
    let shared = for_each_of(config, count)?;
    let alpha_of_all = alpha_of(config)?;
    let basis = Basis::new(&shared, table, listener)?;
    let mut taken = Taken::default();
    let mut made = Vec::with_capacity(count);
    for (place, NamedModel { name, model }) in models.into_iter().enumerate() {
        let mut config = shared.clone();
        config.model = model.or(&shared.model);
        config.report.out = shared.report.out.as_ref().map(|out| out.join(&name));
        listener.event(
            "auditing",
            serde_json::json!({ "name": name, "model": place + 1, "of": count }),
        );
        let stopped = || match (&shared.report.out, place) {
            (None, _) | (_, 0) => Failure::interrupted(),
            (Some(_), 1) => Failure::interrupted_keeping("the audit of the first model is kept"),
            (Some(_), done) => Failure::interrupted_keeping(format!(
                "the audits of the first {done} models are kept"
            )),
        };
        listener.check().map_err(|_| stopped())?;
        let found = audited_on(
            &basis,
            Some(&mut taken),
            &config,
            code(place),
            listener,
            |_, _, _| Ok(()),
        );
        let found = found.map(|(mut record, ())| {
            if let (Some(all), true, true) = (alpha_of_all, record.evidence.is_some(), count > 1) {
                let alpha = record.alpha();
                record.notes.push(format!(
                    "one of {count} models audited together: α = {all} over all of them is {alpha} for each"
                ));
            }
            record
        });
        if let Err(failure) = &found
            && failure.kind == FailureKind::Interrupted
        {
            return Err(stopped());
        }
        made.push(each(&name, &config, found)?);
    }
    Ok(made)
}

/// The models side by side.
pub fn summary(config: &Config, table: &Table, rows: Vec<ModelRow>) -> Result<Models, Failure> {
    let alpha = alpha_of(config)?;
    Ok(Models::new(TOOL, &table.origin.name, alpha, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> Result<Vec<NamedModel>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("models.toml");
        std::fs::write(&path, text).unwrap();
        let shown = path.display().to_string();
        read_list(&path).map_err(|failure| failure.to_string().replace(&shown, "models.toml"))
    }

    #[test]
    fn a_list_is_read_and_what_is_wrong_with_it_is_named() {
        let models = listed(
            "[[model]]\nname = \"a\"\nspec = \"linear:a.json\"\nthreshold = 0.4\n[[model]]\nname = \"b\"\nspec = \"train\"\n",
        );
        let models = models.unwrap();
        assert_eq!(models[0].name, "a");
        assert_eq!(models[0].model.threshold, Some(0.4));
        let base = config::Model {
            threshold: Some(0.5),
            workers: Some(3),
            ..config::Model::default()
        };
        let own = models[0].model.clone().or(&base);
        assert_eq!((own.threshold, own.workers), (Some(0.4), Some(3)));

        let error = |text: &str| listed(text).unwrap_err();
        assert!(error("").starts_with("models.toml: no model is listed"));
        assert!(error("[[model]]\nspec = \"train\"\n").contains("model 1 has no name"));
        assert!(error("[[model]]\nname = 1\n").contains("model 1: `name` is not text"));
        let unknown = error("[[model]]\nname = \"a\"\nspce = \"train\"\n");
        assert!(
            unknown.contains("model `a`: unknown field `spce`"),
            "{unknown}"
        );
        assert!(error("[[models]]\nname = \"a\"\n").contains("unknown field `models`"));
        for name in ["../a", "models.txt", "Models.json"] {
            let error = error(&format!("[[model]]\nname = \"{name}\"\n"));
            assert!(error.contains("cannot be the name of a model"), "{error}");
        }
        let twice = error("[[model]]\nname = \"a\"\n[[model]]\nname = \"A\"\n");
        assert!(twice.contains("two models are called `A`"), "{twice}");
        assert!(error("[[model]]\nname = \"a\"\ncheck = \"c\"\n").contains("same for all models"));
    }

    #[test]
    fn several_models_do_not_share_a_file() {
        let models = listed("[[model]]\nname = \"a\"\n[[model]]\nname = \"b\"\n").unwrap();
        let config = Config::parse("facts.toml", "[report]\nprofiles = \"p\"\n", &[]).unwrap();
        let error = check_files(&config, &models).unwrap_err().to_string();
        assert!(error.starts_with("`report.profiles` names one file"));
        assert!(check_files(&config, &models[..1]).is_ok());
        let config = Config::parse("facts.toml", "[train]\nsave = \"m\"\n", &[]).unwrap();
        assert!(check_files(&config, &models).is_ok());
        let config = Config::parse("facts.toml", "[model]\nanswers = \"a\"\n", &[]).unwrap();
        let error = check_files(&config, &models).unwrap_err().to_string();
        assert!(error.starts_with("`model.answers` names one file"));
    }

    #[test]
    fn the_level_is_divided_and_there_are_shuffles_enough() {
        let config = Config::parse("facts.toml", "[evidence]\nalpha = 0.1\n", &[]).unwrap();
        let each = for_each_of(&config, 4).unwrap();
        assert_eq!(each.evidence.alpha, Some(0.025));
        assert_eq!(each.evidence.shuffles, Some(1000));
        let each = for_each_of(&config, 1000).unwrap();
        assert_eq!(each.evidence.alpha, Some(0.0001));
        assert_eq!(each.evidence.shuffles, Some(19_999));
        assert!(Plan::new(&each).is_ok());
        let none = "[evidence]\nshuffles = 0\nresamples = 0\n";
        let none = Config::parse("facts.toml", none, &[]).unwrap();
        assert_eq!(for_each_of(&none, 4).unwrap().evidence.alpha, None);
        assert_eq!(alpha_of(&none).unwrap(), None);
        assert_eq!(alpha_of(&config).unwrap(), Some(0.1));
    }
}
