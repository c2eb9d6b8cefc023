//! An error that is no answer says so by its code, whatever library it comes from.

use std::io::{Error, ErrorKind};

use reattempt::Classify;

use crate::script::nobody;

fn code(error: &impl Classify) -> Option<&'static str> {
    let mut codes = ["connection", "timeout"].into_iter();
    codes.find(|code| error.has_code(code))
}

#[test]
fn errors_of_sockets() {
    for (kind, expected) in [
        (ErrorKind::ConnectionReset, Some("connection")),
        (ErrorKind::UnexpectedEof, Some("connection")),
        (ErrorKind::TimedOut, Some("timeout")),
        (ErrorKind::Interrupted, None),
    ] {
        assert_eq!(code(&Error::from(kind)), expected, "{kind}");
        assert_eq!(code(&sqlx::Error::Io(kind.into())), expected, "{kind}");
        assert_eq!(code(&sqlx08::Error::Io(kind.into())), expected, "{kind}");
        assert_eq!(code(&ureq::Error::Io(kind.into())), expected, "{kind}");
    }
    for (kind, expected) in [
        (ErrorKind::ConnectionReset, "connection"),
        (ErrorKind::TimedOut, "timeout"),
    ] {
        let error = redis::RedisError::from(Error::from(kind));
        assert!(error.has_code(expected), "{kind}");
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
