//! What is going on, for people and for programs, and how to stop it.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use facts_engine::{Phase, Progress};
use facts_guard::secret;
use facts_report::text;
use facts_run::{Failure, Listener, files};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use serde_json::{Value, json};

use crate::args::by_flags;

/// Work that is done sooner than this is not worth a bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long work may take to notice that it is to stop, in milliseconds, unless [`Reporter::end_within`]
/// says otherwise.
const GRACE: u64 = 2000;

/// Where nothing is drawn, a line says so often what is going on, unless [`EVERY`] says otherwise.
const INTERVAL: Duration = Duration::from_secs(10);

/// The environment variable that holds the seconds between two such lines; 0 for none.
const EVERY: &str = "FACTS_PROGRESS_SECONDS";

/// How much is said on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    /// Bars on a terminal, notes and errors.
    Person,
    /// Errors only.
    Quiet,
    /// A JSON object a line.
    Json,
}

/// Tells what is going on.
pub(crate) struct Reporter {
    voice: Voice,
    start: Instant,
    stop: Arc<AtomicBool>,
    /// How long work may take to notice that it is to stop, in milliseconds.
    grace: Arc<AtomicU64>,
    bar: Mutex<Bar>,
    doing: Arc<Mutex<Doing>>,
}

struct Bar {
    bar: ProgressBar,
    phase: Option<Phase>,
}

/// What is being done, if anything, and how far it is.
#[derive(Clone, Debug, Default)]
struct Doing {
    what: Option<String>,
    done: u64,
    total: u64,
    /// How many rows were read; then what is done is files.
    rows: Option<u64>,
}

impl Doing {
    /// What a person is told, if anything is being done.
    fn told(&self) -> Option<String> {
        let what = self.what.as_ref()?;
        let (done, total) = (text::count(self.done), text::count(self.total));
        Some(match (self.rows, self.total) {
            (None, 0) => what.clone(),
            (None, _) => format!("{what}: {done} of {total}"),
            (Some(rows), 1) => format!("{what}: {} rows so far", text::count(rows)),
            (Some(rows), _) => format!(
                "{what}: file {} of {total}, {} rows so far",
                text::count(self.done + 1),
                text::count(rows)
            ),
        })
    }

    /// As a line to be read: by a program in JSON, with seconds since the start.
    fn line(&self, voice: Voice, seconds: f64) -> Option<String> {
        let told = self.told()?;
        let line = match voice {
            Voice::Quiet => return None,
            Voice::Json => {
                let mut said = json!({ "event": "progress", "seconds": seconds, "phase": self.what, "done": self.done, "total": self.total });
                if let Some(rows) = self.rows {
                    said["rows"] = rows.into();
                }
                said.to_string()
            }
            Voice::Person => format!("{told} ({seconds:.0} s)"),
        };
        Some(line)
    }
}

/// How often lines are wanted, if at all.
fn interval(voice: Voice) -> Option<Duration> {
    let drawn = voice == Voice::Person && std::io::stderr().is_terminal();
    if drawn || voice == Voice::Quiet {
        return None;
    }
    let said = std::env::var(EVERY).ok().and_then(|text| text.parse().ok());
    let every = said.map_or(Some(INTERVAL), |seconds| {
        Duration::try_from_secs_f64(seconds).ok()
    });
    every.filter(|every| !every.is_zero())
}

/// Tells what is being done, again and again, until it cannot be told any more.
fn tell_every(
    interval: Duration,
    voice: Voice,
    doing: Arc<Mutex<Doing>>,
    mut tell: impl FnMut(String) -> bool + Send + 'static,
) {
    let start = Instant::now();
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(interval);
            let doing = doing.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let line = doing.line(voice, start.elapsed().as_secs_f64());
            if !line.is_none_or(&mut tell) {
                break;
            }
        }
    });
}

