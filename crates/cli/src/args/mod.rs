//! The command line: what can be typed, and what it says about itself.

mod evidence;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use facts_run::config::{
    ClassWeights, ClassWeightsName, Direction, Duplicates, Feature, Format, Text, Validity,
    is_train,
};
use facts_run::{Config, Failure};

pub(crate) use self::evidence::EvidenceArgs;
use crate::exit::EXIT_CODES;

/// Is the way out of a model's refusal as open to one group as to another?
#[derive(Debug, Parser)]
#[command(
    name = "facts",
    version,
    after_help = EXIT_CODES,
    long_about = "Is the way out of a model's refusal as open to one group as to another?\n\n\
        Audits the fairness of recourse for subgroups: mines the subgroups that all protected groups \
        share, learns from those who got the yes what could be changed, counts how often each change \
        turns the model's answer in each group, and ranks the subgroups by six definitions of \
        fairness.\n\n\
        Start with `facts demo`; then `facts init DATA` and `facts audit`."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Say nothing but errors on standard error
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Write progress, notes and errors to standard error as JSON, one object a line
    #[arg(long, global = true)]
    pub(crate) json_log: bool,
    /// When to use colours; `auto` honours NO_COLOR and plain pipes
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto)]
    pub(crate) color: Colour,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Audit a census model that comes with the tool, and write a report
    #[command(after_help = "\
Examples:
  facts demo                    audit, show findings, write facts-demo.html
  facts demo --out demo         write everything: report, tables, the saved audit
  facts demo --passing          only findings that chance alone would seldom show
  facts demo --print-config     the configuration it uses, to start your own from")]
    Demo(DemoArgs),
    /// Look at a table and write a commented facts.toml
    #[command(after_help = "\
Examples:
  facts init people.csv                       writes facts.toml
  facts init people.csv -o -                  prints it instead
  facts init people.csv --protected gender    names the protected attribute")]
    Init(InitArgs),
    /// Audit a model on a table
    #[command(after_help = AUDIT_HELP)]
    Audit(Box<AuditArgs>),
    /// Look into a saved audit: other definitions, filters, one subgroup in full, tables
    #[command(after_help = "\
AUDIT is the folder that `facts audit --out` wrote, or its audit.json.gz.

Examples:
  facts show result                                              the top findings again
  facts show result -d equal-choice --phi 0.5                    another definition
  facts show result --where \"occupation = Sales\" --top 10        subgroups that say so
  facts show result --subgroup \"age = (34, 41], occupation = Sales\"
                                                                 one subgroup, all definitions
  facts show result --passing --top 10                           what chance would seldom show
  facts show result --tables                                     the two analysis tables
  facts show result --format html -o report.html                 a report to hand over")]
    Show(ShowArgs),
    /// Compare two saved audits: which findings appeared, vanished, grew, shrank
    #[command(after_help = "\
Both are ranked by the definitions of the old audit, unless -d names others.

Examples:
  facts diff before after
  facts diff before after -d equal-effectiveness:micro --format json
  facts diff before after --fail-over 0.2        exit 1 if a finding that appeared or grew scores
                                                 over 0.2")]
    Diff(DiffArgs),
    /// Run the paper's experiments again, and put ours beside what was printed
    #[command(after_help = REPRODUCE_HELP)]
    Reproduce(ReproduceArgs),
    /// Print a script that completes commands in a shell
    #[command(after_help = "\
Examples:
  facts completions bash > ~/.local/share/bash-completion/completions/facts
  facts completions zsh > ~/.zfunc/_facts
  facts completions fish > ~/.config/fish/completions/facts.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    #[command(after_help = "\
Examples:
  facts man | man -l -           read it
  facts man --out man            facts.1, facts-audit.1, …")]
    Man {
        /// The folder for one page a command; without it, the main page is printed
        #[arg(long, short, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Explain the model strings, the definitions, the evidence and the configuration
    Explain {
        /// What to explain
        #[arg(value_enum)]
        topic: Topic,
    },
}

/// What can be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Topic {
    /// Model strings: onnx:model.onnx, exec:python predict.py, …
    Models,
    /// The six definitions of fairness and how to write them
    Definitions,
    /// How findings are told from chance, and what that can and cannot say
    Evidence,
    /// What facts.toml may say
    Config,
}

