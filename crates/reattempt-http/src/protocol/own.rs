//! Which hosts belong to the own system, where nothing else is said.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Ends of names that no public resolver knows: RFC 6761, RFC 6762, the reserved `internal`, and names of Kubernetes.
const OWN: [&str; 5] = [".internal", ".local", ".localhost", ".svc", ".test"];

/// Returns whether `host`, a name or an address as in a URL, is one of the own system.
pub(super) fn is_own(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    let address = name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    if let Ok(address) = address.unwrap_or(name).parse() {
        return is_private(address);
    }
    if !name.contains('.') {
        // A name of digits is an address to many resolvers.
        return name.starts_with(|first: char| first.is_ascii_alphabetic());
    }
    OWN.iter().any(|end| ends_with(name, end))
}

fn ends_with(name: &str, end: &str) -> bool {
    let start = name.len().checked_sub(end.len());
    let tail = start.and_then(|start| name.get(start..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => address
            .to_ipv4_mapped()
            .map_or_else(|| is_private_v6(address), is_private_v4),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    let is_shared = first == 100 && second & 0xC0 == 64;
    address.is_loopback() || address.is_private() || address.is_link_local() || is_shared
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
}

#[cfg(test)]
mod tests {
    use super::is_own;

    #[test]
    fn hosts_of_the_own_system() {
        for host in [
            "localhost",
            "orders",
            "orders.internal",
            "Orders.INTERNAL.",
            "orders.shop.svc",
            "orders.shop.svc.cluster.local",
            "printer.local",
            "a.test",
            "127.0.0.1",
            "10.1.2.3",
            "172.31.0.1",
            "192.168.1.1",
            "169.254.1.1",
            "100.64.0.1",
            "[::1]",
            "[fd00::1]",
            "[fe80::1]",
            "[::ffff:10.0.0.1]",
        ] {
            assert!(is_own(host), "{host}");
        }
        for host in [
            "",
            ".",
            "example.com",
            "internal.example.com",
            "notinternal.com",
            "orders.internal.example",
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "100.1.0.1",
            "99.64.0.1",
            "134744072",
            "0x08080808",
            "[2001:db8::1]",
            "[::ffff:8.8.8.8]",
            "\u{e4}.\u{e4}internal",
        ] {
            assert!(!is_own(host), "{host}");
        }
    }
}
