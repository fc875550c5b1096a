//! From a configuration to what the engine is told about the columns.

use std::collections::{HashMap, HashSet};

use facts_engine::population::{
    self as engine, Bins, CostFunction, Declaration, Distance, Edges, Rules, Step, TransitionRule,
    View,
};
use facts_models::Input;

use super::{
    Config, Cost, CostName, Direction, Feature, Guess, Guessed, Kind, Missing, ModelSees, Move,
    Protected, Text,
};
use crate::failure::Failure;

/// What the engine is told, and what the user should know about it.
pub(crate) struct Declared {
    pub(crate) features: Vec<engine::Feature>,
    pub(crate) protected: Vec<engine::Protected>,
    pub(crate) context: Vec<String>,
    pub(crate) weight: Option<String>,
    pub(crate) trim: bool,
    /// Features whose rows are dropped where they are missing, with their missing codes.
    pub(crate) dropping: Vec<(String, Vec<String>)>,
    /// Binned features of which the model sees the label.
    pub(crate) labelled: Vec<String>,
    /// What was guessed or left out.
    pub(crate) notes: Vec<String>,
}

impl Declared {
    /// All of it as one declaration.
    pub(crate) fn declaration(&self) -> Declaration {
        self.declaration_of(self.features.clone())
    }

    /// The same with other features.
    pub(crate) fn declaration_of(&self, features: Vec<engine::Feature>) -> Declaration {
        let mut declaration = Declaration::new().features(features).trim(self.trim);
        for attribute in &self.protected {
            declaration = declaration.protected(attribute.clone());
        }
        for column in &self.context {
            declaration = declaration.context(column);
        }
        match &self.weight {
            Some(column) => declaration.weight(column),
            None => declaration,
        }
    }
}

impl Declared {
    /// Takes costs and rules that are given as code, by feature.
    pub(crate) fn take_code(
        &mut self,
        mut costs: HashMap<String, CostFunction>,
        mut allowed: HashMap<String, TransitionRule>,
    ) -> Result<(), Failure> {
        for feature in &mut self.features {
            if let Some(cost) = costs.remove(feature.name()) {
                *feature = feature.clone().distance(Distance::Function(cost));
            }
            if let Some(rule) = allowed.remove(feature.name()) {
                *feature = feature.clone().allow(rule);
            }
        }
        let mut left: Vec<&String> = costs.keys().chain(allowed.keys()).collect();
        left.sort_unstable();
        match left.first() {
            None => Ok(()),
            Some(name) => Err(Failure::usage(format!(
                "a function is given for `{name}`, which is no feature; the features are: {}",
                self.features
                    .iter()
                    .map(engine::Feature::name)
                    .collect::<Vec<_>>()
                    .join(", ")
            ))),
        }
    }
}

/// Decides about every column of a table. `reads` is what the model reads, if it can tell.
pub(crate) fn declare(
    config: &Config,
    guessed: &[Guessed],
    reads: Option<&[Input]>,
) -> Result<Declared, Failure> {
    let known: Vec<&str> = guessed.iter().map(|guess| guess.name.as_str()).collect();
    let roles = Roles::new(config, &known)?;
    let mut declared = Declared {
        features: Vec::new(),
        protected: Vec::new(),
        context: config.data.context.clone(),
        weight: config.data.weight.clone(),
        trim: config.data.trim.unwrap_or(true),
        dropping: Vec::new(),
        labelled: Vec::new(),
        notes: Vec::new(),
    };
    for (name, attribute) in &config.protected {
        let codes = config.data.missing_codes.as_deref().unwrap_or_default();
        declared.protected.push(protected(name, attribute, codes)?);
    }
    let guess_all = config.features.is_empty();
    let mut unlisted = Vec::new();
    for guess in guessed
        .iter()
        .filter(|guess| !roles.taken.contains(guess.name.as_str()))
    {
        // A flag about a column makes it a feature; what nobody says of it is guessed.
        let flagged = config.overrides.contains_key(&guess.name);
        match (config.features.get(&guess.name), &guess.guess) {
            (Some(feature), _) => declared.add(guess, feature.clone(), config)?,
            (None, Guess::Unreadable) => declared.note_why_not(guess),
            (None, _) if !guess_all && !flagged => unlisted.push(guess.name.clone()),
            (None, Guess::Context(_)) if !flagged => {
                declared.note_why_not(guess);
                unlisted.push(guess.name.clone());
            }
            (None, _) => {
                let feature = declared.guessed_feature(guess, config);
                declared.add(guess, feature, config)?;
            }
        }
    }
    declared.unlisted(unlisted, config, reads);
    Ok(declared)
}