impl Reporter {
    /// A reporter that stops the work at Ctrl-C, and when the system or a closed terminal says so.
    pub(crate) fn new(voice: Voice) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        // Fails only if there is a handler already; then Ctrl-C ends the program at once, which
        // leaves no half file either.
        let grace = Arc::new(AtomicU64::new(GRACE));
        let (seen, given) = (Arc::clone(&stop), Arc::clone(&grace));
        let _ = ctrlc::set_handler(move || end(&seen, &given));
        #[cfg(unix)]
        end_at_signals(&stop, &grace);
        if voice == Voice::Json {
            log_panics();
        }
        let doing = Arc::default();
        if let Some(interval) = interval(voice) {
            tell_every(interval, voice, Arc::clone(&doing), |line| {
                anstream::eprintln!("{line}");
                true
            });
        }
        Self {
            voice,
            start: Instant::now(),
            stop,
            grace,
            doing,
            bar: Mutex::new(Bar {
                bar: ProgressBar::hidden(),
                phase: None,
            }),
        }
    }

    /// From now on, work that is to stop may take this many milliseconds to notice it.
    pub(crate) fn end_within(&self, milliseconds: u64) {
        self.grace.store(milliseconds, Ordering::SeqCst);
    }

    fn doing(&self) -> MutexGuard<'_, Doing> {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Seconds since the command began.
    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Whether a person sits at a terminal who can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        let at_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        self.voice == Voice::Person && at_terminal
    }

    /// Why the command failed.
    pub(crate) fn failure(&self, failure: &Failure) {
        self.clear();
        let failure = text::visible_lines(&by_flags(&failure.to_string()));
        match self.voice {
            Voice::Json => self.event("error", json!({ "text": failure })),
            _ => {
                let red = anstyle::AnsiColor::Red.on_default().bold();
                anstream::eprintln!("{red}error{red:#}: {failure}");
            }
        }
    }
}

impl Listener for Reporter {
    /// A step of which only the end is known: after a second, a spinner says what is being done.
    fn step(&self, what: &'static str) {
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        bar.bar.finish_and_clear();
        bar.phase = None;
        bar.bar = ProgressBar::hidden();
        *self.doing() = Doing {
            what: Some(what.to_owned()),
            ..Doing::default()
        };
        if self.voice != Voice::Person {
            return;
        }
        let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        spinner.set_message(what);
        bar.bar = spinner.clone();
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            if !spinner.is_finished() {
                spinner.set_draw_target(ProgressDrawTarget::stderr());
                spinner.enable_steady_tick(Duration::from_millis(100));
            }
        });
    }

    fn reading(&self, file: usize, files: usize, rows: u64) {
        let told = {
            let mut doing = self.doing();
            (doing.done, doing.total) = (file as u64 - 1, files as u64);
            doing.rows = Some(rows);
            doing.told()
        };
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        bar.bar.set_message(told.unwrap_or_default());
    }

    /// What the engine tells of its progress.
    fn progress(&self, progress: Progress) -> ControlFlow<()> {
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        if bar.phase != Some(progress.phase) {
            bar.phase = Some(progress.phase);
            self.doing().what = Some(progress.phase.to_string());
            self.event("phase", json!({ "phase": progress.phase.to_string() }));
            bar.bar.finish_and_clear();
            bar.bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        }
        {
            let mut doing = self.doing();
            (doing.done, doing.total) = (progress.done, progress.total);
            doing.rows = None;
        }
        let worth_a_bar = progress.total > 0 && self.start.elapsed() > PATIENCE;
        if self.voice == Voice::Person && worth_a_bar {
            if bar.bar.length().is_none() {
                bar.bar.finish_and_clear();
                bar.bar = visible(progress.phase);
            }
            bar.bar.set_length(progress.total);
            bar.bar.set_position(progress.done);
        }
        if self.stop.load(Ordering::SeqCst) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Takes the bar away.
    fn clear(&self) {
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        bar.bar.finish_and_clear();
        bar.phase = None;
        *self.doing() = Doing::default();
    }

    /// Something that the user should know.
    fn note(&self, note: &str) {
        let note = secret::hidden_in_urls(note);
        let text = text::visible_lines(&by_flags(&note));
        match self.voice {
            Voice::Person => anstream::eprintln!("note: {text}"),
            Voice::Quiet => {}
            Voice::Json => self.event("note", json!({ "text": text })),
        }
    }

    /// Something that happened, for programs only.
    fn event(&self, event: &str, more: Value) {
        if self.voice != Voice::Json {
            return;
        }
        let mut line = json!({ "event": event, "seconds": self.seconds() });
        if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
            line.extend(more);
        }
        anstream::eprintln!("{line}");
    }

    /// Fails if the user wants to stop.
    fn check(&self) -> Result<(), Failure> {
        if self.stop.load(Ordering::SeqCst) {
            return Err(Failure::interrupted());
        }
        Ok(())
    }
}

