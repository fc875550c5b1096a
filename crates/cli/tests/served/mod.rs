//! Servers on this machine: S3, with a line in front of it that counts and can be cut, and a web server.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;

/// Who may read.
pub(crate) const KEY: &str = "AKIDEXAMPLE";
/// What must not be told.
pub(crate) const SECRET: &str = "hush-hush-secret-key";

/// No cut is due.
const NEVER: i64 = i64::MAX;

/// A folder that an S3 server makes buckets of.
pub(crate) struct Store {
    folder: tempfile::TempDir,
    line: SocketAddr,
    web: SocketAddr,
    state: Arc<Line>,
    _runtime: tokio::runtime::Runtime,
}

struct Line {
    fetched: AtomicU64,
    /// How many bytes pass until the line is cut.
    left: AtomicI64,
    /// What is left after a cut.
    then: AtomicI64,
}

impl Store {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let server = s3(&runtime, folder.path());
        let state = Arc::new(Line {
            fetched: AtomicU64::new(0),
            left: AtomicI64::new(NEVER),
            then: AtomicI64::new(NEVER),
        });
        Self {
            line: line(server, Arc::clone(&state)),
            web: web(folder.path().to_owned()),
            folder,
            state,
            _runtime: runtime,
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where it is asked.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.line)
    }

    /// A web server of the same folder, which wants a signature or a password.
    pub(crate) fn web(&self) -> SocketAddr {
        self.web
    }

    /// How many bytes it has sent.
    pub(crate) fn fetched(&self) -> u64 {
        self.state.fetched.load(Ordering::SeqCst)
    }

    pub(crate) fn cut_once_after(&self, bytes: i64) {
        self.state.then.store(NEVER, Ordering::SeqCst);
        self.state.left.store(bytes, Ordering::SeqCst);
    }

    pub(crate) fn cut_always_after(&self, bytes: i64) {
        self.state.then.store(0, Ordering::SeqCst);
        self.state.left.store(bytes, Ordering::SeqCst);
    }
}

fn s3(runtime: &tokio::runtime::Runtime, folder: &Path) -> SocketAddr {
    let mut builder = S3ServiceBuilder::new(FileSystem::new(folder).unwrap());
    builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
    let service = builder.build();
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
        .unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let builder = Builder::new(TokioExecutor::new());
            let service = service.clone();
            tokio::spawn(async move {
                let _ = builder
                    .serve_connection(TokioIo::new(socket), service)
                    .await;
            });
        }
    });
    address
}

/// A line to a server.
fn line(server: SocketAddr, state: Arc<Line>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(server) else {
                continue;
            };
            let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || io::copy(&mut from, &mut to));
            let state = Arc::clone(&state);
            std::thread::spawn(move || passed(server, client, &state));
        }
    });
    address
}

/// Passes on what the server says, until the line is cut.
fn passed(mut server: TcpStream, mut client: TcpStream, state: &Line) {
    let mut buffer = [0; 1 << 12];
    while let Ok(length @ 1..) = server.read(&mut buffer) {
        let left = state.left.load(Ordering::SeqCst);
        let allowed = usize::try_from(left.max(0)).unwrap().min(length);
        let _ = client.write_all(&buffer[..allowed]);
        state.fetched.fetch_add(allowed as u64, Ordering::SeqCst);
        if left != NEVER {
            state.left.fetch_sub(allowed as i64, Ordering::SeqCst);
        }
        if allowed < length {
            state
                .left
                .store(state.then.load(Ordering::SeqCst), Ordering::SeqCst);
            break;
        }
    }
    let _ = client.shutdown(std::net::Shutdown::Both);
    let _ = server.shutdown(std::net::Shutdown::Both);
}

/// A web server: a file, or a part of one, for whoever has a signature or a password.
fn web(folder: PathBuf) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || answered(&mut client, &folder));
        }
    });
    address
}

fn answered(client: &mut TcpStream, folder: &Path) -> io::Result<()> {
    let mut lines = BufReader::new(client.try_clone()?).lines();
    let first = lines.next().unwrap_or(Ok(String::new()))?;
    let head: Vec<String> = lines
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
        .map(|line| line.to_ascii_lowercase())
        .collect();
    let target = first.split(' ').nth(1).unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    // `me:hush`, in base 64.
    let is_known = head
        .iter()
        .any(|line| line == "authorization: basic bwu6ahvzaa==");
    let status = |client: &mut TcpStream, status: &str| {
        write!(
            client,
            "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
    };
    if !is_known && !query.contains("sig=hush") {
        return status(client, "403 Forbidden");
    }
    let Ok(bytes) = std::fs::read(folder.join(path.trim_start_matches('/'))) else {
        return status(client, "404 Not Found");
    };
    let range = head
        .iter()
        .find_map(|line| line.strip_prefix("range: bytes="));
    let range = range.filter(|_| !query.contains("whole"));
    let size = bytes.len();
    let tag = "etag: \"v1\"\r\nlast-modified: Wed, 18 Nov 2026 00:00:00 GMT\r\nconnection: close";
    let Some((start, end)) = range.and_then(|range| range.split_once('-')) else {
        write!(
            client,
            "HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n{tag}\r\n\r\n"
        )?;
        return client.write_all(&bytes);
    };
    let (start, end): (usize, usize) = (start.parse().unwrap(), end.parse().unwrap());
    let part = &bytes[start..size.min(end + 1)];
    let last = start + part.len() - 1;
    write!(
        client,
        "HTTP/1.1 206 Partial Content\r\ncontent-length: {}\r\ncontent-range: bytes {start}-{last}/{size}\r\n{tag}\r\n\r\n",
        part.len()
    )?;
    client.write_all(part)
}
