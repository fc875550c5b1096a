//! Roles: what each column of the table is to the audit.
//!
//! Decided once, from what the user says, what the model reads, and (`guess.rs`) what the columns look
//! like. A column that the model does not read may describe subgroups but never changes in an action;
//! what looks like the outcome is never a feature unless the user lists it.

mod guess;
mod knowledge;
mod outcome;

use std::collections::{HashMap, HashSet};

use facts_engine::population::{
    self as engine, Bins, CostFunction, Declaration, Direction, Distance, Edges, Rules, Step,
    Table, TransitionRule, View,
};
use facts_models::{Input, input_of};

pub(crate) use self::guess::codes_of_numbers;
pub use self::guess::{Guess, Guessed, guess};
pub use self::knowledge::May;
use crate::config::{Config, Cost, CostName, Feature, KindName, ModelSees, Only, Protected, Text};
use crate::failure::Failure;

/// What the engine is told about the columns, and what the user should know about it.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) declaration: Declaration,
    /// What was guessed or left out.
    pub(crate) notes: Vec<String>,
    /// What each column is, in the order of the table.
    pub(crate) roles: Vec<Role>,
    /// What may change, feature by feature.
    changes: Vec<Change>,
}

/// What a column is to the audit.
#[derive(Clone, Debug)]
pub struct Role {
    /// The column.
    pub column: String,
    /// `feature`, `protected`, `label`, `weight`, `context`, `check` or `ignored`.
    pub role: &'static str,
    /// Why, where the tool decided.
    pub why: Option<String>,
    /// Whether its values look as if they told who somebody is.
    pub tells_who: bool,
}

/// Whether an action may change a feature.
#[derive(Clone, Debug)]
pub struct Change {
    /// The feature.
    pub feature: String,
    /// Whether it may change.
    pub may: May,
    /// Who says so.
    pub why: Why,
}

/// Who says whether a feature may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The user.
    Said,
    /// The model does not read it.
    Unread,
    /// Its name.
    Name(&'static str),
    /// Nobody: its name says one way only, but its levels have no order.
    Unordered,
    /// Nobody: nothing is known about it, so it is assumed that it may.
    Assumed,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Said => "as you say",
            Self::Unread => "the model does not read it",
            Self::Name(why) => why,
            Self::Unordered => "both ways: nobody said in which order its levels are",
            Self::Assumed => "assumed: nothing is known about it",
        })
    }
}

