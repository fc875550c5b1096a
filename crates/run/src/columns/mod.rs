//! Roles: what each column of the table is to the audit.
//!
//! Decided once, from what the user says, what the model reads, and (`guess.rs`) what the columns look
//! like. A column that the model does not read may describe subgroups but never changes in an action;
//! what looks like the outcome is never a feature unless the user lists it.

mod guess;

use std::collections::HashMap;

use facts_engine::population::{
    self as engine, Bins, CostFunction, Declaration, Direction, Distance, Edges, Rules, Step,
    Table, TransitionRule, View,
};
use facts_models::{Input, input_of};

pub use self::guess::{BINS, Guess, Guessed, guess};
use crate::config::{Config, Cost, CostName, Feature, KindName, ModelSees, Protected, Text};
use crate::failure::Failure;

/// What the engine is told about the columns, and what the user should know about it.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) declaration: Declaration,
    /// What was guessed or left out.
    pub(crate) notes: Vec<String>,
}

impl Columns {
    /// Decides about every column of a table. `inputs` is what the model reads, if it can tell.
    pub(crate) fn decide(
        config: &Config,
        table: &Table,
        inputs: Option<&[Input]>,
    ) -> Result<Self, Failure> {
        let guessed = guess(table);
        let roles = Roles::new(config, &guessed)?;
        if config.protected.is_empty() {
            return Err(no_protected(&guessed));
        }
        if let (Some(label), Some(inputs)) = (&config.label.column, inputs)
            && let Some(input) = input_of(inputs, label)
        {
            return Err(Failure::usage(format!(
                "the model reads `{}`, and `label.column` says that `{label}` is the outcome; a model that reads the outcome has nothing to decide: name another label, or leave `label.column` out",
                input.column
            )));
        }
        let mut deciding = Deciding {
            config,
            inputs,
            features: Vec::new(),
            context: Vec::new(),
            notes: Vec::new(),
        };
        deciding.decide(&guessed, &roles)?;
        let Deciding {
            features,
            context,
            notes,
            ..
        } = deciding;
        let mut declaration = Declaration::new()
            .features(features)
            .trim(config.data.trim.unwrap_or(true));
        for (name, attribute) in &config.protected {
            let codes = config.data.missing_codes.as_deref().unwrap_or_default();
            declaration = declaration.protected(protected(name, attribute, codes)?);
        }
        for column in config.data.context.iter().chain(&context) {
            declaration = declaration.context(column);
        }
        if let Some(column) = &config.data.weight {
            declaration = declaration.weight(column);
        }
        Ok(Self { declaration, notes })
    }

    /// Takes costs and rules that are given as code, by feature.
    pub(crate) fn take_code(
        &mut self,
        mut costs: HashMap<String, CostFunction>,
        mut allowed: HashMap<String, TransitionRule>,
    ) -> Result<(), Failure> {
        let mut features = self.declaration.declared_features().to_vec();
        for feature in &mut features {
            if let Some(cost) = costs.remove(feature.name()) {
                *feature = feature.clone().distance(Distance::Function(cost));
            }
            if let Some(rule) = allowed.remove(feature.name()) {
                *feature = feature.clone().allow(rule);
            }
        }
        let mut left: Vec<&String> = costs.keys().chain(allowed.keys()).collect();
        left.sort_unstable();
        if let Some(name) = left.first() {
            let known: Vec<&str> = features.iter().map(engine::Feature::name).collect();
            return Err(Failure::usage(format!(
                "a function is given for `{name}`, which is no feature; the features are: {}",
                known.join(", ")
            )));
        }
        self.declaration = std::mem::take(&mut self.declaration).with_features(features);
        Ok(())
    }
}

/// Asks for the protected attribute, with what the table suggests.
fn no_protected(guessed: &[Guessed]) -> Failure {
    let names = |wanted: fn(&&Guessed) -> bool| -> Vec<&str> {
        let wanted = guessed.iter().filter(wanted);
        wanted.map(|guess| guess.name.as_str()).collect()
    };
    let mut maybe = names(|guess| guess.maybe_protected);
    if maybe.is_empty() {
        maybe = names(|_| true);
    }
    Failure::usage(format!(
        "no protected attribute is named; whose recourse is to be compared? Name a column with `protected`; this table has: {}",
        maybe.join(", ")
    ))
}

