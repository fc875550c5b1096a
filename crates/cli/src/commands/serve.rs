//! `facts serve`: an audit, asked in the browser.

use std::io::{IsTerminal, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use facts_guard::secret;
use facts_models::ModelSpec;
use facts_run::config::shown_setting;
use facts_run::{Failure, Listener, Reading, Table, saved};
use facts_serve::{Door, Ready, Subject, Workbench};
use tempfile::TempPath;

use crate::args::ServeArgs;
use crate::output;
use crate::progress::Reporter;

/// The environment variable that holds the password; a flag would show it to everybody on the machine.
const PASSWORD: &str = "FACTS_PASSWORD";

/// So many milliseconds after Ctrl-C it has ended, whatever it waits for.
const GRACE: u64 = 800;

/// A password that can be guessed is none.
const SHORTEST_PASSWORD: usize = 12;

pub(crate) fn serve(args: ServeArgs, reporter: &Reporter) -> Result<ExitCode, Failure> {
    // Whoever presses Ctrl-C waits for no model.
    reporter.end_within(GRACE);
    let door = door(&args)?;
    if !door.address.ip().is_loopback() {
        reporter.note(&format!(
            "listening on {}: whoever reaches this machine there and knows the password sees the audit, its counts and its notes, and single profiles if the table is at hand; the connection is not encrypted",
            door.address.ip()
        ));
    }
    let no_browser = args.no_browser;
    let mut subject = Subject::default();
    if is_saved(&args) {
        if let [_, _, third, ..] = args.subject.as_slice() {
            return Err(Failure::usage(format!(
                "{}: two audits are shown side by side; `facts diff` compares more",
                third.display()
            )));
        }
        reporter.step("reading the saved audit");
        for path in &args.subject {
            let name = path.display().to_string();
            let loaded = saved::load(path).map_err(|failure| if_a_table(failure, path));
            subject.saved.push((name, loaded?));
        }
    } else {
        subject.bench = Some(bench(args, reporter)?);
    }
    reporter.clear();
    reporter.check()?;
    let way = WayIn::default();
    let ready = |ready: &Ready| {
        // Somebody who cannot be told the address is not served, and notices.
        let _ = output::print_plain(&format!("Open {}\nCtrl-C ends it.\n", ready.url));
        if !no_browser && std::io::stdout().is_terminal() {
            // If that cannot be done, the address was printed.
            let _ = way.open(ready);
        }
    };
    let served = facts_serve::serve(door, subject, reporter, &ready);
    way.remove();
    facts_models::stop_programs();
    served.map(|()| ExitCode::SUCCESS)
}

/// Whether saved audits are to be served: they are there, or nothing says how a table is to be audited.
fn is_saved(args: &ServeArgs) -> bool {
    let is_one = |path: &PathBuf| path.join(saved::AUDIT_FILE).is_file() || is_file_of_one(path);
    let named = !args.subject.is_empty();
    let says_how = args.what.says_how() || Path::new("facts.toml").is_file();
    named && (args.subject.iter().all(is_one) || !says_how)
}

/// Why a file is no saved audit, and what to do if it is a table.
fn if_a_table(failure: Failure, path: &Path) -> Failure {
    if !path.is_file() || is_file_of_one(path) {
        return failure;
    }
    Failure::data(format!(
        "{failure}; if it is a table to be audited now, say --protected and --model"
    ))
}

fn is_file_of_one(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.ends_with(".json.gz") || name.ends_with(".json")) && path.is_file()
}

/// The table and the configuration with which audits can be made.
fn bench(args: ServeArgs, reporter: &Reporter) -> Result<Workbench, Failure> {
    let arguments = typed(std::env::args().skip(1));
    let (file, settings) = (args.what.config.clone(), args.what.set.clone());
    // What-ifs are settings over a file: what flags say besides would be lost in them.
    let file = file.filter(|_| is_configured_alone(&arguments));
    let (config, found) = args.what.config(args.subject)?;
    if let Some(file) = &found {
        reporter.note(&super::audit::using(file));
    }
    let paths = config.data.path.clone().ok_or_else(|| {
        Failure::usage("no audit and no table is named; give one, or --config with data.path")
    })?;
    reporter.step("reading the table");
    Ok(Workbench {
        file,
        settings,
        arguments,
        table: Table::read_all(
            &paths.0,
            &config.data,
            Reading::needed(&config).heard_by(reporter),
        )?,
        config,
    })
}

/// What was typed for `facts serve`, as `facts audit` takes it.
fn typed(mut arguments: impl Iterator<Item = String>) -> Vec<String> {
    // The address of a database may hold a password; it is asked for again.
    let (flags, with_a_value) = (
        ["--no-browser", "--quiet", "-q", "--json-log"],
        ["--port", "--listen", "--color", "--database"],
    );
    let mut kept = Vec::new();
    let mut is_command_named = false;
    while let Some(argument) = arguments.next() {
        let name = argument.split('=').next().unwrap_or_default();
        if with_a_value.contains(&name) {
            if name == argument {
                arguments.next();
            }
        } else if !is_command_named && argument == "serve" {
            is_command_named = true;
        } else if !flags.contains(&name) {
            kept.push(argument);
        }
    }
    shown(&kept)
}