const AUDIT_HELP: &str = "\
Everything can also stand in facts.toml (`facts init DATA` writes one); flags win. Without DATA and
--config, facts.toml in the current folder is used. Whatever has no flag of its own is reached with
--set: `--set features.age.max-step=2`. `facts explain config` lists all keys.

Models: onnx:FILE, lightgbm:FILE, xgboost:FILE, linear:FILE, exec:COMMAND, exec-csv:COMMAND,
http(s)://…, or train (`facts explain models`). A file may stand without a prefix.
Definitions: `facts explain definitions`. What tells findings from chance: `facts explain evidence`.

Examples:
  facts audit people.csv --protected sex --model train --label income --favourable '>50K'
  facts audit people.parquet --protected race --model onnx:model.onnx --out result
  facts audit people.csv --protected sex --model 'exec:python predict.py' --support 0.05
  facts audit --config facts.toml --definition equal-effectiveness:micro --fail-over 0.3
  facts audit --config facts.toml --stability --hold-out 0.5 --passing --out result
  zcat people.csv.gz | facts audit - --protected sex --model model.txt --increase age \\
      --immutable race --bins age=5 --cost-weight occupation=4";

const REPRODUCE_HELP: &str = "\
The paper is Fairness Aware Counterfactuals for Subgroups (FACTS). Shown are counts, the
subgroups that it shows with their counterfactuals, its ranking analysis and its aggregated
rankings.

The rows of Adult and COMPAS come along. Those of ssl and ad-campaign do not: a generated
stand-in is audited in their place, and says so, unless --data names the real table.

Examples:
  facts reproduce adult-sex                      the paper's main experiment
  facts reproduce adult-sex --variant own        with the split and training of this tool
  facts reproduce compas --out compas            the comparison, the audit and all reports
  facts reproduce ssl --data chicago-ssl.csv     on the real rows
  facts reproduce all --page reproduction.md     everything on one page
  facts reproduce compas --print-config          the set-up, to start your own from";

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// The experiment, or all
    #[arg(value_name = "NAME", value_parser = experiment_names())]
    pub(crate) name: String,
    /// Whose split and model
    #[arg(long, value_enum, default_value_t = VariantArg::Authors)]
    pub(crate) variant: VariantArg,
    /// By whose rules the two analysis tables are counted
    #[arg(long, value_enum, default_value_t = RulesArg::Facts)]
    pub(crate) rules: RulesArg,
    /// The real table of an experiment: CSV, Parquet or Arrow, compressed or not
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// The least share of each group that a subgroup must have [default: the paper's 0.01]
    #[arg(long, short, value_name = "SHARE")]
    pub(crate) support: Option<String>,
    /// How many threads to work with; results do not depend on it
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// The folder to write the comparison, the audit and all reports to; with several audits, a folder
    /// in it for each
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write both variants as one page of Markdown, and print nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["variant", "rules", "out"])]
    pub(crate) page: Option<PathBuf>,
    /// Print the configuration of the experiment and stop
    #[arg(long, conflicts_with_all = ["out", "page", "data"])]
    pub(crate) print_config: bool,
}

/// Whose split and model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VariantArg {
    /// The authors' split, and their model where it is known
    Authors,
    /// The split and training of this tool
    Own,
    /// One after the other
    Both,
}

/// By whose rules the analysis tables are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RulesArg {
    /// Those of the method, as everywhere in this tool
    Facts,
    /// Those of the authors' code, where it differs
    Authors,
}

