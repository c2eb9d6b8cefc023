-- Lanes: the tasks of a lane run one at a time, also if workers of a release before run them. A task that
-- waits for its turn wakes up at 9223372036854775806, so no worker claims it. A task enters its lane when it
-- is stored, or continues after its end, and has the turn until it has ended.
--
-- Whoever changes a task has locked it, then locks its lane, and then locks the task that gets the turn.
-- Whoever changes a task that waits does not lock the lane.
ALTER TABLE retry_run ADD COLUMN lane TEXT;

-- The task that has the turn in each lane.
CREATE TABLE retry_lane (
    lane   TEXT   PRIMARY KEY,
    run_id BIGINT NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, fillfactor = 50);

-- The tasks that wait for their turn, and when they would wake up otherwise.
CREATE TABLE retry_lane_waiting (
    run_id  BIGINT PRIMARY KEY,
    lane    TEXT   NOT NULL,
    wake_at BIGINT NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX retry_lane_waiting_next ON retry_lane_waiting (lane, wake_at, run_id);

-- Gives a task the turn if nobody has it. Otherwise the task waits.
CREATE FUNCTION retry_take_turn(task BIGINT, its_lane TEXT, due BIGINT, stamp BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    holder BIGINT;
    later BIGINT;
BEGIN
    PERFORM FROM retry_lane WHERE lane = its_lane AND run_id = task;
    IF FOUND THEN
        -- It may have waited before a repair.
        UPDATE retry_run SET wake_at = stamp WHERE id = task AND wake_at = 9223372036854775806;
        RETURN;
    END IF;
    IF due = 9223372036854775806 THEN
        PERFORM FROM retry_lane_waiting WHERE run_id = task;
        IF FOUND THEN
            RETURN;
        END IF;
        due := stamp;
    END IF;
    -- Somebody has changed a task that waits.
    UPDATE retry_lane_waiting SET wake_at = due WHERE run_id = task;
    IF FOUND THEN
        UPDATE retry_run SET wake_at = 9223372036854775806 WHERE id = task;
        RETURN;
    END IF;
    LOOP
        INSERT INTO retry_lane VALUES (its_lane, task) ON CONFLICT (lane) DO NOTHING;
        IF FOUND THEN
            UPDATE retry_run SET wake_at = due WHERE id = task AND wake_at <> due;
            RETURN;
        END IF;
        SELECT run_id INTO holder FROM retry_lane WHERE lane = its_lane FOR UPDATE;
        EXIT WHEN FOUND;
    END LOOP;
    -- A task that sleeps and has not started lets one pass that wakes up earlier, unless somebody is about to
    -- change it. So does one that stands behind it in the list of their submission.
    SELECT wake_at INTO later FROM retry_run
    WHERE id = holder AND state + 0 = 0 AND fence = 0 AND (wake_at > greatest(due, stamp) OR wake_at = due AND id > task)
    FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        INSERT INTO retry_lane_waiting VALUES (holder, its_lane, later);
        UPDATE retry_lane SET run_id = task WHERE lane = its_lane;
        UPDATE retry_run SET wake_at = 9223372036854775806 WHERE id = holder;
    ELSE
        INSERT INTO retry_lane_waiting VALUES (task, its_lane, due);
        UPDATE retry_run SET wake_at = 9223372036854775806 WHERE id = task;
    END IF;
END $$;

-- Takes a task out of its lane. If it had the turn, the next one gets it: the one that wakes up first.
CREATE FUNCTION retry_pass_turn(task BIGINT, its_lane TEXT, stamp BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    next RECORD;
BEGIN
    PERFORM FROM retry_lane WHERE lane = its_lane AND run_id = task FOR UPDATE;
    IF NOT FOUND THEN
        DELETE FROM retry_lane_waiting WHERE run_id = task;
        RETURN;
    END IF;
    LOOP
        SELECT run_id, wake_at INTO next FROM retry_lane_waiting WHERE lane = its_lane ORDER BY wake_at, run_id LIMIT 1;
        IF NOT FOUND THEN
            DELETE FROM retry_lane WHERE lane = its_lane;
            RETURN;
        END IF;
        -- Somebody may cancel it meanwhile.
        PERFORM FROM retry_run WHERE id = next.run_id FOR NO KEY UPDATE;
        DELETE FROM retry_lane_waiting WHERE run_id = next.run_id;
        IF FOUND THEN
            UPDATE retry_lane SET run_id = next.run_id WHERE lane = its_lane;
            -- The time of its turn, so that a lane with many old tasks goes before no other lane.
            UPDATE retry_run SET wake_at = greatest(next.wake_at, stamp) WHERE id = next.run_id;
            RETURN;
        END IF;
    END LOOP;
END $$;

-- Follows a change of a task.
CREATE FUNCTION retry_keep_lane(task retry_run) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    stamp BIGINT := extract(epoch FROM now()) * 1000000;
BEGIN
    IF task.lane IS NULL OR task.state IN (1, 2) THEN
        RETURN;
    ELSIF task.state BETWEEN 3 AND 6 THEN
        PERFORM retry_pass_turn(task.id, task.lane, stamp);
    ELSIF task.state = 7 THEN
        -- It keeps its turn.
        DELETE FROM retry_lane_waiting WHERE run_id = task.id;
    ELSIF task.direction <> 0 AND task.fence <= 1 THEN
        -- It has never started and is late, so it has nothing to undo and does not wait.
        DELETE FROM retry_lane_waiting WHERE run_id = task.id;
        IF FOUND THEN
            UPDATE retry_run SET lane = NULL WHERE id = task.id;
        END IF;
    ELSE
        PERFORM retry_take_turn(task.id, task.lane, task.wake_at, stamp);
    END IF;
END $$;

-- Tasks that are about to enter their lanes. `retry_submit` defers it: an open transaction of an application
-- should not lock the lane. All tasks of a transaction enter together, in the order of their lanes: two
-- transactions that submit to the same lanes cannot deadlock.
CREATE TABLE retry_lane_entering (
    run_id BIGINT NOT NULL,
    writer BIGINT NOT NULL DEFAULT txid_current(),
    PRIMARY KEY (writer, run_id)
);
CREATE FUNCTION retry_enter_lane() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    task retry_run;
BEGIN
    FOR task IN
        SELECT run.* FROM retry_lane_entering CROSS JOIN LATERAL (SELECT * FROM retry_run WHERE id = run_id OFFSET 0) AS run
        WHERE writer = NEW.writer ORDER BY run.lane, run.id
    LOOP
        PERFORM retry_keep_lane(task);
    END LOOP;
    DELETE FROM retry_lane_entering WHERE writer = NEW.writer;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER retry_lane_entered AFTER INSERT ON retry_lane_entering DEFERRABLE INITIALLY IMMEDIATE
    FOR EACH ROW EXECUTE FUNCTION retry_enter_lane();

-- Whoever may write tasks may keep the lanes, also the users of a release before.
DO $$
DECLARE
    other TEXT;
BEGIN
    FOR other IN
        SELECT DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END FROM pg_class CROSS JOIN aclexplode(relacl)
        WHERE pg_class.oid = 'retry_run'::regclass AND grantee <> relowner AND privilege_type IN ('INSERT', 'UPDATE', 'DELETE')
    LOOP
        EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON retry_lane, retry_lane_waiting, retry_lane_entering TO ' || other;
    END LOOP;
END $$;

-- The same as before, with a lane.
CREATE OR REPLACE FUNCTION retry_submit(task TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
    given JSON := task;
    stamp BIGINT := extract(epoch FROM now()) * 1000000;
    submitted JSON;
BEGIN
    PERFORM retry_check_database(given ->> 'store');
    IF given ->> 'lane' IS NOT NULL THEN
        SET CONSTRAINTS retry_lane_entered DEFERRED;
    END IF;
    INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, complete_by, fence, failures,
        max_failures, cancel_asked, input, headers, created_at, updated_at, on_failure, nonce, lane)
    VALUES (given ->> 'workflow', (given ->> 'version')::int, given ->> 'queue', (given ->> 'priority')::smallint, given ->> 'key', 0, 0,
        stamp + (given ->> 'delay')::bigint, stamp + (given ->> 'complete_in')::bigint, 0, 0, (given ->> 'max_failures')::int, false,
        given ->> 'input', given ->> 'headers', stamp, stamp, (given ->> 'on_failure')::smallint,
        CASE WHEN NOT EXISTS (SELECT FROM retry_meta WHERE key = 'old_seen' AND value > stamp - 86400000000) THEN (given ->> 'nonce')::bigint END, given ->> 'lane')
    ON CONFLICT (workflow, idem_key) DO NOTHING
    RETURNING json_build_object('id', id, 'is_new', true) INTO submitted;
    IF submitted IS NULL THEN
        SELECT json_build_object('id', id, 'is_new', false, 'version', CASE WHEN generation = 0 AND state <> 8 THEN version END, 'input', input) INTO submitted
        FROM retry_run WHERE workflow = given ->> 'workflow' AND idem_key = given ->> 'key';
    END IF;
    IF submitted IS NULL THEN
        RAISE EXCEPTION 'another transaction has stored a task with this key, and this one cannot see it' USING ERRCODE = '40001';
    END IF;
    RETURN submitted;
END $$;
