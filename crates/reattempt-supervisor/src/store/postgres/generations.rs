//! Tasks that continue as new.

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::connection::Live;
use super::sql::now;
use crate::store::NextGeneration;
use crate::task::Lease;

/// Lets the task $1 under the fence $2, which `LOCK` has locked, go on as its generation $3. The newest signals
/// that its workflow has got stay without their names and values: their senders may repeat them. The same worker
/// may have written it before without knowing.
// A worker reads the kept signals with the others and ignores their name, so no other statement had
// to change. The next claim raises the fence, so what this generation writes late is lost.
pub(super) const CONTINUE: &str = concat!(
    "WITH continued AS (
         UPDATE retry_run SET
             state = 0, owner = NULL, step_by = NULL, failures = 0, deaths = 0, failed_ord = -1, failed_seq = NULL, awaits = NULL, error = NULL,
             generation = $3::int, version = $4::int, input = $5::text,
             continued_at = ", now!(), ", wake_at = ", now!(), ", updated_at = ", now!(), "
         WHERE id = $1::bigint AND fence = $2::bigint AND state + 0 = 1
         RETURNING id, cancel_asked
     ), steps AS (
         DELETE FROM retry_step WHERE run_id = (SELECT id FROM continued)
     ), failures AS (
         DELETE FROM retry_failure WHERE run_id = (SELECT id FROM continued)
     ), calls AS (
         DELETE FROM retry_call WHERE run_id = (SELECT id FROM continued)
     ), heard AS MATERIALIZED (
         SELECT id FROM retry_signal WHERE run_id = (SELECT id FROM continued)
             AND (name = 'reattempt:heard' OR id = ANY ($6::bigint[]) AND nonce IS NOT NULL)
         ORDER BY id DESC LIMIT 100
     ), kept AS (
         UPDATE retry_signal SET name = 'reattempt:heard', payload = ''
         WHERE run_id = (SELECT id FROM continued) AND id = ANY ($6) AND id = ANY (ARRAY(SELECT id FROM heard))
     ), forgotten AS (
         DELETE FROM retry_signal WHERE run_id = (SELECT id FROM continued)
             AND (name IN ('reattempt:child', 'reattempt:call', 'reattempt:heard') OR id = ANY ($6)) AND id <> ALL (ARRAY(SELECT id FROM heard))
     )
     SELECT cancel_asked, ", now!(), " FROM continued
     UNION ALL
     SELECT cancel_asked, ", now!(), " FROM retry_run WHERE id = $1 AND fence = $2 AND state + 0 <> 1 AND generation = $3
         AND NOT EXISTS (SELECT FROM continued)"
);

/// Ends the generation of a task.
pub(super) async fn send(
    live: &Live,
    lease: Lease,
    next: &NextGeneration,
) -> Result<Vec<Row>, Error> {
    let values: [&(dyn ToSql + Sync); 6] = [
        &lease.task.0,
        &lease.fence.0,
        &next.generation,
        &next.version,
        &next.input,
        &next.heard,
    ];
    live.query(CONTINUE, &values).await
}