/// Arguments as they may be shown again.
fn shown(arguments: &[String]) -> Vec<String> {
    let mut flag = "";
    let mut shown = Vec::with_capacity(arguments.len());
    for argument in arguments {
        shown.push(match (flag, argument.split_once('=')) {
            ("--set", _) => shown_setting(argument),
            ("--model" | "-m", _) => shown_model(argument),
            (_, Some(("--set", value))) => format!("--set={}", shown_setting(value)),
            (_, Some(("--model", value))) => format!("--model={}", shown_model(value)),
            _ => facts_run::shown_path(Path::new(argument)),
        });
        flag = argument;
    }
    shown
}

fn shown_model(spec: &str) -> String {
    let read = spec.parse::<ModelSpec>();
    read.map_or_else(|_| secret::hidden(spec), |spec| spec.to_string())
}

/// Whether nothing is typed but a configuration and settings.
fn is_configured_alone(arguments: &[String]) -> bool {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let (name, is_whole) = match argument.split_once('=') {
            Some((name, _)) => (name, true),
            None => (argument.as_str(), false),
        };
        if !["--config", "-c", "--set"].contains(&name) {
            return false;
        }
        if !is_whole {
            arguments.next();
        }
    }
    true
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
        address: SocketAddr::new(ip, args.port.unwrap_or_else(|| usual_port(args))),
        or_any_port: args.port.is_none(),
        password,
    })
}

/// A port that is always the same for the same files: what a browser keeps, it keeps by the port.
fn usual_port(args: &ServeArgs) -> u16 {
    let named = args.subject.iter().chain(&args.what.config);
    // What is no path here, such as an address of a table, is taken as it stands.
    let paths: Vec<PathBuf> = named
        .map(|path| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()))
        .collect();
    let text = format!("{paths:?}");
    // FNV-1a: the same on every machine and in every version.
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // The ports that are for whoever takes them.
    49152 + (hash % 16384) as u16
}

/// The file that leads the user's browser to the page. What a program is started with can be read by
/// everybody on the machine, this file by the user alone; so the address stands in the file. It is removed
/// once the browser has come in, or at the end.
#[derive(Clone, Default)]
struct WayIn(Arc<Mutex<Option<TempPath>>>);

impl WayIn {
    /// Opens the user's browser.
    fn open(&self, ready: &Ready) -> std::io::Result<()> {
        // The user's own folder for such things, where there is one.
        let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let folder = folder.filter(|folder| folder.is_dir());
        let mut file = tempfile::Builder::new()
            .prefix("facts-")
            .suffix(".html")
            .tempfile_in(folder.unwrap_or_else(std::env::temp_dir))?;
        let url = &ready.url_for_one;
        writeln!(
            file,
            "<!doctype html><meta charset=\"utf-8\"><title>facts</title><meta http-equiv=\"refresh\" content=\"0; url={url}\"><p><a href=\"{url}\">To the audit</a></p>"
        )?;
        let path = file.into_temp_path();
        browser(&path).spawn()?;
        *self.file() = Some(path);
        let (way, arrival) = (self.clone(), ready.arrival.clone());
        std::thread::Builder::new().spawn(move || {
            arrival.wait();
            way.remove();
        })?;
        Ok(())
    }

    fn file(&self) -> std::sync::MutexGuard<'_, Option<TempPath>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove(&self) {
        drop(self.file().take());
    }
}

/// What opens a page in the user's browser.
fn browser(page: &Path) -> Command {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        command
    } else {
        Command::new("xdg-open")
    };
    let quiet = command.arg(page).stdin(Stdio::null()).stdout(Stdio::null());
    quiet.stderr(Stdio::null());
    // A group of its own, or Ctrl-C would end a browser that is started by this.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_given_to_the_audit() {
        let of = |text: &str| typed(text.split(' ').map(str::to_owned));
        let all =
            of("--quiet serve --port 80 people.csv --protected sex --no-browser --listen=::1");
        assert_eq!(all, ["people.csv", "--protected", "sex"]);
        assert!(!is_configured_alone(&all));
        assert_eq!(of("serve serve"), ["serve"]);
        let secret = of(
            "serve https://me:hush@h/a.csv --set model.headers.Tenant=hush -m http://me:hush@h/ --set=a.b=1 --model=exec:m",
        );
        let shown = "https://h/a.csv --set model.headers.Tenant=*** -m http://***@h/ --set=a.b=1 --model=exec:m";
        assert_eq!(secret.join(" "), shown);
        assert!(is_configured_alone(&of(
            "serve --config a.toml --set b.c=1 --port=1"
        )));
        assert!(is_configured_alone(&of("serve -c a.toml --set=b.c=1")));
        assert!(!is_configured_alone(&of("serve -c a.toml --support 0.1")));
    }
}
