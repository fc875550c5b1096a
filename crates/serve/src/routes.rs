//! Which question a request asks.

use std::sync::Arc;
use std::time::Duration;

use facts_report::views;
use serde::Serialize;
use serde_json::{Value, json};

use crate::assets;
use crate::desk::Held;
use crate::failure::Failed;
use crate::http::{Events, Method, Request, Response};
use crate::jobs::Job;
use crate::server::Answers;
use crate::state::State;
use crate::views::command::Command;
use crate::views::{compare, export, handover, person, subgroup, subgroups};
use crate::workbench::{self, Scenario, Untested, Workbench};

impl Answers for Arc<State> {
    fn answer(&self, request: &Request) -> Response {
        if request.method == Method::Get
            && let Some(file) = assets::file(&request.path)
        {
            return file;
        }
        route(self, request).unwrap_or_else(|failed| failed.response())
    }
}

fn route(state: &Arc<State>, request: &Request) -> Result<Response, Failed> {
    let path: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
    match (request.method, path.as_slice()) {
        (Method::Get, ["api", "session"]) => Ok(Response::json(&session(state))),
        (Method::Post, ["api", "scenarios"]) => begin(state, request),
        (Method::Get, ["api", "jobs", id]) => Ok(Response::json(&state.jobs.get(id)?.stage())),
        (Method::Get, ["api", "jobs", id, "events"]) => Ok(events(state.jobs.get(id)?)),
        (Method::Delete, ["api", "jobs", id]) => {
            state.jobs.get(id)?.cancel();
            Ok(Response::json(&json!({})))
        }
        (Method::Delete, ["api", "audits", key]) => {
            state.remove(key)?;
            Ok(Response::json(&json!({})))
        }
        (Method::Post, ["api", "audits", key, "tests"]) => test(state, key, request),
        (Method::Post, ["api", "audits", key, "hand-over"]) => {
            let refuse = |error: serde_json::Error| Failed::bad(format!("cannot be read: {error}"));
            let asked: handover::Asked = serde_json::from_slice(&request.body).map_err(refuse)?;
            let held = state.audit(key)?;
            let source = held.source.clone();
            held.ask(move |desk| handover::hand_over(desk, &source, &asked))
        }
        (Method::Get, ["api", "audits", key, "subgroups.csv"]) => {
            let (asked, _) = subgroups::Asked::read(request)?;
            let held = state.audit(key)?;
            held.ask(move |desk| export::csv(desk, &asked))
        }
        (Method::Get, ["api", "audits", key, "subgroups.json"]) => {
            let (asked, _) = subgroups::Asked::read(request)?;
            let held = state.audit(key)?;
            held.ask(move |desk| export::json(desk, &asked))
        }
        (Method::Get, ["api", "audits", key, "config"]) => configuration(state, key),
        (Method::Get, ["api", "compare"]) => compared(state, request),
        (Method::Get, ["api", "audits", key]) => {
            let held = state.audit(key)?;
            let source = held.source.clone();
            let command = Command::show(&source).to_string();
            let found =
                held.ask(move |desk| plain(&views::overview(&desk.report, Some(command))))?;
            Ok(Response::json(&found))
        }
        (Method::Get, ["api", "audits", key, view]) => {
            let held = state.audit(key)?;
            of_audit(&held, view, request)
        }
        _ => Err(Failed::unknown("there is nothing at this address")),
    }
}

/// What can be asked.
fn session(state: &State) -> serde_json::Value {
    let audits = state.audits();
    let audits = audits.iter().map(|(key, held)| {
        let mut title = views::title(&held.name, &held.record);
        title["key"] = json!(key);
        title["rows"] = json!(held.behind.is_some());
        title["people"] = json!(person::may_be_asked(held));
        title["settings"] = json!(held.settings());
        title["command"] = json!(Command::show(&held.source).to_string());
        title
    });
    let job = state.jobs.current();
    json!({
        "bench": state.bench.as_ref().is_some_and(Workbench::may_change),
        "job": job.map(|job| job.id),
        "tool": facts_run::TOOL,
        "audits": audits.collect::<Vec<_>>(),
    })
}

/// An answer as it is sent.
fn plain(answer: &impl Serialize) -> Result<Value, Failed> {
    serde_json::to_value(answer).map_err(|error| Failed::internal(error.to_string()))
}

