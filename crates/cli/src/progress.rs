//! What is going on, for people and for programs, and how to stop it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use facts_engine::{Phase, Progress};
use facts_run::{Failure, Listener, files};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use serde_json::{Value, json};

use crate::args::by_flags;

/// Work that is done sooner than this is not worth a bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long work may take to notice that it is to stop.
const GRACE: Duration = Duration::from_secs(2);

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
    bar: Mutex<Bar>,
}

struct Bar {
    bar: ProgressBar,
    phase: Option<Phase>,
}

impl Reporter {
    /// A reporter that stops the work at Ctrl-C.
    pub(crate) fn new(voice: Voice) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = stop.clone();
        // Fails only if there is a handler already; then Ctrl-C ends the program at once, which
        // leaves no half file either.
        let _ = ctrlc::set_handler(move || {
            let again = seen.swap(true, Ordering::SeqCst);
            let since = Instant::now();
            // The work stops between two batches. If a batch does not end, or no more input comes,
            // the program does; never while files are being written.
            while files::is_writing() || !(again || since.elapsed() > GRACE) {
                std::thread::sleep(Duration::from_millis(20));
            }
            facts_models::stop_programs();
            std::process::exit(130);
        });
        Self {
            voice,
            start: Instant::now(),
            stop,
            bar: Mutex::new(Bar {
                bar: ProgressBar::hidden(),
                phase: None,
            }),
        }
    }

    /// Seconds since the command began.
    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Why the command failed.
    pub(crate) fn failure(&self, failure: &Failure) {
        self.clear();
        let failure = by_flags(&failure.to_string());
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

    /// What the engine tells of its progress.
    fn progress(&self, progress: Progress) -> ControlFlow<()> {
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        if bar.phase != Some(progress.phase) {
            bar.phase = Some(progress.phase);
            self.event("phase", json!({ "phase": progress.phase.to_string() }));
            bar.bar.finish_and_clear();
            bar.bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
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
    }

    /// Something that the user should know.
    fn note(&self, text: &str) {
        let text = by_flags(text);
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