/// The experiments, and `all`.
fn experiment_names() -> clap::builder::PossibleValuesParser {
    let experiments = facts_reproduce::EXPERIMENTS.iter();
    let named = experiments.map(|experiment| {
        clap::builder::PossibleValue::new(experiment.name).help(experiment.title)
    });
    let all = clap::builder::PossibleValue::new("all").help("One after another");
    named.chain([all]).collect::<Vec<_>>().into()
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The folder to write everything to; without it, only facts-demo.html is written
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the configuration of the demo and stop
    #[arg(long)]
    pub(crate) print_config: bool,
    /// Only findings that pass
    #[arg(long)]
    pub(crate) passing: bool,
    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The table: CSV, Parquet or Arrow, compressed or not; `-` is standard input
    pub(crate) data: PathBuf,
    /// The protected attribute; repeat to cross several
    #[arg(long, short, value_name = "COLUMN")]
    pub(crate) protected: Vec<String>,
    /// Where to write; `-` prints
    #[arg(long, short, value_name = "FILE", default_value = "facts.toml")]
    pub(crate) out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// How a table is read.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Reading the table")]
pub(crate) struct ReadingArgs {
    /// The format, when it is not to be guessed
    #[arg(long, value_enum)]
    data_format: Option<Format>,
    /// What separates fields: one character, or `tab`
    #[arg(long, value_name = "CHAR")]
    delimiter: Option<String>,
    /// The first line is data, not names
    #[arg(long)]
    no_header: bool,
    /// What to do about two columns of one name
    #[arg(long, value_enum)]
    duplicates: Option<Duplicates>,
    /// The encoding of a CSV file, such as windows-1252
    #[arg(long)]
    encoding: Option<String>,
    /// A field that stands for a missing value everywhere, such as NA; repeat for more
    #[arg(long, value_name = "TEXT")]
    null: Vec<String>,
}

impl ReadingArgs {
    pub(crate) fn apply(self, config: &mut Config) {
        let data = &mut config.data;
        replace(&mut data.format, self.data_format);
        replace(&mut data.delimiter, self.delimiter);
        if self.no_header {
            data.header = Some(false);
        }
        replace(&mut data.duplicates, self.duplicates);
        replace(&mut data.encoding, self.encoding);
        data.nulls.extend(self.null);
    }
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// The table: CSV, Parquet or Arrow, compressed or not; `-` is standard input
    pub(crate) data: Option<PathBuf>,
    /// The configuration
    #[arg(long, short, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Any key of the configuration; repeat for more
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The protected attribute; repeat to cross several
    #[arg(long, short, value_name = "COLUMN")]
    protected: Vec<String>,
    /// The model: onnx:FILE, lightgbm:FILE, xgboost:FILE, linear:FILE, exec:COMMAND, http://…, train
    #[arg(long, short, value_name = "SPEC")]
    model: Option<String>,
    /// The class that is favourable; 1 and true unless said
    #[arg(long, value_name = "CLASS")]
    favourable: Option<String>,
    #[command(flatten)]
    model_args: ModelArgs,
    #[command(flatten)]
    features: FeatureArgs,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    evidence: EvidenceArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
    /// The folder to write the audit and all reports to
    #[arg(long, short, value_name = "DIR", help_heading = "Results")]
    out: Option<PathBuf>,
    /// What to print: a form of report instead of the summary and findings
    #[arg(long, value_name = "FORM", value_parser = form_names(), help_heading = "Results")]
    pub(crate) format: Option<String>,
    /// Exit with 1 if a finding by the definitions asked for scores over this; of those that
    /// --passing, --against and --where leave
    #[arg(long, value_name = "SCORE", help_heading = "Results", value_parser = number)]
    pub(crate) fail_over: Option<f64>,
}

/// How the model is asked or fitted.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "The model")]
struct ModelArgs {
    /// From which probability on the answer is yes
    #[arg(long, value_name = "P", value_parser = number)]
    threshold: Option<f64>,
    /// The model's output that holds the answer, if it has several
    #[arg(long, value_name = "NAME")]
    output: Option<String>,
    /// The table's column for an input of the model that is called otherwise; repeat for more
    #[arg(long, value_name = "INPUT=COLUMN")]
    map: Vec<String>,
    /// The column that holds what the original of an exported model answered: differences are noted
    #[arg(long, value_name = "COLUMN")]
    check_against: Option<String>,
    /// Seconds that a batch may take
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// How many batches may be out at the same time
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// How many rows a batch has at most
    #[arg(long, value_name = "N")]
    batch_rows: Option<usize>,
    /// Keep the model's answers in this file, and go on from it after a failure [default with
    /// --out: DIR/answers, for programs, servers and ONNX]
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// The column that holds what really happened: for base rates, and to train on
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// The favourable value of the label, where it is not the --favourable class
    #[arg(long, value_name = "VALUE")]
    label_favourable: Option<String>,
    /// With --model train: the seed of the split
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// With --model train: the percentage of rows that is audited, not trained on
    #[arg(long, value_name = "PERCENT")]
    test_percent: Option<u8>,
    /// With --model train: let both classes count the same in all
    #[arg(long)]
    balanced: bool,
    /// With --model train: a column that the model is not to see; repeat for more
    #[arg(long, value_name = "COLUMN")]
    not_trained_on: Vec<String>,
    /// With --model train: save the model, to be opened as linear:FILE
    #[arg(long, value_name = "FILE")]
    save_model: Option<PathBuf>,
}

/// What is said about columns.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "The columns (repeat a flag for several columns)")]
struct FeatureArgs {
    /// A column that neither the audit nor the model is to see
    #[arg(long, value_name = "COLUMN")]
    ignore: Vec<String>,
    /// A column that the model sees and the audit does not speak of
    #[arg(long, value_name = "COLUMN")]
    context: Vec<String>,
    /// The column that says how many people a row is; not survey weights, see `facts explain evidence`
    #[arg(long, value_name = "COLUMN")]
    weight_column: Option<String>,
    /// A value that stands for "missing" in every column, such as ?
    #[arg(long, value_name = "TEXT")]
    missing_code: Vec<String>,
    /// A column that people cannot change
    #[arg(long, value_name = "COLUMN")]
    immutable: Vec<String>,
    /// A column that may only increase
    #[arg(long, value_name = "COLUMN")]
    increase: Vec<String>,
    /// A column that may only decrease
    #[arg(long, value_name = "COLUMN")]
    decrease: Vec<String>,
    /// Bins of a number: `age=5` quantiles, `age=width:5`, `age=0,25,40,65`
    #[arg(long, value_name = "COLUMN=BINS")]
    bins: Vec<String>,
    /// The order of a column's levels: `grade=low<middle<high`
    #[arg(long, value_name = "COLUMN=LEVELS")]
    order: Vec<String>,
    /// How heavily changes of a column count in a cost
    #[arg(long, value_name = "COLUMN=WEIGHT")]
    cost_weight: Vec<String>,
    /// How many levels one change of a column may go at most
    #[arg(long, value_name = "COLUMN=LEVELS")]
    max_step: Vec<String>,
    /// A level to which no action leads
    #[arg(long, value_name = "COLUMN=LEVEL")]
    not_a_target: Vec<String>,
}

/// How the audit is made.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "The audit")]
struct EngineArgs {
    /// The least share of each group that a subgroup must have [default: 0.01]
    #[arg(long, short, value_name = "SHARE")]
    support: Option<String>,
    /// Which actions are valid [default: joint]
    #[arg(long, value_enum)]
    validity: Option<Validity>,
    /// Let predicates use <= and >= on ordered features
    #[arg(long)]
    ranges: bool,
    /// Fail if a predicate has more items than this
    #[arg(long, value_name = "N")]
    max_length: Option<usize>,
    /// Fail if there are more subgroups or action itemsets than this [default: 1000000]
    #[arg(long, value_name = "N")]
    max_subgroups: Option<usize>,
    /// Fail before more memory than this is needed [default: 4096]
    #[arg(long, value_name = "MIB")]
    max_memory: Option<u64>,
    /// Set groups with fewer affected people aside [default: 1]
    #[arg(long, value_name = "N")]
    min_group_size: Option<u64>,
    /// Compare only these groups; repeat for each
    #[arg(long, value_name = "GROUP")]
    compare: Vec<String>,
    /// How many threads to work with; results do not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Leave counts from 1 to K − 1 out of everything that is written
    #[arg(long, value_name = "K")]
    suppress_below: Option<u64>,
}

/// Which definitions.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Definitions")]
pub(crate) struct DefinitionArgs {
    /// A definition of fairness, such as equal-choice:0.7; repeat for more
    #[arg(long, short, value_name = "ID")]
    pub(crate) definition: Vec<String>,
    /// φ, for definitions that leave it open; repeat for more [default: 0.3 and 0.7]
    #[arg(long, value_name = "SHARE")]
    pub(crate) phi: Vec<String>,
    /// The budget c, for definitions that leave it open; repeat for more [default: chosen from the
    /// data]
    #[arg(long, value_name = "COST", value_parser = number)]
    pub(crate) budget: Vec<f64>,
}

/// Which findings are shown.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What is shown")]
pub(crate) struct ShowingArgs {
    /// How many findings of each definition [default: 3]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Only subgroups whose predicate says so: "occupation = Sales and age"
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) wanted: Option<String>,
    /// Only findings against this group
    #[arg(long, value_name = "GROUP")]
    pub(crate) against: Option<String>,
    /// Only findings that pass: that chance alone would seldom show, among all subgroups of the
    /// definition
    #[arg(long, conflicts_with = "fair")]
    pub(crate) passing: bool,
    /// Show fair subgroups too
    #[arg(long)]
    pub(crate) fair: bool,
    /// Leave out subgroups that only add items which no shown action changes
    #[arg(long)]
    pub(crate) drop_contained: bool,
    /// List every valid action, not only those that the definition lists
    #[arg(long)]
    pub(crate) all_actions: bool,
    /// List only actions of at least this effectiveness
    #[arg(long, value_name = "SHARE")]
    pub(crate) min_effectiveness: Option<String>,
    /// List only actions of at most this cost
    #[arg(long, value_name = "COST", value_parser = number)]
    pub(crate) max_cost: Option<f64>,
    /// List only the cheapest of the actions left
    #[arg(long)]
    pub(crate) least_cost: bool,
}