/// A view of one audit.
fn of_audit(held: &Held, view: &str, request: &Request) -> Result<Response, Failed> {
    let source = held.source.clone();
    let found = match view {
        // Thousands of points: written as they are, not built up as a value first.
        "subgroups" => {
            let (asked, window) = subgroups::Asked::read(request)?;
            let found =
                held.ask(move |desk| subgroups::subgroups(desk, &source, &asked, &window))?;
            return Ok(Response::json(&found));
        }
        "stories" => held.ask(move |desk| {
            let command = |story: Option<usize>| {
                let command = Command::show(&source);
                let command = match story {
                    None => command.flag("--stories"),
                    Some(number) => command.with("--story", &number.to_string()),
                };
                Some(command.to_string())
            };
            plain(&views::stories(&desk.report, &desk.places, &command))
        })?,
        "subgroup" => {
            let text = |name: &str| request.parameter(name).unwrap_or_default().to_owned();
            let (predicate, definition) = (text("predicate"), text("definition"));
            let alpha = subgroups::level(request)?;
            held.ask(move |desk| subgroup::subgroup(desk, &source, &predicate, &definition, alpha))?
        }
        "people" => person::people(held, &person::Asked::read(request)?)?,
        "person" => {
            let profile = request
                .parameter("profile")
                .and_then(|text| text.parse().ok());
            let profile = profile.ok_or_else(|| {
                Failed::bad("`profile` is missing; `people` lists the numbers of profiles")
            })?;
            person::person(held, profile)?
        }
        _ => return Err(Failed::unknown("an audit has no such view")),
    };
    Ok(Response::json(&found))
}

/// Two audits side by side.
fn compared(state: &State, request: &Request) -> Result<Response, Failed> {
    let key = |name: &str| {
        let given = request.parameter(name);
        given.ok_or_else(|| {
            Failed::bad(format!(
                "`{name}` is missing; name two audits by their keys"
            ))
        })
    };
    let (old, new) = (key("old")?, key("new")?);
    let diff = state.diff(old, new)?;
    let command = Command::diff(&state.audit(old)?.source, &state.audit(new)?.source);
    Ok(Response::json(&compare::compare(&diff, request, command)?))
}

/// Begins the audit of a what-if.
fn begin(state: &Arc<State>, request: &Request) -> Result<Response, Failed> {
    let scenario = Scenario::read(&request.body)?;
    state.bench()?.check_may_change()?;
    state.check_room()?;
    let state_of_job = Arc::clone(state);
    let job = state.jobs.start(move |job| {
        let bench = state_of_job.bench()?;
        workbench::scenario(&state_of_job, bench, &scenario, job)
    })?;
    Ok(begun(&job))
}

/// Begins to test what the first audit found.
pub(crate) fn complete_first(state: &Arc<State>) -> Result<(), Failed> {
    let state_of_job = Arc::clone(state);
    let job = state
        .jobs
        .start(move |job| workbench::complete_first(&state_of_job, state_of_job.bench()?, job));
    job.map(drop)
}

/// Begins to test one definition at one level.
fn test(state: &Arc<State>, key: &str, request: &Request) -> Result<Response, Failed> {
    let refuse = |error: serde_json::Error| Failed::bad(format!("cannot be read: {error}"));
    let asked: Untested = serde_json::from_slice(&request.body).map_err(refuse)?;
    let held = state.audit(key)?;
    let place = state.key(key)?;
    let job = state
        .jobs
        .start(move |job| workbench::test(&held, place, &asked, job))?;
    Ok(begun(&job))
}

fn begun(job: &Job) -> Response {
    let mut response = Response::json(&json!({ "job": job.id }));
    response.status = 202;
    response
}

/// What is told of work while it goes on: an event whenever it has moved, at most ten a second, and a
/// comment now and then, by which it is noticed that nobody listens any more.
fn events(job: Arc<Job>) -> Response {
    let events: Events = Box::new(move |tell| {
        let mut seen = u64::MAX;
        loop {
            let (number, stage) = job.next(seen, Duration::from_millis(500));
            let text = match number == seen {
                true => ": still here\n\n".to_owned(),
                false => format!("data: {}\n\n", json!(stage)),
            };
            seen = number;
            if tell(&text).is_err() || stage.is_over() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    Response::events(events)
}

/// The configuration that an audit was made with, to be saved as a file.
fn configuration(state: &State, key: &str) -> Result<Response, Failed> {
    let held = state.audit(key)?;
    let text = state.bench()?.text(held.settings().unwrap_or_default())?;
    let response = Response::new(200, "application/toml", text.into_bytes());
    Ok(response.with("Content-Disposition", "attachment; filename=\"facts.toml\""))
}
