//! A function with `#[retry(max = 5, timeout = "2s")]` for each of ten clients, as a program would write it. Above each
//! are the lines by which the program gets the client, and the verdicts on its errors.
//!
//! `map_err` stands where nobody but the client can make its error: reqwest, tokio-postgres, deadpool, lettre.

use reattempt::retry;

/// ```sh
/// cargo add reqwest && cargo add reattempt --features reqwest
/// ```
#[retry(max = 5, timeout = "2s", map_err = anyhow::Error::new)]
pub async fn page(client: &reqwest::Client, url: &str) -> Result<String, anyhow::Error> {
    let response: reqwest::Response = client.get(url).send().await?.error_for_status()?;
    response.text().await
}

/// ```sh
/// cargo add sqlx --features postgres,runtime-tokio && cargo add reattempt --features sqlx09
/// ```
#[retry(max = 5, timeout = "2s")]
pub async fn balance(pool: &sqlx::PgPool, id: i32) -> Result<i64, sqlx::Error> {
    let balance = sqlx::query_scalar("SELECT balance FROM account WHERE id = $1");
    balance.bind(id).fetch_one(pool).await
}

/// ```sh
/// cargo add redis --features tokio-comp && cargo add reattempt --features redis
/// ```
#[retry(max = 5, timeout = "2s")]
pub async fn visits(client: &redis::Client) -> Result<u64, redis::RedisError> {
    let mut connection = client.get_multiplexed_async_connection().await?;
    redis::cmd("GET")
        .arg("visits")
        .query_async(&mut connection)
        .await
}

/// ```sh
/// cargo add tonic && cargo add reattempt --features tonic
/// ```
#[retry(max = 5, timeout = "2s")]
pub async fn is_serving(channel: &tonic::transport::Channel) -> Result<bool, tonic::Status> {
    use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

    let mut client = HealthClient::new(channel.clone());
    let answer = client.check(HealthCheckRequest::default()).await?;
    Ok(answer.into_inner().status == 1)
}

/// ```sh
/// cargo add tokio-postgres && cargo add reattempt --features tokio-postgres
/// ```
#[retry(max = 5, timeout = "2s", map_err = anyhow::Error::new)]
pub async fn names(client: &tokio_postgres::Client) -> Result<Vec<String>, anyhow::Error> {
    let rows = client.query("SELECT name FROM account", &[]).await?;
    rows.iter()
        .map(|row| row.try_get(0))
        .collect::<Result<_, tokio_postgres::Error>>()
}

/// ```sh
/// cargo add deadpool-postgres && cargo add reattempt --features tokio-postgres,deadpool
/// ```
#[retry(max = 5, timeout = "2s", map_err = anyhow::Error::new)]
pub async fn deposit(pool: &deadpool_postgres::Pool, id: i32) -> Result<u64, anyhow::Error> {
    let client = pool.get().await?;
    let update = "UPDATE account SET balance = balance + 1 WHERE id = $1";
    let changed = client.execute(update, &[&id]).await?;
    Ok::<_, deadpool_postgres::PoolError>(changed)
}

/// ```sh
/// cargo add mysql_async && cargo add reattempt --features mysql-async
/// ```
#[retry(max = 5, timeout = "2s")]
pub async fn orders(pool: &mysql_async::Pool) -> Result<Option<u64>, mysql_async::Error> {
    use mysql_async::prelude::Queryable as _;

    pool.get_conn()
        .await?
        .query_first("SELECT count(*) FROM orders")
        .await
}

/// ```sh
/// cargo add aws-sdk-sts && cargo add reattempt --features aws
/// ```
#[retry(max = 5, timeout = "2s")]
pub async fn account(
    client: &aws_sdk_sts::Client,
) -> Result<Option<String>, aws_sdk_sts::error::SdkError<Identity>> {
    let identity = client.get_caller_identity().send().await?;
    Ok(identity.account)
}

type Identity = aws_sdk_sts::operation::get_caller_identity::GetCallerIdentityError;

/// ```sh
/// cargo add object_store && cargo add reattempt --features object-store
/// ```
#[retry(max = 5, timeout = "2s")]
pub async fn size(
    store: &dyn object_store::ObjectStore,
    path: &object_store::path::Path,
) -> Result<u64, object_store::Error> {
    use object_store::ObjectStoreExt as _;

    Ok(store.head(path).await?.size)
}

/// ```sh
/// cargo add lettre --features tokio1-native-tls && cargo add reattempt --features lettre
/// ```
#[retry(max = 5, timeout = "2s", map_err = anyhow::Error::new)]
pub async fn is_up(
    mail: &lettre::AsyncSmtpTransport<lettre::Tokio1Executor>,
) -> Result<bool, anyhow::Error> {
    let answer: Result<bool, lettre::transport::smtp::Error> = mail.test_connection().await;
    answer
}

/// The recipes.
#[cfg(all(doctest, feature = "recipes"))]
#[doc = include_str!("../../../docs/services/others.md")]
pub mod others {}
