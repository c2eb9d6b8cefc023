//! `cargo retry top` against a server on a free port.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use reattempt::{Backoff, Policy, Verdict};

use super::run;

/// Serves one response, and gives the request back.
fn served(response: String) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            request.extend(byte);
        }
        stream.write_all(response.as_bytes()).unwrap();
        String::from_utf8(request).unwrap()
    });
    (address, server)
}

#[test]
fn the_statistics_of_a_service_are_shown() {
    let policy = Policy::new().max(3).backoff(Backoff::None);
    let call = policy.on(|_: &u8| Verdict::Transient).name("shop.price");
    call.run(|| Err::<(), _>(7)).unwrap_err();
    let json = serde_json::to_string(&reattempt::observe::stats()).unwrap();
    let (address, server) = served(format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{json}",
        json.len()
    ));
    let (code, out, err) = run(&["top", "--once", "--ascii", &address]);
    assert_eq!((code, &*err), (0, ""));
    for words in [
        "1 calls did not succeed at once: 0 recovered, 1 gave up, 0 dropped; 2 retries",
        "| shop.price ",
        "attempts 1",
    ] {
        assert!(out.contains(words), "{words}\n{out}");
    }
    let request = server.join().unwrap();
    assert!(
        request.starts_with("GET /retries.json HTTP/1.1\r\n"),
        "{request}"
    );
}

#[test]
fn a_service_that_does_not_serve_them_is_an_error() {
    let (address, server) =
        served("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned());
    let (code, out, err) = run(&["top", &address]);
    assert_eq!((code, &*out), (2, ""));
    assert!(
        err.contains("responds with 404 Not Found; give the path"),
        "{err}"
    );
    server.join().unwrap();
    // It ends before its response does.
    let cut = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{}";
    let (cut_off, server) = served(cut.to_owned());
    let (code, _, err) = run(&["top", &cut_off]);
    assert_eq!(code, 2);
    assert!(err.contains("breaks off its response"), "{err}");
    server.join().unwrap();
    // It does not speak HTTP.
    let (other, server) = served("SSH-2.0-OpenSSH\r\n".to_owned());
    let (code, _, err) = run(&["top", &other]);
    assert_eq!(code, 2);
    assert!(err.contains("check that the service runs"), "{err}");
    server.join().unwrap();
    // Nobody listens there any more.
    let (code, _, err) = run(&["top", &address]);
    assert_eq!(code, 2);
    assert!(err.contains("check that the service runs"), "{err}");
}
