//! Commands that operators give on the pages.

use std::sync::Arc;

use axum::Form;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::html;
use super::list_html::{self, ListQuery};
use super::session::Session;
use super::{Pages, page};
use crate::client::SubmitError;
use crate::store::{AdminCommand, Resolution, Verdict};
use crate::task::TaskId;

#[derive(Deserialize)]
pub(super) struct Login {
    token: String,
}

/// Answers `/login`.
pub(super) async fn login(State(pages): State<Arc<Pages>>, Form(login): Form<Login>) -> Response {
    // The token comes in a form, so that no address and no log has it.
    let cookie = pages.access.begin(login.token.trim());
    let cookie = cookie.and_then(|id| HeaderValue::from_str(&pages.access.cookie(&id)).ok());
    let Some(cookie) = cookie else {
        return refuse(StatusCode::UNAUTHORIZED, "Nobody has this token.");
    };
    let mut answer = go_to("./");
    answer.headers_mut().insert(header::SET_COOKIE, cookie);
    answer
}

/// A command for one task.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(super) struct Act {
    form: String,
    command: String,
    why: String,
    step: String,
    result: String,
}

/// Answers `/act/{id}`.
pub(super) async fn act(
    State(pages): State<Arc<Pages>>,
    Extension(session): Extension<Session>,
    Path(id): Path<i64>,
    Form(act): Form<Act>,
) -> Response {
    if !session.may_act(&act.form) {
        return refuse(
            StatusCode::FORBIDDEN,
            "This form is not one of your session, or you may only look.",
        );
    }
    let task = TaskId(id);
    let verdict = match &*act.command {
        "not done" => Some(Verdict::NotDone),
        "done" => Some(Verdict::Done(act.result)),
        "undo step" => Some(Verdict::Undo),
        _ => None,
    };
    let done = match (verdict, act.step.parse()) {
        (Some(verdict), Ok(seq)) => {
            let resolution = Resolution {
                seq,
                verdict,
                by: session.name,
                why: act.why,
            };
            pages.client.resolve(task, resolution).await
        }
        (Some(_), Err(_)) => {
            return refuse(StatusCode::BAD_REQUEST, "Write the number of the step.");
        }
        (None, _) => match AdminCommand::named(&act.command, &act.why) {
            None => return refuse(StatusCode::BAD_REQUEST, "There is no such command."),
            Some(command) => {
                let operator = pages.client.operator(session.name, act.why);
                operator.send(task, &command).await
            }
        },
    };
    match done {
        Ok(()) => go_to(&format!("../tasks/{id}")),
        Err(error) => refuse_command(&error),
    }
}

/// A command for all tasks that fit.
#[derive(Deserialize)]
pub(super) struct ActOnAll {
    #[serde(default)]
    form: String,
    #[serde(default)]
    command: String,
    #[serde(default)]
    why: String,
    #[serde(default)]
    expect: String,
    #[serde(flatten)]
    query: ListQuery,
}

/// Answers `/all`: says how many tasks fit, and gives them the command if that many were expected.
pub(super) async fn act_on_all(
    State(pages): State<Arc<Pages>>,
    Extension(session): Extension<Session>,
    Form(act): Form<ActOnAll>,
) -> Response {
    if !session.may_act(&act.form) {
        return refuse(
            StatusCode::FORBIDDEN,
            "This form is not one of your session, or you may only look.",
        );
    }
    let Some(command) = AdminCommand::named(&act.command, &act.why) else {
        return refuse(StatusCode::BAD_REQUEST, "There is no such command.");
    };
    let filter = match act.query.filter(session.role) {
        Ok(filter) => filter,
        Err(why) => return refuse(StatusCode::BAD_REQUEST, &why),
    };
    let operator = pages.client.operator(&*session.name, &*act.why);
    let Ok(expect) = act.expect.parse() else {
        return match operator.count(&filter).await {
            Ok(count) => page(list_html::confirm(
                &session,
                &act.query,
                (&act.command, &act.why),
                count,
            )),
            Err(error) => refuse_command(&error),
        };
    };
    match operator.send_to_all(&filter, &command, expect).await {
        Ok(refused) => page(list_html::sent(expect, &refused)),
        Err(error) => refuse_command(&error),
    }
}

fn refuse(status: StatusCode, why: &str) -> Response {
    (status, page(html::message(why))).into_response()
}

fn refuse_command(error: &SubmitError) -> Response {
    let status = match error {
        SubmitError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::CONFLICT,
    };
    refuse(status, &error.to_string())
}

/// Sends the browser to another page.
fn go_to(address: &str) -> Response {
    let mut headers = HeaderMap::new();
    if let Ok(address) = HeaderValue::from_str(address) {
        headers.insert(header::LOCATION, address);
    }
    (StatusCode::SEE_OTHER, headers).into_response()
}
