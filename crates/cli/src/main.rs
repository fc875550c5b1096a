//! The `facts` command.
//!
//! Arguments become a [`Config`](facts_run::Config), a configuration becomes an audit (`facts-run`),
//! an audit becomes reports. Each command is a file in `commands/`; nothing here knows the method.

mod args;
mod ask;
mod commands;
mod exit;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;
use facts_guard::secret;
use facts_run::Listener;

use self::args::{Cli, Colour, Command};
use self::progress::{Reporter, Voice};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misread(&error),
    };
    match cli.color {
        Colour::Auto => {}
        Colour::Always => anstream::ColorChoice::Always.write_global(),
        Colour::Never => anstream::ColorChoice::Never.write_global(),
    }
    let reporter = Reporter::new(match (cli.json_log, cli.quiet) {
        (true, _) => Voice::Json,
        (false, true) => Voice::Quiet,
        (false, false) => Voice::Person,
    });
    let done = match cli.command {
        Command::Demo(args) => commands::demo::demo(args, &reporter),
        Command::Init(args) => commands::init::init(args, &reporter),
        Command::Audit(args) => commands::audit::audit(*args, &reporter),
        Command::Show(args) => commands::show::show(args, &reporter),
        Command::Serve(args) => commands::serve::serve(*args, &reporter),
        Command::Reproduce(args) => commands::reproduce::reproduce(args, &reporter),
        Command::Profiles(args) => commands::profiles::profiles(args, &reporter),
        Command::Check(args) => commands::check::check(args, &reporter),
        Command::Pack(args) => commands::pack::pack(args, &reporter),
        Command::Verify(args) => commands::pack::verify(args, &reporter),
        Command::Diff(args) => commands::diff::diff(args, &reporter),
        Command::Completions { shell } => commands::shell::completions(shell),
        Command::Man { out } => commands::shell::manual(out, &reporter),
        Command::Explain { topic } => commands::explain::explain(topic),
    };
    reporter.clear();
    match done {
        Ok(code) => {
            reporter.event("done", serde_json::json!({}));
            code
        }
        Err(failure) => {
            // Who ends the work ends the models' programs, too, which then fail.
            let failure = reporter.check().err().unwrap_or(failure);
            reporter.failure(&failure);
            exit::code(&failure)
        }
    }
}

/// A command line that cannot be read, or one that asks for help.
fn misread(error: &clap::Error) -> ExitCode {
    // What was typed is quoted.
    let typed: Vec<String> = std::env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let as_json = typed.iter().any(|argument| argument == "--json-log");
    let text = error.render().to_string();
    let shown = secret::without(&text, &secret::secrets_of_words(&typed));
    let shown = secret::hidden_in_urls(&shown);
    if as_json && error.use_stderr() {
        let reporter = Reporter::new(Voice::Json);
        let text = shown.trim_start_matches("error: ").trim_end();
        let failure = facts_run::Failure::usage(text);
        reporter.failure(&failure);
        return exit::code(&failure);
    }
    if error.use_stderr() && shown != text {
        anstream::eprint!("{shown}");
    } else {
        // Nothing is to be done about a terminal that went away.
        let _ = error.print();
    }
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}
