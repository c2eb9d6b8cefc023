//! Pages on which operators look at tasks and give commands: HTML without scripts.

mod access;
mod actions;
mod html;
mod list_html;
mod session;
mod task_html;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Path, Query, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};

use crate::client::{Client, SubmitError};
use list_html::ListQuery;

use crate::store::Filter;
use crate::task::TaskId;

pub use access::{Access, AccessError};
pub use session::Role;
use session::Session;

/// What all pages share.
#[derive(Debug)]
struct Pages {
    client: Client,
    access: Access,
}

/// Returns the pages, for a path of your application: `/` lists tasks, and `/tasks/{id}` shows one.
/// An operator opens them with a token of `access`.
pub fn router(client: Client, access: Access) -> Router {
    let pages = Arc::new(Pages { client, access });
    Router::new()
        .route("/", get(list))
        .route("/login", post(actions::login))
        .route("/all", post(actions::act_on_all))
        .route("/tasks/{id}", get(task))
        .route("/act/{id}", post(actions::act))
        .layer(from_fn_with_state(Arc::clone(&pages), access::guard))
        .with_state(pages)
}

/// Serves the pages until the process ends.
///
/// # Errors
///
/// Fails if the listener fails.
pub async fn serve(
    listener: tokio::net::TcpListener,
    client: Client,
    access: Access,
) -> std::io::Result<()> {
    axum::serve(listener, router(client, access)).await
}

/// The number of tasks on a page.
const LIMIT: u32 = 100;

/// Answers `/`.
async fn list(
    State(pages): State<Arc<Pages>>,
    Extension(session): Extension<Session>,
    Query(query): Query<ListQuery>,
) -> Result<Response, PageError> {
    let filter = match query.filter(session.role) {
        Ok(filter) => filter,
        Err(why) => return Ok((StatusCode::BAD_REQUEST, page(html::message(&why))).into_response()),
    };
    let filter = Filter {
        before: query.before.parse().ok().map(TaskId),
        limit: LIMIT,
        ..filter
    };
    let counts = pages.client.store().counts().await;
    let counts = counts.map_err(|error| PageError(error.to_string()))?;
    let tasks = pages.client.list(filter).await;
    let tasks = tasks.map_err(|error| PageError(error.to_string()))?;
    let is_full = u32::try_from(tasks.len()).is_ok_and(|count| count >= LIMIT);
    Ok(page(list_html::list(
        &session,
        &counts,
        &tasks,
        (&query, is_full),
    )))
}

/// Answers `/tasks/{id}`.
async fn task(
    State(pages): State<Arc<Pages>>,
    Extension(session): Extension<Session>,
    Path(id): Path<i64>,
) -> Result<Response, PageError> {
    match pages.client.task::<()>(TaskId(id)).progress().await {
        Ok(progress) => Ok(page(task_html::task(&session, &progress))),
        Err(SubmitError::UnknownTask(id)) => {
            let missing = html::message(&format!("There is no task {id}."));
            Ok((StatusCode::NOT_FOUND, page(missing)).into_response())
        }
        Err(error) => Err(PageError(error.to_string())),
    }
}

/// Adds the headers that keep scripts and other pages out, and the page uncached.
fn page(html: String) -> Response {
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
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
