-- Small tables in the place of indexes of retry_run: a change of a task writes no index of the large
-- table, and nobody searches it for tasks in a state. A trigger keeps them, so processes of a release
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

CREATE FUNCTION retry_follow() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        TRUNCATE retry_ready, retry_held, retry_limited, retry_ended;
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        IF OLD.state IN (0, 2) THEN
            DELETE FROM retry_ready WHERE is_suspect = (OLD.deaths >= 2) AND queue = OLD.queue AND workflow = OLD.workflow
                AND version = OLD.version AND priority = OLD.priority AND wake_at = OLD.wake_at AND run_id = OLD.id;
        ELSIF OLD.state = 1 THEN
            DELETE FROM retry_held WHERE owner = coalesce(OLD.owner, '') AND run_id = OLD.id;
        ELSE
            DELETE FROM retry_ended WHERE at = OLD.updated_at AND run_id = OLD.id;
        END IF;
        IF OLD.complete_by IS NOT NULL THEN
            DELETE FROM retry_limited WHERE complete_by = OLD.complete_by AND run_id = OLD.id;
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        IF NEW.state IN (0, 2) THEN
            INSERT INTO retry_ready VALUES (NEW.id, NEW.queue, NEW.workflow, NEW.version, NEW.priority, NEW.wake_at, NEW.deaths >= 2, NEW.state);
        ELSIF NEW.state = 1 THEN
            INSERT INTO retry_held VALUES (NEW.id, coalesce(NEW.owner, ''), NEW.step_by);
        ELSE
            INSERT INTO retry_ended VALUES (NEW.id, NEW.state, NEW.updated_at);
        END IF;
        IF NEW.complete_by IS NOT NULL AND NEW.state < 3 AND NEW.direction = 0 THEN
            INSERT INTO retry_limited VALUES (NEW.id, NEW.complete_by);
        END IF;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER retry_follow AFTER INSERT OR UPDATE OR DELETE ON retry_run FOR EACH ROW EXECUTE FUNCTION retry_follow();
CREATE TRIGGER retry_follow_all AFTER TRUNCATE ON retry_run FOR EACH STATEMENT EXECUTE FUNCTION retry_follow();

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
