//! What the errors of lettre mean: by the server's reply, else by what broke.

use core::fmt;

use std::error::Error as _;

use lettre011::transport::smtp::Error;

use super::chain::{before_sending, in_chain};
use crate::codes::{is_number, without_answer};
use crate::said::said;
use crate::verdict::{Classify, Verdict};

// So writes `impl Display for Error`, src/transport/smtp/error.rs of 0.11; the kinds are private.
const CONNECTING: &str = "Connection error";
const NETWORK: &str = "network error";
const TLS: &str = "tls error";
/// The server hung up instead of answering.
const CUT_OFF: &str = "response error: incomplete response";

/// lettre 0.11, SMTP: the reply decides: 4yz refuses the message for now, 5yz for good. Without a reply the cause does:
/// if the connection broke after the message was sent, the server may have taken it.
#[diagnostic::do_not_recommend]
impl Classify for Error {
    fn classify(&self) -> Verdict {
        if self.is_transient() {
            return Verdict::Refused;
        }
        match (self.source(), said(self)) {
            (Some(source), text) if text.starts_with(CONNECTING) || text.starts_with(TLS) => {
                before_sending(source)
            }
            (Some(source), text) if text.starts_with(NETWORK) => {
                in_chain(source).unwrap_or(Verdict::Permanent)
            }
            (_, text) if text == CUT_OFF => Verdict::Transient,
            // A 5yz, an answer that is not SMTP, or a mistake of the caller.
            _ => Verdict::Permanent,
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }

    fn has_code(&self, code: &str) -> bool {
        match self.status() {
            Some(status) => is_number(u16::from(status), code),
            None => without_answer(code, self.is_timeout(), self),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::thread;

    use lettre011::address::Envelope;
    use lettre011::{SmtpTransport, Transport as _};

    use super::*;

    /// Answers one client with these replies, and hangs up.
    fn serve(listener: &TcpListener, replies: &[&str]) -> io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let mut is_message = false;
        for (place, reply) in replies.iter().enumerate() {
            // The first is the greeting. After 354 comes a message, until a line with a dot; else one line.
            if place > 0 {
                while lines
                    .next()
                    .transpose()?
                    .is_some_and(|line| is_message && line != ".")
                {}
            }
            is_message = reply.starts_with("354");
            write!(stream, "{reply}\r\n")?;
        }
        // What the client sends next, so that it is hung up upon and not reset.
        while !is_message
            && lines
                .next()
                .transpose()?
                .is_some_and(|line| line.is_empty())
        {}
        Ok(())
    }

    fn send(port: u16) -> Result<(), Error> {
        let address = |text: &str| text.parse().expect("an address");
        let envelope = Envelope::new(Some(address("a@localhost")), vec![address("b@localhost")]);
        let client = SmtpTransport::builder_dangerous("127.0.0.1").port(port);
        let sent = client
            .build()
            .send_raw(&envelope.expect("two addresses"), b"Subject: a\r\n\r\n");
        sent.map(|_| ())
    }

    fn verdict(replies: &[&str]) -> Option<Verdict> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = listener.local_addr().expect("it is bound").port();
        thread::scope(|scope| {
            scope.spawn(|| serve(&listener, replies));
            send(port).err().map(|error| error.classify())
        })
    }

    #[test]
    fn by_reply() {
        const HELLO: [&str; 2] = ["220 a", "250 a"];
        for (replies, expected) in [
            (&["250 a", "250 a", "354 go on", "250 queued"][..], None),
            (&["451 greylisted"], Some(Verdict::Refused)),
            (&["250 a", "452 no room"], Some(Verdict::Refused)),
            (
                &["250 a", "250 a", "354 go on", "421 closing"],
                Some(Verdict::Refused),
            ),
            (&["250 a", "550 no such user"], Some(Verdict::Permanent)),
            (
                &["250 a", "250 a", "354 go on", "554 spam"],
                Some(Verdict::Permanent),
            ),
            (&["250 a", "not a reply"], Some(Verdict::Permanent)),
            (&["250 a"], Some(Verdict::Transient)),
            (&["250 a", "250 a", "354 go on"], Some(Verdict::Transient)),
        ] {
            let replies = [&HELLO[..], replies].concat();
            assert_eq!(verdict(&replies), expected, "{replies:?}");
        }
        assert_eq!(verdict(&["421 busy"]), Some(Verdict::Refused));
        assert_eq!(verdict(&["554 go away"]), Some(Verdict::Permanent));
    }

    #[test]
    fn without_a_server() {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let refused = send(free.expect("there is a free port").port());
        let refused = refused.expect_err("nobody listens");
        assert_eq!(refused.classify(), Verdict::Refused);
        assert!(refused.has_code("connection"));
        assert!(!refused.has_code("timeout"));
        let unknown = SmtpTransport::builder_dangerous("nowhere.invalid").build();
        let unknown = unknown.test_connection().err();
        assert!(unknown.is_some_and(|error| error.classify().is_retryable()));
    }
}
