//! `facts completions` and `facts man`: the command line for shells and for `man`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use facts_run::{Failure, files::Files};

use crate::args::Cli;
use crate::output;
use crate::progress::Reporter;

pub(crate) fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "facts", &mut script);
    output::print_raw(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn manual(out: Option<PathBuf>, reporter: &Reporter) -> Result<ExitCode, Failure> {
    let mut command = Cli::command();
    command.build();
    let Some(folder) = out else {
        output::print_raw(&page(command)?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut files = Files::default();
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        let name = format!("facts-{}", sub.get_name());
        let path = folder.join(format!("{name}.1"));
        files.add(path, &page(sub.clone().display_name(name))?)?;
    }
    files.add(folder.join("facts.1"), &page(command)?)?;
    files.publish(reporter)?;
    Ok(ExitCode::SUCCESS)
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let written = Man::new(command).render(&mut page);
    written.map_err(|error| Failure::output("the manual", error))?;
    Ok(page)
}
