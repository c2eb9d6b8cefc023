-- Small tables in the place of indexes of retry_run: a change of a task writes no index of the large
-- table, and nobody searches it for tasks in a state. Triggers keep them, so processes of a release
-- before keep them, too. Whoever changes their rows has locked the task. Each has a primary key, without
-- which PostgreSQL deletes no row of a published table.

-- Tasks that wait for a worker, a time or a signal.
CREATE TABLE retry_ready (
    run_id     BIGINT   NOT NULL,
    queue      TEXT     NOT NULL,
    workflow   TEXT     NOT NULL,
    version    INTEGER  NOT NULL,
    priority   SMALLINT NOT NULL,
    wake_at    BIGINT   NOT NULL,
    is_suspect BOOLEAN  NOT NULL,
    state      SMALLINT NOT NULL,
    CONSTRAINT retry_ready_claim PRIMARY KEY (is_suspect, queue, workflow, version, priority, wake_at, run_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
-- For lists, the newest first, and for counts.
CREATE INDEX retry_ready_listed ON retry_ready (state, run_id);

-- Tasks that a worker holds.
CREATE TABLE retry_held (
    run_id  BIGINT NOT NULL,
    owner   TEXT   NOT NULL,
    -- Only workers of the first release write it.
    step_by BIGINT,
    CONSTRAINT retry_held_owner PRIMARY KEY (owner, run_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX retry_held_step_by ON retry_held (step_by) WHERE step_by IS NOT NULL;

-- Tasks that go forward until a time.
CREATE TABLE retry_limited (
    run_id      BIGINT NOT NULL,
    complete_by BIGINT NOT NULL,
    CONSTRAINT retry_limited_by PRIMARY KEY (complete_by, run_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Tasks that have ended or are parked, and since when.
CREATE TABLE retry_ended (
    run_id BIGINT   NOT NULL,
    state  SMALLINT NOT NULL,
    at     BIGINT   NOT NULL,
    CONSTRAINT retry_ended_at PRIMARY KEY (at, run_id)
);
CREATE INDEX retry_ended_listed ON retry_ended (state, run_id);
-- Those that are kept for their keys, which are free then.
CREATE INDEX retry_ended_pruned ON retry_ended (at) WHERE state = 8;

-- Follows all changes of one statement, so that each costs little. What lanes and children change besides comes
-- last, when the small tables fit again.
CREATE FUNCTION retry_follow() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    -- What there is to do.
    had RECORD;
    has RECORD;
    task retry_run;
BEGIN
    -- Each row is looked up by its key, whatever the planner takes for small.
    IF TG_OP <> 'INSERT' THEN
        SELECT bool_or(state IN (0, 2)) AS ready, bool_or(state = 1) AS held, bool_or(state > 2) AS ended,
            bool_or(complete_by IS NOT NULL) AS limits, bool_or(lane IS NOT NULL) AS lanes INTO had FROM before;
        IF had.ready THEN
            DELETE FROM retry_ready WHERE ctid = ANY (ARRAY(
                SELECT line.ctid FROM before CROSS JOIN LATERAL (
                    SELECT ctid FROM retry_ready AS ready WHERE is_suspect = (before.deaths >= 2) AND ready.queue = before.queue
                        AND ready.workflow = before.workflow AND ready.version = before.version AND ready.priority = before.priority
                        AND ready.wake_at = before.wake_at AND run_id = before.id OFFSET 0
                ) AS line WHERE before.state IN (0, 2)
            ));
        END IF;
        IF had.held THEN
            DELETE FROM retry_held WHERE ctid = ANY (ARRAY(
                SELECT line.ctid FROM before CROSS JOIN LATERAL (
                    SELECT ctid FROM retry_held WHERE owner = coalesce(before.owner, '') AND run_id = before.id OFFSET 0
                ) AS line WHERE before.state = 1
            ));
        END IF;
        IF had.ended THEN
            DELETE FROM retry_ended WHERE ctid = ANY (ARRAY(
                SELECT line.ctid FROM before CROSS JOIN LATERAL (
                    SELECT ctid FROM retry_ended WHERE at = before.updated_at AND run_id = before.id OFFSET 0
                ) AS line WHERE before.state > 2
            ));
        END IF;
        IF had.limits THEN
            DELETE FROM retry_limited WHERE ctid = ANY (ARRAY(
                SELECT line.ctid FROM before CROSS JOIN LATERAL (
                    SELECT ctid FROM retry_limited WHERE complete_by = before.complete_by AND run_id = before.id OFFSET 0
                ) AS line WHERE before.complete_by IS NOT NULL
            ));
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        SELECT bool_or(state IN (0, 2)) AS ready, bool_or(state = 1) AS held, bool_or(state > 2) AS ended,
            bool_or(complete_by IS NOT NULL) AS limits, bool_or(lane IS NOT NULL) AS lanes, bool_or(parent IS NOT NULL) AS parents
        INTO has FROM after;
        IF has.ready THEN
            INSERT INTO retry_ready SELECT id, queue, workflow, version, priority, wake_at, deaths >= 2, state FROM after WHERE state IN (0, 2);
        END IF;
        IF has.held THEN
            INSERT INTO retry_held SELECT id, coalesce(owner, ''), step_by FROM after WHERE state = 1;
        END IF;
        IF has.ended THEN
            INSERT INTO retry_ended SELECT id, state, updated_at FROM after WHERE state > 2;
        END IF;
        IF has.limits THEN
            INSERT INTO retry_limited SELECT id, complete_by FROM after WHERE complete_by IS NOT NULL AND state < 3 AND direction = 0;
        END IF;
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF has.lanes THEN
            INSERT INTO retry_lane_entering (run_id) SELECT id FROM after WHERE lane IS NOT NULL;
        END IF;
    ELSIF TG_OP = 'DELETE' THEN
        IF had.lanes THEN
            PERFORM retry_pass_turn(id, lane, (extract(epoch FROM now()) * 1000000)::bigint) FROM before WHERE lane IS NOT NULL;
        END IF;
    ELSIF has.lanes OR has.parents THEN
        FOR task IN SELECT * FROM after WHERE lane IS NOT NULL OR parent IS NOT NULL LOOP
            IF task.parent IS NOT NULL AND task.state BETWEEN 3 AND 6
                AND EXISTS (SELECT FROM before WHERE id = task.id AND state NOT BETWEEN 3 AND 6) THEN
                PERFORM retry_end_child(task);
            END IF;
            PERFORM retry_keep_lane(task);
        END LOOP;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER retry_follow_insert AFTER INSERT ON retry_run REFERENCING NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION retry_follow();
CREATE TRIGGER retry_follow_update AFTER UPDATE ON retry_run REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION retry_follow();
CREATE TRIGGER retry_follow_delete AFTER DELETE ON retry_run REFERENCING OLD TABLE AS before
    FOR EACH STATEMENT EXECUTE FUNCTION retry_follow();

CREATE FUNCTION retry_follow_truncate() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE retry_ready, retry_held, retry_limited, retry_ended, retry_lane, retry_lane_waiting;
    RETURN NULL;
END $$;
CREATE TRIGGER retry_follow_truncate AFTER TRUNCATE ON retry_run FOR EACH STATEMENT EXECUTE FUNCTION retry_follow_truncate();

-- Whoever may write tasks may keep the small tables, also the users of a release before.
DO $$
DECLARE
    other TEXT;
BEGIN
    FOR other IN
        SELECT DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END FROM pg_class CROSS JOIN aclexplode(relacl)
        WHERE pg_class.oid = 'retry_run'::regclass AND grantee <> relowner AND privilege_type IN ('INSERT', 'UPDATE', 'DELETE')
    LOOP
        EXECUTE 'GRANT SELECT, INSERT, DELETE ON retry_ready, retry_held, retry_limited, retry_ended TO ' || other;
    END LOOP;
END $$;

-- Room for the versions of a task on its page.
ALTER TABLE retry_run SET (fillfactor = 50);

-- Tasks with lower numbers are not in the small tables yet.
INSERT INTO retry_meta (key, value) SELECT 'fill_from', max(id) + 1 FROM retry_run HAVING max(id) IS NOT NULL;
