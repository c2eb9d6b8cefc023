//! A GET by plain HTTP: an admin page is near, and needs nothing else.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// Where the statistics are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// With the port.
    host: String,
    path: String,
}

/// The path of the book.
const PATH: &str = "/retries.json";

/// How long a service may take to connect, and between two parts of its response.
const PATIENCE: Duration = Duration::from_secs(5);

/// Statistics of thousands of operations are not as long.
const LONGEST: u64 = 16 << 20;

impl Address {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with("https://") {
            return Err(
                "`top` speaks plain HTTP; use the address of the admin server, or a tunnel such as `kubectl port-forward`"
                    .to_owned(),
            );
        }
        let rest = text.strip_prefix("http://").unwrap_or(text);
        let (host, path) = rest
            .find('/')
            .map_or((rest, ""), |slash| rest.split_at(slash));
        let is_odd = |c: char| c.is_control() || c.is_whitespace();
        if host.is_empty() || text.contains(is_odd) || host.ends_with(':') {
            return Err("write `host:port` or `http://host:port/path`".to_owned());
        }
        // Behind the last `]` of an address such as `[::1]`.
        let is_without_port = !host
            .rsplit(']')
            .next()
            .is_some_and(|rest| rest.contains(':'));
        Ok(Self {
            host: if is_without_port {
                format!("{host}:80")
            } else {
                host.to_owned()
            },
            path: if path.len() < 2 { PATH } else { path }.to_owned(),
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.host, self.path)
    }
}

/// The body of the response.
pub(super) fn get(address: &Address) -> Result<Vec<u8>, String> {
    let response = exchange(address).map_err(|fault| {
        let fault = match fault.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "it takes too long".to_owned(),
            _ => fault.to_string(),
        };
        format!("cannot read {address} ({fault}); check that the service runs, and its address")
    })?;
    body(&response).map_err(|fault| format!("{address} {fault}"))
}

fn exchange(address: &Address) -> io::Result<Vec<u8>> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for place in address.host.to_socket_addrs()? {
        match TcpStream::connect_timeout(&place, PATIENCE) {
            Ok(stream) => return ask(stream, address),
            Err(fault) => last = fault,
        }
    }
    Err(last)
}

fn ask(mut stream: TcpStream, address: &Address) -> io::Result<Vec<u8>> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let Address { host, path } = address;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\nUser-Agent: cargo-retry/{}\r\nConnection: close\r\n\r\n",
        env!("CARGO_PKG_VERSION")
    )?;
    let mut response = Vec::new();
    stream.take(LONGEST).read_to_end(&mut response)?;
    Ok(response)
}

/// What follows the head of a response, or why there is none.
fn body(response: &[u8]) -> Result<Vec<u8>, String> {
    let end = find(response, b"\r\n\r\n").ok_or("does not respond by HTTP")?;
    let (head, body) = response.split_at(end.saturating_add(4));
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let status = lines.next().unwrap_or_default();
    let mut words = status.split(' ');
    if !words.next().is_some_and(|word| word.starts_with("HTTP/1.")) {
        return Err("does not respond by HTTP".to_owned());
    }
    let code = words.next().unwrap_or_default();
    if code != "200" {
        let what = status.get("HTTP/1.1 ".len()..).unwrap_or_default();
        return Err(format!(
            "responds with {what}; give the path that serves the statistics"
        ));
    }
    let mut fields = lines.filter_map(|line| line.split_once(':'));
    let is_chunked = fields.any(|(name, value)| {
        name.eq_ignore_ascii_case("transfer-encoding")
            && value.to_ascii_lowercase().contains("chunked")
    });
    if !is_chunked {
        return Ok(body.to_vec());
    }
    chunks(body).ok_or_else(|| "ends in the middle of its response".to_owned())
}

/// Each chunk stands after its length in hexadecimal digits.
fn chunks(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let end = find(body, b"\r\n")?;
        let length = str::from_utf8(body.get(..end)?).ok()?;
        let length = length.split(';').next()?.trim();
        let length = usize::from_str_radix(length, 16).ok()?;
        if length == 0 {
            return Some(whole);
        }
        let start = end.checked_add(2)?;
        let stop = start.checked_add(length)?;
        whole.extend_from_slice(body.get(start..stop)?);
        body = body.get(stop.checked_add(2)?..)?;
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<String, String> {
        Address::parse(text).map(|it| it.to_string())
    }

    #[test]
    fn an_address_has_a_port_and_a_path() {
        for (text, address) in [
            ("localhost:9090", "http://localhost:9090/retries.json"),
            ("http://shop", "http://shop:80/retries.json"),
            ("http://shop:1/", "http://shop:1/retries.json"),
            ("shop:1/admin/r.json?all", "http://shop:1/admin/r.json?all"),
            ("[::1]", "http://[::1]:80/retries.json"),
            ("[::1]:7", "http://[::1]:7/retries.json"),
        ] {
            assert_eq!(parsed(text).as_deref(), Ok(address), "{text}");
        }
        for text in ["", "/", "http://", "a b", "shop/\r\nX: y", "ftp://shop"] {
            assert!(parsed(text).is_err_and(|it| it.starts_with("write `host:port`")));
        }
        assert!(parsed("https://shop").is_err_and(|it| it.contains("port-forward")));
    }

    #[test]
    fn a_body_is_whole_or_a_fault() {
        let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n";
        for (response, expected) in [
            ("HTTP/1.0 200 OK\r\n\r\n{}".to_owned(), Ok("{}")),
            (
                format!("{chunked}2;x=y\r\n{{\"\r\n3\r\na\"}}\r\n0\r\n\r\n"),
                Ok("{\"a\"}"),
            ),
            (
                format!("{chunked}5\r\n{{}}"),
                Err("ends in the middle of its response"),
            ),
            (
                format!("{chunked}ffffffffffffffff\r\n{{}}"),
                Err("ends in the middle of its response"),
            ),
            (
                "HTTP/1.1 404 Not Found\r\n\r\n".to_owned(),
                Err("responds with 404 Not Found; give the path that serves the statistics"),
            ),
            (
                "SSH-2.0-OpenSSH\r\n".to_owned(),
                Err("does not respond by HTTP"),
            ),
            ("SSH\r\n\r\n".to_owned(), Err("does not respond by HTTP")),
            (String::new(), Err("does not respond by HTTP")),
        ] {
            let body = body(response.as_bytes());
            let body = body.map(|it| String::from_utf8_lossy(&it).into_owned());
            assert_eq!(body.as_deref().map_err(|it| &**it), expected, "{response}");
        }
    }
}
