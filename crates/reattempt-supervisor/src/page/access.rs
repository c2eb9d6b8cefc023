//! Access to the pages: tokens, sessions, and the addresses of the pages.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::Instant;

use super::session::{Role, Session, hash};
use super::{Pages, html, page};

/// How long a session lasts.
const LIFE: Duration = Duration::from_secs(12 * 3_600);

/// How many sessions there are at most; the oldest one ends.
const SESSIONS: usize = 1_000;

/// How short a token may be.
const SHORTEST: usize = 24;

/// The tokens that open the pages, and the addresses of the pages.
pub struct Access {
    /// The hashes of the tokens, so that a comparison says nothing about a token.
    tokens: Vec<([u8; 32], String, Role)>,
    origins: Vec<String>,
    sessions: Mutex<HashMap<String, (Session, Instant)>>,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("origins", &self.origins)
            .finish_non_exhaustive()
    }
}

impl Access {
    /// Reads tokens from a text, one a line: `look` or `act`, a name, and the token, which has at least
    /// 24 characters. `origins` are the addresses of the pages as browsers send them, such as
    /// `http://127.0.0.1:8017`: requests with another `Host` or `Origin` are refused.
    ///
    /// # Errors
    ///
    /// Fails if a line is not such a line, if there is none, or if no browser sends one of `origins`.
    pub fn parse(
        tokens: &str,
        origins: impl IntoIterator<Item = String>,
    ) -> Result<Self, AccessError> {
        let mut all = Vec::new();
        for (nth, line) in (1..).zip(tokens.lines()) {
            let error = |why: &str| AccessError(format!("line {nth} of the tokens {why}"));
            let words: Vec<_> = line.split_whitespace().collect();
            let (role, name, token) = match words[..] {
                [] => continue,
                ["look", name, token] => (Role::Look, name, token),
                ["act", name, token] => (Role::Act, name, token),
                _ => return Err(error("is not `look NAME TOKEN` or `act NAME TOKEN`")),
            };
            if token.len() < SHORTEST {
                return Err(error(
                    "has a token of less than 24 characters; `openssl rand -hex 24` prints a good one",
                ));
            }
            all.push((hash(token), name.to_owned(), role));
        }
        if all.is_empty() {
            return Err(AccessError(
                "there is no token; write a line `act NAME TOKEN`, for example with a token of `openssl rand -hex 24`"
                    .to_owned(),
            ));
        }
        let origins: Vec<_> = origins.into_iter().collect();
        if let Some(wrong) = origins.iter().find(|origin| !is_origin(origin)) {
            return Err(AccessError(format!(
                "no browser sends the origin `{wrong}`; write `http://` or `https://`, the host in lower case, and the port unless it \
                 is the usual one, without a path: `https://tasks.example`"
            )));
        }
        Ok(Self {
            tokens: all,
            origins,
            sessions: Mutex::default(),
        })
    }

    /// Begins a session. Returns its secret number, or `None` if no operator has the token.
    pub(super) fn begin(&self, token: &str) -> Option<String> {
        let hash = hash(token);
        let (_, name, role) = self.tokens.iter().find(|(other, _, _)| *other == hash)?;
        let session = Session {
            name: name.clone(),
            role: *role,
            form: secret(),
        };
        let (id, now) = (secret(), Instant::now());
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, (_, begun)| now.saturating_duration_since(*begun) < LIFE);
        if sessions.len() >= SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, (_, begun))| *begun);
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                sessions.remove(&oldest);
            }
        }
        sessions.insert(id.clone(), (session, now));
        Some(id)
    }

    /// Returns the session of a request.
    fn session(&self, headers: &HeaderMap) -> Option<Session> {
        let cookies = headers.get_all(header::COOKIE).iter();
        let cookies = cookies.filter_map(|cookies| cookies.to_str().ok());
        let mut ids = cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().strip_prefix("retry_session="));
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let (session, begun) = ids.find_map(|id| sessions.get(id))?;
        (begun.elapsed() < LIFE).then(|| session.clone())
    }

    /// Returns whether the request is for these pages, and a form comes from them.
    fn is_ours(&self, request: &Request) -> bool {
        let text = |name| {
            let mut values = request.headers().get_all(name).iter();
            let value = values.next().and_then(|value| value.to_str().ok());
            value.filter(|_| values.next().is_none())
        };
        let host = text(header::HOST);
        let is_host = |origin: &&String| {
            origin
                .split_once("://")
                .is_some_and(|(_, own)| Some(own) == host)
        };
        // A page elsewhere may let its own name lead to this address (DNS rebinding), so the name
        // must be exactly one of ours.
        let Some(own) = self.origins.iter().find(is_host) else {
            return false;
        };
        let is_read = [Method::GET, Method::HEAD].contains(request.method());
        is_read || text(header::ORIGIN) == Some(own)
    }

    /// Returns the attributes of the cookie of a session.
    pub(super) fn cookie(&self, id: &str) -> String {
        let is_secure = self.origins.iter().all(|own| own.starts_with("https://"));
        let secure = if is_secure { "; Secure" } else { "" };
        format!("retry_session={id}; HttpOnly; SameSite=Strict; Path=/{secure}")
    }
}

/// The tokens cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessError(String);

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AccessError {}

/// Returns whether browsers may send this as `Origin`, and what follows `://` as `Host`.
fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else {
        return false;
    };
    let usual_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    let is_odd = |c: char| !c.is_ascii_graphic() || c.is_ascii_uppercase() || "/?#@".contains(c);
    !host.is_empty() && !host.ends_with(usual_port) && !host.contains(is_odd)
}

fn secret() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// Lets requests of sessions pass, and those that begin one.
pub(super) async fn guard(
    State(pages): State<Arc<Pages>>,
    mut request: Request,
    next: Next,
) -> Response {
    if !pages.access.is_ours(&request) {
        let text = "These pages have another address, or the form is not theirs.";
        return (StatusCode::FORBIDDEN, page(html::message(text))).into_response();
    }
    let path = request.uri().path();
    if path == "/login" {
        return next.run(request).await;
    }
    let Some(session) = pages.access.session(request.headers()) else {
        let up = if path == "/" || path.is_empty() {
            ""
        } else {
            "../"
        };
        return (StatusCode::UNAUTHORIZED, page(html::login(up))).into_response();
    };
    request.extensions_mut().insert(session);
    next.run(request).await
}
