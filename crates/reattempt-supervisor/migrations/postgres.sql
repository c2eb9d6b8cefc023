-- Tasks of reattempt-supervisor. Times are microseconds since 1970, in UTC.

-- Numbers of the store.
CREATE TABLE retry_meta (
    -- `version` of these tables; `salt` and `salt_2`, 128 random bits that nobody shows; `store`, which says which
    -- store this is. Each sweep notes its time in `last_sweep`; nobody judges a lease before `judge_from`. A new
    -- reader of the feed begins after `feed_pruned`.
    key   TEXT   PRIMARY KEY,
    value BIGINT NOT NULL
);

CREATE SEQUENCE retry_run_id;
CREATE TABLE retry_run (
    id           BIGINT   PRIMARY KEY DEFAULT nextval('retry_run_id'),
    workflow     TEXT     NOT NULL,
    version      INTEGER  NOT NULL,
    queue        TEXT     NOT NULL,
    priority     SMALLINT NOT NULL,
    idem_key     TEXT     NOT NULL,
    -- How often the key had become free before this task.
    incarnation  INTEGER  NOT NULL DEFAULT 0,
    -- 0 pending, 1 processing, 2 waiting, 3 processed, 4 error, 5 compensated, 6 cancelled, 7 parked, 8 pruned
    state        SMALLINT NOT NULL,
    -- 0 forward, 1 undoing, 2 cancelling
    direction    SMALLINT NOT NULL,
    wake_at      BIGINT   NOT NULL,
    complete_by  BIGINT,
    step_by      BIGINT,
    owner        TEXT,
    fence        BIGINT   NOT NULL,
    failures     INTEGER  NOT NULL,
    max_failures INTEGER  NOT NULL,
    cancel_asked BOOLEAN  NOT NULL,
    input        TEXT     NOT NULL,
    output       TEXT,
    error        TEXT,
    headers      TEXT,
    created_at   BIGINT   NOT NULL,
    updated_at   BIGINT   NOT NULL,
    -- What happens when it has failed for good: 0 undo, 1 keep.
    on_failure   SMALLINT NOT NULL DEFAULT 0,
    -- How often a worker has died while it held the task, since the task's last outcome.
    deaths       INTEGER  NOT NULL DEFAULT 0,
    -- The ord of the newest outcome at the last failure: a newer outcome starts the count anew.
    failed_ord   INTEGER  NOT NULL DEFAULT -1,
    -- The step whose failure ended the task.
    failed_seq   INTEGER,
    -- The task that has started this one.
    parent       BIGINT,
    -- How many children must end before a waiting task goes on; NULL if it does not wait for children.
    awaits       INTEGER,
    lane         TEXT,
    -- How often the task has continued as new, and when it last did.
    generation   INTEGER  NOT NULL DEFAULT 0,
    continued_at BIGINT,
    -- Which task it is a fork of, as JSON.
    origin       TEXT,
    UNIQUE (workflow, idem_key)
    -- Room for the versions of a task on its page: with the two indexes 99 % of the changes of a
    -- task are HOT.
) WITH (fillfactor = 50);
ALTER SEQUENCE retry_run_id OWNED BY retry_run.id;

-- Small tables in the place of indexes of retry_run: a change of a task writes no index of the large table, and
-- nobody searches it for tasks in a state. Triggers keep them, also for applications that submit. Whoever changes
-- their rows has locked the task. Each has a primary key, without which PostgreSQL deletes no row of a published
-- table.

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

-- What happened in a task; a line never changes.
CREATE TABLE retry_step (
    run_id    BIGINT   NOT NULL,
    seq       INTEGER  NOT NULL,
    -- 0 begun, 1 done, 2 failed, 3 undone
    kind      SMALLINT NOT NULL,
    ord       INTEGER  NOT NULL,
    name      TEXT     NOT NULL,
    attempts  INTEGER  NOT NULL,
    result    TEXT,
    error     TEXT,
    due_at    BIGINT,
    at        BIGINT   NOT NULL,
    fence     BIGINT   NOT NULL,
    -- A hash of the arguments; NULL if there are none.
    args_hash TEXT,
    -- The arguments, and the name of the step that undoes this one; NULL if none does.
    args      TEXT,
    undo      TEXT,
    PRIMARY KEY (run_id, seq, kind)
);

-- How often each step has failed in a row.
CREATE TABLE retry_failure (
    run_id    BIGINT   NOT NULL,
    direction SMALLINT NOT NULL,
    seq       INTEGER  NOT NULL,
    failures  INTEGER  NOT NULL,
    error     TEXT     NOT NULL,
    at        BIGINT   NOT NULL,
    PRIMARY KEY (run_id, direction, seq)
);

-- What operators have said about steps.
CREATE TABLE retry_note (
    id      BIGINT  PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    run_id  BIGINT  NOT NULL,
    seq     INTEGER NOT NULL,
    verdict TEXT    NOT NULL,
    operator TEXT   NOT NULL,
    why     TEXT    NOT NULL,
    at      BIGINT  NOT NULL
);
CREATE INDEX retry_note_run ON retry_note (run_id);

-- The steps that run, as their workers report them. A line counts only under the fence of its task.
CREATE TABLE retry_running (
    run_id BIGINT  NOT NULL,
    seq    INTEGER NOT NULL,
    fence  BIGINT  NOT NULL,
    worker TEXT    NOT NULL,
    name   TEXT    NOT NULL,
    since  BIGINT  NOT NULL,
    due    BIGINT,
    PRIMARY KEY (run_id, seq)
);
CREATE INDEX retry_running_due ON retry_running (due) WHERE due IS NOT NULL;
CREATE INDEX retry_running_worker ON retry_running (worker);