impl ShowingArgs {
    /// Whether anything is chosen.
    pub(crate) fn any(&self) -> bool {
        let choices = [
            self.top.is_some(),
            self.wanted.is_some(),
            self.against.is_some(),
            self.passing,
            self.fair,
            self.drop_contained,
            self.all_actions,
            self.min_effectiveness.is_some(),
            self.max_cost.is_some(),
            self.least_cost,
        ];
        choices.contains(&true)
    }
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The saved audit
    pub(crate) audit: PathBuf,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
    /// One subgroup in full, by its predicate or by the id of a finding
    #[arg(long, value_name = "PREDICATE", conflicts_with_all = ["tables", "format", "wanted", "against", "top"])]
    pub(crate) subgroup: Option<String>,
    /// The two analysis tables
    #[arg(long, conflicts_with_all = ["format", "wanted", "against", "top"])]
    pub(crate) tables: bool,
    /// The form of report
    #[arg(long, value_name = "FORM", value_parser = form_names())]
    pub(crate) format: Option<String>,
    /// Where to write; printed without it
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The older audit
    pub(crate) old: PathBuf,
    /// The newer audit
    pub(crate) new: PathBuf,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
    /// How many findings to list of each sort and definition
    #[arg(long, short = 'n', value_name = "N", default_value_t = 5)]
    pub(crate) top: usize,
    /// The form
    #[arg(long, value_enum, default_value_t = DiffForm::Text)]
    pub(crate) format: DiffForm,
    /// Exit with 1 if a finding that appeared or grew scores over this
    #[arg(long, value_name = "SCORE", value_parser = number)]
    pub(crate) fail_over: Option<f64>,
    /// --fail-over heeds only findings that pass in the newer audit
    #[arg(long, requires = "fail_over")]
    pub(crate) passing: bool,
}