/// Which columns have a role that is not "feature".
struct Roles<'a> {
    taken: HashSet<&'a str>,
}

impl<'a> Roles<'a> {
    fn new(config: &'a Config, known: &[&str]) -> Result<Self, Failure> {
        let data = &config.data;
        let protected = config.protected.keys().map(|name| ("protected", name));
        let label = config
            .label
            .column
            .iter()
            .map(|name| ("label.column", name));
        let check = config.model.check.iter().map(|name| ("model.check", name));
        let weight = data.weight.iter().map(|name| ("data.weight", name));
        let ignore = data.ignore.iter().map(|name| ("data.ignore", name));
        let context = data.context.iter().map(|name| ("data.context", name));
        let features = config.features.keys().map(|name| ("features", name));
        let flags = config.overrides.keys().map(|name| ("features", name));
        let mut taken = HashSet::new();
        let roles = protected
            .chain(label)
            .chain(check)
            .chain(weight)
            .chain(ignore)
            .chain(context);
        for (key, name) in roles.clone().chain(features).chain(flags) {
            if !known.contains(&name.as_str()) {
                return Err(unknown_column(key, name, known));
            }
        }
        for (key, name) in roles {
            let is_feature =
                config.features.contains_key(name) || config.overrides.contains_key(name);
            if !taken.insert(name.as_str()) || is_feature {
                return Err(Failure::usage(format!(
                    "column `{name}` has two roles, one of them {key}; give it one"
                )));
            }
        }
        Ok(Self { taken })
    }
}

fn unknown_column(key: &str, name: &str, known: &[&str]) -> Failure {
    let error = facts_engine::Error::UnknownColumn {
        column: name.to_owned(),
        known: known.iter().map(|name| (*name).to_owned()).collect(),
    };
    Failure::usage(format!("{key}: {error}"))
}

impl Declared {
    fn note_why_not(&mut self, guess: &Guessed) {
        if let Some(why) = guess.guess.why_not() {
            self.notes
                .push(format!("{} is no feature: {why}", guess.name));
        }
    }

    /// A feature that nothing was said about, with what its name and values suggest.
    fn guessed_feature(&mut self, guess: &Guessed, config: &Config) -> Feature {
        let said = config
            .overrides
            .get(&guess.name)
            .cloned()
            .unwrap_or_default();
        let kind_said = said.order.is_some()
            || said.edges.is_some()
            || said.quantiles.or(said.equal_width).is_some();
        let no_codes = config
            .data
            .missing_codes
            .as_ref()
            .is_some_and(Vec::is_empty);
        let codes = guess.missing_codes.iter().filter(|_| !no_codes);
        let mut feature = Feature {
            missing_codes: codes.map(|(code, _)| code.trim().to_owned()).collect(),
            ..Feature::default()
        };
        if !feature.missing_codes.is_empty() {
            let codes = feature.missing_codes.join(", ");
            self.notes
                .push(format!("{}: taken for missing: {codes}", guess.name));
        }
        let ordered = matches!(guess.guess, Guess::Binned | Guess::Numeric);
        if said.immutable || said.only.is_some() {
            // The user has decided.
        } else if guess.maybe_immutable {
            feature.immutable = true;
            self.notes.push(format!(
                "{} is taken for immutable, by its name",
                guess.name
            ));
        } else if guess.only_increases && ordered {
            feature.only = Some(Direction::Increase);
            self.notes.push(format!(
                "{} is taken to only increase, by its name",
                guess.name
            ));
        }
        if guess.guess == Guess::Binned && !kind_said {
            let bins = super::guess::BINS;
            self.notes
                .push(format!("{} is cut into {bins} quantile bins", guess.name));
        }
        feature
    }

