//! `facts serve`: an audit, asked in the browser.

use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use facts_run::{Config, Failure, Listener, Reading, Table, saved};
use facts_serve::{Door, Ready, Subject, Workbench};

use crate::args::ServeArgs;
use crate::output;
use crate::progress::Reporter;

/// The environment variable that holds the password; a flag would show it to everybody on the machine.
const PASSWORD: &str = "FACTS_PASSWORD";

/// A password that can be guessed is none.
const SHORTEST_PASSWORD: usize = 12;

pub(crate) fn serve(args: ServeArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    let door = door(&args)?;
    if !door.address.ip().is_loopback() {
        reporter.note(&format!(
            "listening on {}: whoever reaches this machine there and knows the password sees the audit, its counts and its notes; the connection is not encrypted",
            door.address.ip()
        ));
    }
    let mut subject = Subject::default();
    if let Some(file) = &args.config {
        subject.bench = Some(bench(file, &args.set, reporter)?);
    }
    reporter.step("reading the saved audit");
    for path in args.audit.iter().chain(&args.new) {
        let name = path.display().to_string();
        subject.saved.push((name, saved::load(path)?));
    }
    reporter.clear();
    reporter.check()?;
    let ready = |ready: &Ready| {
        // Somebody who cannot be told the address is not served, and notices.
        let _ = output::print_plain(&format!("Open {}\nCtrl-C ends it.\n", ready.url));
        if !args.no_browser && std::io::stdout().is_terminal() {
            open_browser(&ready.url);
        }
    };
    let served = facts_serve::serve(door, subject, reporter, &ready);
    facts_models::stop_programs();
    served.map(|()| ExitCode::SUCCESS)
}

/// The table and the configuration with which audits can be made.
fn bench(file: &Path, settings: &[String], reporter: &Reporter) -> Result<Workbench, Failure> {
    let config = Config::load(Some(file), settings)?;
    let paths = config.data.path.clone().ok_or_else(|| {
        Failure::usage(format!(
            "{}: no table is named; add data.path",
            file.display()
        ))
    })?;
    reporter.step("reading the table");
    Ok(Workbench {
        file: file.to_owned(),
        settings: settings.to_vec(),
        table: Table::read_all(&paths.0, &config.data, Reading::needed(&config))?,
        config,
    })
}

fn door(args: &ServeArgs) -> Result<Door, Failure> {
    let ip = args.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let password = std::env::var(PASSWORD)
        .ok()
        .filter(|password| !password.is_empty());
    let short = |password: &String| password.chars().count() < SHORTEST_PASSWORD;
    if !ip.is_loopback() && password.is_none() {
        return Err(Failure::usage(format!(
            "--listen {ip} lets other machines in: put a password into the environment variable FACTS_PASSWORD"
        )));
    }
    if password.as_ref().is_some_and(short) {
        return Err(Failure::usage(format!(
            "the password in FACTS_PASSWORD is too short: take at least {SHORTEST_PASSWORD} characters"
        )));
    }
    Ok(Door {
        address: SocketAddr::new(ip, args.port),
        password,
    })
}

/// Opens the address in the user's browser; if that cannot be done, it was printed.
fn open_browser(url: &str) {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        command
    } else {
        Command::new("xdg-open")
    };
    let quiet = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null());
    let _ = quiet.stderr(Stdio::null()).spawn();
}
