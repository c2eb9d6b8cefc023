//! Requests that may be sent twice.

use http::{HeaderMap, HeaderName, HeaderValue, Method};

use crate::IdempotencyKey;

/// The header that lets a service distinguish a second attempt from a second request.
///
/// The key of a call, which is the same for all its attempts, is a value for it:
///
/// ```ignore
/// use reattempt::{http::{CheckStatus, IDEMPOTENCY_KEY}, retry};
///
/// #[retry(idempotent = true, context = attempt)]
/// async fn pay(client: &Client, order: &Order) -> Result<Response, RequestError> {
///     let request = client.post(URL).header(IDEMPOTENCY_KEY, attempt.idempotency_key());
///     Ok(request.json(order).send().await?.check_status()?)
/// }
/// ```
///
/// The service has to know the header, or the second try is a second payment.
///
/// # Units and ranges
///
/// 32 hexadecimal digits, without the quotation marks of the draft: services that are in use
/// take the value as it is.
///
/// # Source
///
/// The draft [`Idempotency-Key`](https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/)
/// of the IETF.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

impl From<IdempotencyKey> for HeaderValue {
    #[expect(clippy::unreachable, reason = "hexadecimal digits are a valid value")]
    fn from(key: IdempotencyKey) -> Self {
        match Self::try_from(key.to_string()) {
            Ok(value) => value,
            Err(_) => unreachable!("hexadecimal digits are a valid value"),
        }
    }
}

/// A request whose method and headers show whether it may be sent twice.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no method",
    note = "implement `reattempt::http::HasMethod` for it; `http::Request` has it, and with its feature that of reqwest"
)]
pub trait HasMethod {
    /// Returns the method.
    fn method(&self) -> &Method;

    /// Returns the headers.
    fn headers(&self) -> &HeaderMap;

    /// Returns whether it may run twice: its method is idempotent by the standard (`GET`, `HEAD`,
    /// `OPTIONS`, `TRACE`, `PUT`, `DELETE`), or it has an [`IDEMPOTENCY_KEY`].
    ///
    /// # Source
    ///
    /// [RFC 9110, section 9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)
    fn is_idempotent(&self) -> bool {
        self.method().is_idempotent() || self.headers().contains_key(IDEMPOTENCY_KEY)
    }
}

impl<B> HasMethod for http::Request<B> {
    fn method(&self) -> &Method {
        self.method()
    }

    fn headers(&self) -> &HeaderMap {
        self.headers()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_method_or_a_key_decides() {
        let is_idempotent = |method: &str, key: bool| {
            let mut request = http::Request::builder().method(method);
            if key {
                request = request.header("Idempotency-Key", "7");
            }
            HasMethod::is_idempotent(&request.body(()).expect("a valid request"))
        };
        for method in ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"] {
            assert!(is_idempotent(method, false), "{method}");
        }
        for method in ["POST", "PATCH", "CONNECT", "PURGE"] {
            assert!(!is_idempotent(method, false), "{method}");
            assert!(is_idempotent(method, true), "{method}");
        }
    }
}
