//! The explorer: a server on this machine and a page in the browser that ask an audit questions.
//!
//! Every number is the engine's and every sentence the report's; the page only shows them. `docs/api.md`
//! says what can be asked, by the page and by anybody else, and `docs/explorer.md` what the page does.
//!
//! A request passes the gate (`gate`), finds its route (`routes`), and is answered by a view (`views`) of
//! an audit that lies on a desk (`desk`) of its own.

mod assets;
mod desk;
mod failure;
mod gate;
mod http;
mod jobs;
mod routes;
mod server;
mod state;
mod views;
mod workbench;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use facts_report::Record;
use facts_run::{Failure, Listener};

use self::desk::{Held, Source};
use self::failure::Failed;
pub use self::gate::Arrival;
use self::gate::Gate;
use self::server::Listening;
use self::state::State;
pub use self::workbench::Workbench;

/// Where to listen, and who may come in.
#[derive(Clone, Debug)]
pub struct Door {
    /// The address; port 0 is any that is free.
    pub address: SocketAddr,
    /// Whether any free port serves where that of the address is taken.
    pub or_any_port: bool,
    /// The password that lets people in besides the token; needed on any address but this machine's own.
    pub password: Option<String>,
}

/// What can be asked about.
#[derive(Debug, Default)]
pub struct Subject {
    /// Saved audits, by the path that a command names them with.
    pub saved: Vec<(String, Record)>,
    /// A table and a configuration, with which audits can be made.
    pub bench: Option<Workbench>,
}

/// How long work may take to notice that it is to stop.
const PATIENCE: Duration = Duration::from_millis(300);

/// A server that is ready to answer.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Where it listens.
    pub address: SocketAddr,
    /// What to open in a browser.
    pub url: String,
    /// The same for one browser, once: what its programs are told of it is of no use to others later.
    pub url_for_one: String,
    /// When that one has come in.
    pub arrival: Arrival,
    /// What programs send as `Authorization: Bearer`.
    pub token: String,
}

/// Answers questions until `listener` says that the user wants to stop. `ready` is told where.
pub fn serve(
    door: Door,
    subject: Subject,
    listener: &dyn Listener,
    ready: &dyn Fn(&Ready),
) -> Result<(), Failure> {
    if !door.address.ip().is_loopback() && door.password.is_none() {
        return Err(Failure::usage(format!(
            "{} can be reached from other machines: a password is needed to listen there",
            door.address
        )));
    }
    let failed = |failed: Failed| Failure::data(failed.why);
    let held = subject
        .saved
        .into_iter()
        .map(|(path, record)| Held::new(path.clone(), Source::Saved(path), record, None));
    let mut held: Vec<Held> = held.collect::<Result<_, _>>().map_err(failed)?;
    let mut later = false;
    if let Some(bench) = &subject.bench {
        let (first, untested) = bench.first(listener).map_err(failed)?;
        (held, later) = (vec![first], untested);
    }
    listener.clear();
    listener.check()?;
    let state = Arc::new(State::new(held, subject.bench));
    let refuse = |error: std::io::Error| {
        Failure::output(format!("cannot listen on {}", door.address), error)
    };
    let any = |taken: std::io::Error| match door.or_any_port {
        true => Listening::on(SocketAddr::new(door.address.ip(), 0)),
        false => Err(taken),
    };
    let listening = Listening::on(door.address).or_else(any).map_err(refuse)?;
    let gate = Arc::new(Gate::new(listening.address(), door.password.clone()).map_err(refuse)?);
    let (url_for_one, arrival) = gate.url_for_one().map_err(refuse)?;
    ready(&Ready {
        address: listening.address(),
        url: gate.url(),
        url_for_one,
        arrival,
        token: gate.token().to_owned(),
    });
    if later {
        routes::complete_first(&state).map_err(failed)?;
    }
    let stops = || listener.check().is_err();
    let answers = Arc::clone(&state);
    let answered = listening.answer(gate, Arc::new(answers), &stops);
    state.jobs.stop(PATIENCE);
    answered.map_err(refuse)
}