/// Which columns have a role that is not "feature", and the key that says so.
struct Roles<'a>(HashMap<&'a str, &'static str>);

impl<'a> Roles<'a> {
    fn new(config: &'a Config, guessed: &[Guessed]) -> Result<Self, Failure> {
        let data = &config.data;
        let protected = config.protected.keys().map(|name| ("protected", name));
        let label = (config.label.column.iter()).map(|name| ("label.column", name));
        let check = config.model.check.iter().map(|name| ("model.check", name));
        let weight = data.weight.iter().map(|name| ("data.weight", name));
        let ignore = data.ignore.iter().map(|name| ("data.ignore", name));
        let context = data.context.iter().map(|name| ("data.context", name));
        let features = config.features.keys().chain(config.overrides.keys());
        let roles = protected.chain(label).chain(check).chain(weight);
        let roles = roles.chain(ignore).chain(context);
        let features = features.map(|name| ("features", name));
        let mut taken: HashMap<&str, &'static str> = HashMap::new();
        for (key, name) in roles.chain(features) {
            if !guessed.iter().any(|guess| guess.name == *name) {
                return Err(unknown_column(key, name, guessed));
            }
            match taken.insert(name, key) {
                Some(other) if (other, key) != ("features", "features") => {
                    return Err(Failure::usage(format!(
                        "two keys claim the column `{name}`: `{other}` and `{key}`; a column has one role, so take it out of one of them"
                    )));
                }
                _ => {}
            }
        }
        taken.retain(|_, key| *key != "features");
        Ok(Self(taken))
    }
}

fn unknown_column(key: &str, name: &str, guessed: &[Guessed]) -> Failure {
    let error = facts_engine::Error::UnknownColumn {
        column: name.to_owned(),
        known: guessed.iter().map(|guess| guess.name.clone()).collect(),
    };
    Failure::usage(format!("`{key}`: {error}"))
}

/// The features and what else the model sees, column by column.
struct Deciding<'a> {
    config: &'a Config,
    inputs: Option<&'a [Input]>,
    features: Vec<engine::Feature>,
    context: Vec<String>,
    notes: Vec<String>,
}