impl Columns {
    /// Decides about every column of a table. `inputs` is what the model reads, if it can tell.
    pub(crate) fn decide(
        config: &Config,
        table: &Table,
        inputs: Option<&[Input]>,
    ) -> Result<Self, Failure> {
        let guessed = guess(table, config);
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
            said: Said::default(),
            roles: Vec::new(),
            changes: Vec::new(),
        };
        deciding.decide(&guessed, &roles)?;
        let Deciding {
            features,
            context,
            mut notes,
            said,
            roles,
            changes,
            ..
        } = deciding;
        notes.splice(0..0, said.notes());
        notes.splice(0..0, about_changes(&changes));
        // Before everything else: it puts the whole audit in doubt.
        notes.splice(0..0, said.nearly_label());
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
        Ok(Self {
            declaration,
            notes,
            roles,
            changes,
        })
    }

    /// What may change, feature by feature, and who says so.
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
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
        let known: HashSet<&String> = guessed.iter().map(|guess| &guess.name).collect();
        let mut taken: HashMap<&str, &'static str> = HashMap::new();
        for (key, name) in roles.chain(features) {
            if !known.contains(name) {
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

/// Names that a note tells; more are only counted.
const TOLD: usize = 12;

/// Names in a row, the first of them if there are many.
fn some(names: &[String]) -> String {
    match names.len().checked_sub(TOLD) {
        Some(more @ 1..) => format!("{} and {more} more", names[..TOLD].join(", ")),
        _ => names.join(", "),
    }
}

/// Names with what is said of each, those of which the same is said together: `a, b (why), c (why)`.
fn with_reasons<'t>(told: impl Iterator<Item = (&'t str, String)>) -> String {
    let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
    for (name, why) in told {
        match by_reason.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name.to_owned()),
            None => by_reason.push((why, vec![name.to_owned()])),
        }
    }
    let parts = by_reason.iter().map(|(why, names)| match why.as_str() {
        "" => some(names),
        why => format!("{} ({why})", some(names)),
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// What may change, in one line.
fn about_changes(changes: &[Change]) -> Option<String> {
    let of = |wanted: May| changes.iter().filter(move |change| change.may == wanted);
    let told = |change: &'_ Change| match change.why {
        Why::Said | Why::Assumed => String::new(),
        Why::Unread | Why::Unordered | Why::Name(_) => change.why.to_string(),
    };
    let list = |wanted: May| {
        with_reasons(of(wanted).map(|change| (change.feature.as_str(), told(change))))
    };
    let parts: Vec<String> = [
        ("May change", list(May::Change)),
        ("only up", list(May::OnlyUp)),
        ("only down", list(May::OnlyDown)),
        ("may not", list(May::Not)),
    ]
    .into_iter()
    .map(|(head, names)| match (head, names.as_str()) {
        ("May change", "") => "May change: nothing freely".to_owned(),
        (_, "") => String::new(),
        _ => format!("{head}: {names}"),
    })
    .filter(|part| !part.is_empty())
    .collect();
    let assumed: Vec<String> = (of(May::Change))
        .filter(|change| change.why == Why::Assumed)
        .map(|change| change.feature.clone())
        .collect();
    let assumed = match assumed.len() {
        0 => String::new(),
        n if n == of(May::Change).count() => {
            " Assumed (nothing known about them): all that may change.".to_owned()
        }
        _ => format!(" Assumed (nothing known about them): {}.", some(&assumed)),
    };
    (!changes.is_empty()).then(|| format!("{}.{assumed}", parts.join("; ")))
}

/// What was guessed about columns, gathered into one note of each kind.
#[derive(Default)]
struct Said {
    no_feature: Vec<(String, String)>,
    missing: Vec<String>,
    coded: Vec<String>,
    /// Each with how many bins.
    binned: Vec<(String, usize)>,
    /// How many columns could be features, if they are too many.
    of_many: usize,
    nearly_label: Vec<String>,
    /// Each with the value because of which it is text.
    odd: Vec<String>,
}

impl Said {
    /// Columns that nearly give the outcome away.
    fn nearly_label(&self) -> Option<String> {
        (!self.nearly_label.is_empty()).then(|| {
            format!(
                "nearly the outcome itself, so a model that reads it has little to decide; leave it out with `data.ignore` if the model does: {}",
                self.nearly_label.join(", ")
            )
        })
    }

    fn notes(&self) -> Vec<String> {
        let why = self.no_feature.iter();
        let why = with_reasons(why.map(|(name, why)| (name.as_str(), why.clone())));
        let (missing, coded) = (some(&self.missing), some(&self.coded));
        let names = |bins: usize| -> Vec<String> {
            let of = self.binned.iter().filter(|(_, n)| *n == bins);
            of.map(|(name, _)| name.clone()).collect()
        };
        let mut bins: Vec<usize> = self.binned.iter().map(|(_, bins)| *bins).collect();
        bins.sort_unstable();
        bins.dedup();
        let binned = bins
            .iter()
            .map(|&bins| format!("cut into {bins} quantile bins: {}", some(&names(bins))));
        let binned: Vec<String> = binned.collect();
        let of_many = match self.of_many {
            0 => String::new(),
            many => format!(
                "{many} columns could be features; the {} that go most with the outcome are, and the model sees the others; list columns under features to choose",
                guess::MANY_FEATURES
            ),
        };
        [
            (why, "no feature: "),
            (missing, "taken for missing: "),
            (some(&self.odd), "taken for text, though nearly all values are numbers; list what is none in `data.nulls` if it stands for nothing known: "),
            (coded, "taken for categories, though written as numbers, because the outcome does not follow their order: "),
            (binned.join("; "), ""),
            (of_many, ""),
        ]
        .iter()
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, head)| format!("{head}{names}"))
        .collect()
    }
}

/// The features and what else the model sees, column by column.
struct Deciding<'a> {
    config: &'a Config,
    inputs: Option<&'a [Input]>,
    features: Vec<engine::Feature>,
    context: Vec<String>,
    notes: Vec<String>,
    said: Said,
    roles: Vec<Role>,
    changes: Vec<Change>,
}