/// The form of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffForm {
    Text,
    Markdown,
    Json,
}

fn form_names() -> clap::builder::PossibleValuesParser {
    let names = facts_report::FORMS.iter();
    names
        .map(|form| clap::builder::PossibleValue::new(form.name).help(form.about))
        .collect::<Vec<_>>()
        .into()
}

/// A number, which NaN is not.
fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if !number.is_nan() => Ok(number),
        _ => Err("not a number".to_owned()),
    }
}

/// A flag that was given wins.
fn replace<T>(setting: &mut Option<T>, flag: Option<T>) {
    if flag.is_some() {
        *setting = flag;
    }
}

/// `COLUMN=VALUE`; the value is after the first `=`.
fn pair<'a>(flag: &str, text: &'a str) -> Result<(&'a str, &'a str), Failure> {
    text.split_once('=')
        .ok_or_else(|| Failure::usage(format!("--{flag} {text}: write COLUMN=VALUE")))
}

impl AuditArgs {
    /// The configuration, with what the flags say put over it.
    pub(crate) fn config(self) -> Result<(Config, Rest), Failure> {
        let local = PathBuf::from("facts.toml");
        let file = match (&self.config, &self.data) {
            (Some(file), _) => Some(file.clone()),
            (None, None) if local.is_file() => Some(local),
            _ => None,
        };
        let mut config = Config::load(file.as_deref(), &self.set)?;
        replace(&mut config.data.path, self.data);
        self.reading.apply(&mut config);
        replace(&mut config.model.spec, self.model);
        replace(&mut config.model.favourable, self.favourable.map(Text));
        if !self.protected.is_empty() {
            let named = self.protected.into_iter();
            config.protected = named
                .map(|name| {
                    let known = config.protected.get(&name).cloned().unwrap_or_default();
                    (name, known)
                })
                .collect();
        }
        for name in config.protected.keys() {
            config.features.shift_remove(name);
        }
        self.model_args.apply(&mut config)?;
        self.features.apply(&mut config)?;
        self.engine.apply(&mut config);
        self.evidence.apply(&mut config);
        replace(&mut config.report.out, self.out);
        self.definitions.apply(&mut config);
        replace(&mut config.report.top, self.showing.top);
        Ok((
            config,
            Rest {
                showing: self.showing,
                format: self.format,
                fail_over: self.fail_over,
            },
        ))
    }
}