/// Ends the work, or the program.
fn end(stop: &AtomicBool, grace: &AtomicU64) {
    let again = stop.swap(true, Ordering::SeqCst);
    let since = Instant::now();
    let grace = Duration::from_millis(grace.load(Ordering::SeqCst));
    // The work stops between two batches. If a batch does not end, or no more input comes, the
    // program does; never while files are being written.
    while files::is_writing() || !(again || since.elapsed() > grace) {
        std::thread::sleep(Duration::from_millis(20));
    }
    facts_models::stop_programs();
    std::process::exit(130);
}

/// What a system sends to end a program, and a terminal that is closed, ends the work as Ctrl-C does:
/// a program that just died would leave the model's programs running. `nohup` is obeyed.
#[cfg(unix)]
fn end_at_signals(stop: &Arc<AtomicBool>, grace: &Arc<AtomicU64>) {
    use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTERM, SIGXCPU};
    let signals = [SIGTERM, SIGHUP, SIGQUIT, SIGXCPU];
    let signals = signals.into_iter().filter(|&signal| !is_ignored(signal));
    // Fails only if the system refuses; then the program dies at once, as any other does.
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(signals) {
        let (stop, grace) = (Arc::clone(stop), Arc::clone(grace));
        std::thread::spawn(move || {
            for _ in signals.forever() {
                end(&stop, &grace);
            }
        });
    }
}

/// Whether whoever started the program wants a signal to be ignored. Linux alone tells it without unsafe
/// code.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Whoever reads JSON reads it to the end: a panic, which is a mistake in this program, is an event too.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let line = json!({ "event": "panic", "text": panic.to_string() });
        anstream::eprintln!("{line}");
    }));
}

/// A bar on standard error, which draws nothing unless that is a terminal.
fn visible(phase: Phase) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    let template = "{prefix:>14} {wide_bar} {human_pos}/{human_len} {rate} {eta}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        let rate = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
            // A rate that cannot be written is not worth an error.
            let _ = write!(text, "{:.0}/s", state.per_sec());
        };
        bar.set_style(style.with_key("rate", rate));
    }
    bar.set_prefix(phase.to_string());
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mining() -> Doing {
        Doing {
            what: Some("subgroups".to_owned()),
            done: 1200,
            total: 3400,
            rows: None,
        }
    }

    #[test]
    fn a_line_says_what_is_being_done_and_how_far_it_is() {
        let line = |doing: &Doing, voice| doing.line(voice, 20.4);
        assert_eq!(
            line(&mining(), Voice::Person).unwrap(),
            "subgroups: 1,200 of 3,400 (20 s)"
        );
        let step = Doing {
            done: 0,
            total: 0,
            ..mining()
        };
        assert_eq!(line(&step, Voice::Person).unwrap(), "subgroups (20 s)");
        let told: Value = serde_json::from_str(&line(&mining(), Voice::Json).unwrap()).unwrap();
        assert_eq!(
            told,
            json!({ "event": "progress", "seconds": 20.4, "phase": "subgroups", "done": 1200, "total": 3400 })
        );
        let reading = Doing {
            what: Some("reading the table".to_owned()),
            done: 1,
            total: 7,
            rows: Some(1_250_000),
        };
        assert_eq!(
            line(&reading, Voice::Person).unwrap(),
            "reading the table: file 2 of 7, 1,250,000 rows so far (20 s)"
        );
        let told: Value = serde_json::from_str(&line(&reading, Voice::Json).unwrap()).unwrap();
        assert_eq!(
            told,
            json!({ "event": "progress", "seconds": 20.4, "phase": "reading the table", "done": 1, "total": 7, "rows": 1_250_000 })
        );
        assert_eq!(line(&mining(), Voice::Quiet), None);
        assert_eq!(line(&Doing::default(), Voice::Person), None);
    }

    #[test]
    fn lines_are_told_again_and_again() {
        let (tell, told) = std::sync::mpsc::channel();
        let doing = Arc::new(Mutex::new(mining()));
        let interval = Duration::from_millis(1);
        tell_every(interval, Voice::Person, doing, move |line| {
            tell.send(line).is_ok()
        });
        for _ in 0..2 {
            let line = told.recv().unwrap();
            assert!(line.starts_with("subgroups: 1,200 of 3,400 ("), "{line}");
        }
    }
}
