-- Tasks of reattempt-supervisor. Times are microseconds since 1970, in UTC.

-- Numbers of the store.
CREATE TABLE retry_meta (
    -- `version` of these tables; `salt` and `salt_2`, 128 random bits that nobody shows; `store`, which says which
    -- store this is. Each sweep notes its time in `last_sweep`; nobody judges a lease before `judge_from`. A new
    -- reader of the feed begins after `feed_pruned`.
    key   TEXT    PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE retry_run (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    workflow     TEXT    NOT NULL,
    version      INTEGER NOT NULL,
    queue        TEXT    NOT NULL,
    priority     INTEGER NOT NULL,
    idem_key     TEXT    NOT NULL,
    -- How often the key had become free before this task.
    incarnation  INTEGER NOT NULL DEFAULT 0,
    -- 0 pending, 1 processing, 2 waiting, 3 processed, 4 error, 5 compensated, 6 cancelled, 7 parked, 8 pruned
    state        INTEGER NOT NULL,
    -- 0 forward, 1 undoing, 2 cancelling
    direction    INTEGER NOT NULL,
    wake_at      INTEGER NOT NULL,
    complete_by  INTEGER,
    step_by      INTEGER,
    owner        TEXT,
    fence        INTEGER NOT NULL,
    failures     INTEGER NOT NULL,
    max_failures INTEGER NOT NULL,
    cancel_asked INTEGER NOT NULL,
    input        TEXT    NOT NULL,
    output       TEXT,
    error        TEXT,
    headers      TEXT,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    -- What happens when it has failed for good: 0 undo, 1 keep.
    on_failure   INTEGER NOT NULL DEFAULT 0,
    -- How often a worker has died while it held the task, since the task's last outcome.
    deaths       INTEGER NOT NULL DEFAULT 0,
    -- The ord of the newest outcome at the last failure: a newer outcome starts the count anew.
    failed_ord   INTEGER NOT NULL DEFAULT -1,
    -- The step whose failure ended the task.
    failed_seq   INTEGER,
    -- The task that has started this one.
    parent       INTEGER,
    -- How many children must end before a waiting task goes on; NULL if it does not wait for children.
    awaits       INTEGER,
    lane         TEXT,
    -- When a task that waits for its turn would wake up otherwise; NULL if it does not wait for it.
    turn_at      INTEGER,
    -- How often the task has continued as new, and when it last did.
    generation   INTEGER NOT NULL DEFAULT 0,
    continued_at INTEGER,
    -- Which task it is a fork of, as JSON.
    origin       TEXT,
    UNIQUE (workflow, idem_key)
);
-- Claims read the tasks of one workflow and version, so that others cost nothing.
CREATE INDEX retry_run_claim ON retry_run (queue, workflow, version, priority, wake_at, id)
    WHERE state IN (0, 2) AND deaths < 2;
-- Tasks whose workers died again and again are claimed apart.
CREATE INDEX retry_run_suspects ON retry_run (queue, workflow, version, priority, wake_at, id)
    WHERE state IN (0, 2) AND deaths >= 2;
CREATE INDEX retry_run_owner ON retry_run (owner) WHERE state = 1;
-- Conditions without lists: SQLite builds a table for each list of more than two numbers, whenever a task changes.
CREATE INDEX retry_run_limited ON retry_run (complete_by)
    WHERE complete_by IS NOT NULL AND state < 3 AND direction = 0;
CREATE INDEX retry_run_finished ON retry_run (updated_at) WHERE state BETWEEN 3 AND 6;
-- What waits for an operator is rare.
CREATE INDEX retry_run_parked ON retry_run (queue) WHERE state = 7;
-- Tasks that are kept for their keys.
CREATE INDEX retry_run_pruned ON retry_run (updated_at) WHERE state = 8;
CREATE INDEX retry_run_turn ON retry_run (lane, turn_at, id) WHERE turn_at IS NOT NULL;

-- What happened in a task; a line never changes.
CREATE TABLE retry_step (
    run_id    INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    -- 0 begun, 1 done, 2 failed, 3 undone
    kind      INTEGER NOT NULL,
    ord       INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    attempts  INTEGER NOT NULL,
    result    TEXT,
    error     TEXT,
    due_at    INTEGER,
    at        INTEGER NOT NULL,
    fence     INTEGER NOT NULL,
    -- A hash of the arguments; NULL if there are none.
    args_hash TEXT,
    -- The arguments, and the name of the step that undoes this one; NULL if none does.
    args      TEXT,
    undo      TEXT,
    PRIMARY KEY (run_id, seq, kind)
) WITHOUT ROWID;

-- How often each step has failed in a row.
CREATE TABLE retry_failure (
    run_id    INTEGER NOT NULL,
    direction INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    failures  INTEGER NOT NULL,
    error     TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (run_id, direction, seq)
) WITHOUT ROWID;

-- What operators have said about steps.
CREATE TABLE retry_note (
    id      INTEGER PRIMARY KEY,
    run_id  INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    verdict TEXT    NOT NULL,
    operator TEXT   NOT NULL,
    why     TEXT    NOT NULL,
    at      INTEGER NOT NULL
);
CREATE INDEX retry_note_run ON retry_note (run_id);

-- The steps that run, as their workers report them. A line counts only under the fence of its task.
CREATE TABLE retry_running (
    run_id INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    fence  INTEGER NOT NULL,
    worker TEXT    NOT NULL,
    name   TEXT    NOT NULL,
    since  INTEGER NOT NULL,
    due    INTEGER,
    PRIMARY KEY (run_id, seq)
) WITHOUT ROWID;
CREATE INDEX retry_running_due ON retry_running (due) WHERE due IS NOT NULL;
CREATE INDEX retry_running_worker ON retry_running (worker);

CREATE TABLE retry_signal (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id  INTEGER NOT NULL,
    name    TEXT    NOT NULL,
    payload TEXT    NOT NULL,
    -- Random bits of the sender, who repeats a signal of unknown outcome; NULL if a child has ended.
    nonce   INTEGER
);
CREATE INDEX retry_signal_run ON retry_signal (run_id, id);

-- The feed of ends: a line for each end of a task, written with it. Pruning deletes old lines.
CREATE TABLE retry_feed (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id   INTEGER NOT NULL,
    workflow TEXT    NOT NULL,
    queue    TEXT    NOT NULL,
    idem_key TEXT    NOT NULL,
    -- 3 processed, 4 error, 5 compensated, 6 cancelled, 7 parked
    state    INTEGER NOT NULL,
    error    TEXT,
    headers  TEXT,
    at       INTEGER NOT NULL
);

-- How far the readers of the feed have got.
CREATE TABLE retry_feed_reader (
    name    TEXT    PRIMARY KEY,
    -- The highest number that it has got.
    number  INTEGER NOT NULL,
    -- How often it was moved.
    version INTEGER NOT NULL DEFAULT 0,
    -- How many lines were deleted before it got them.
    missed  INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TRIGGER retry_fed AFTER UPDATE OF state ON retry_run
WHEN NEW.state BETWEEN 3 AND 7 AND OLD.state <> NEW.state
BEGIN
    INSERT INTO retry_feed (run_id, workflow, queue, idem_key, state, error, headers, at)
    VALUES (NEW.id, NEW.workflow, NEW.queue, NEW.idem_key, NEW.state, NEW.error, NEW.headers, NEW.updated_at);
END;

CREATE TABLE retry_worker (
    id          TEXT PRIMARY KEY,
    lease_until INTEGER NOT NULL,
    lease       INTEGER NOT NULL
) WITHOUT ROWID;

-- Schedules: a workflow gets a task at each of their times.
CREATE TABLE retry_schedule (
    name     TEXT     PRIMARY KEY,
    -- How often it was written: a writer must have seen the newest version.
    version  INTEGER  NOT NULL,
    -- The revision of its definition, which never falls.
    revision INTEGER  NOT NULL,
    -- Five fields and a time zone.
    cron     TEXT     NOT NULL,
    -- 0 run, 1 skip, 2 last
    missed   INTEGER  NOT NULL,
    -- Its tasks, as JSON.
    task     TEXT     NOT NULL,
    -- 0 active, 1 paused, 2 removed
    state    INTEGER  NOT NULL,
    next_at  INTEGER  NOT NULL,
    -- No time up to this one comes again, although its task may be deleted.
    last_at  INTEGER,
    operator TEXT     NOT NULL,
    why      TEXT     NOT NULL
) WITHOUT ROWID;
CREATE INDEX retry_schedule_next ON retry_schedule (next_at) WHERE state = 0;

-- Limits of queues.
CREATE TABLE retry_limit (
    queue       TEXT PRIMARY KEY,
    -- How many tasks workers hold at once; NULL: any number.
    concurrency INTEGER,
    -- How many tasks workers take in any `period` microseconds; NULL: any number.
    tasks       INTEGER,
    period      INTEGER
) WITHOUT ROWID;

-- How many tasks of a queue with a rate were claimed in each slice of time. A slice ends before `until`.
CREATE TABLE retry_limit_spent (
    queue TEXT    NOT NULL,
    until INTEGER NOT NULL,
    tasks INTEGER NOT NULL,
    PRIMARY KEY (queue, until)
) WITHOUT ROWID;

-- Tells the parent of a child that has ended, whoever ends it.
CREATE TRIGGER retry_child_ended AFTER UPDATE OF state ON retry_run
WHEN NEW.parent IS NOT NULL AND NEW.state BETWEEN 3 AND 6 AND OLD.state NOT BETWEEN 3 AND 6
BEGIN
    INSERT INTO retry_signal (run_id, name, payload)
    SELECT id, 'reattempt:child', NEW.id FROM retry_run WHERE id = NEW.parent;
    UPDATE retry_run SET
        awaits = awaits - 1,
        state = CASE WHEN awaits > 1 THEN 2 ELSE 0 END,
        wake_at = CASE WHEN awaits > 1 THEN wake_at ELSE NEW.updated_at END,
        updated_at = NEW.updated_at
    WHERE id = NEW.parent AND state = 2 AND awaits IS NOT NULL;
END;

-- Lanes: as many tasks of a lane run at once as its limit allows, one without it. A task that waits for its turn wakes
-- up at 9223372036854775806, so no worker claims it. A task enters its lane when it is stored, or continues after its
-- end, and has the turn until it has ended.

-- The tasks that have the turn.
CREATE TABLE retry_lane_turn (
    run_id INTEGER PRIMARY KEY,
    lane   TEXT    NOT NULL,
    -- The task does not begin earlier.
    at     INTEGER NOT NULL,
    -- The period of the rate that the task counts for when it begins; NULL if it has begun, or there was no rate.
    period INTEGER
);
CREATE INDEX retry_lane_turn_lane ON retry_lane_turn (lane);

-- Limits of lanes, by name, or by what names begin with and `*`.
CREATE TABLE retry_lane_limit (
    pattern     TEXT PRIMARY KEY,
    -- How many tasks have the turn at once; NULL: one.
    concurrency INTEGER,
    -- How many tasks begin in any `period` microseconds; NULL: any number.
    tasks       INTEGER,
    period      INTEGER
) WITHOUT ROWID;

-- When the tasks of lanes with a rate have begun that count: each until its period is over.
CREATE TABLE retry_lane_begun (
    lane  TEXT    NOT NULL,
    at    INTEGER NOT NULL,
    until INTEGER NOT NULL
);
CREATE INDEX retry_lane_begun_at ON retry_lane_begun (lane, at);
CREATE INDEX retry_lane_begun_until ON retry_lane_begun (until);

-- What is stored in it gives the turn of a lane to the task that wakes up first, if there is room.
CREATE VIEW retry_lane_open AS SELECT NULL AS lane, NULL AS stamp;
CREATE TRIGGER retry_lane_opened INSTEAD OF INSERT ON retry_lane_open
BEGIN
    DELETE FROM retry_lane_begun WHERE until <= NEW.stamp;
    -- A rate of `tasks` in a period is as many tokens. A turn takes the one that is free first. It is free again a
    -- period after its task has begun, so any period has at most `tasks` of them, wherever it begins.
    INSERT INTO retry_lane_turn (run_id, lane, at, period)
    SELECT next.id, NEW.lane, max(NEW.stamp, coalesce((
        -- The clock may have been set back.
        SELECT min(at, NEW.stamp) + room.period FROM (
            SELECT at, row_number() OVER (ORDER BY at) AS nth, count(*) OVER () AS taken
            FROM retry_lane_begun WHERE lane = NEW.lane AND at > NEW.stamp - room.period
        ) WHERE nth = taken - (room.tasks - room.unbegun) + 1
    ), 0)), room.period
    FROM (
        SELECT id FROM retry_run WHERE lane = NEW.lane AND turn_at IS NOT NULL ORDER BY turn_at, id LIMIT 1
    ) AS next CROSS JOIN (
        SELECT coalesce(concurrency, 1) AS concurrency, tasks, period,
            (SELECT count(*) FROM retry_lane_turn WHERE lane = NEW.lane) AS turns,
            (SELECT count(period) FROM retry_lane_turn WHERE lane = NEW.lane) AS unbegun
        FROM (SELECT 1) LEFT JOIN (
            SELECT * FROM retry_lane_limit
            WHERE pattern = NEW.lane OR substr(pattern, -1) = '*'
                AND substr(NEW.lane, 1, length(pattern) - 1) = substr(pattern, 1, length(pattern) - 1)
            ORDER BY pattern <> NEW.lane, length(pattern) DESC LIMIT 1
        )
    ) AS room
    WHERE room.turns < room.concurrency AND (room.tasks IS NULL OR room.unbegun < room.tasks);
END;
-- The time of its turn, so that a lane with many old tasks goes before no other lane.
CREATE TRIGGER retry_lane_given AFTER INSERT ON retry_lane_turn
BEGIN
    UPDATE retry_run SET wake_at = max(turn_at, NEW.at), turn_at = NULL WHERE id = NEW.run_id AND turn_at IS NOT NULL;
END;

CREATE TRIGGER retry_lane_entered AFTER INSERT ON retry_run WHEN NEW.lane IS NOT NULL
BEGIN
    UPDATE retry_run SET turn_at = wake_at, wake_at = 9223372036854775806 WHERE id = NEW.id;
END;
CREATE TRIGGER retry_lane_entered_again AFTER UPDATE OF state ON retry_run
WHEN NEW.lane IS NOT NULL AND NEW.state = 0 AND NEW.turn_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM retry_lane_turn WHERE run_id = NEW.id)
BEGIN
    UPDATE retry_run SET turn_at = wake_at, wake_at = 9223372036854775806 WHERE id = NEW.id;
END;

CREATE TRIGGER retry_lane_asked AFTER UPDATE OF turn_at ON retry_run
WHEN NEW.turn_at IS NOT NULL AND OLD.turn_at IS NULL
BEGIN
    INSERT INTO retry_lane_open VALUES (NEW.lane, NEW.updated_at);
    -- A task that sleeps and has not started lets one pass that wakes up earlier.
    UPDATE retry_run SET turn_at = wake_at, wake_at = 9223372036854775806
    WHERE id = (
        SELECT run.id FROM retry_lane_turn AS turn JOIN retry_run AS run ON run.id = turn.run_id
        WHERE turn.lane = NEW.lane AND run.turn_at IS NULL AND run.state = 0 AND run.fence = 0
            AND run.wake_at > max(NEW.turn_at, NEW.updated_at, turn.at)
        ORDER BY run.wake_at DESC, run.id DESC LIMIT 1
    ) AND EXISTS (SELECT 1 FROM retry_run WHERE id = NEW.id AND turn_at IS NOT NULL);
    DELETE FROM retry_lane_turn
    WHERE lane = NEW.lane AND EXISTS (SELECT 1 FROM retry_run WHERE id = run_id AND turn_at IS NOT NULL);
    INSERT INTO retry_lane_open VALUES (NEW.lane, NEW.updated_at);
END;

-- A task that a worker takes for the first time counts for the rate of its lane.
CREATE TRIGGER retry_lane_began AFTER UPDATE OF state ON retry_run WHEN NEW.lane IS NOT NULL AND NEW.state = 1
BEGIN
    INSERT INTO retry_lane_begun (lane, at, until)
    SELECT lane, NEW.updated_at, NEW.updated_at + period FROM retry_lane_turn WHERE run_id = NEW.id AND period IS NOT NULL;
    UPDATE retry_lane_turn SET period = NULL WHERE run_id = NEW.id AND period IS NOT NULL;
END;
CREATE TRIGGER retry_lane_counted AFTER UPDATE OF period ON retry_lane_turn
BEGIN
    INSERT INTO retry_lane_open SELECT NEW.lane, updated_at FROM retry_run WHERE id = NEW.run_id;
END;

-- A parked task keeps its turn.
CREATE TRIGGER retry_lane_left AFTER UPDATE OF state ON retry_run WHEN NEW.lane IS NOT NULL AND NEW.state > 2
BEGIN
    UPDATE retry_run SET turn_at = NULL WHERE id = NEW.id AND turn_at IS NOT NULL;
    DELETE FROM retry_lane_turn WHERE run_id = NEW.id AND NEW.state <> 7;
    INSERT INTO retry_lane_open VALUES (NEW.lane, NEW.updated_at);
END;
CREATE TRIGGER retry_lane_deleted AFTER DELETE ON retry_run
WHEN OLD.lane IS NOT NULL AND EXISTS (SELECT 1 FROM retry_lane_turn WHERE run_id = OLD.id)
BEGIN
    DELETE FROM retry_lane_turn WHERE run_id = OLD.id;
    INSERT INTO retry_lane_open
    SELECT OLD.lane, max(OLD.updated_at, coalesce(max(at), 0)) FROM retry_lane_begun WHERE lane = OLD.lane;
END;

-- Somebody has changed a task that waits. One that has never started and is late has nothing to undo, and does
-- not wait.
CREATE TRIGGER retry_lane_changed AFTER UPDATE OF wake_at ON retry_run
WHEN NEW.turn_at IS NOT NULL AND NEW.state = 0 AND NEW.wake_at <> 9223372036854775806
BEGIN
    UPDATE retry_run SET
        lane = CASE WHEN direction = 0 OR fence > 1 THEN lane END,
        turn_at = CASE WHEN direction = 0 OR fence > 1 THEN wake_at END,
        wake_at = CASE WHEN direction = 0 OR fence > 1 THEN 9223372036854775806 ELSE wake_at END
    WHERE id = NEW.id;
END;