/// What a command line says that no configuration does.
pub(crate) struct Rest {
    pub(crate) showing: ShowingArgs,
    pub(crate) format: Option<String>,
    pub(crate) fail_over: Option<f64>,
}

impl DefinitionArgs {
    /// Whether anything was asked for.
    pub(crate) fn any(&self) -> bool {
        !(self.definition.is_empty() && self.phi.is_empty() && self.budget.is_empty())
    }

    pub(crate) fn apply(self, config: &mut Config) {
        if !self.definition.is_empty() {
            config.report.definitions = self.definition;
        }
        if !self.phi.is_empty() {
            config.report.phi = self.phi.into_iter().map(Text).collect();
        }
        if !self.budget.is_empty() {
            config.report.budgets = self.budget;
        }
    }
}

impl ModelArgs {
    fn apply(self, config: &mut Config) -> Result<(), Failure> {
        let training = [
            (self.seed.is_some(), "--seed"),
            (self.test_percent.is_some(), "--test-percent"),
            (self.balanced, "--balanced"),
            (!self.not_trained_on.is_empty(), "--not-trained-on"),
            (self.save_model.is_some(), "--save-model"),
        ];
        if let Some((_, flag)) = training.iter().find(|(given, _)| *given)
            && !is_train(config)
        {
            return Err(Failure::usage(format!(
                "{flag} only has a meaning with --model train"
            )));
        }
        let model = &mut config.model;
        replace(&mut model.threshold, self.threshold);
        replace(&mut model.output, self.output);
        for map in &self.map {
            let (input, column) = map
                .split_once('=')
                .ok_or_else(|| Failure::usage(format!("--map {map}: write INPUT=COLUMN")))?;
            model.columns.insert(input.to_owned(), column.to_owned());
        }
        replace(&mut model.check, self.check_against);
        replace(&mut model.timeout, self.timeout);
        replace(&mut model.workers, self.workers);
        replace(&mut model.batch_rows, self.batch_rows);
        replace(&mut model.answers, self.answers);
        if let Some(label) = self.label {
            config.features.shift_remove(&label);
            config.label.column = Some(label);
        }
        replace(
            &mut config.label.favourable,
            self.label_favourable.map(Text),
        );
        replace(&mut config.train.seed, self.seed);
        replace(&mut config.train.test_percent, self.test_percent);
        if self.balanced {
            let balanced = ClassWeights::Named(ClassWeightsName::Balanced);
            config.train.class_weights = Some(balanced);
        }
        config.train.exclude.extend(self.not_trained_on);
        replace(&mut config.train.save, self.save_model);
        Ok(())
    }
}