    fn add(&mut self, guess: &Guessed, feature: Feature, config: &Config) -> Result<(), Failure> {
        let name = &guess.name;
        let flags = config.overrides.get(name).cloned().unwrap_or_default();
        let feature = flags.or(feature);
        let mut codes = feature.missing_codes.clone();
        codes.extend(config.data.missing_codes.iter().flatten().cloned());
        let kind = kind(name, &feature, guess)?;
        if matches!(&kind, engine::Kind::Binned(bins) if bins.view == View::Label) {
            self.labelled.push(name.clone());
        }
        let missing = match feature.missing.unwrap_or(Missing::Drop) {
            Missing::Error => engine::Missing::Error,
            Missing::Level => engine::Missing::Level,
            Missing::Drop => {
                self.dropping.push((name.clone(), codes.clone()));
                engine::Missing::Drop
            }
        };
        let mut declared = engine::Feature::new(name, kind)
            .missing(missing)
            .missing_codes(codes)
            .rules(rules(name, &feature)?)
            .weight(feature.weight.unwrap_or(1.0));
        if let Some(cost) = &feature.cost {
            declared = declared.distance(distance(cost));
        }
        self.features.push(declared);
        Ok(())
    }

    /// Columns that are no feature: the model sees those that it reads, and all if it cannot tell.
    fn unlisted(&mut self, columns: Vec<String>, config: &Config, reads: Option<&[Input]>) {
        if is_train(config) {
            // A model that is fitted here is fitted on what was declared.
            return;
        }
        let plain = |name: &str| -> String {
            name.chars()
                .filter(|c| c.is_alphanumeric())
                .flat_map(char::to_lowercase)
                .collect()
        };
        let is_read = |name: &String| {
            reads.is_none_or(|inputs| {
                inputs
                    .iter()
                    .any(|input| plain(&input.column) == plain(name))
            })
        };
        let (seen, unseen): (Vec<_>, Vec<_>) = columns.into_iter().partition(is_read);
        if !seen.is_empty() {
            let columns = seen.join(", ");
            self.notes.push(format!(
                "the model sees, and the audit does not speak of: {columns}"
            ));
        }
        if !unseen.is_empty() {
            let columns = unseen.join(", ");
            self.notes.push(format!(
                "not a feature and not read by the model: {columns}"
            ));
        }
        self.context.extend(seen);
    }
}

/// Whether the model is to be fitted here.
pub fn is_train(config: &Config) -> bool {
    config.model.spec.as_deref() == Some("train")
}

fn texts(texts: &[Text]) -> Vec<String> {
    texts.iter().map(|text| text.0.clone()).collect()
}

/// The edges that are asked for, if any.
fn edges(
    key: &str,
    quantiles: Option<usize>,
    equal_width: Option<usize>,
    at: &Option<Vec<f64>>,
) -> Result<Option<Edges>, Failure> {
    match (quantiles, equal_width, at) {
        (None, None, None) => Ok(None),
        (Some(n), None, None) => Ok(Some(Edges::Quantiles(n))),
        (None, Some(n), None) => Ok(Some(Edges::EqualWidth(n))),
        (None, None, Some(at)) => Ok(Some(Edges::At(at.clone()))),
        _ => Err(Failure::usage(format!(
            "{key}: give one of quantiles, equal-width and edges"
        ))),
    }
}

