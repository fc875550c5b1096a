//! One started program: its process, and the threads that feed it and listen to it.
//!
//! Three threads a program, because each of its three pipes can block: one writes rows, one reads
//! answers, one drains what it says on standard error and keeps the end of it. Whoever asks only
//! waits for the answer, and never longer than the time-out.

use std::collections::{BTreeSet, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use facts_engine::flips::ModelError;

use super::wire::{Encoder, Output, Wire, read_answers};

/// How long a program may take to end after its input has ended.
const GRACE: Duration = Duration::from_millis(500);

/// How long an answer too many is waited for, once a program: one that writes two at a time has it there by then.
const ONE_TOO_MANY: Duration = Duration::from_millis(50);
/// How much of what a program says on standard error is kept: the last lines, each cut.
const KEPT_LINES: usize = 20;
const KEPT_LINE_BYTES: usize = 400;

/// Why a batch was not answered.
#[derive(Debug)]
pub(super) enum Failure {
    /// The program ended. What it left behind, for the error text.
    Ended(String),
    /// Anything else: starting it again would not help.
    Failed(ModelError),
}

/// A started program.
pub(super) struct Worker {
    child: Child,
    encoder: Encoder,
    /// What the stream of rows was begun with; a stream has one schema.
    schema: Option<SchemaRef>,
    input: Option<Sender<Vec<u8>>>,
    answers: Receiver<Output>,
    /// Rows of the batch that is out.
    asked: Arc<AtomicUsize>,
    said: Arc<Mutex<VecDeque<String>>>,
    listener: Option<JoinHandle<()>>,
    /// Whether it has answered a batch.
    has_answered: bool,
}

impl Worker {
    /// Starts a program.
    pub(super) fn start(command: &[String], wire: Wire) -> std::io::Result<Self> {
        let mut process = Command::new(&command[0]);
        process
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // A group of its own, so that what the program starts can be ended with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut process, 0);
        // Started and noted in one go: whoever ends all programs finds it, or it is not started.
        let mut programs = programs();
        if programs.stopped {
            return Err(std::io::Error::other("all programs were stopped"));
        }
        let mut child = process.spawn()?;
        programs.running.insert(child.id());
        drop(programs);

        let (input, to_write) = mpsc::channel::<Vec<u8>>();
        // One answer may wait: a program that answers without being asked does not fill the memory.
        let (hand_on, answers) = mpsc::sync_channel(1);
        let asked = Arc::new(AtomicUsize::new(0));
        let said = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(mut stdin) = child.stdin.take() {
            // Ends, and with it the program's input, when the worker is dropped; or when the
            // program does not read any more, which its output will tell.
            std::thread::spawn(move || {
                for bytes in to_write {
                    if stdin
                        .write_all(&bytes)
                        .and_then(|()| stdin.flush())
                        .is_err()
                    {
                        return;
                    }
                }
            });
        }
        if let Some(stdout) = child.stdout.take() {
            let asked = Arc::clone(&asked);
            std::thread::spawn(move || {
                read_answers(wire, stdout, &asked, |output| hand_on.send(output).is_ok());
            });
        }
        let listener = child.stderr.take().map(|stderr| {
            let said = Arc::clone(&said);
            std::thread::spawn(move || keep_last_lines(stderr, &said))
        });
        Ok(Self {
            child,
            encoder: Encoder::new(wire),
            schema: None,
            input: Some(input),
            answers,
            asked,
            said,
            listener,
            has_answered: false,
        })
    }

    /// Whether the program can be sent rows of this schema.
    pub(super) fn takes(&self, rows: &RecordBatch) -> bool {
        self.schema
            .as_ref()
            .is_none_or(|schema| schema == rows.schema_ref())
    }

    /// Has a batch answered. After a failure the worker is of no further use.
    pub(super) fn ask(
        &mut self,
        rows: &RecordBatch,
        timeout: Duration,
    ) -> Result<ArrayRef, Failure> {
        let asked = rows.num_rows();
        match self.answers.try_recv() {
            Err(mpsc::TryRecvError::Empty) => {}
            Ok(Output::Answer(answer)) => return Err(self.unasked(answer.len())),
            Ok(Output::Nonsense(why)) => return Err(self.misbehaved(&why)),
            Ok(Output::Ended) | Err(mpsc::TryRecvError::Disconnected) => {
                return Err(self.ended());
            }
        }
        self.schema.get_or_insert_with(|| rows.schema());
        let bytes = self.encoder.encode(rows).map_err(Failure::Failed)?;
        self.asked.store(asked, Ordering::Release);
        if let Some(input) = &self.input {
            // If the writer is gone, so is the program; the answer, or its absence, tells why.
            let _ = input.send(bytes);
        }
        match self.answers.recv_timeout(timeout) {
            Ok(Output::Answer(answer)) => {
                ModelError::check_rows(asked, answer.len()).map_err(Failure::Failed)?;
                self.look_for_more()?;
                Ok(answer)
            }
            Ok(Output::Nonsense(why)) => Err(self.misbehaved(&why)),
            Ok(Output::Ended) | Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                Err(self.misbehaved(&format!(
                    "no answer to a batch of {asked} rows within {} s, so it was stopped; allow it more time, send it fewer rows at a time, or look whether it flushes its output after each batch",
                    timeout.as_secs_f64()
                )))
            }
        }
    }

    /// After the first answer, waits a moment for one too many: it would be taken for that of the next batch.
    fn look_for_more(&mut self) -> Result<(), Failure> {
        if std::mem::replace(&mut self.has_answered, true) {
            return Ok(());
        }
        match self.answers.recv_timeout(ONE_TOO_MANY) {
            Ok(Output::Answer(answer)) => Err(self.unasked(answer.len())),
            Ok(Output::Nonsense(why)) => Err(self.misbehaved(&why)),
            // Whoever asks again hears that it has ended.
            Ok(Output::Ended) | Err(_) => Ok(()),
        }
    }

    fn unasked(&mut self, answers: usize) -> Failure {
        self.misbehaved(&format!(
            "it wrote {answers} answers that nobody had asked for; write one record batch (or, in CSV, one empty line) for each batch that is read"
        ))
    }

    fn misbehaved(&mut self, why: &str) -> Failure {
        self.kill();
        Failure::Failed(ModelError::Failed(format!("{why}{}", self.last_words())))
    }

    fn ended(&mut self) -> Failure {
        // Its output has ended; the process itself may take a moment more.
        let status = self.wait_at_most(GRACE);
        if status.is_none() {
            self.kill();
        }
        let how = match status {
            Some(status) => format!("({status})"),
            None => "(it closed its output and went on; it was stopped)".to_owned(),
        };
        Failure::Ended(match self.last_words() {
            said if said.is_empty() => format!("{how}; it said nothing on standard error"),
            said => format!("{how}{said}"),
        })
    }

    /// What the program said last on standard error, for the end of an error text.
    fn last_words(&mut self) -> String {
        // The end of it may still be on its way.
        if let Some(listener) = self.listener.take() {
            let begin = Instant::now();
            while !listener.is_finished() && begin.elapsed() < GRACE {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.is_empty() {
            return String::new();
        }
        let lines: Vec<String> = said.iter().map(|line| format!("\n  {line}")).collect();
        format!("; it last said on standard error:{}", lines.concat())
    }

    /// Ends the program's input: an obedient program ends too.
    pub(super) fn close(&mut self) {
        self.input = None;
    }

    fn wait_at_most(&mut self, time: Duration) -> Option<ExitStatus> {
        let begin = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if begin.elapsed() < time => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                _ => return None,
            }
        }
    }

    fn kill(&mut self) {
        // While the process has not been waited for, its number cannot belong to another.
        #[cfg(unix)]
        if let Ok(None) = self.child.try_wait() {
            let group = rustix::process::Pid::from_child(&self.child);
            // Fails only if all of the group have ended.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        // After a kill the end is certain; waiting leaves no zombie.
        let _ = self.child.wait();
    }
}

/// The programs of all models.
struct Programs {
    /// Those that have been started and not waited for, each the head of a process group.
    running: BTreeSet<u32>,
    /// Whether all were ended for good.
    stopped: bool,
}

static PROGRAMS: Mutex<Programs> = Mutex::new(Programs {
    running: BTreeSet::new(),
    stopped: false,
});

fn programs() -> MutexGuard<'static, Programs> {
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all programs that models have started, with what they have started themselves, and starts no
/// more: a program that ends is started once more, and would outlive everybody. For whoever is about
/// to end the whole process, in which case nobody is left to do it.
pub fn stop_programs() {
    let mut programs = programs();
    programs.stopped = true;
    #[cfg(unix)]
    for &program in &programs.running {
        let group = i32::try_from(program)
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            // Fails only if all of the group have ended.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.close();
        if self.wait_at_most(GRACE).is_none() {
            self.kill();
        }
        programs().running.remove(&self.child.id());
    }
}

/// Reads to the end, so that the program never blocks, and keeps the last lines.
fn keep_last_lines(stderr: impl Read, said: &Mutex<VecDeque<String>>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line without an end is cut too: a program may write megabytes without one.
        let mut part = (&mut stderr).take(KEPT_LINE_BYTES as u64);
        match part.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() == KEPT_LINES {
            said.pop_front();
        }
        said.push_back(text);
    }
}