impl FeatureArgs {
    fn apply(self, config: &mut Config) -> Result<(), Failure> {
        let roles = (self.ignore.iter())
            .chain(&self.context)
            .chain(&self.weight_column);
        for name in roles {
            // A flag that gives a column another role wins over the file.
            config.features.shift_remove(name);
        }
        config.data.ignore.extend(self.ignore);
        config.data.context.extend(self.context);
        replace(&mut config.data.weight, self.weight_column);
        if let Some(name) = (self.increase.iter()).find(|name| self.decrease.contains(name)) {
            return Err(Failure::usage(format!(
                "`{name}` may only increase and only decrease; say --immutable {name} if it may not change"
            )));
        }
        if !self.missing_code.is_empty() {
            let codes = config.data.missing_codes.get_or_insert_default();
            codes.extend(self.missing_code);
        }
        let overrides = &mut config.overrides;
        let mut of = |name: &str, change: &dyn Fn(&mut Feature)| {
            change(overrides.entry(name.to_owned()).or_default());
        };
        for name in &self.immutable {
            of(name, &|feature| feature.immutable = true);
        }
        for name in &self.increase {
            of(name, &|feature| feature.only = Some(Direction::Increase));
        }
        for name in &self.decrease {
            of(name, &|feature| feature.only = Some(Direction::Decrease));
        }
        for text in &self.bins {
            let (name, bins) = pair("bins", text)?;
            let refuse = || {
                Failure::usage(format!(
                    "--bins {text}: write {name}=5 for quantiles, {name}=width:5, or edges such as {name}=0,25,40"
                ))
            };
            let number = |text: &str| text.trim().parse::<usize>().map_err(|_| refuse());
            if let Some(width) = bins.strip_prefix("width:") {
                let width = number(width)?;
                of(name, &|feature| feature.equal_width = Some(width));
            } else if bins.contains(',') {
                let edges: Vec<f64> = (bins.split(','))
                    .map(|edge| edge.trim().parse().map_err(|_| refuse()))
                    .collect::<Result<_, _>>()?;
                of(name, &|feature| feature.edges = Some(edges.clone()));
            } else {
                let quantiles = number(bins)?;
                of(name, &|feature| feature.quantiles = Some(quantiles));
            }
        }
        for text in &self.order {
            let (name, levels) = pair("order", text)?;
            let levels: Vec<Text> = levels.split('<').map(|level| level.trim().into()).collect();
            of(name, &|feature| feature.order = Some(levels.clone()));
        }
        for text in &self.cost_weight {
            let (name, weight) = pair("cost-weight", text)?;
            let weight: f64 = (weight.trim().parse()).map_err(|_| {
                Failure::usage(format!("--cost-weight {text}: {weight} is no number"))
            })?;
            of(name, &|feature| feature.weight = Some(weight));
        }
        for text in &self.max_step {
            let (name, levels) = pair("max-step", text)?;
            let levels: usize = (levels.trim().parse()).map_err(|_| {
                Failure::usage(format!("--max-step {text}: {levels} is no whole number"))
            })?;
            of(name, &|feature| feature.max_step = Some(levels));
        }
        for text in &self.not_a_target {
            let (name, level) = pair("not-a-target", text)?;
            of(name, &|feature| {
                feature.not_a_target.push(level.trim().into())
            });
        }
        Ok(())
    }
}

impl EngineArgs {
    fn apply(self, config: &mut Config) {
        let audit = &mut config.audit;
        replace(&mut audit.support, self.support.map(Text));
        replace(&mut audit.validity, self.validity);
        if self.ranges {
            audit.ranges = Some(true);
        }
        replace(&mut audit.max_length, self.max_length);
        replace(&mut audit.max_subgroups, self.max_subgroups);
        replace(&mut audit.max_memory_mib, self.max_memory);
        replace(&mut audit.min_group_size, self.min_group_size);
        if !self.compare.is_empty() {
            audit.compare = Some(self.compare);
        }
        replace(&mut audit.threads, self.threads);
        replace(&mut audit.suppress_below, self.suppress_below);
    }
}