fn kind(name: &str, feature: &Feature, guess: &Guessed) -> Result<engine::Kind, Failure> {
    let key = format!("features.{name}");
    let refuse = |why: &str| Err(Failure::usage(format!("{key}: {why}")));
    let edges = edges(&key, feature.quantiles, feature.equal_width, &feature.edges)?;
    let kind = match (feature.kind, &edges, &feature.order) {
        (Some(kind), ..) => kind,
        (None, Some(_), None) => Kind::Binned,
        (None, None, Some(_)) => Kind::Ordinal,
        (None, Some(_), Some(_)) => return refuse("bins have their own order; drop `order`"),
        (None, None, None) => match guess.guess {
            Guess::Binned => Kind::Binned,
            Guess::Numeric => Kind::Numeric,
            Guess::Categorical | Guess::Context(_) | Guess::Unreadable => Kind::Categorical,
        },
    };
    if kind != Kind::Binned {
        if edges.is_some() {
            return refuse("only kind = \"binned\" has bins");
        }
        if feature.labels.is_some() || feature.model_sees.is_some() || feature.moves.is_some() {
            return refuse("labels, model-sees and move belong to kind = \"binned\"");
        }
    }
    Ok(match kind {
        Kind::Categorical => engine::Kind::Categorical,
        Kind::Numeric => engine::Kind::Numeric,
        Kind::Ordinal => match &feature.order {
            Some(order) => engine::Kind::Ordinal(texts(order)),
            None => return refuse("an ordinal feature needs `order`: its levels, lowest first"),
        },
        Kind::Binned => {
            let moves = match feature.moves.unwrap_or(Move::Linear) {
                Move::Linear => engine::Move::Linear,
                Move::Median => engine::Move::Median,
                Move::Nearest => engine::Move::Nearest,
            };
            let view = match feature.model_sees.unwrap_or(ModelSees::Number) {
                ModelSees::Number => View::Raw(moves),
                ModelSees::Label if feature.moves.is_some() => {
                    return refuse(
                        "a model that sees the label is never shown a moved number; drop `move`",
                    );
                }
                ModelSees::Label => View::Label,
            };
            engine::Kind::Binned(Bins {
                edges: edges.unwrap_or(Edges::Quantiles(super::guess::BINS)),
                labels: feature.labels.clone(),
                view,
            })
        }
    })
}

fn rules(name: &str, feature: &Feature) -> Result<Rules, Failure> {
    let max_step = match (feature.max_step, feature.max_step_units) {
        (Some(levels), None) => Some(Step::Levels(levels)),
        (None, Some(units)) => Some(Step::Units(units)),
        (None, None) => None,
        (Some(_), Some(_)) => {
            return Err(Failure::usage(format!(
                "features.{name}: give max-step (in levels) or max-step-units, not both"
            )));
        }
    };
    let pair = |(from, to): &(Text, Text)| (from.0.clone(), to.0.clone());
    Ok(Rules {
        immutable: feature.immutable,
        direction: feature.only.map(|only| match only {
            Direction::Increase => engine::Direction::Increase,
            Direction::Decrease => engine::Direction::Decrease,
        }),
        max_step,
        not_a_target: texts(&feature.not_a_target),
        forbidden: feature.forbidden.iter().map(pair).collect(),
        linked: feature.linked.clone(),
        allowed: None,
    })
}

fn distance(cost: &Cost) -> Distance {
    match cost {
        Cost::Named(CostName::Categorical) => Distance::Categorical,
        Cost::Named(CostName::Ordinal) => Distance::Ordinal,
        Cost::Named(CostName::Numeric) => Distance::Numeric { normalised: true },
        Cost::Named(CostName::NumericRaw) => Distance::Numeric { normalised: false },
        Cost::Table(rows) => {
            let row = |(from, to, cost): &(Text, Text, f64)| (from.0.clone(), to.0.clone(), *cost);
            Distance::Table(rows.iter().map(row).collect())
        }
    }
}

fn protected(
    name: &str,
    attribute: &Protected,
    missing_codes: &[String],
) -> Result<engine::Protected, Failure> {
    let key = format!("protected.{name}");
    let codes = attribute.missing_codes.iter().chain(missing_codes).cloned();
    let mut declared = engine::Protected::attribute(name).missing_codes(codes);
    if let Some(edges) = edges(
        &key,
        attribute.quantiles,
        attribute.equal_width,
        &attribute.edges,
    )? {
        declared = declared.kind(engine::Kind::Binned(Bins {
            edges,
            labels: attribute.labels.clone(),
            view: View::Raw(engine::Move::default()),
        }));
    }
    for (group, values) in &attribute.merge {
        declared = declared.merge(group, texts(values));
    }
    Ok(declared)
}