impl Deciding<'_> {
    fn decide(&mut self, guessed: &[Guessed], roles: &Roles<'_>) -> Result<(), Failure> {
        let config = self.config;
        let guess_all = config.features.is_empty();
        let mut unlisted = Vec::new();
        for guess in guessed {
            let name = &guess.name;
            if let Some(key) = roles.0.get(name.as_str()) {
                let (_, role) = key.rsplit_once('.').unwrap_or(("", key));
                let role = match role {
                    "column" => "label",
                    "ignore" => "ignored",
                    role => role,
                };
                self.role(guess, role, None);
                continue;
            }
            if let Some(odd) = &guess.odd
                && config.features.get(name).is_none_or(kind_is_open)
            {
                self.said.odd.push(format!("{name} (`{odd}`)"));
            }
            // A flag about a column makes it a feature; what nobody says of it is guessed.
            let flagged = config.overrides.contains_key(name);
            let listed = config.features.get(name);
            if let Some(feature) = listed {
                self.add(guess, feature.clone(), true)?;
            } else if let Some(why) =
                (guess.why_not.as_ref()).filter(|_| !guess.is_readable || (guess_all && !flagged))
            {
                self.said.no_feature.push((name.clone(), why.clone()));
                self.role(guess, "ignored", Some(why.clone()));
                if guess.is_readable {
                    unlisted.push(name.clone());
                }
            } else if !guess_all && !flagged {
                self.role(guess, "ignored", Some("not among the features".to_owned()));
                unlisted.push(name.clone());
            } else if guess.is_label && !flagged {
                self.notes.push(format!(
                    "{name} looks like the outcome, so it is no feature: name it with `label.column`, or list it under features"
                ));
                self.role(
                    guess,
                    "ignored",
                    Some("it looks like the outcome".to_owned()),
                );
                unlisted.push(name.clone());
            } else if guess.is_context && guess_all && !flagged {
                let why = "others go more with the outcome".to_owned();
                self.role(guess, "context", Some(why));
                self.context.push(name.clone());
            } else {
                let feature = self.guessed_feature(guess);
                self.add(guess, feature, false)?;
            }
        }
        if !self.context.is_empty() {
            self.said.of_many = self.features.len() + self.context.len();
        }
        self.unlisted(unlisted);
        Ok(())
    }

    fn role(&mut self, guess: &Guessed, role: &'static str, why: Option<String>) {
        self.roles.push(Role {
            column: guess.name.clone(),
            role,
            why,
            tells_who: guess.tells_who,
        });
    }

    /// Whether the model reads a column; it may, if it cannot tell.
    fn is_read(&self, column: &str) -> bool {
        let inputs = self.inputs;
        inputs.is_none_or(|inputs| input_of(inputs, column).is_some())
    }

    /// A feature that nothing was said about, with what its name and values suggest.
    fn guessed_feature(&mut self, guess: &Guessed) -> Feature {
        let said = (self.config.overrides)
            .get(&guess.name)
            .cloned()
            .unwrap_or_default();
        let kind_said = !kind_is_open(&said);
        let no_codes = (self.config.data.missing_codes.as_ref()).is_some_and(Vec::is_empty);
        let mut feature = Feature::default();
        for (code, rows) in guess.missing_codes.iter().filter(|_| !no_codes) {
            let code = code.trim();
            let rows = facts_report::text::count(*rows as u64);
            self.said
                .missing
                .push(format!("{code} in {} ({rows} rows)", guess.name));
            feature.missing_codes.push(code.to_owned());
        }
        let is_ordered = kind_said || guess.guess != Guess::Categorical;
        match guess.change {
            _ if said.immutable || said.only.is_some() => {}
            Some((May::Not, _)) => feature.immutable = true,
            Some((May::OnlyUp, _)) if is_ordered => feature.only = Some(Only::Increase),
            Some((May::OnlyDown, _)) if is_ordered => feature.only = Some(Only::Decrease),
            _ => {}
        }
        feature
    }

    /// Adds a feature; one that is not listed is as it was guessed where no flag says otherwise.
    fn add(&mut self, guess: &Guessed, feature: Feature, is_listed: bool) -> Result<(), Failure> {
        let name = &guess.name;
        let flags = self.config.overrides.get(name).cloned().unwrap_or_default();
        let is_said = is_listed || flags.immutable || flags.only.is_some();
        let feature = flags.or(feature);
        let mut codes = feature.missing_codes.clone();
        codes.extend(self.config.data.missing_codes.iter().flatten().cloned());
        let mut rules = rules(name, &feature)?;
        let may = match (rules.immutable, rules.direction) {
            (true, _) => May::Not,
            (false, Some(Direction::Increase)) => May::OnlyUp,
            (false, Some(Direction::Decrease)) => May::OnlyDown,
            (false, None) => May::Change,
        };
        let (may, why) = match guess.change {
            _ if !self.is_read(name) && may != May::Not => (May::Not, Why::Unread),
            _ if is_said => (may, Why::Said),
            Some((known, why)) if known == may => (may, Why::Name(why)),
            Some(_) => (may, Why::Unordered),
            None => (may, Why::Assumed),
        };
        rules.immutable = may == May::Not;
        self.changes.push(Change {
            feature: name.clone(),
            may,
            why,
        });
        self.role(guess, "feature", None);
        if guess.is_coded && kind_is_open(&feature) {
            self.said.coded.push(name.clone());
        }
        let is_cut = match feature.kind {
            None => guess.guess == Guess::Binned,
            Some(kind) => kind == KindName::Binned,
        };
        if is_cut && !bins_are_said(&feature) && feature.order.is_none() {
            self.said.binned.push((name.clone(), guess.bins));
        }
        if let Some(share) = guess.nearly_label.filter(|_| !is_listed) {
            let share = format!("{:.0} %", 100.0 * share);
            self.said
                .nearly_label
                .push(format!("{name} ({share} of the rows)"));
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

/// Whether nothing is said about what the levels of a feature are.
fn kind_is_open(feature: &Feature) -> bool {
    feature.kind.is_none() && feature.order.is_none() && !bins_are_said(feature)
}

fn bins_are_said(feature: &Feature) -> bool {
    feature.quantiles.or(feature.equal_width).is_some() || feature.edges.is_some()
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
            Guess::Categorical => KindName::Categorical,
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
                edges: edges.unwrap_or(Edges::Quantiles(guess.bins)),
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
        direction: feature.only.and_then(Only::direction),
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
