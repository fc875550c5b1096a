//! Who is kept out, and what the server survives.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::io::{Read, Write};
use std::time::Duration;

use facts_serve::{Door, Subject};
use support::{Server, bench, record};

fn server() -> Server {
    let saved = vec![("hiring".to_owned(), record(&["evidence.shuffles=0"]))];
    Server::start(Subject { saved, bench: None })
}

#[test]
fn nothing_is_answered_without_the_token_or_the_cookie() {
    let server = server();
    let status =
        |path: &str, headers: &[(&str, &str)]| server.send("GET", path, headers, "").status;
    assert_eq!(status("/", &[]), 401);
    assert_eq!(status("/explorer.js", &[]), 401);
    assert_eq!(status("/api/session", &[]), 401);
    assert_eq!(status("/?token=wrong", &[]), 401);
    assert_eq!(
        status("/api/session", &[("Authorization", "Bearer wrong")]),
        401
    );
    let port = server.address.port();
    let wrong = format!("facts-{port}=wrong");
    assert_eq!(status("/api/session", &[("Cookie", &wrong)]), 401);
    // The token is not the cookie: whoever reads one does not have the other.
    let token = format!("facts-{port}={}", server.token);
    assert_eq!(status("/api/session", &[("Cookie", &token)]), 401);
    let cookie = server.cookie();
    assert_eq!(status("/api/session", &[("Cookie", &cookie)]), 200);
    assert_eq!(status("/", &[("Cookie", &cookie)]), 200);
    assert_eq!(server.get("/api/session").status, 200);
}

#[test]
fn the_token_is_exchanged_for_a_strict_cookie() {
    let server = server();
    let path = format!("/?token={}", server.token);
    let answer = server.send("GET", &path, &[], "");
    assert_eq!((answer.status, answer.header("Location")), (303, Some("/")));
    let cookie = answer.header("Set-Cookie").unwrap();
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains(&server.token));
}

/// What a program is started with can be read by others: they find an address that has been used.
#[test]
fn the_address_for_one_browser_lets_one_in() {
    let server = server();
    let (_, path) = server
        .url_for_one
        .split_once(&server.address.to_string())
        .unwrap();
    assert!(!path.contains(&server.token));
    let token = path.strip_prefix("/?token=").unwrap();
    let bearer = format!("Bearer {token}");
    let as_a_program = server.send("GET", "/api/session", &[("Authorization", &bearer)], "");
    assert_eq!(as_a_program.status, 401);
    let first = server.send("GET", path, &[], "");
    assert_eq!((first.status, first.header("Location")), (303, Some("/")));
    let cookie = first.header("Set-Cookie").unwrap().split(';').next();
    let known = [("Cookie", cookie.unwrap())];
    assert_eq!(server.send("GET", "/api/session", &known, "").status, 200);
    let second = server.send("GET", path, &[], "");
    assert_eq!((second.status, second.header("Set-Cookie")), (401, None));
    // The same browser opens it again, and no token stays in the address.
    assert_eq!(server.send("GET", path, &known, "").status, 303);
}

/// A strict cookie does not come along with a link from a mail: the page asks again, on its own.
#[test]
fn a_link_from_another_site_leads_whoever_is_known_in() {
    let server = server();
    let cookie = server.cookie();
    let link = [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "document"),
    ];
    let own = [
        ("Sec-Fetch-Site", "same-origin"),
        ("Sec-Fetch-Mode", "navigate"),
    ];
    let script = [
        ("Sec-Fetch-Site", "same-origin"),
        ("Sec-Fetch-Mode", "no-cors"),
    ];
    let text = |answer: &support::Answer| String::from_utf8(answer.body.clone()).unwrap();
    let followed = server.send("GET", "/", &link, "");
    assert_eq!(followed.status, 401);
    let page = text(&followed);
    assert!(page.contains("<script src=\"/continue.js\"></script>"));
    assert!(page.contains("href=\"/continue\""));
    let asked = server.send("GET", "/continue.js", &script, "");
    assert_eq!(asked.status, 200);
    assert!(text(&asked).contains("location.replace(\"/continue\" + location.hash)"));
    // The cookie comes along now; or there is none, and that is the end of it.
    let known = [own[0], own[1], ("Cookie", cookie.as_str())];
    let again = server.send("GET", "/continue", &known, "");
    assert_eq!((again.status, again.header("Location")), (303, Some("/")));
    let stranger = server.send("GET", "/continue", &own, "");
    assert_eq!(stranger.status, 401);
    assert!(!text(&stranger).contains("<script"));
    assert!(!text(&server.send("GET", "/", &own, "")).contains("<script"));
    // In a frame there is no asking again, and other sites may take nothing of it.
    let framed = [link[0], link[1], ("Sec-Fetch-Dest", "iframe")];
    assert!(!text(&server.send("GET", "/", &framed, "")).contains("<script"));
    let taken = [link[0], ("Sec-Fetch-Mode", "no-cors")];
    for path in ["/continue", "/continue.js"] {
        assert_eq!(server.send("GET", path, &taken, "").status, 403, "{path}");
    }
    let rebound = format!("attacker.example:{}", server.address.port());
    let foreign = [("Host", rebound.as_str()), known[2]];
    assert_eq!(server.send("GET", "/continue", &foreign, "").status, 421);
}