CREATE TABLE retry_signal (
    id      BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    run_id  BIGINT NOT NULL,
    name    TEXT   NOT NULL,
    payload TEXT   NOT NULL,
    -- Random bits of the sender, who repeats a signal of unknown outcome; NULL if a child has ended.
    nonce   BIGINT
);
CREATE INDEX retry_signal_run ON retry_signal (run_id, id);

-- The feed of ends: a line for each end of a task, which the trigger of `retry_run` writes under the lock of the task.
-- So a later end of a task has a higher number. Pruning deletes old lines.
CREATE SEQUENCE retry_feed_number CACHE 1;
CREATE TABLE retry_feed (
    number   BIGINT   PRIMARY KEY DEFAULT nextval('retry_feed_number'),
    run_id   BIGINT   NOT NULL,
    workflow TEXT     NOT NULL,
    queue    TEXT     NOT NULL,
    idem_key TEXT     NOT NULL,
    -- 3 processed, 4 error, 5 compensated, 6 cancelled, 7 parked
    state    SMALLINT NOT NULL,
    error    TEXT,
    headers  TEXT,
    at       BIGINT   NOT NULL
);
ALTER SEQUENCE retry_feed_number OWNED BY retry_feed.number;

-- How far the readers of the feed have got.
CREATE TABLE retry_feed_reader (
    name    TEXT     PRIMARY KEY,
    -- The highest number that it has got.
    number  BIGINT   NOT NULL,
    -- Which numbers below it were missing: from `first` to `last`. The transaction `noticed` began after that.
    first   BIGINT[] NOT NULL DEFAULT '{}',
    last    BIGINT[] NOT NULL DEFAULT '{}',
    noticed BIGINT[] NOT NULL DEFAULT '{}',
    -- How often it was moved.
    version BIGINT   NOT NULL DEFAULT 0,
    -- How many lines were deleted before it got them.
    missed  BIGINT   NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- Deletes the lines of the feed that are not newer, of the first `most`, and counts them for the readers that have not
-- got them. Returns how many.
CREATE FUNCTION retry_prune_feed(before BIGINT, most BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    -- Not all lines: without old ones each look would read them all.
    old BIGINT[] := ARRAY(
        SELECT number FROM (SELECT number, at FROM retry_feed ORDER BY number LIMIT most) AS line WHERE at <= before
    );
    gone BIGINT[];
BEGIN
    IF cardinality(old) = 0 THEN
        RETURN 0;
    END IF;
    -- They do not move meanwhile.
    PERFORM FROM retry_feed_reader ORDER BY name FOR UPDATE;
    WITH line AS (
        DELETE FROM retry_feed WHERE number = ANY (old) RETURNING number
    )
    SELECT coalesce(array_agg(number), '{}') INTO gone FROM line;
    INSERT INTO retry_meta SELECT 'feed_pruned', max(number) FROM unnest(gone) AS line (number) HAVING count(*) > 0
    ON CONFLICT (key) DO UPDATE SET value = greatest(retry_meta.value, excluded.value);
    UPDATE retry_feed_reader AS reader SET missed = missed + (
        SELECT count(*) FROM unnest(gone) AS line (number) WHERE line.number > reader.number
            OR EXISTS (SELECT FROM unnest(first, last) AS gap (first, last) WHERE line.number BETWEEN gap.first AND gap.last)
    ) WHERE number < (SELECT max(number) FROM unnest(gone) AS line (number)) OR cardinality(first) > 0;
    RETURN cardinality(gone);
END $$;

CREATE TABLE retry_worker (
    id          TEXT   PRIMARY KEY,
    lease_until BIGINT NOT NULL,
    lease       BIGINT NOT NULL
);

-- The connections that write. What a given-up connection sends late has an old epoch and fails.
CREATE TABLE retry_writer (
    id    TEXT   PRIMARY KEY,
    epoch BIGINT NOT NULL,
    at    BIGINT NOT NULL
);

-- Fails unless this is the epoch of the writer. If it is, nobody can raise it before the end of this
-- transaction: who raises it takes the same advisory lock alone. 1919251570 is "retr". A row lock would
-- write the row: 0.06 ms of 0.42 ms.
CREATE FUNCTION retry_check_writer(writer TEXT, writer_epoch BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    -- An expression costs less than a statement.
    locked BOOLEAN := pg_advisory_xact_lock_shared(1919251570, hashtext(writer)) IS NOT NULL;
BEGIN
    PERFORM FROM retry_writer WHERE id = writer AND epoch = writer_epoch;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'a newer connection of the writer has raised its epoch' USING ERRCODE = 'RS002';
    END IF;
END $$;

-- Schedules: a workflow gets a task at each of their times.
CREATE TABLE retry_schedule (
    name     TEXT     PRIMARY KEY,
    -- How often it was written: a writer must have seen the newest version.
    version  BIGINT   NOT NULL,
    -- The revision of its definition, which never falls.
    revision BIGINT   NOT NULL,
    -- Five fields and a time zone.
    cron     TEXT     NOT NULL,
    -- 0 run, 1 skip, 2 last
    missed   SMALLINT NOT NULL,
    -- Its tasks, as JSON.
    task     TEXT     NOT NULL,
    -- 0 active, 1 paused, 2 removed
    state    SMALLINT NOT NULL,
    next_at  BIGINT   NOT NULL,
    -- No time up to this one comes again, although its task may be deleted.
    last_at  BIGINT,
    operator TEXT     NOT NULL,
    why      TEXT     NOT NULL
);
CREATE INDEX retry_schedule_next ON retry_schedule (next_at) WHERE state = 0;

-- Limits of queues.
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
CREATE FUNCTION retry_room(asked TEXT, OUT room BIGINT, OUT again BIGINT, OUT slice BIGINT, OUT is_counted BOOLEAN)
LANGUAGE plpgsql AS $$
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
        WHERE held.queue = asked
            AND (run.fence = held.fence AND run.state + 0 = 1 OR run.updated_at BETWEEN stamp AND future);
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

-- Lanes: as many tasks of a lane run at once as its limit allows, one without it. A task that waits for its turn wakes
-- up at 9223372036854775806, so no worker claims it. A task enters its lane when it is stored, or continues after its
-- end, and has the turn until it has ended.
--
-- Whoever changes a task has locked it, then locks its lane, and then locks the task that gets the turn.
-- Whoever changes a task that waits does not lock the lane.

-- The lanes with tasks, to lock them.
CREATE TABLE retry_lane (
    lane TEXT PRIMARY KEY
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, fillfactor = 50);

-- The tasks that have the turn.
CREATE TABLE retry_lane_turn (
    run_id BIGINT PRIMARY KEY,
    lane   TEXT   NOT NULL,
    -- The task does not begin earlier.
    at     BIGINT NOT NULL,
    -- The period of the rate that the task counts for when it begins; NULL if it has begun, or there was no rate.
    period BIGINT
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, fillfactor = 50);
CREATE INDEX retry_lane_turn_lane ON retry_lane_turn (lane);

-- The tasks that wait for their turn, and when they would wake up otherwise.
CREATE TABLE retry_lane_waiting (
    run_id  BIGINT PRIMARY KEY,
    lane    TEXT   NOT NULL,
    wake_at BIGINT NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX retry_lane_waiting_next ON retry_lane_waiting (lane, wake_at, run_id);

-- Limits of lanes, by name, or by what names begin with and `*`.
CREATE TABLE retry_lane_limit (
    pattern     TEXT PRIMARY KEY,
    -- How many tasks have the turn at once; NULL: one.
    concurrency BIGINT,
    -- How many tasks begin in any `period` microseconds; NULL: any number.
    tasks       BIGINT,
    period      BIGINT
);
-- Each heartbeat asks whether there are any.
CREATE INDEX retry_lane_limit_rates ON retry_lane_limit (pattern) WHERE tasks IS NOT NULL;

-- When the tasks of lanes with a rate have begun that count: each until its period is over.
CREATE TABLE retry_lane_begun (
    lane   TEXT   NOT NULL,
    at     BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    until  BIGINT NOT NULL,
    PRIMARY KEY (lane, at, run_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX retry_lane_begun_until ON retry_lane_begun (until);

CREATE FUNCTION retry_lock_lane(its_lane TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    LOOP
        INSERT INTO retry_lane VALUES (its_lane) ON CONFLICT (lane) DO NOTHING;
        EXIT WHEN FOUND;
        PERFORM FROM retry_lane WHERE lane = its_lane FOR UPDATE;
        EXIT WHEN FOUND;
    END LOOP;
END $$;

-- Returns when a task that gets the turn now may begin, NULL if none gets it, and the period of the rate. It is true
-- for as long as the caller has locked the lane.
--
-- A rate of `tasks` in a period is as many tokens. A turn takes the one that is free first. It is free again a period
-- after its task has begun, so any period has at most `tasks` of them, wherever it begins.
CREATE FUNCTION retry_lane_room(its_lane TEXT, stamp BIGINT, OUT begins BIGINT, OUT its_period BIGINT)
LANGUAGE plpgsql AS $$
DECLARE
    own RECORD;
    given RECORD;
    again BIGINT;
BEGIN
    SELECT coalesce(concurrency, 1) AS concurrency, tasks, period INTO own FROM (SELECT) AS one LEFT JOIN LATERAL (
        SELECT * FROM retry_lane_limit
        WHERE pattern = ANY (its_lane || ARRAY(SELECT left(its_lane, n) || '*' FROM generate_series(0, length(its_lane)) AS n))
        ORDER BY pattern <> its_lane, length(pattern) DESC LIMIT 1
    ) AS found ON true;
    SELECT count(*) AS turns, count(period) AS unbegun INTO given FROM retry_lane_turn WHERE lane = its_lane;
    IF given.turns >= own.concurrency OR given.unbegun >= own.tasks THEN
        RETURN;
    END IF;
    IF own.tasks IS NOT NULL THEN
        -- A transaction that began later may have claimed; one that seems to be far ahead began before the clock was
        -- set back.
        SELECT own.period + CASE WHEN at <= stamp + 10000000 THEN at ELSE stamp END INTO again FROM (
            SELECT at, row_number() OVER (ORDER BY at) AS nth, count(*) OVER () AS taken
            FROM retry_lane_begun WHERE lane = its_lane AND at > stamp - own.period
        ) AS begun WHERE nth = taken - (own.tasks - given.unbegun) + 1;
        its_period := own.period;
    END IF;
    begins := greatest(stamp, again);
END $$;

-- Gives the turn to the task that wakes up first, if there is room. Returns its number. The caller has locked the lane.
CREATE FUNCTION retry_open_lane(its_lane TEXT, stamp BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    room RECORD;
    next RECORD;
BEGIN
    SELECT * INTO room FROM retry_lane_room(its_lane, stamp);
    IF room.begins IS NULL THEN
        RETURN NULL;
    END IF;
    LOOP
        SELECT run_id, wake_at INTO next FROM retry_lane_waiting WHERE lane = its_lane ORDER BY wake_at, run_id LIMIT 1;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        -- An operator may cancel it meanwhile.
        PERFORM FROM retry_run WHERE id = next.run_id FOR NO KEY UPDATE;
        DELETE FROM retry_lane_waiting WHERE run_id = next.run_id;
        IF FOUND THEN
            INSERT INTO retry_lane_turn VALUES (next.run_id, its_lane, room.begins, room.its_period);
            -- The time of its turn, so that a lane with many old tasks goes before no other lane.
            UPDATE retry_run SET wake_at = greatest(next.wake_at, room.begins) WHERE id = next.run_id;
            RETURN next.run_id;
        END IF;
    END LOOP;
END $$;

-- Gives turns in lanes that may have room, after claims and changes of limits. Returns how many.
CREATE FUNCTION retry_open_lanes(lanes TEXT[]) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    stamp BIGINT := extract(epoch FROM now()) * 1000000;
    its_lane TEXT;
    opened BIGINT := 0;
BEGIN
    FOR its_lane IN SELECT DISTINCT unnest(lanes) AS lane ORDER BY lane LOOP
        -- Most have none, and the end of a task that makes it looks itself: no lock for those.
        CONTINUE WHEN (SELECT begins FROM retry_lane_room(its_lane, stamp)) IS NULL;
        -- Also where no task seems to wait: one may be about to.
        PERFORM FROM retry_lane WHERE lane = its_lane FOR UPDATE;
        CONTINUE WHEN NOT FOUND;
        WHILE retry_open_lane(its_lane, stamp) IS NOT NULL LOOP
            opened := opened + 1;
        END LOOP;
    END LOOP;
    RETURN opened;
END $$;

-- Sets the limit of lanes, or removes it.
CREATE FUNCTION retry_limit_lanes(its_pattern TEXT, its_concurrency BIGINT, its_tasks BIGINT, its_period BIGINT)
RETURNS BIGINT LANGUAGE plpgsql AS $$
BEGIN
    -- No transaction has read the limit from before, and lets a task wait.
    LOCK TABLE retry_lane IN EXCLUSIVE MODE;
    IF its_concurrency IS NULL AND its_tasks IS NULL THEN
        DELETE FROM retry_lane_limit WHERE pattern = its_pattern;
    ELSE
        INSERT INTO retry_lane_limit VALUES (its_pattern, its_concurrency, its_tasks, its_period)
        ON CONFLICT (pattern) DO UPDATE SET
            concurrency = excluded.concurrency, tasks = excluded.tasks, period = excluded.period;
    END IF;
    RETURN retry_open_lanes(ARRAY(
        SELECT DISTINCT lane FROM retry_lane_waiting
        WHERE lane = its_pattern OR right(its_pattern, 1) = '*' AND starts_with(lane, left(its_pattern, -1))
    ));
END $$;

-- Gives a task the turn if there is room. Otherwise the task waits.
CREATE FUNCTION retry_take_turn(task BIGINT, its_lane TEXT, due BIGINT, stamp BIGINT) RETURNS VOID
LANGUAGE plpgsql AS $$
DECLARE
    room RECORD;
    holder RECORD;
BEGIN
    PERFORM FROM retry_lane_turn WHERE run_id = task;
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
    -- A task that waits has changed.
    UPDATE retry_lane_waiting SET wake_at = due WHERE run_id = task;
    IF FOUND THEN
        UPDATE retry_run SET wake_at = 9223372036854775806 WHERE id = task;
        RETURN;
    END IF;
    PERFORM retry_lock_lane(its_lane);
    FOR nth IN 1..2 LOOP
        SELECT * INTO room FROM retry_lane_room(its_lane, stamp);
        PERFORM FROM retry_lane_waiting WHERE lane = its_lane AND (wake_at, run_id) < (due, task) LIMIT 1;
        IF room.begins IS NOT NULL AND NOT FOUND THEN
            INSERT INTO retry_lane_turn VALUES (task, its_lane, room.begins, room.its_period);
            UPDATE retry_run SET wake_at = greatest(due, room.begins) WHERE id = task AND wake_at <> greatest(due, room.begins);
            RETURN;
        END IF;
        EXIT WHEN room.begins IS NOT NULL OR nth = 2;
        -- A task that sleeps and has not started lets one pass that wakes up earlier, unless another transaction is about
        -- to change it. So does one that stands behind it in the list of their submission.
        SELECT run.id, run.wake_at INTO holder FROM retry_lane_turn AS turn JOIN retry_run AS run ON run.id = turn.run_id
        WHERE turn.lane = its_lane AND run.state + 0 = 0 AND run.fence = 0
            AND (run.wake_at > greatest(due, stamp, turn.at) OR run.wake_at = due AND run.id > task)
        ORDER BY run.wake_at DESC, run.id DESC LIMIT 1 FOR NO KEY UPDATE OF run SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        DELETE FROM retry_lane_turn WHERE run_id = holder.id;
        INSERT INTO retry_lane_waiting VALUES (holder.id, its_lane, holder.wake_at);
        UPDATE retry_run SET wake_at = 9223372036854775806 WHERE id = holder.id;
    END LOOP;
    INSERT INTO retry_lane_waiting VALUES (task, its_lane, due);
    UPDATE retry_run SET wake_at = 9223372036854775806 WHERE id = task;
    PERFORM retry_open_lane(its_lane, stamp);
END $$;

-- Takes a task out of its lane. If it had the turn, the next one gets it: the one that wakes up first.
CREATE FUNCTION retry_pass_turn(task BIGINT, its_lane TEXT, stamp BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM retry_lane_turn WHERE run_id = task;
    IF NOT FOUND THEN
        DELETE FROM retry_lane_waiting WHERE run_id = task;
        RETURN;
    END IF;
    PERFORM retry_lock_lane(its_lane);
    DELETE FROM retry_lane_turn WHERE run_id = task;
    IF retry_open_lane(its_lane, stamp) IS NULL THEN
        DELETE FROM retry_lane WHERE lane = its_lane
            AND NOT EXISTS (SELECT FROM retry_lane_turn WHERE lane = its_lane)
            AND NOT EXISTS (SELECT FROM retry_lane_waiting WHERE lane = its_lane);
    END IF;
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
        SELECT run.* FROM retry_lane_entering
        CROSS JOIN LATERAL (SELECT * FROM retry_run WHERE id = run_id OFFSET 0) AS run
        WHERE writer = NEW.writer ORDER BY run.lane, run.id
    LOOP
        PERFORM retry_keep_lane(task);
    END LOOP;
    DELETE FROM retry_lane_entering WHERE writer = NEW.writer;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER retry_lane_entered AFTER INSERT ON retry_lane_entering DEFERRABLE INITIALLY IMMEDIATE
    FOR EACH ROW EXECUTE FUNCTION retry_enter_lane();

-- Tells the parent of a child that has ended. The lock of the parent comes first: later signals of a task have
-- higher numbers. Whoever ends the child notifies the workers, outside of this transaction: a notification inside
-- lets commits wait for each other.
CREATE FUNCTION retry_end_child(child retry_run) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM retry_run WHERE id = child.parent FOR NO KEY UPDATE;
    IF FOUND THEN
        INSERT INTO retry_signal (run_id, name, payload) VALUES (child.parent, 'reattempt:child', child.id);
        UPDATE retry_run SET
            awaits = awaits - 1,
            state = CASE WHEN awaits > 1 THEN 2 ELSE 0 END,
            wake_at = CASE WHEN awaits > 1 THEN wake_at ELSE child.updated_at END,
            updated_at = child.updated_at
        WHERE id = child.parent AND state + 0 = 2 AND awaits IS NOT NULL;
    END IF;
END $$;

-- Follows all changes of one statement, so that each costs little. What lanes and children change besides comes
-- last, when the small tables fit again.
CREATE FUNCTION retry_follow() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    -- What there is to do.
    had RECORD;
    has RECORD;
    task retry_run;
BEGIN
    -- Each row is looked up by its key, whatever the planner takes for small: both indexes of `retry_ready` find one row.
    IF TG_OP <> 'INSERT' THEN
        SELECT bool_or(state IN (0, 2)) AS ready, bool_or(state = 1) AS held, bool_or(state > 2) AS ended,
            bool_or(complete_by IS NOT NULL) AS limits, bool_or(lane IS NOT NULL) AS lanes INTO had FROM before;
        IF had.ready THEN
            DELETE FROM retry_ready WHERE ctid = ANY (ARRAY(
                SELECT line.ctid FROM before CROSS JOIN LATERAL (
                    SELECT ctid FROM retry_ready AS ready
                    WHERE is_suspect = (before.deaths >= 2) AND ready.queue = before.queue
                        AND ready.workflow = before.workflow AND ready.version = before.version
                        AND ready.priority = before.priority AND ready.wake_at = before.wake_at
                        AND run_id = before.id AND ready.state = before.state OFFSET 0
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
                    SELECT ctid FROM retry_limited
                    WHERE complete_by = before.complete_by AND run_id = before.id OFFSET 0
                ) AS line WHERE before.complete_by IS NOT NULL
            ));
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        SELECT bool_or(state IN (0, 2)) AS ready, bool_or(state = 1) AS held, bool_or(state > 2) AS ended,
            bool_or(complete_by IS NOT NULL) AS limits, bool_or(lane IS NOT NULL) AS lanes,
            bool_or(parent IS NOT NULL) AS parents, bool_or(state BETWEEN 3 AND 7) AS ends
        INTO has FROM after;
        IF has.ready THEN
            INSERT INTO retry_ready
            SELECT id, queue, workflow, version, priority, wake_at, deaths >= 2, state FROM after WHERE state IN (0, 2);
        END IF;
        IF has.held THEN
            INSERT INTO retry_held SELECT id, coalesce(owner, ''), step_by FROM after WHERE state = 1;
        END IF;
        IF has.ended THEN
            INSERT INTO retry_ended SELECT id, state, updated_at FROM after WHERE state > 2;
        END IF;
        IF has.ends AND TG_OP = 'UPDATE' THEN
            -- Most statements that end tasks find none that has ended before.
            INSERT INTO retry_feed (run_id, workflow, queue, idem_key, state, error, headers, at)
            SELECT id, workflow, queue, idem_key, state, error, headers, updated_at FROM after
            WHERE state BETWEEN 3 AND 7 AND NOT (had.ended AND (id, state) IN (SELECT id, state FROM before));
        END IF;
        IF has.limits THEN
            INSERT INTO retry_limited
            SELECT id, complete_by FROM after WHERE complete_by IS NOT NULL AND state < 3 AND direction = 0;
        END IF;
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF has.lanes THEN
            INSERT INTO retry_lane_entering (run_id) SELECT id FROM after WHERE lane IS NOT NULL;
        END IF;
    ELSIF TG_OP = 'DELETE' THEN
        IF had.lanes THEN
            PERFORM retry_pass_turn(id, lane, (extract(epoch FROM now()) * 1000000)::bigint)
            FROM before WHERE lane IS NOT NULL;
        END IF;
    ELSIF has.lanes OR has.parents THEN
        IF has.lanes AND has.held THEN
            -- Those that have just begun count for the rates of their lanes.
            WITH begun AS (
                UPDATE retry_lane_turn AS turn SET period = NULL FROM after
                WHERE after.state = 1 AND after.lane IS NOT NULL AND turn.run_id = after.id AND turn.period IS NOT NULL
                RETURNING turn.run_id
            )
            INSERT INTO retry_lane_begun
            SELECT turn.lane, after.updated_at, turn.run_id, after.updated_at + turn.period
            FROM begun JOIN retry_lane_turn AS turn USING (run_id) JOIN after ON after.id = run_id
            ON CONFLICT DO NOTHING;
        END IF;
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
    TRUNCATE retry_ready, retry_held, retry_limited, retry_ended, retry_lane, retry_lane_turn, retry_lane_waiting;
    RETURN NULL;
END $$;
CREATE TRIGGER retry_follow_truncate AFTER TRUNCATE ON retry_run
    FOR EACH STATEMENT EXECUTE FUNCTION retry_follow_truncate();

-- What an application calls in a transaction of its own. Each takes one text, a JSON object of the library or a
-- number, so that every driver can call it.

-- Fails unless this is the database of the store.
CREATE FUNCTION retry_check_database(store TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM retry_meta WHERE key = 'store' AND value = store::bigint;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the transaction is not in the database of the store' USING ERRCODE = 'RS003';
    END IF;
    RETURN 'ok';
END $$;

-- Deletes the line of a key if the key is free, and returns which incarnation its next task is: the first one again, once
-- the line need not stay. The transaction stores that task.
CREATE FUNCTION retry_free(its_workflow TEXT, its_key TEXT) RETURNS INTEGER LANGUAGE plpgsql AS $$
DECLARE
    stamp BIGINT := extract(epoch FROM now()) * 1000000;
    next INTEGER;
BEGIN
    DELETE FROM retry_run
    WHERE workflow = its_workflow AND idem_key = its_key AND state + 0 = 8 AND wake_at <= stamp
    RETURNING CASE WHEN updated_at <= stamp THEN 0 ELSE incarnation + 1 END INTO next;
    RETURN coalesce(next, 0);
END $$;

-- Stores a task, unless its workflow has a task with the same key. Returns the task as a JSON object, with
-- the version and the arguments of one that was there before.
CREATE FUNCTION retry_submit(task TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
    given JSON := task;
    stamp BIGINT := extract(epoch FROM now()) * 1000000;
    submitted JSON;
BEGIN
    PERFORM retry_check_database(given ->> 'store');
    -- The random ones of clients are as good as others.
    IF given ->> 'key' ~ '^~' AND given ->> 'key' !~ '^~[0-9a-f]{32}$' THEN
        RAISE EXCEPTION 'keys that begin with `~` are those of the store; use another key' USING ERRCODE = '22023';
    END IF;
    IF given ->> 'lane' IS NOT NULL THEN
        SET CONSTRAINTS retry_lane_entered DEFERRED;
    END IF;
    INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, complete_by, fence,
        failures, max_failures, cancel_asked, input, headers, created_at, updated_at, on_failure, lane, incarnation)
    VALUES (given ->> 'workflow', (given ->> 'version')::int, given ->> 'queue', (given ->> 'priority')::smallint,
        given ->> 'key', 0, 0, stamp + (given ->> 'delay')::bigint, stamp + (given ->> 'complete_in')::bigint, 0,
        0, (given ->> 'max_failures')::int, false, given ->> 'input', given ->> 'headers', stamp, stamp,
        (given ->> 'on_failure')::smallint, given ->> 'lane', retry_free(given ->> 'workflow', given ->> 'key'))
    ON CONFLICT (workflow, idem_key) DO NOTHING
    RETURNING json_build_object('id', id, 'is_new', true) INTO submitted;
    IF submitted IS NULL THEN
        SELECT json_build_object('id', id, 'is_new', false,
            'version', CASE WHEN generation = 0 AND state <> 8 THEN version END, 'input', input) INTO submitted
        FROM retry_run WHERE workflow = given ->> 'workflow' AND idem_key = given ->> 'key';
    END IF;
    IF submitted IS NULL THEN
        RAISE EXCEPTION 'another transaction has stored a task with this key, and this one cannot see it'
            USING ERRCODE = '40001';
    END IF;
    RETURN submitted;
END $$;

-- Records a step, as the last statement before COMMIT. From here on nobody can claim the task before the
-- end of this transaction, so it must end soon.
CREATE FUNCTION retry_record(ticket TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
    given JSON := ticket;
    writer BIGINT;
BEGIN
    PERFORM retry_check_database(given ->> 'store');
    -- Deferred checks of the application may wait for others; nobody should wait for the task meanwhile.
    SET CONSTRAINTS ALL IMMEDIATE;
    PERFORM FROM retry_run WHERE id = (given ->> 'task')::bigint AND fence = (given ->> 'fence')::bigint AND state = 1
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another worker may hold the task' USING ERRCODE = 'RS001';
    END IF;
    INSERT INTO retry_step (run_id, seq, kind, ord, name, attempts, result, at, fence, args_hash, args, undo)
    SELECT (given ->> 'task')::bigint, (given ->> 'seq')::int, (given ->> 'kind')::smallint, (given ->> 'ord')::int,
        given ->> 'name', (given ->> 'attempts')::int, given ->> 'result', (given ->> 'at')::bigint,
        (given ->> 'fence')::bigint, given ->> 'args_hash', given ->> 'args', given ->> 'undo'
    -- A step that has failed is not done later.
    WHERE NOT EXISTS (
        SELECT FROM retry_step WHERE run_id = (given ->> 'task')::bigint AND seq = (given ->> 'seq')::int AND kind = 2
    )
    ON CONFLICT (run_id, seq, kind) DO NOTHING
    RETURNING xmin::text::bigint INTO writer;
    IF writer IS NULL THEN
        RAISE EXCEPTION 'another transaction has recorded the step' USING ERRCODE = 'RS004';
    END IF;
    IF writer <> txid_current() % 4294967296 THEN
        RAISE EXCEPTION 'the transaction is nested in another one; record the step in the outer one'
            USING ERRCODE = 'RS005';
    END IF;
    DELETE FROM retry_running WHERE run_id = (given ->> 'task')::bigint AND seq = (given ->> 'seq')::int;
    PERFORM set_config('statement_timeout', '2s', true), set_config('idle_in_transaction_session_timeout', '2s', true);
    RETURN 'ok';
END $$;

-- Calls of steps that agents run: programs that need nothing but the four functions below, which touch only this
-- table. A scheduler sees what they have said, and decides.
CREATE TABLE retry_call (
    run_id      BIGINT   NOT NULL,
    seq         INTEGER  NOT NULL,
    -- What agents call it.
    id          BIGINT   UNIQUE GENERATED ALWAYS AS IDENTITY,
    -- The fence of agents: it rises whenever the call is offered again or withdrawn.
    attempt     INTEGER  NOT NULL DEFAULT 1,
    -- 0 offered, 1 taken, 2 finished, 3 failed, 4 withdrawn
    state       SMALLINT NOT NULL DEFAULT 0,
    queue       TEXT     NOT NULL,
    step        TEXT     NOT NULL,
    key         TEXT     NOT NULL,
    input       TEXT     NOT NULL,
    args_hash   TEXT,
    headers     TEXT,
    -- How long an attempt may take, in microseconds; NULL: any time.
    time_limit  BIGINT,
    offered_at  BIGINT   NOT NULL,
    -- The attempt that has it now: until when it may finish, until when it may extend that, and the transaction that
    -- has taken it.
    complete_by BIGINT,
    limit_at    BIGINT,
    taken_in    BIGINT,
    -- How often it has failed, and how many agents have gone, in a row.
    failures    INTEGER  NOT NULL DEFAULT 0,
    deaths      INTEGER  NOT NULL DEFAULT 0,
    result      TEXT,
    error       TEXT,
    verdict     TEXT,
    delay       BIGINT,
    -- When a supervisor looks at it next.
    due         BIGINT   NOT NULL,
    -- The attempt for whose answer a supervisor has woken the task.
    woken_for   INTEGER,
    PRIMARY KEY (run_id, seq),
    -- Agents may write some columns themselves.
    CHECK (state <> 1 OR complete_by IS NOT NULL),
    CHECK (state <> 2 OR result IS NOT NULL),
    CHECK (state <> 3 OR error IS NOT NULL AND verdict IS NOT NULL)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX retry_call_offered ON retry_call (queue, offered_at, id) WHERE state = 0;
CREATE INDEX retry_call_due ON retry_call (due);

-- Returns the time of the clock: that of the transaction would accept what comes too late.
CREATE FUNCTION retry_clock() RETURNS BIGINT LANGUAGE sql AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
$$;

-- Returns so many seconds in microseconds.
CREATE FUNCTION retry_seconds(what TEXT, seconds DOUBLE PRECISION) RETURNS BIGINT LANGUAGE plpgsql AS $$
BEGIN
    -- NaN is larger than all numbers here.
    IF seconds IS NULL OR seconds < 0 OR seconds > 31536000 THEN
        RAISE EXCEPTION '`%` is a number of seconds from 0 to 31536000, and not %', what, coalesce(seconds::text, 'null')
            USING ERRCODE = '22023';
    END IF;
    RETURN seconds * 1000000;
END $$;

-- Locks a call for the agent that has this attempt. Returns nothing if it has it no more, or its time is over.
CREATE FUNCTION retry_lock_call(its_id BIGINT, its_attempt INTEGER) RETURNS retry_call LANGUAGE plpgsql AS $$
DECLARE
    call retry_call;
BEGIN
    IF its_id IS NULL OR its_attempt IS NULL THEN
        RAISE EXCEPTION 'which call? pass `call` and `attempt` of what `retry_take` has returned' USING ERRCODE = '22023';
    END IF;
    -- An agent that is suspended in a transaction must not keep the call.
    PERFORM set_config('idle_in_transaction_session_timeout', '10s', true);
    SELECT * INTO call FROM retry_call WHERE id = its_id AND attempt = its_attempt FOR UPDATE;
    IF call.taken_in = txid_current() THEN
        RAISE EXCEPTION 'the transaction of `retry_take` must be committed before the work begins; connect with autocommit'
            USING ERRCODE = 'RS006';
    END IF;
    -- After the lock, for which it may have waited.
    IF call.state = 1 AND call.complete_by < retry_clock() THEN
        RETURN NULL;
    END IF;
    RETURN call;
END $$;

-- Takes the next call of a queue for so many seconds, and returns it as a JSON object; NULL if there is none.
CREATE FUNCTION retry_take(queue TEXT, seconds DOUBLE PRECISION DEFAULT 60) RETURNS JSON LANGUAGE plpgsql AS $$
DECLARE
    stamp BIGINT := retry_clock();
    lease BIGINT := retry_seconds('seconds', seconds);
    call retry_call;
BEGIN
    IF queue IS NULL THEN
        RAISE EXCEPTION 'which queue? pass the `queue` of a step' USING ERRCODE = '22023';
    END IF;
    PERFORM set_config('idle_in_transaction_session_timeout', '10s', true);
    SELECT * INTO call FROM retry_call
    WHERE retry_call.queue = retry_take.queue AND state = 0 AND offered_at <= stamp
    ORDER BY offered_at, id LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    UPDATE retry_call SET state = 1, taken_in = txid_current(), limit_at = stamp + time_limit,
        complete_by = least(stamp + lease, stamp + time_limit), due = least(stamp + lease, stamp + time_limit)
    WHERE id = call.id RETURNING * INTO call;
    RETURN json_build_object('call', call.id, 'attempt', call.attempt, 'task', call.run_id, 'step', call.step,
        'key', call.key, 'input', call.input::json, 'headers', call.headers::json,
        'complete_by', to_timestamp(call.complete_by / 1000000.0));
END $$;

-- Gives an agent so many seconds from now, at most to the `complete_by` of the step. Returns whether it still has the
-- call.
CREATE FUNCTION retry_extend(call BIGINT, attempt INTEGER, seconds DOUBLE PRECISION DEFAULT 60) RETURNS BOOLEAN
LANGUAGE plpgsql AS $$
DECLARE
    lease BIGINT := retry_seconds('seconds', seconds);
    own retry_call := retry_lock_call(call, attempt);
BEGIN
    IF own.state IS DISTINCT FROM 1 THEN
        RETURN false;
    END IF;
    UPDATE retry_call SET complete_by = least(retry_clock() + lease, limit_at), due = least(retry_clock() + lease, limit_at)
    WHERE id = own.id;
    RETURN true;
END $$;

-- Finishes a call with a result, a JSON text. Returns whether that counts; the agent may repeat it.
CREATE FUNCTION retry_finish(call BIGINT, attempt INTEGER, result TEXT) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
DECLARE
    own retry_call := retry_lock_call(call, attempt);
BEGIN
    -- Fails here, and not where the scheduler reads it.
    PERFORM retry_finish.result::json;
    IF result IS NULL THEN
        RAISE EXCEPTION 'the result is a JSON text; pass ''null'' for none' USING ERRCODE = '22023';
    END IF;
    IF own.state IS DISTINCT FROM 1 THEN
        RETURN coalesce(own.state = 2 AND own.result = retry_finish.result, false);
    END IF;
    UPDATE retry_call SET state = 2, result = retry_finish.result, due = 0 WHERE id = own.id;
    RETURN true;
END $$;

-- Says why an attempt has failed, what that means for a retry, and after how many seconds one makes sense. Returns
-- whether that counts; the agent may repeat it.
CREATE FUNCTION retry_fail(call BIGINT, attempt INTEGER, error TEXT, verdict TEXT DEFAULT 'transient',
    delay DOUBLE PRECISION DEFAULT NULL) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
DECLARE
    own retry_call := retry_lock_call(call, attempt);
    asked BIGINT := CASE WHEN delay IS NOT NULL THEN retry_seconds('delay', delay) END;
BEGIN
    IF error IS NULL THEN
        RAISE EXCEPTION '`error` says why the attempt has failed; pass a text' USING ERRCODE = '22023';
    END IF;
    IF verdict IS NULL OR verdict NOT IN ('transient', 'throttled', 'refused', 'permanent', 'retry_forbidden') THEN
        RAISE EXCEPTION '`verdict` is transient, throttled, refused, permanent or retry_forbidden, and not %',
            coalesce(verdict, 'null') USING ERRCODE = '22023';
    END IF;
    IF own.state IS DISTINCT FROM 1 THEN
        RETURN coalesce(own.state = 3 AND own.error = left(retry_fail.error, 10000), false);
    END IF;
    UPDATE retry_call SET state = 3, error = left(retry_fail.error, 10000), verdict = retry_fail.verdict, delay = asked, due = 0
    WHERE id = own.id;
    RETURN true;
END $$;

-- The answer of an agent counts if its transaction is committed in time, not only if it was given in time.
CREATE FUNCTION retry_check_time() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.complete_by < retry_clock() THEN
        RAISE EXCEPTION 'the time of the call was over before the commit; it is offered again' USING ERRCODE = 'RS007';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER retry_call_in_time AFTER UPDATE ON retry_call DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (OLD.state = 1 AND NEW.state IN (2, 3)) EXECUTE FUNCTION retry_check_time();
