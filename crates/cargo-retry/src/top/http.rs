//! A GET by plain HTTP: an admin page is near, and needs nothing else.

use std::fmt;
use std::time::Duration;

use ureq::Agent;

/// Where the statistics are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// With the port.
    host: String,
    path: String,
}

/// The path of the book.
const PATH: &str = "/retries.json";

/// How long a service may take for its response.
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

/// Returns the body of the response.
pub(super) fn get(address: &Address) -> Result<Vec<u8>, String> {
    let client: Agent = Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .http_status_as_error(false)
        .max_redirects(0)
        .build()
        .into();
    let mut response = client.get(address.to_string()).call().map_err(|fault| {
        format!("cannot read {address} ({fault}); check that the service runs, and its address")
    })?;
    if response.status() != 200 {
        return Err(format!(
            "{address} responds with {}; give the path that serves the statistics",
            response.status()
        ));
    }
    let body = response.body_mut().with_config().limit(LONGEST);
    body.read_to_vec()
        .map_err(|fault| format!("{address} breaks off its response ({fault})"))
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
}