#[test]
fn other_hosts_and_other_sites_are_refused() {
    let server = server();
    let cookie = server.cookie();
    let port = server.address.port();
    let ask = |method: &str, path: &str, headers: &[(&str, &str)]| {
        let mut all = vec![("Cookie", cookie.as_str())];
        all.extend(headers);
        server.send(method, path, &all, "").status
    };
    // A foreign name that was made to point here, with the cookie and all.
    let rebound = format!("attacker.example:{port}");
    assert_eq!(ask("GET", "/api/session", &[("Host", &rebound)]), 421);
    assert_eq!(ask("GET", "/api/session", &[("Host", "127.0.0.1")]), 421);
    let localhost = format!("localhost:{port}");
    assert_eq!(ask("GET", "/api/session", &[("Host", &localhost)]), 200);
    // Another site, and another port of the same machine.
    let own = format!("http://127.0.0.1:{port}");
    assert_eq!(ask("GET", "/api/session", &[("Origin", &own)]), 200);
    for origin in ["https://attacker.example", "http://127.0.0.1:1", "null"] {
        assert_eq!(
            ask("GET", "/api/session", &[("Origin", origin)]),
            403,
            "{origin}"
        );
        assert_eq!(
            ask("POST", "/api/scenarios", &[("Origin", origin)]),
            403,
            "{origin}"
        );
    }
    for site in ["cross-site", "same-site"] {
        assert_eq!(ask("GET", "/api/session", &[("Sec-Fetch-Site", site)]), 403);
        assert_eq!(ask("GET", "/explorer.js", &[("Sec-Fetch-Site", site)]), 403);
        let link = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate")];
        assert_eq!(ask("GET", "/", &link), 200);
        assert_eq!(ask("GET", "/api/session", &link), 403);
    }
    // What changes something names its origin.
    assert_eq!(ask("POST", "/api/scenarios", &[]), 403);
    assert_eq!(ask("DELETE", "/api/jobs/0", &[]), 403);
    assert_eq!(ask("DELETE", "/api/jobs/0", &[("Origin", &own)]), 404);
}

#[test]
fn every_answer_forbids_what_the_page_does_not_need() {
    let server = server();
    for path in ["/", "/api/session", "/api/nothing"] {
        let answer = server.get(path);
        let policy = answer.header("Content-Security-Policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"));
        assert_eq!(answer.header("X-Content-Type-Options"), Some("nosniff"));
        assert_eq!(answer.header("Cache-Control"), Some("no-store"));
        assert!(answer.header("Access-Control-Allow-Origin").is_none());
    }
}

#[test]
fn no_file_of_the_machine_is_found() {
    let server = server();
    for path in [
        "/../../../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/explorer.js/../../Cargo.toml",
        "/api/audits/../session",
        "/api/audits/-1",
        "/api/audits/18446744073709551616",
        "/api/audits/0/nothing",
    ] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
}