impl Deciding<'_> {
    fn decide(&mut self, guessed: &[Guessed], roles: &Roles<'_>) -> Result<(), Failure> {
        let config = self.config;
        let guess_all = config.features.is_empty();
        let free = |guess: &&Guessed| !roles.0.contains_key(guess.name.as_str());
        let mut unlisted = Vec::new();
        for guess in guessed.iter().filter(free) {
            // A flag about a column makes it a feature; what nobody says of it is guessed.
            let flagged = config.overrides.contains_key(&guess.name);
            match (config.features.get(&guess.name), &guess.guess) {
                (Some(feature), _) => self.add(guess, feature.clone())?,
                (None, Guess::Unreadable) => self.note_why_not(guess),
                (None, _) if !guess_all && !flagged => unlisted.push(guess.name.clone()),
                (None, Guess::Context(_)) if !flagged => {
                    self.note_why_not(guess);
                    unlisted.push(guess.name.clone());
                }
                (None, _) if guess.maybe_label && config.label.column.is_none() && !flagged => {
                    self.notes.push(format!(
                        "{} looks like the outcome, so it is no feature: name it with `label.column`, or list it under features",
                        guess.name
                    ));
                    unlisted.push(guess.name.clone());
                }
                (None, _) => {
                    let feature = self.guessed_feature(guess);
                    self.add(guess, feature)?;
                }
            }
        }
        self.unlisted(unlisted);
        Ok(())
    }

    /// Whether the model reads a column; it may, if it cannot tell.
    fn is_read(&self, column: &str) -> bool {
        let inputs = self.inputs;
        inputs.is_none_or(|inputs| input_of(inputs, column).is_some())
    }

    fn note_why_not(&mut self, guess: &Guessed) {
        if let Some(why) = guess.guess.why_not() {
            self.notes
                .push(format!("{} is no feature: {why}", guess.name));
        }
    }

    /// A feature that nothing was said about, with what its name and values suggest.
    fn guessed_feature(&mut self, guess: &Guessed) -> Feature {
        let said = (self.config.overrides)
            .get(&guess.name)
            .cloned()
            .unwrap_or_default();
        let kind_said = said.order.is_some()
            || said.edges.is_some()
            || said.quantiles.or(said.equal_width).is_some();
        let no_codes = (self.config.data.missing_codes.as_ref()).is_some_and(Vec::is_empty);
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
            let bins = guess::BINS;
            self.notes
                .push(format!("{} is cut into {bins} quantile bins", guess.name));
        }
        feature
    }

    fn add(&mut self, guess: &Guessed, feature: Feature) -> Result<(), Failure> {
        let name = &guess.name;
        let flags = self.config.overrides.get(name).cloned().unwrap_or_default();
        let feature = flags.or(feature);
        let mut codes = feature.missing_codes.clone();
        codes.extend(self.config.data.missing_codes.iter().flatten().cloned());
        let mut rules = rules(name, &feature)?;
        if !self.is_read(name) && !rules.immutable {
            rules.immutable = true;
            self.notes.push(format!(
                "{name} may not change: the model does not read it, so it only describes subgroups"
            ));
        }
        let mut declared = engine::Feature::new(name, kind(name, &feature, guess)?)
            .missing(
                feature
                    .missing
                    .or(self.config.data.missing)
                    .unwrap_or_default(),
            )
            .missing_codes(codes)
            .rules(rules)
            .weight(feature.weight.unwrap_or(1.0));
        if let Some(cost) = &feature.cost {
            declared = declared.distance(distance(cost));
        }
        self.features.push(declared);
        Ok(())
    }

    /// Columns that are no feature: the model sees those that it reads, and all if it cannot tell.
    fn unlisted(&mut self, columns: Vec<String>) {
        if self.config.is_train() {
            // A model that is fitted here is fitted on what was declared.
            return;
        }
        let (seen, unseen): (Vec<_>, Vec<_>) =
            columns.into_iter().partition(|name| self.is_read(name));
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
        (None, Some(_), None) => KindName::Binned,
        (None, None, Some(_)) => KindName::Ordinal,
        (None, Some(_), Some(_)) => return refuse("bins have their own order; drop `order`"),
        (None, None, None) => match guess.guess {
            Guess::Binned => KindName::Binned,
            Guess::Numeric => KindName::Numeric,
            Guess::Categorical | Guess::Context(_) | Guess::Unreadable => KindName::Categorical,
        },
    };
    if kind != KindName::Binned {
        if edges.is_some() {
            return refuse("only kind = \"binned\" has bins");
        }
        if feature.labels.is_some() || feature.model_sees.is_some() || feature.moves.is_some() {
            return refuse("labels, model-sees and move belong to kind = \"binned\"");
        }
    }
    Ok(match kind {
        KindName::Categorical => engine::Kind::Categorical,
        KindName::Numeric => engine::Kind::Numeric,
        KindName::Ordinal => match &feature.order {
            Some(order) => engine::Kind::Ordinal(texts(order)),
            None => return refuse("an ordinal feature needs `order`: its levels, lowest first"),
        },
        KindName::Binned => {
            let view = match feature.model_sees.unwrap_or(ModelSees::Number) {
                ModelSees::Number => View::Raw(feature.moves.unwrap_or_default()),
                ModelSees::Label if feature.moves.is_some() => {
                    return refuse(
                        "a model that sees the label is never shown a moved number; drop `move`",
                    );
                }
                ModelSees::Label => View::Label,
            };
            engine::Kind::Binned(Bins {
                edges: edges.unwrap_or(Edges::Quantiles(guess::BINS)),
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
        direction: feature.only,
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
