//! The front of a service that speaks HTTP.

use std::error::Error;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use reattempt::tower::ServerProtocol;
use tokio::net::TcpListener;

use crate::{Mode, Service};

pub(crate) const RETRY_CONTEXT: &str = "retry-context";

pub(crate) async fn serve(
    listener: TcpListener,
    service: Arc<Service>,
) -> Result<(), Box<dyn Error>> {
    let mode = service.mode;
    let mut router = Router::new().route("/", get(answer)).with_state(service);
    if matches!(mode, Mode::Polite | Mode::Lossy) {
        router = router.layer(ServerProtocol::new());
    }
    if mode == Mode::Lossy {
        router = router.layer(map_response(async |mut response: Response| {
            response.headers_mut().remove(RETRY_CONTEXT);
            response
        }));
    }
    axum::serve(listener, router).await?;
    Ok(())
}

async fn answer(State(service): State<Arc<Service>>, headers: HeaderMap) -> Response {
    let mut forwarded = match service.mode {
        Mode::Forward => headers.get(RETRY_CONTEXT).cloned(),
        _ => None,
    };
    let answer = service.handle(&mut forwarded).await;
    let mut response = match answer {
        Ok(text) => (StatusCode::OK, text),
        Err(text) => (StatusCode::SERVICE_UNAVAILABLE, text),
    }
    .into_response();
    if service.mode == Mode::Forward
        && let Some(header) = forwarded
    {
        response.headers_mut().insert(RETRY_CONTEXT, header);
    }
    response
}