#[test]
fn what_is_no_request_is_refused_and_the_next_is_answered() {
    let server = server();
    let head = |lines: &str| format!("GET / HTTP/1.1\r\n{lines}\r\n");
    assert_eq!(server.raw(b"\x16\x03\x01\x02\x00\r\n\r\n").status, 400);
    assert_eq!(
        server
            .raw(head(&format!("X: {}\r\n", "a".repeat(20_000))).as_bytes())
            .status,
        431
    );
    assert_eq!(server.raw(b"BREW / HTTP/1.1\r\n\r\n").status, 405);
    assert_eq!(
        server
            .raw(b"POST /login HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n")
            .status,
        413
    );
    assert_eq!(
        server
            .raw(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
            .status,
        501
    );
    assert_eq!(server.raw(b"GET / HTTP/1.1\r\n\r\n").status, 421);
    assert_eq!(server.get("/api/session").status, 200);
}

#[test]
fn bad_questions_get_answers_that_say_what_is_wrong() {
    let server = server();
    let why = |path: &str| {
        let answer = server.get(path);
        assert_eq!(answer.status, 400, "{path}");
        answer.json()["error"].as_str().unwrap().to_owned()
    };
    let all = "/api/audits/0/subgroups";
    assert_eq!(why(all), "`definition` is missing");
    let by = format!("{all}?definition=equal-effectiveness:micro");
    assert!(why(&format!("{all}?definition=equal-choice:7")).contains('φ'));
    assert_eq!(why(&format!("{by}&sort=luck")), "cannot sort by `luck`");
    assert!(why(&format!("{by}&alpha=2")).starts_with("`alpha` is `2`"));
    assert!(why(&format!("{by}&people=many")).contains("20..300"));
    assert!(why(&format!("{by}&where=jobs%3Dclerk")).contains("did you mean `job`"));
    assert!(why(&format!("{by}&against=Nobody")).contains("Nobody"));
    assert!(why(&format!("{by}&passing=1")).contains("not tested"));
    assert_eq!(
        server.post("/api/scenarios", "{\"name\": \"x\"}").status,
        409
    );
}

/// Whether an answer has come as far as it says it is long.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "));
    body.len() == length.unwrap().parse::<usize>().unwrap()
}

/// Many requests over few connections, one after another and at once.
#[test]
fn ten_thousand_requests_are_answered() {
    let server = server();
    let ask = |times: usize| {
        let mut stream = server.connect();
        let request = format!(
            "GET /api/session HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            server.address, server.token
        );
        for _ in 0..times {
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = Vec::new();
            while !is_whole(&answer) {
                let mut buffer = [0; 8192];
                let read = stream.read(&mut buffer).unwrap();
                assert!(read > 0, "the connection stays open");
                answer.extend_from_slice(&buffer[..read]);
            }
            assert!(answer.starts_with(b"HTTP/1.1 200 "));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| ask(1000));
        }
    });
}

#[test]
fn connections_that_never_ask_do_not_keep_others_out_for_long() {
    let server = server();
    let mut half_open: Vec<_> = (0..100).map(|_| server.connect()).collect();
    for stream in &mut half_open {
        // Those that found no place are closed already.
        let _ = stream.write_all(b"GET / HT");
    }
    // Whoever has begun to ask must go on within five seconds.
    let mut answered = false;
    for _ in 0..100 {
        let mut stream = server.connect();
        let request = format!(
            "GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            server.address
        );
        let sent = stream.write_all(request.as_bytes());
        let mut answer = String::new();
        let read = sent.and_then(|()| stream.read_to_string(&mut answer));
        answered = read.is_ok() && answer.starts_with("HTTP/1.1 401");
        if answered {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(answered);
    drop(half_open);
}

/// Connections that have begun to ask and say no more: most find no place, and none is kept for long.
#[test]
fn ten_thousand_half_open_connections_are_survived() {
    let server = server();
    let mut half_open = std::collections::VecDeque::new();
    for _ in 0..10_000 {
        let mut stream = server.connect();
        // Those that found no place are closed already.
        let _ = stream.write_all(b"GET / HT");
        half_open.push_back(stream);
        if half_open.len() > 300 {
            half_open.pop_front();
        }
    }
    drop(half_open);
    // Places are free again as soon as their clients are gone.
    let answered = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        asks(&server).is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
    });
    assert!(answered);
}

