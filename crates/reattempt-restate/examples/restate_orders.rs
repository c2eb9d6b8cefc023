//! The order of `cargo run -p service-examples --example orders`, served to Restate.
//!
//! `cargo run -p reattempt-restate --example restate_orders`, with a `restate-server` beside it; it says what to do next.

#[path = "../../../examples/orders/order.rs"]
mod order;
#[path = "../../../examples/orders/shop.rs"]
mod shop;

use std::error::Error;

use reattempt_restate::Handlers;
use restate_sdk::http_server::HttpServer;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let effects = std::env::temp_dir().join("reattempt-restate-effects.txt");
    let shop = shop::flaky_server(effects.clone()).await?;
    let endpoint = Handlers::new()
        .register(order::order)
        .with(shop::Shop::at(shop))
        .endpoint()?;
    let listener = TcpListener::bind("127.0.0.1:9080").await?;
    println!("what happens in the shop is in {}; now:", effects.display());
    println!("  curl localhost:9070/deployments --json '{{\"uri\": \"http://localhost:9080\"}}'");
    println!("  curl localhost:8080/order/17/run --json '[\"book\", 1999]'");
    HttpServer::new(endpoint).serve(listener).await;
    Ok(())
}
