//! Read-only pages that show tasks and their records: HTML without scripts.

mod html;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;

use crate::client::{Client, SubmitError};
use html::ListQuery;

use crate::store::Filter;
use crate::task::TaskId;

/// Returns the pages, for a path of your application: `/` lists tasks, and `/tasks/{id}` shows one.
///
/// Everybody who can open the pages can read the arguments and results of tasks; put them where
/// only operators have access.
pub fn router(client: Client) -> Router {
    Router::new()
        .route("/", get(list))
        .route("/tasks/{id}", get(task))
        .with_state(Arc::new(client))
}

/// Serves the pages until the process ends.
///
/// # Errors
///
/// Fails if the listener fails.
pub async fn serve(listener: tokio::net::TcpListener, client: Client) -> std::io::Result<()> {
    axum::serve(listener, router(client)).await
}

/// The number of tasks on a page.
const LIMIT: u32 = 100;

/// Answers `/`.
async fn list(
    State(client): State<Arc<Client>>,
    Query(query): Query<ListQuery>,
) -> Result<Response, PageError> {
    let filter = Filter {
        state: query.state.parse().ok(),
        workflow: Some(query.workflow.clone()).filter(|workflow| !workflow.is_empty()),
        queue: None,
        before: query.before.map(TaskId),
        limit: LIMIT,
        ..Filter::default()
    };
    let counts = client
        .store()
        .counts()
        .await
        .map_err(|error| PageError(error.to_string()))?;
    let tasks = client
        .list(filter)
        .await
        .map_err(|error| PageError(error.to_string()))?;
    let is_full = u32::try_from(tasks.len()).is_ok_and(|count| count >= LIMIT);
    Ok(page(html::list(&counts, &tasks, &query, is_full)))
}

/// Answers `/tasks/{id}`.
async fn task(
    State(client): State<Arc<Client>>,
    Path(id): Path<i64>,
) -> Result<Response, PageError> {
    match client.task::<()>(TaskId(id)).progress().await {
        Ok(progress) => Ok(page(html::task(&progress))),
        Err(SubmitError::UnknownTask(id)) => {
            let missing = html::message(&format!("There is no task {id}."));
            Ok((StatusCode::NOT_FOUND, page(missing)).into_response())
        }
        Err(error) => Err(PageError(error.to_string())),
    }
}

/// Adds the headers that keep the page read-only and uncached.
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

/// The store has an error, with this message.
struct PageError(String);

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            page(html::message(&self.0)),
        )
            .into_response()
    }
}