/// What a program is answered, which may be nothing.
fn asks(server: &Server) -> std::io::Result<String> {
    let mut stream = server.connect();
    let request = format!(
        "GET /api/session HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
        server.address, server.token
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// There are few connections: who is not let in gets one answer, and cannot stay by asking again.
#[test]
fn a_stranger_keeps_no_connection() {
    let server = server();
    for path in ["/", "/explorer.css", "/api/session", "/continue.js"] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
        // Reads until the server closes, which it does although nobody asked for that.
        let answer = server.raw(request.repeat(3).as_bytes());
        assert_eq!(answer.header("Connection"), Some("close"), "{path}");
        let body = String::from_utf8_lossy(&answer.body);
        assert!(!body.contains("HTTP/1.1"), "{path}");
    }
}

/// Wrong passwords wait for one another, and hold a connection each: not all connections there are.
#[test]
fn wrong_passwords_do_not_keep_others_out() {
    let saved = vec![("hiring".to_owned(), record(&["evidence.shuffles=0"]))];
    let server = Server::start_with(Subject { saved, bench: None }, Some("a long password"));
    let origin = format!("http://{}", server.address);
    let body = "password=wrong";
    let request = format!(
        "POST /login HTTP/1.1\r\nHost: {}\r\nOrigin: {origin}\r\nContent-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    let guesses: Vec<_> = (0..80)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    let read = |mut stream: std::net::TcpStream| {
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    let answers: Vec<String> = guesses.into_iter().map(read).collect();
    let with = |status: &str| answers.iter().filter(|text| text.contains(status)).count();
    // Were each to wait a second, none of the places would be free for more than a minute.
    assert!(with(" 401 ") < 40, "{} waited", with(" 401 "));
    assert!(with(" 429 ") > 0);
    assert_eq!(server.get("/api/session").status, 200);
}

#[test]
fn a_client_that_vanishes_while_an_audit_is_made_does_not_stop_it() {
    let server = Server::start(Subject {
        saved: Vec::new(),
        bench: Some(bench()),
    });
    let mut stream = server.connect();
    let request = format!(
        "GET /api/jobs/0/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.address, server.token
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut some = [0; 64];
    assert!(stream.read(&mut some).unwrap() > 0);
    drop(stream);
    // The stream of events ends when the work does.
    let all = String::from_utf8(server.get("/api/jobs/0/events").body).unwrap();
    assert!(all.contains("\"is\":\"done\""), "{all}");
    assert_eq!(
        server.get("/api/session").json()["job"],
        serde_json::Value::Null
    );
}

#[test]
fn a_what_if_cannot_name_a_model_or_a_file() {
    let server = Server::start(Subject {
        saved: Vec::new(),
        bench: Some(bench()),
    });
    for setting in [
        "model.spec=exec:touch stolen",
        "data.path=/etc/passwd",
        "report.out=elsewhere",
        "train.save=elsewhere",
        "check.baseline=x",
        "audit.support=0.1\\nmodel.spec='exec:touch stolen'",
    ] {
        let body = format!("{{\"name\": \"x\", \"settings\": [\"{setting}\"]}}");
        let answer = server.post("/api/scenarios", &body);
        assert_eq!(answer.status, 400, "{setting}");
        assert!(
            answer.json()["error"]
                .as_str()
                .unwrap()
                .contains("may not set"),
            "{setting}"
        );
    }
}

#[test]
fn other_machines_need_a_password() {
    let door = Door {
        or_any_port: false,
        address: "0.0.0.0:0".parse().unwrap(),
        password: None,
    };
    let refused = facts_serve::serve(door, Subject::default(), &facts_run::Silent, &|_| {});
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("a password is needed")
    );

    let saved = vec![("hiring".to_owned(), record(&["evidence.shuffles=0"]))];
    let subject = Subject { saved, bench: None };
    let server = Server::start_with(subject, Some("a long password"));
    let page = server.send("GET", "/", &[], "");
    assert!(String::from_utf8_lossy(&page.body).contains("type=\"password\""));
    let origin = format!("http://{}", server.address);
    let login = |password: &str| {
        let body = format!("password={}", support::encoded(password));
        server.send("POST", "/login", &[("Origin", &origin)], &body)
    };
    assert_eq!(login("a wrong password").status, 401);
    let right = login("a long password");
    assert_eq!(right.status, 303);
    assert!(right.header("Set-Cookie").is_some());
}

#[test]
fn it_ends_when_it_is_told_to() {
    let mut server = server();
    let idle = server.connect();
    server.end();
    // Its port is free for others, such as a server of another test; it answers nobody who has its token.
    let asked = std::net::TcpStream::connect(server.address).and_then(|mut stream| {
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        let (host, token) = (server.address, &server.token);
        let head = format!("Host: {host}\r\nAuthorization: Bearer {token}\r\n");
        stream.write_all(format!("GET /api/session HTTP/1.1\r\n{head}\r\n").as_bytes())?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer)?;
        Ok(answer)
    });
    assert!(!asked.is_ok_and(|answer| answer == *b"HTTP/1.1 200"));
    drop(idle);
}
