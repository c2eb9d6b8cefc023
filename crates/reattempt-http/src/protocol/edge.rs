//! The side of the caller: what a request says, and what an answer teaches.

use http::{HeaderMap, Uri};
use reattempt_core::around::is_low;
use reattempt_core::inbound::{learn, used_here};
use reattempt_core::name;
use retry_runtime::Budget;
use retry_runtime::deadline::{attempt, remaining};

use super::callers;
use super::names::{self, ANSWERED, EdgeName};
use super::own::is_own;
use reattempt_core::http::context::{AnswerField, MAX_NAMES, RequestField};

/// A callee, as this process calls it.
///
/// # Examples
///
/// ```
/// use reattempt::{deadline, protocol::Edge};
/// use std::time::Duration;
///
/// let orders = Edge::new("orders");
/// let headers = deadline::within_blocking(Duration::ZERO, || orders.headers());
/// assert_eq!(headers["retry-context"], "left=0");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    name: EdgeName,
    /// Shared with the other callers of this callee.
    budget: Option<&'static Budget>,
}

/// Two of one name are one, whatever budget they divide.
impl PartialEq for Edge {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Edge {}

impl Edge {
    /// Returns the callee that all instances of this program call by this name. It belongs to the own system.
    pub fn new(name: &str) -> Self {
        Self {
            name: EdgeName(name::short(name::hash(name.as_bytes(), 0))),
            budget: None,
        }
    }

    /// Returns the same callee, whose callers share `budget`: it is divided among the processes that call the callee.
    ///
    /// Each request along this edge says by which process it is made, and asks the callee how many there are. The answer
    /// counts until the next one, so also while the callee is down. A process that has had no answer yet has the whole
    /// budget. Each instance of a callee counts its own callers of the last one or two minutes, and says their number once
    /// it has counted for as long. [`Budget::divide_among`] says what is divided.
    ///
    /// # Examples
    ///
    /// A hundred processes that call the shop make 70 retries of it in an outage, not 7,000:
    ///
    /// ```
    /// use reattempt::{Budget, protocol::Edge, retry, tower::ClientProtocol};
    ///
    /// static SHOP: Budget = Budget::tokens(70).cost(1);
    ///
    /// let layer = ClientProtocol::from(Edge::new("shop").divide(&SHOP));
    ///
    /// #[retry(on(_), budget = &SHOP)]
    /// async fn order() -> Result<(), &'static str> {
    ///     # Ok(()) // Calls the shop through the layer.
    /// }
    /// # let _ = (layer, order());
    /// ```
    #[must_use = "the edge is not changed in place"]
    pub const fn divide(mut self, budget: &'static Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Returns the callee at the host and the port of `uri`; `None` where the host is not known to belong to the own system.
    ///
    /// Those are known: names without a dot that begin with a letter, names that end in `.internal`, `.local`, `.localhost`,
    /// `.svc` or `.test`, and loopback, private, shared, unique local and link-local addresses.
    ///
    /// Two addresses are two callees. Where the instances of a service have addresses of their own, [`new`](Self::new) gives
    /// them one name.
    pub fn of(uri: &Uri) -> Option<Self> {
        let authority = uri.authority()?;
        let by_default = match uri.scheme_str() {
            Some("http") => Some(80),
            Some("https") => Some(443),
            _ => None,
        };
        let port = authority.port_u16();
        Self::of_host(authority.host(), port.filter(|_| port != by_default))
    }

    /// Returns the same for a host, a name or an address as in a URL, and a port if that is not the default of its scheme.
    pub fn of_host(host: &str, port: Option<u16>) -> Option<Self> {
        if !is_own(host) {
            return None;
        }
        let host = host.strip_suffix('.').unwrap_or(host);
        let host = host.to_ascii_lowercase();
        Some(match port {
            Some(port) => Self::new(&format!("{host}:{port}")),
            None => Self::new(&host),
        })
    }

    /// Writes into the headers of a request to this callee the time that is left, the number of the attempt, a low priority,
    /// and the operations that used up their retries below it during the calls around.
    ///
    /// A shorter time that `headers` already has stays.
    pub fn to_request(self, headers: &mut HeaderMap) {
        let attempt = attempt();
        let used = if attempt > 1 { self.used() } else { Vec::new() };
        let field = RequestField {
            left: remaining(),
            attempt,
            is_low: is_low(),
            from: self.budget.map(|_| callers::own_name()),
            used,
        };
        field.write(headers);
    }

    fn used(self) -> Vec<Box<str>> {
        let used = used_here().into_iter();
        let names = used.filter_map(|operation| names::along(operation, self.name));
        names.take(MAX_NAMES).collect()
    }

    /// Returns the headers that [`to_request`](Self::to_request) writes, for builders that take headers as a whole.
    #[must_use = "it only makes the headers"]
    pub fn headers(self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        self.to_request(&mut headers);
        headers
    }

    /// Reads from the headers of an answer of this callee which operations used up their retries below it. The calls that
    /// run here remember them for a minute.
    pub fn from_answer(self, headers: &HeaderMap) {
        let field = AnswerField::read(headers);
        if let (Some(budget), Some(callers)) = (self.budget, field.callers) {
            budget.divide_among(callers);
        }
        // The newest comes first in the field, and last to the calls.
        for name in field.used.into_iter().rev() {
            learn(ANSWERED.add(self.name, &name));
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use reattempt_core::around::{Bounds, BoundsScope, RetryScope};

    use super::*;

    static SHARED: Budget = Budget::tokens(100).cost(1);

    fn said(edge: Edge) -> RequestField {
        RequestField::read(&edge.headers())
    }

    /// What an answer names is said to its own callee again, and only in a retry.
    #[test]
    fn an_answer_teaches_what_the_next_request_says() {
        let shop = Edge::new("shop of a test").divide(&SHARED);
        let other = Edge::new("another of it");
        assert_eq!(shop, Edge::new("shop of a test"));
        assert_ne!(shop, other);
        assert_eq!(said(shop).from, Some(callers::own_name()));
        assert_eq!(said(other), RequestField::default());
        let retry = RetryScope::new(2);
        let text = HeaderValue::from_static("callers=10, used=(\"a\" \"b\")");
        shop.from_answer(&HeaderMap::from_iter([(super::super::RETRY_CONTEXT, text)]));
        let names = |field: RequestField| {
            field
                .used
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(said(shop).attempt, 3);
        assert_eq!(names(said(shop)), ["a", "b"]);
        assert!(names(said(other)).is_empty());
        assert!(SHARED.balance() <= 10.0, "{}", SHARED.balance());
        drop(retry);
        assert!(names(said(shop)).is_empty());
        let _low = BoundsScope::new(Bounds::LOW, false);
        assert!(said(other).is_low);
    }

    #[test]
    fn a_callee_has_one_name() {
        let orders = Edge::of(&Uri::from_static("http://orders/a"));
        assert!(orders.is_some());
        for same in [
            "http://orders:80/",
            "https://orders:443/",
            "https://orders/",
            "http://ORDERS/b",
            "http://orders./",
        ] {
            assert_eq!(Edge::of(&Uri::from_static(same)), orders, "{same}");
        }
        assert_eq!(Edge::of_host("Orders.", None), orders);
        for other in [
            "http://orders:81/",
            "http://orders:443/",
            "https://orders:80/",
            "ws://orders:80/",
            "http://order/",
            "/",
        ] {
            assert_ne!(Edge::of(&Uri::from_static(other)), orders, "{other}");
        }
    }
}
