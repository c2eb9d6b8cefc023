//! Transactions of PostgreSQL: with a mark that makes them idempotent, with `verify`, and in conflict.

use reattempt::{Attempt, RetryError, Verified, observe, retry};
use sqlx::{Error, PgPool, Postgres, Transaction};

use super::{Op, World};
use crate::calls::{Call, Wrong};
use crate::log::Hook;
use crate::random::Random;

pub(crate) const TABLES: &str = "
    CREATE TABLE mark (call bigint PRIMARY KEY);
    CREATE TABLE payment (call bigint, attempt int, kind text, PRIMARY KEY (call, attempt));
    CREATE TABLE effect (call bigint, attempt int);
    CREATE TABLE account (id int PRIMARY KEY, balance bigint);
    INSERT INTO account SELECT id, 1000 FROM generate_series(1, 4) id;
";

fn pool() -> &'static PgPool {
    &World::get().pool
}

async fn attempt(
    call: &Call,
    attempt: &Attempt<'_>,
    work: impl Future<Output = Result<(), Error>>,
) -> Result<(), Wrong> {
    let body = call.attempt(attempt.number());
    let answer = work.await;
    body.end(answer.map_err(|error| Wrong::of(&error)))
}

fn id(call: &Call) -> i64 {
    i64::try_from(call.id).unwrap()
}

fn number(attempt: u32) -> i32 {
    i32::try_from(attempt).unwrap()
}

/// What must happen once.
async fn effect(
    tx: &mut Transaction<'_, Postgres>,
    call: &Call,
    attempt: u32,
) -> Result<(), Error> {
    let effect = sqlx::query("INSERT INTO effect VALUES ($1, $2)");
    let effect = effect.bind(id(call)).bind(number(attempt));
    effect.execute(&mut **tx).await.map(drop)
}

/// The mark is what makes it idempotent.
#[retry(policy = call.policy, context = attempt_of)]
pub(super) async fn pay(call: &Call) -> Result<(), RetryError<Wrong>> {
    let work = async {
        let mut tx = pool().begin().await?;
        let mark = sqlx::query("INSERT INTO mark VALUES ($1) ON CONFLICT DO NOTHING");
        let mark = mark.bind(id(call)).execute(&mut *tx).await?;
        if mark.rows_affected() == 0 {
            return Ok(());
        }
        effect(&mut tx, call, attempt_of.number()).await?;
        tx.commit().await
    };
    attempt(call, &attempt_of, work).await
}

#[retry(
    policy = call.policy,
    idempotent = false,
    timeout = "200ms",
    context = attempt_of,
    verify = async |_| verified(call).await
)]
pub(super) async fn pay_verified(call: &Call) -> Result<(), RetryError<Wrong>> {
    let work = async {
        let mut tx = pool().begin().await?;
        let payment = sqlx::query("INSERT INTO payment VALUES ($1, $2, 'paid')");
        let payment = payment.bind(id(call)).bind(number(attempt_of.number()));
        payment.execute(&mut *tx).await?;
        effect(&mut tx, call, attempt_of.number()).await?;
        tx.commit().await
    };
    attempt(call, &attempt_of, work).await
}

/// Takes the place of the last attempt's payment, unless it is there.
async fn verified(call: &Call) -> Verified<()> {
    let _hook = call.hook(Hook::Verify);
    let fence = call.below(Op::Fence, |_, policy| policy);
    let request = observe::request(fence.id.to_string(), fence_off(&fence, call));
    let answer = request.await;
    fence.ended(&answer);
    let is_there = sqlx::query_scalar::<_, String>(
        "SELECT kind FROM payment WHERE call = $1 AND attempt = $2",
    );
    if answer.is_err() {
        return Verified::Unknown;
    }
    let kind = is_there.bind(id(call)).bind(number(call.begun()));
    match kind.fetch_one(pool()).await.as_deref() {
        Ok("paid") => Verified::Done(()),
        Ok(_) => Verified::NotDone,
        Err(_) => Verified::Unknown,
    }
}

/// Waits while the transaction in question is still open.
#[retry(policy = fence.policy, timeout = "300ms", context = attempt_of)]
async fn fence_off(fence: &Call, call: &Call) -> Result<(), RetryError<Wrong>> {
    let work = async {
        let mark = "INSERT INTO payment VALUES ($1, $2, 'fenced') ON CONFLICT DO NOTHING";
        let mark = sqlx::query(mark).bind(id(call)).bind(number(call.begun()));
        mark.execute(pool()).await.map(drop)
    };
    attempt(fence, &attempt_of, work).await
}

/// One of two in conflict is rolled back and begins anew.
#[retry(policy = call.policy, idempotent = false, context = attempt_of)]
pub(super) async fn transfer(call: &Call) -> Result<(), RetryError<Wrong>> {
    let work = async {
        let mut tx = pool()
            .begin_with("BEGIN ISOLATION LEVEL SERIALIZABLE")
            .await?;
        let mut random = Random::of(call.id, &[10]);
        let from = i32::try_from(random.range(1, 2)).unwrap();
        for (account, change) in [(from, -1_i64), (from + 2, 1)] {
            let read = sqlx::query_scalar("SELECT balance FROM account WHERE id = $1");
            let balance: i64 = read.bind(account).fetch_one(&mut *tx).await?;
            let write = sqlx::query("UPDATE account SET balance = $2 WHERE id = $1");
            let write = write.bind(account).bind(balance + change);
            write.execute(&mut *tx).await?;
        }
        effect(&mut tx, call, attempt_of.number()).await?;
        tx.commit().await
    };
    attempt(call, &attempt_of, work).await
}
