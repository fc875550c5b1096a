//! `facts serve` as it is typed: it says where it is, answers, and ends when it is told to.
#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

fn facts() -> Command {
    Command::new(env!("CARGO_BIN_EXE_facts"))
}

fn hiring() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hiring/facts.toml")
}

/// A program that is ended with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts it and reads the address that it prints.
fn start(command: &mut Command) -> (Serving, String) {
    let child = command
        .arg("--no-browser")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut serving = Serving(child);
    let mut line = String::new();
    let mut said = BufReader::new(serving.0.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    let url = line
        .trim()
        .strip_prefix("Open ")
        .expect("an address")
        .to_owned();
    (serving, url)
}

fn session(url: &str) -> String {
    get(url, "/api/session")
}

fn get(url: &str, path: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let (host, token) = address.split_once("/?token=").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Sends what Ctrl-C sends, and waits for the end: a second, and much more on a busy machine. How long it
/// took, and how it ended.
fn interrupted(serving: &mut Serving) -> (Duration, ExitStatus) {
    let pid = serving.0.id().to_string();
    let start = Instant::now();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.unwrap().success());
    while start.elapsed() < Duration::from_secs(10) {
        if let Some(status) = serving.0.try_wait().unwrap() {
            return (start.elapsed(), status);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("it has not ended ten seconds after Ctrl-C");
}

fn interrupt(mut serving: Serving) {
    let (_, status) = interrupted(&mut serving);
    assert!(status.success());
}

#[test]
fn a_saved_audit_is_served_until_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let (serving, url) = start(facts().arg("serve").arg(saved(folder.path())));
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let answer = session(&url);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.contains("\"bench\":false"), "{answer}");
    interrupt(serving);
}

/// Tells how long it takes to end; `verification/records/explorer.md` has the numbers.
#[test]
#[ignore = "measures, and judges nothing"]
#[allow(clippy::print_stdout)]
fn how_long_ctrl_c_takes() {
    let folder = tempfile::tempdir().unwrap();
    let out = saved(folder.path());
    let idle = || start(facts().arg("serve").arg(&out)).0;
    let waiting = || {
        let _ = std::fs::remove_file(folder.path().join("slow"));
        waiting_for_a_program(folder.path())
    };
    let measured: [(&str, &dyn Fn() -> Serving); 2] = [
        ("nothing to do", &idle),
        ("a what-if waits for a program", &waiting),
    ];
    for (what, serving) in measured {
        let once = |_| interrupted(&mut serving()).0.as_millis();
        let mut times: Vec<u128> = (0..20).map(once).collect();
        times.sort_unstable();
        println!("{what}: median {} ms, all {times:?}", times[10]);
    }
    assert_no_program_left(folder.path());
}

/// What stands in the place of `xdg-open`: it notes what it is given, and in which group it runs.
const BROWSER: &str = r#"#!/bin/sh
cd "$(dirname "$0")" || exit 1
umask 077
echo "$@" > given
ls -l "$1" | cut -c 1-10 > rights
cat "$1" > page
ps -o pgid= -p $$ > group
echo $$ > own.part
mv own.part own
"#;

/// What others can read, the arguments of a program, lets nobody in; and Ctrl-C is not for the browser.
#[test]
#[cfg(target_os = "linux")]
fn the_browser_is_led_in_by_a_file_of_the_user() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let out = saved(folder.path());
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let browser = bin.join("xdg-open");
    std::fs::write(&browser, BROWSER).unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    // It opens a browser on a terminal alone.
    let mut serve = Command::new("python3");
    serve
        .args(["-c", "import pty, sys; pty.spawn(sys.argv[1:])"])
        .arg(env!("CARGO_BIN_EXE_facts"))
        .arg("serve")
        .arg(&out)
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("XDG_RUNTIME_DIR", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut serving = Serving(serve.spawn().unwrap());
    let mut typing = serving.0.stdin.take().unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(serving.0.stdout.take().unwrap());
    while !line.contains("token=") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0);
    }
    let (_, token) = line.trim().split_once("token=").unwrap();
    let until = |is_so: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    until(&|| bin.join("own").exists());
    let noted = |name: &str| {
        let text = std::fs::read_to_string(bin.join(name)).unwrap();
        text.trim().to_owned()
    };
    let given = noted("given");
    assert!(
        !given.contains("token") && !given.contains(token),
        "{given}"
    );
    assert_eq!(noted("rights"), "-rw-------");
    assert_eq!(noted("group"), noted("own"));
    // As the browser does: it lets in, once, and then the file is gone.
    let page = noted("page");
    assert!(!page.contains(token), "{page}");
    let (_, rest) = page.split_once("http://").unwrap();
    let (address, _) = rest.split_once('"').unwrap();
    let (host, path) = address.split_at(address.find('/').unwrap());
    let opened = || {
        let mut stream = TcpStream::connect(host).unwrap();
        let head =
            format!("Host: {host}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate");
        let request = format!("GET {path} HTTP/1.1\r\n{head}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(opened().starts_with("HTTP/1.1 303 "));
    until(&|| !Path::new(&given).exists());
    assert!(opened().starts_with("HTTP/1.1 401 "));
    typing.write_all(b"\x03").unwrap();
    std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    until(&|| TcpStream::connect(host).is_err());
}

/// The audit of the example, saved in a folder.
fn saved(folder: &Path) -> PathBuf {
    let out = folder.join("result");
    let mut audit = facts();
    audit.args(["audit", "--quiet", "--config"]).arg(hiring());
    audit.args([
        "--set",
        "evidence.shuffles=199",
        "--set",
        "evidence.resamples=0",
    ]);
    audit
        .args(["--set", "evidence.alpha=0.2", "--out"])
        .arg(&out);
    assert!(audit.stdout(Stdio::null()).status().unwrap().success());
    out
}

/// A browser keeps pins and notes by the port.
#[test]
fn the_same_audit_is_served_at_the_same_port_again() {
    let folder = tempfile::tempdir().unwrap();
    let out = saved(folder.path());
    let port = |url: &str| {
        url.split(['/', ':'])
            .nth(4)
            .unwrap()
            .parse::<u16>()
            .unwrap()
    };
    let (serving, url) = start(facts().arg("serve").arg(&out));
    let usual = port(&url);
    assert!(usual >= 49152, "{url}");
    // Where it is taken, any other serves.
    let (other, url) = start(facts().arg("serve").arg(&out));
    assert_ne!(port(&url), usual);
    interrupt(other);
    interrupt(serving);
    let (serving, url) = start(facts().arg("serve").arg(&out));
    assert_eq!(port(&url), usual);
    interrupt(serving);
}

fn json(answer: &str) -> serde_json::Value {
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// What the copied command of an answer prints, when it is typed into a shell.
fn typed(answer: &serde_json::Value) -> String {
    let command = answer["command"].as_str().unwrap();
    let arguments = command.strip_prefix("facts ").unwrap();
    let program = env!("CARGO_BIN_EXE_facts");
    let done = Command::new("sh")
        .arg("-c")
        .arg(format!("'{program}' {arguments}"))
        .output();
    let done = done.unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{command}: {said}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn the_command_of_each_view_shows_what_the_view_shows() {
    let folder = tempfile::tempdir().unwrap();
    let out = saved(folder.path());
    let (serving, url) = start(facts().arg("serve").arg(&out));
    let ask = |path: &str| json(&get(&url, &format!("/api/audits/0{path}")));
    let rows = "/subgroups?definition=equal-choice:0.55&where=job&count=25";
    for more in ["", "&sort=rank", "&unfair=1", "&against=Female"] {
        let found = ask(&format!("{rows}{more}"));
        assert!(found["command_lacks"].is_null(), "{found}");
        let told = typed(&found);
        let listed = told.lines().filter_map(|line| line.strip_prefix("If "));
        let listed: Vec<&str> = listed.map(|line| line.trim_end_matches(':')).collect();
        let rows = found["rows"].as_array().unwrap().iter();
        let rows: Vec<&str> = rows.map(|row| row["predicate"].as_str().unwrap()).collect();
        assert_eq!(listed, rows, "{more}");
        assert!(!rows.is_empty());
    }
    // What the command cannot do is said.
    for (more, lack) in [
        ("&alpha=0.1", "judge at α = 0.1"),
        ("&people=20..40", "choose by people"),
        ("&gap=0.2..inf", "choose by score"),
        ("&sort=members", "sort like that"),
    ] {
        let found = ask(&format!("{rows}{more}"));
        let lacks = found["command_lacks"].as_str().unwrap();
        assert!(lacks.contains(lack), "{lacks}");
        typed(&found);
    }
    let one = ask("/subgroup?definition=equal-choice:0.55&predicate=job%20%3D%20clerk");
    let told = typed(&one);
    for side in one["found"]["sides"].as_array().unwrap() {
        assert!(told.contains(side["value"].as_str().unwrap()), "{told}");
    }
    assert!(told.contains(one["title"].as_str().unwrap()), "{told}");
    let stories = ask("/stories");
    typed(&stories);
    let overview = ask("");
    let told = typed(&overview);
    let verdict = overview["answer"]["verdict_words"].as_str().unwrap();
    assert!(told.contains(&verdict.to_uppercase()), "{told}");
    interrupt(serving);
}

#[test]
fn the_command_of_a_what_if_makes_it_again() {
    let settings = ["evidence.shuffles=0", "evidence.resamples=0"].map(|one| ["--set", one]);
    let mut serve = facts();
    serve.args(["serve", "--quiet", "--config"]).arg(hiring());
    let (serving, url) = start(serve.args(settings.concat()));
    let body = r#"{"name": "w", "settings": ["features.degree.only=any", "protected.region={}"]}"#;
    // The first audit is made whole before.
    while !post(&url, "/api/scenarios", body).contains(" 202 ") {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let is_there = || get(&url, "/api/audits/1").starts_with("HTTP/1.1 200 ");
    while !is_there() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let overview = json(&get(&url, "/api/audits/1"));
    let session = json(&session(&url));
    assert_eq!(session["audits"][1]["command"], overview["command"]);
    let told = typed(&overview);
    let headline = overview["answer"]["headline"].as_str().unwrap();
    let words: Vec<&str> = told.split_whitespace().collect();
    assert!(words.join(" ").contains(headline), "{told}");
    let people = json(&get(&url, "/api/audits/0/people"));
    let listed = typed(&people);
    assert!(
        listed.starts_with(&format!("{} refused profiles", people["matching"])),
        "{listed}"
    );
    interrupt(serving);
}

/// The tests of the audit are still being made when it ends.
#[test]
fn ctrl_c_ends_an_audit_that_is_being_made() {
    let settings = ["--set", "evidence.shuffles=200000"];
    let (serving, url) = start(
        facts()
            .args(["serve", "--config"])
            .arg(hiring())
            .args(settings),
    );
    let answer = session(&url);
    assert!(
        answer.contains("\"bench\":true") && answer.contains("\"job\":0"),
        "{answer}"
    );
    interrupt(serving);
}

/// The scorecard of the example as a program. It notes its number in `pids`, and once there is a file `slow`
/// it answers no more.
const PROGRAM: &str = r#"
import csv, json, os, sys, time
folder = sys.argv[1]
with open(os.path.join(folder, "pids"), "a") as pids:
    pids.write(f"{os.getpid()}\n")
with open(sys.argv[2], encoding="utf-8") as file:
    model = json.load(file)
lines = csv.reader(iter(sys.stdin.readline, ""))
header = next(lines)
for line in lines:
    if not line:
        if os.path.exists(os.path.join(folder, "slow")):
            time.sleep(3600)
        print(flush=True)
        continue
    row = dict(zip(header, line))
    score = model["intercept"] + sum(levels[row[name]] for name, levels in model["levels"].items())
    score += sum(coefficient * float(row[name]) for name, coefficient in model["numbers"].items())
    print(int(score > 0))
"#;

/// The model of the example as a program that works in a folder.
fn program(folder: &Path) -> String {
    let script = folder.join("model.py");
    std::fs::write(&script, PROGRAM).unwrap();
    let model = hiring().with_file_name("model.json");
    let [script, folder, model] = [&script, folder, &model].map(|path| path.display());
    format!("exec-csv:python3 \"{script}\" \"{folder}\" \"{model}\"")
}

/// The numbers of all programs that were started so far.
fn pids(folder: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(folder.join("pids")).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// Waits until more programs than so many were started.
fn wait_for_more(folder: &Path, than: usize) {
    while pids(folder).len() <= than {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// None of the programs is left: there is no process, or it has ended and waits to be told so.
fn assert_no_program_left(folder: &Path) {
    assert!(!pids(folder).is_empty());
    for pid in pids(folder) {
        let mut asked = Command::new("ps");
        let told = asked.args(["-o", "stat=", "-p", &pid.to_string()]).output();
        let state = String::from_utf8(told.unwrap().stdout).unwrap();
        assert!(state.is_empty() || state.starts_with('Z'), "{pid}: {state}");
    }
}

fn post(url: &str, path: &str, body: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let (host, token) = address.split_once("/?token=").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A table with flags, by the path of `facts audit`, with a program as its model.
#[test]
fn a_table_is_audited_and_served() {
    let folder = tempfile::tempdir().unwrap();
    let mut serve = facts();
    serve
        .args(["serve", "--no-config", "--quiet"])
        .arg(hiring().with_file_name("people.csv"))
        .args(["--protected", "sex", "--favourable", "1", "--no-evidence"])
        .args([
            "--ignore",
            "kept",
            "--support",
            "0.05",
            "--min-members",
            "5",
        ])
        .args(["--model", &program(folder.path())]);
    let (serving, url) = start(&mut serve);
    let answer = session(&url);
    // There are people to ask about, and no file to put what-ifs over.
    assert!(answer.contains("\"people\":true"), "{answer}");
    assert!(answer.contains("\"bench\":false"), "{answer}");
    let refused = post(&url, "/api/scenarios", "{\"name\": \"x\"}");
    assert!(
        refused.contains("409") && refused.contains("facts init"),
        "{refused}"
    );
    interrupt(serving);
    assert_no_program_left(folder.path());
}

/// A server whose what-if waits for its program, which never answers.
fn waiting_for_a_program(folder: &Path) -> Serving {
    let model = format!("model.spec={}", program(folder).replace('"', "\\\""));
    let model = model.replacen('=', "=\"", 1) + "\"";
    let mut serve = facts();
    serve.args(["serve", "--quiet", "--config"]).arg(hiring());
    serve.args(["--set", &model, "--set", "evidence.shuffles=0"]);
    serve.args(["--set", "evidence.resamples=0"]);
    let (serving, url) = start(&mut serve);
    std::fs::write(folder.join("slow"), "").unwrap();
    let before = pids(folder).len();
    let body = r#"{"name": "jobs stay", "settings": ["features.job.immutable=true"]}"#;
    let begun = post(&url, "/api/scenarios", body);
    assert!(begun.contains("202"), "{begun}");
    wait_for_more(folder, before);
    serving
}

#[test]
fn ctrl_c_leaves_no_program_of_a_what_if() {
    let folder = tempfile::tempdir().unwrap();
    interrupt(waiting_for_a_program(folder.path()));
    assert_no_program_left(folder.path());
}

/// The first audit waits for its program when it ends.
#[test]
fn ctrl_c_leaves_no_program_of_the_first_audit() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("slow"), "").unwrap();
    let child = facts()
        .args(["serve", "--no-browser", "--no-config", "--quiet"])
        .arg(hiring().with_file_name("people.csv"))
        .args([
            "--protected",
            "sex",
            "--favourable",
            "1",
            "--ignore",
            "kept",
        ])
        .args(["--model", &program(folder.path())])
        .stdout(Stdio::null())
        .spawn();
    let mut serving = Serving(child.unwrap());
    wait_for_more(folder.path(), 0);
    let (_, status) = interrupted(&mut serving);
    assert!(!status.success());
    assert_no_program_left(folder.path());
}

/// A table alone says neither who is compared nor which model is meant.
#[test]
fn a_table_alone_is_told_what_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let mut serve = facts();
    serve.args(["serve", "--no-browser"]);
    serve.arg(hiring().with_file_name("people.csv"));
    let done = serve.current_dir(folder.path()).output().unwrap();
    assert!(!done.status.success());
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains("say --protected and --model"), "{said}");
}

#[test]
fn other_machines_are_let_in_only_with_a_password() {
    let listen = |password: &str| {
        let mut command = facts();
        command
            .args(["serve", "--listen", "0.0.0.0", "--config"])
            .arg(hiring());
        let done = command.env("FACTS_PASSWORD", password).output().unwrap();
        assert_eq!(done.status.code(), Some(2));
        String::from_utf8(done.stderr).unwrap()
    };
    assert!(listen("").contains("FACTS_PASSWORD"));
    assert!(listen("short").contains("at least 12 characters"));
}

/// What the explorer tells of how an audit was made holds no secret; the program is run as it was written.
#[test]
fn no_secret_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let here = |name: &str| folder.path().join(name);
    let people = hiring().with_file_name("people.csv");
    std::fs::copy(people, here("people.csv")).unwrap();
    let program = "case \"$*\" in *s3cr3t*) ;; *) exit 9 ;; esac\nread -r header\nwhile read -r line; do case $line in '') echo ;; *manager*) echo 1 ;; *) echo 0 ;; esac; done\n";
    std::fs::write(here("model.sh"), program).unwrap();
    let config = "[data]\npath = \"people.csv\"\nignore = [\"kept\"]\n[model]\nspec = \"exec-csv:sh model.sh --token s3cr3t\"\nfavourable = 1\nheaders = { Tenant = \"s3cr3t\" }\n[protected.sex]\n[features.degree]\n";
    std::fs::write(here("facts.toml"), config).unwrap();
    let mut command = facts();
    command.current_dir(folder.path());
    command.args(["serve", "--config", "facts.toml", "--set"]);
    command.args(["data.database=postgresql://me:s3cr3t@h/d", "--set"]);
    let (_serving, url) = start(command.arg("model.headers.X-Key=s3cr3t"));
    for path in [
        "/api/session",
        "/api/audits/0",
        "/api/audits/0/config",
        "/api/audits/0/subgroups?definition=equal-effectiveness:micro",
    ] {
        let answer = get(&url, path);
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        assert!(!answer.contains("s3cr3t"), "{path}: {answer}");
    }
    let command = get(&url, "/api/audits/0");
    assert!(command.contains("model.headers.X-Key=***"), "{command}");
    let config = get(&url, "/api/audits/0/config");
    assert!(config.contains("sh model.sh --token ***"), "{config}");
}
