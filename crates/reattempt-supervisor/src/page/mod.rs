//! Tasks and what happened in them, as pages of HTML without scripts; nothing can be changed by them.

mod html;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;

use crate::store::Filter;
use crate::task::RunId;
use crate::tasks::{SubmitError, Tasks};

/// The pages, to be served below a path of the application: `/` lists tasks, `/tasks/{id}` shows one.
///
/// Whoever can reach them can read the arguments and answers of tasks; put them where only operators come.
pub fn router(tasks: Tasks) -> Router {
    Router::new()
        .route("/", get(list))
        .route("/tasks/{id}", get(task))
        .with_state(Arc::new(tasks))
}

/// Serves the pages until the process ends.
///
/// # Errors
///
/// What the listener says.
pub async fn serve(listener: tokio::net::TcpListener, tasks: Tasks) -> std::io::Result<()> {
    axum::serve(listener, router(tasks)).await
}

/// Which tasks, in the address.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wanted {
    pub(crate) state: String,
    pub(crate) workflow: String,
    pub(crate) before: Option<i64>,
}

/// Tasks on a page.
const LIMIT: u32 = 100;

async fn list(
    State(tasks): State<Arc<Tasks>>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Fault> {
    let filter = Filter {
        state: wanted.state.parse().ok(),
        workflow: Some(wanted.workflow.clone()).filter(|workflow| !workflow.is_empty()),
        queue: None,
        before: wanted.before.map(RunId),
        limit: LIMIT,
    };
    let counts = tasks
        .store()
        .counts()
        .await
        .map_err(|error| Fault(error.to_string()))?;
    let runs = tasks
        .list(filter)
        .await
        .map_err(|error| Fault(error.to_string()))?;
    let is_full = u32::try_from(runs.len()).is_ok_and(|count| count >= LIMIT);
    Ok(page(html::list(&counts, &runs, &wanted, is_full)))
}

async fn task(State(tasks): State<Arc<Tasks>>, Path(id): Path<i64>) -> Result<Response, Fault> {
    match tasks.task::<()>(RunId(id)).progress().await {
        Ok(progress) => Ok(page(html::task(&progress))),
        Err(SubmitError::Unknown(id)) => {
            let missing = html::message(&format!("There is no task {id}."));
            Ok((StatusCode::NOT_FOUND, page(missing)).into_response())
        }
        Err(error) => Err(Fault(error.to_string())),
    }
}

fn page(html: String) -> Response {
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, Html(html)).into_response()
}

/// The store is in trouble.
struct Fault(String);

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            page(html::message(&self.0)),
        )
            .into_response()
    }
}
