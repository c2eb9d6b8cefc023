//! Chains of real processes above one that is dead: how often it is called for one call at the top.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// More calls than any test makes.
const FOR_EVER: &str = "1000000";

/// A process that says in its first line on which port it listens.
struct Service {
    process: Child,
    port: u16,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Service {
    fn of(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let output = process.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let port = line.trim().parse().expect("the first line is a port");
        Self { process, port }
    }

    fn start(words: &[&str]) -> Self {
        Self::of(Command::new(env!("CARGO_BIN_EXE_chain")).args(words))
    }

    /// Starts a service in a language: `r` is Rust, `p` is Python, and `j` is JavaScript. `None` where that is not installed.
    fn written_in(language: char, next: &str, attempts: &str) -> Option<Self> {
        let (program, file) = match language {
            'r' => return Some(Self::start(&["http", next, attempts])),
            'p' => ("python3", "python/chain.py"),
            _ => ("node", "javascript/chain.mjs"),
        };
        let found = Command::new(program).arg("--version").output();
        if found.is_err() {
            let is_required = std::env::var("REATTEMPT_SERVERS").is_ok_and(|is| is == "required");
            assert!(!is_required, "`{program}` is not installed");
            println!("left out: `{program}` is not installed");
            return None;
        }
        let file = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        Some(Self::of(
            Command::new(program).args([&file, "0", next, attempts]),
        ))
    }

    fn url(&self, scheme: &str) -> String {
        match scheme {
            "grpc" => format!("grpc://127.0.0.1:{}", self.port),
            _ => format!("http://127.0.0.1:{}/", self.port),
        }
    }

    /// Asks it by HTTP, without the protocol. Returns the status and the body.
    fn ask(&self) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .write_all(b"GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1.to_owned();
        (status, body)
    }
}

/// Returns how often a last service had been called before this, by what it says when it is called again.
fn calls(last: &Service, scheme: &str) -> u32 {
    // A service of HTTP passes on what one of gRPC answers.
    let (_, body) = match scheme {
        "grpc" => Service::start(&["http", &last.url(scheme), "1"]).ask(),
        _ => last.ask(),
    };
    let digits = body.split("call ").nth(1).expect("it counts its calls");
    let digits = digits.trim_end_matches(|end: char| !end.is_ascii_digit());
    digits.parse::<u32>().unwrap() - 1
}

/// Starts services above `last`, the first of `modes` on top. Each makes five attempts.
fn above(last: &str, scheme: &str, modes: &[&str]) -> Vec<Service> {
    let mut services: Vec<Service> = Vec::new();
    for (number, mode) in modes.iter().enumerate().rev() {
        let next = services
            .last()
            .map_or(last.to_owned(), |next| next.url(scheme));
        let front = if number == 0 { "http" } else { scheme };
        let mut words = vec![front, next.as_str(), "5"];
        words.extend((!mode.is_empty()).then_some(*mode));
        services.push(Service::start(&words));
    }
    services
}

/// Returns how often a dead service is called for one call of the first of these.
fn calls_below(scheme: &str, modes: [&str; 5]) -> u32 {
    let dead = Service::start(&[scheme, "dead", FOR_EVER]);
    let services = above(&dead.url(scheme), scheme, &modes);
    assert_eq!(services.last().unwrap().ask().0, 503);
    calls(&dead, scheme)
}

const POLITE: [&str; 5] = [""; 5];

fn with(place: usize, mode: &'static str) -> [&'static str; 5] {
    let mut modes = POLITE;
    modes[place] = mode;
    modes
}

#[test]
fn five_services_of_five_attempts_make_21_calls() {
    assert_eq!(calls_below("http", POLITE), 21);
}

#[test]
fn over_grpc_they_make_21_calls() {
    assert_eq!(calls_below("grpc", POLITE), 21);
}

#[test]
fn a_deaf_service_multiplies_its_own_attempts_only() {
    for (scheme, place, most) in [
        ("http", 0, 85),
        ("http", 1, 405),
        ("http", 2, 405),
        ("http", 3, 405),
        ("http", 4, 85),
        ("grpc", 0, 85),
        ("grpc", 2, 405),
        ("grpc", 4, 85),
    ] {
        let calls = calls_below(scheme, with(place, "deaf"));
        println!("{scheme}, {place} is deaf: {calls}");
        assert!((22..=most).contains(&calls), "{scheme} {place}: {calls}");
    }
}

#[test]
fn one_that_passes_the_header_on_costs_as_much_as_at_an_end() {
    for place in 0..5 {
        let calls = calls_below("http", with(place, "forward"));
        println!("{place} forwards: {calls}");
        assert!((22..=85).contains(&calls), "{place}: {calls}");
    }
}

#[test]
fn an_edge_that_loses_answers() {
    for place in 1..5 {
        let calls = calls_below("http", with(place, "lossy"));
        println!("the answers of {place} are lost: {calls}");
        assert!((22..=117).contains(&calls), "{place}: {calls}");
    }
}

/// Services in Rust, Python and JavaScript, in every order of two of them.
#[test]
fn services_in_other_languages_keep_it() {
    for languages in ["rpjrp", "jprjp", "prpjj", "jjrrp"] {
        let dead = Service::start(&["http", "dead", FOR_EVER]);
        let mut services: Vec<Service> = Vec::new();
        for language in languages.chars().rev() {
            let next = services.last().unwrap_or(&dead).url("http");
            let Some(service) = Service::written_in(language, &next, "5") else {
                return;
            };
            services.push(service);
        }
        for call in 1..=2 {
            assert_eq!(services.last().unwrap().ask().0, 503);
            assert_eq!(calls(&dead, "http"), call * 22 - 1, "{languages}");
        }
    }
}

/// A callee in another language silences no sibling of it, and the other way round.
#[test]
fn siblings_in_other_languages() {
    for (outer, inner) in [('p', 'j'), ('j', 'p'), ('r', 'p'), ('p', 'r')] {
        let flaky = Service::start(&["http", "flaky", "1"]);
        let dead = Service::start(&["http", "dead", FOR_EVER]);
        let Some(healthy) = Service::written_in(inner, &flaky.url("http"), "5") else {
            return;
        };
        let Some(broken) = Service::written_in(inner, &dead.url("http"), "5") else {
            return;
        };
        let both = format!("{},{}", healthy.url("http"), broken.url("http"));
        let Some(middle) = Service::written_in(outer, &both, "3") else {
            return;
        };
        let top = Service::start(&["http", &middle.url("http"), "2"]);
        assert_eq!(top.ask().0, 503);
        // Each attempt of the middle one calls the healthy one, which retries once; one in Rust calls the healthy one for
        // itself, in an operation of its own.
        let expected = if outer == 'r' { 2 * 2 } else { (3 + 1) * 2 };
        assert_eq!(calls(&flaky, "http"), expected, "{outer} {inner}");
        assert_eq!(calls(&dead, "http"), 5 + 2 + 1, "{outer} {inner}");
    }
}

/// What was used up in one call is nothing to the next.
#[test]
fn after_the_recovery_the_first_attempt_succeeds() {
    for scheme in ["http", "grpc"] {
        let last = Service::start(&["http", "dead", "21"]);
        let services = above(&last.url("http"), scheme, &POLITE);
        let top = services.last().unwrap();
        assert_eq!(top.ask().0, 503);
        assert_eq!(top.ask().0, 200);
        assert_eq!(calls(&last, "http"), 22);
    }
}

#[test]
fn the_next_call_has_all_its_retries_again() {
    let dead = Service::start(&["http", "dead", FOR_EVER]);
    let services = above(&dead.url("http"), "http", &POLITE);
    for call in 1..=3 {
        assert_eq!(services.last().unwrap().ask().0, 503);
        assert_eq!(calls(&dead, "http"), call * 22 - 1);
    }
}

/// Both callees are the same program, so their operations have the same names.
#[test]
fn a_dead_callee_silences_no_healthy_sibling() {
    for scheme in ["http", "grpc"] {
        let flaky = Service::start(&[scheme, "flaky", "1"]);
        let dead = Service::start(&[scheme, "dead", FOR_EVER]);
        let healthy = Service::start(&[scheme, &flaky.url(scheme), "5"]);
        let broken = Service::start(&[scheme, &dead.url(scheme), "5"]);
        let both = format!("{},{}", healthy.url(scheme), broken.url(scheme));
        let middle = Service::start(&[scheme, &both, "5"]);
        let top = Service::start(&["http", &middle.url(scheme), "3"]);

        assert_eq!(top.ask().0, 503);
        // Each of the three attempts at the top calls the healthy one, which retries once.
        assert_eq!(calls(&flaky, scheme), 6, "{scheme}");
        assert_eq!(calls(&dead, scheme), 5 + 4 + 2, "{scheme}");
    }
}
