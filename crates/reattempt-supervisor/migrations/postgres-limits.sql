-- Limits of queues. Workers of a release before ignore them.
CREATE TABLE retry_limit (
    queue       TEXT PRIMARY KEY,
    -- How many tasks workers hold at once; NULL: any number.
    concurrency BIGINT,
    -- How many tasks workers take in any `period` microseconds; NULL: any number.
    tasks       BIGINT,
    period      BIGINT
);

-- The claims of queues with a `concurrency`. A later claim deletes those whose task has left its worker.
CREATE TABLE retry_limit_held (
    queue  TEXT   NOT NULL,
    run_id BIGINT NOT NULL,
    fence  BIGINT NOT NULL,
    PRIMARY KEY (queue, run_id, fence)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- How many tasks of a queue with a rate were claimed in each slice of time. A slice ends before `until`.
CREATE TABLE retry_limit_spent (
    queue TEXT   NOT NULL,
    until BIGINT NOT NULL,
    tasks BIGINT NOT NULL,
    PRIMARY KEY (queue, until)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, fillfactor = 50);

-- Returns how many tasks of a queue a claim may take, NULL if it has no limit; after how many microseconds
-- there may be more, NULL if only the end of a task makes room; the end of the present slice, if it has a
-- rate; and whether it has a `concurrency`.
--
-- One transaction at a time takes tasks of a queue with a limit. Others do not wait, so that their claims of
-- other queues go on. Each statement of this function sees what was committed before it, also what the last
-- one with the lock has claimed. An advisory lock writes nothing, so a look that finds no room costs no commit.
CREATE FUNCTION retry_room(asked TEXT, OUT room BIGINT, OUT again BIGINT, OUT slice BIGINT, OUT is_counted BOOLEAN) LANGUAGE plpgsql AS $$
DECLARE
    stamp BIGINT := extract(epoch FROM now()) * 1000000;
    -- How long ago a transaction may have begun that asks, in microseconds.
    late BIGINT := 500000;
    -- A task that seems to have left later than this left before the clock was set back, or is pruned: its time
    -- is the one when its key becomes free.
    future BIGINT := stamp + 2 * late;
    own RECORD;
    taken RECORD;
    spent RECORD;
    width BIGINT;
BEGIN
    SELECT * INTO own FROM retry_limit WHERE queue = asked;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF NOT pg_try_advisory_xact_lock(1919251571, hashtext(asked))
        OR extract(epoch FROM clock_timestamp() - transaction_timestamp()) * 1000000 > late
    THEN
        room := 0;
        again := 5000 + 10000 * random();
        RETURN;
    END IF;
    is_counted := own.concurrency IS NOT NULL;
    IF is_counted THEN
        -- A task that leaves in a transaction that began later has not left at the time of this one. The next one to
        -- ask may have begun earlier.
        DELETE FROM retry_limit_held AS held WHERE queue = asked AND NOT EXISTS (
            SELECT FROM retry_run AS run WHERE run.id = held.run_id
                AND (run.fence = held.fence AND run.state + 0 = 1 OR run.updated_at BETWEEN stamp - late AND future)
        );
        SELECT count(*) AS tasks, count(*) FILTER (WHERE run.fence <> held.fence OR run.state <> 1) AS leave INTO taken
        FROM retry_limit_held AS held JOIN retry_run AS run ON run.id = held.run_id
        WHERE held.queue = asked AND (run.fence = held.fence AND run.state + 0 = 1 OR run.updated_at BETWEEN stamp AND future);
        room := greatest(own.concurrency - taken.tasks, 0);
        again := CASE WHEN taken.leave > 0 THEN 5000 END;
    END IF;
    IF own.tasks IS NOT NULL THEN
        width := greatest(own.period / 20, 1);
        slice := (stamp / width + 1) * width;
        -- The clock may have been set back.
        DELETE FROM retry_limit_spent WHERE queue = asked
            AND (until <= stamp - own.period - late OR until > stamp + own.period + late);
        -- Any period that ends now or later begins after these. Those of transactions that began later count, too.
        SELECT coalesce(sum(tasks), 0) AS tasks, min(until) AS until INTO spent
        FROM retry_limit_spent WHERE queue = asked AND until > stamp - own.period;
        IF room IS NULL OR own.tasks - spent.tasks <= room THEN
            room := greatest(own.tasks - spent.tasks, 0);
            again := coalesce(spent.until, slice) + own.period - stamp;
        END IF;
    END IF;
END $$;

-- Whoever may write tasks may claim them, also the users of a release before.
DO $$
DECLARE
    other TEXT;
BEGIN
    FOR other IN
        SELECT DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END FROM pg_class CROSS JOIN aclexplode(relacl)
        WHERE pg_class.oid = 'retry_run'::regclass AND grantee <> relowner AND privilege_type IN ('INSERT', 'UPDATE', 'DELETE')
    LOOP
        EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON retry_limit, retry_limit_held, retry_limit_spent TO ' || other;
    END LOOP;
END $$;
