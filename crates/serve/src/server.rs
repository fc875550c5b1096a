//! Connections: a thread each, never more than a few, none of them for long.
//!
//! A synchronous server is enough here: one person asks, every answer is computed on all cores by the
//! engine anyway, and a program that holds a socket open without asking costs one sleeping thread until
//! its time is up.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::gate::{Entry, Gate};
use crate::http::{Limits, ReadError, Request, Response};

/// At most so many connections at once; a browser opens six.
const MOST: usize = 64;

/// What a request may take.
const LIMITS: Limits = Limits {
    head: 16 << 10,
    body: 256 << 10,
    idle: Duration::from_secs(15),
    whole: Duration::from_secs(5),
};

/// How long a client may take to read an answer before it is given up.
const READS: Duration = Duration::from_secs(10);

/// How often it is asked whether to stop.
const PATIENCE: Duration = Duration::from_millis(50);

/// Answers requests that were let in.
pub(crate) trait Answers: Send + Sync + 'static {
    fn answer(&self, request: &Request) -> Response;
}

/// A server that listens and does not answer yet.
pub(crate) struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listening {
    pub(crate) fn on(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stops` says so.
    pub(crate) fn answer(
        self,
        gate: Arc<Gate>,
        answers: Arc<dyn Answers>,
        stops: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        let stopped = Arc::new(AtomicBool::new(false));
        let (listener, stopping) = (self.listener, Arc::clone(&stopped));
        let accepting = std::thread::spawn(move || accept(&listener, &gate, &answers, &stopping));
        while !stops() && !accepting.is_finished() {
            std::thread::sleep(PATIENCE);
        }
        stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection. If that fails, it has ended.
        let mut own = self.address;
        if own.ip().is_unspecified() {
            own.set_ip([127, 0, 0, 1].into());
        }
        let _ = TcpStream::connect_timeout(&own, PATIENCE);
        Ok(())
    }
}

fn accept(
    listener: &TcpListener,
    gate: &Arc<Gate>,
    answers: &Arc<dyn Answers>,
    stopped: &AtomicBool,
) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(mut stream) = stream else {
            // Too many open files, or a client that left at once: others may come.
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        let place = Place::take(&open);
        if place.number > MOST {
            // Best effort: whoever asks too much may not even hear it.
            let _ = stream.set_write_timeout(Some(PATIENCE));
            let _ = Response::error(503, "too many connections at once").write(&mut stream, true);
            continue;
        }
        let (gate, answers) = (Arc::clone(gate), Arc::clone(answers));
        let serving = std::thread::Builder::new().spawn(move || {
            let _place = place;
            // A client that vanishes is no matter.
            let _ = serve(stream, &gate, answers.as_ref());
        });
        drop(serving);
    }
}

/// One of the places there are for connections.
struct Place {
    open: Arc<AtomicUsize>,
    number: usize,
}

impl Place {
    fn take(open: &Arc<AtomicUsize>) -> Self {
        Self {
            open: Arc::clone(open),
            number: open.fetch_add(1, Ordering::SeqCst) + 1,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Answers the requests of one connection, one after another.
fn serve(mut stream: TcpStream, gate: &Gate, answers: &dyn Answers) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(READS))?;
    let mut left = Vec::new();
    loop {
        let request = match Request::read(&mut stream, &mut left, &LIMITS) {
            Ok(request) => request,
            Err(ReadError::Gone) => return Ok(()),
            Err(ReadError::Refused(status, why)) => {
                return Response::error(status, why).write(&mut stream, true);
            }
        };
        let (response, closes) = match gate.enter(&request) {
            // Whoever is not let in keeps no connection: there are few.
            Entry::Answered(response) => (response, true),
            Entry::Admitted => (answers.answer(&request), request.closes),
        };
        response.write(&mut stream, closes)?;
        stream.flush()?;
        if closes {
            return Ok(());
        }
    }
}
