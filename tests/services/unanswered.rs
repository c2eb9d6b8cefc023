//! An error that is not an answer of the service says so by its code.

use std::io::{Error, ErrorKind};

use reattempt::{Classify, RetryError, retry};

use crate::script::nobody;

fn code(error: &impl Classify) -> Option<&'static str> {
    let codes = ["connection", "timeout"];
    let mut all = codes.into_iter().filter(|code| error.has_code(code));
    let code = all.next();
    assert_eq!(all.next(), None, "an error has one of them");
    code
}

#[test]
fn errors_of_sockets() {
    for (kind, expected) in [
        (ErrorKind::ConnectionReset, Some("connection")),
        (ErrorKind::UnexpectedEof, Some("connection")),
        (ErrorKind::TimedOut, Some("timeout")),
        (ErrorKind::WouldBlock, Some("timeout")),
        (ErrorKind::ConnectionRefused, Some("connection")),
        (ErrorKind::Interrupted, None),
        (ErrorKind::PermissionDenied, None),
    ] {
        assert_eq!(code(&Error::from(kind)), expected, "{kind}");
        assert_eq!(code(&sqlx::Error::Io(kind.into())), expected, "{kind}");
        assert_eq!(code(&sqlx08::Error::Io(kind.into())), expected, "{kind}");
        assert_eq!(code(&ureq::Error::Io(kind.into())), expected, "{kind}");
    }
    for (kind, expected) in [
        (ErrorKind::ConnectionReset, Some("connection")),
        (ErrorKind::TimedOut, Some("timeout")),
        (ErrorKind::PermissionDenied, None),
    ] {
        let error = redis::RedisError::from(Error::from(kind));
        assert_eq!(code(&error), expected, "{kind}");
    }
    let late = ureq::Error::Timeout(ureq::Timeout::Global);
    assert_eq!(code(&late), Some("timeout"));
    assert_eq!(code(&ureq::Error::StatusCode(503)), None);
}

#[tokio::test]
async fn nobody_listens() {
    let url = nobody();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let client = reqwest_middleware::ClientBuilder::new(client).build();
    let refused = client.get(&url).send().await.unwrap_err();
    assert_eq!(code(&refused), Some("connection"));

    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let settings = format!("postgres://shop@{address}/shop");
    let refused = tokio_postgres::connect(&settings, tokio_postgres::NoTls).await;
    let refused = refused.err().unwrap();
    assert_eq!(code(&refused), Some("connection"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn a_call_below_that_timed_out() {
    #[retry(max = 2, timeout = "1s")]
    async fn below() -> Result<(), RetryError<Error>> {
        std::future::pending().await
    }

    let ended = below().await.unwrap_err();
    assert_eq!(code(&ended), Some("timeout"));
    assert_eq!(code(&Error::from(ended)), Some("timeout"));
}
