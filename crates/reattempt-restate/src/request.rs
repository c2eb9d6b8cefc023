//! Submits tasks with Restate's own client.

use std::fmt;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use reattempt_supervisor::engine::new_task;
use reattempt_supervisor::store::StoreError;
use reattempt_supervisor::{NewTask, Submission, Workflow};
use restate_sdk::ingress::{
    Client, ClientError, Request, RequestExecutor, RequestTarget, SendResponse,
};
use restate_sdk::serde::Json;
use serde_json::value::RawValue;

use crate::wire::{COMPLETE_BY, HEADERS, RUN};

/// Submits a task with Restate's client: `order(..).key("order 17")`. A second submission with the
/// same key finds the first. The response has the handle with which you wait for the end of the
/// task.
///
/// # Errors
///
/// Fails for the reasons in [`RequestError`]. When the server has answered, the task is on its
/// disk.
///
/// # Cancel safety
///
/// If the future is dropped, the task may be submitted or not.
pub async fn submit<W: Workflow, E: RequestExecutor>(
    client: &Client<E>,
    submission: Submission<W>,
) -> Result<SendResponse<E, Json<W::Output>>, RequestError> {
    let new = new_task(submission).map_err(RequestError::Arguments)?;
    if new.queue != "default" || new.priority != 0 {
        return Err(RequestError::Queue);
    }
    let delay = new.delay;
    let request = request(client, new)?;
    let sent = if delay == Duration::ZERO {
        request.send().await
    } else {
        request.send_after(delay).await
    };
    sent.map_err(RequestError::Client)
}

type TaskRequest<E, Output> = Request<E, Json<Box<RawValue>>, Json<Output>>;

/// Builds the request of a task.
fn request<E: RequestExecutor, Output>(
    client: &Client<E>,
    new: NewTask,
) -> Result<TaskRequest<E, Output>, RequestError> {
    let target = RequestTarget::workflow(new.workflow, new.key, RUN);
    let input = RawValue::from_string(new.input).map_err(RequestError::Json)?;
    let mut request = client.request(target, Json(input));
    if let Some(headers) = new.headers {
        let value = HeaderValue::from_str(&headers).map_err(|_| RequestError::Headers)?;
        request = request.header(HeaderName::from_static(HEADERS), value);
    }
    if let Some(limit) = new.complete_by {
        let millis = limit.as_nanos().div_ceil(1_000_000);
        let millis = u64::try_from(millis).unwrap_or(u64::MAX);
        request = request.header(HeaderName::from_static(COMPLETE_BY), millis.into());
    }
    Ok(request)
}

/// Why a task could not be submitted.
#[derive(Debug)]
#[non_exhaustive]
pub enum RequestError {
    /// The arguments cannot be written as JSON.
    Arguments(StoreError),
    /// The text of the arguments is not JSON.
    Json(serde_json::Error),
    /// Restate has no queues and no priorities.
    Queue,
    /// The headers are not one line of ASCII.
    Headers,
    /// The client could not reach the server, or the server refused the task.
    Client(ClientError),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arguments(error) => error.fmt(f),
            Self::Json(error) => write!(f, "the arguments are not JSON: {error}"),
            Self::Queue => {
                f.write_str("Restate has no queues and no priorities; drop `queue` and `priority`")
            }
            Self::Headers => {
                f.write_str("the headers of a task on Restate must be JSON in one line of ASCII")
            }
            Self::Client(error) => write!(f, "Restate did not take the task: {error}"),
        }
    }
}

impl std::error::Error for RequestError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Arguments(error) => Some(error),
            Self::Json(error) => Some(error),
            Self::Client(error) => Some(error),
            Self::Queue | Self::Headers => None,
        }
    }
}
