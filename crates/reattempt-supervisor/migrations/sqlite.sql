-- Tasks of reattempt-supervisor. Times are microseconds since 1970, in UTC.
CREATE TABLE retry_run (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    workflow     TEXT    NOT NULL,
    version      INTEGER NOT NULL,
    queue        TEXT    NOT NULL,
    priority     INTEGER NOT NULL,
    idem_key     TEXT    NOT NULL,
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
    UNIQUE (workflow, idem_key)
);
CREATE INDEX retry_run_ready ON retry_run (queue, priority, wake_at, id) WHERE state IN (0, 2);
CREATE INDEX retry_run_owner ON retry_run (owner) WHERE state = 1;
CREATE INDEX retry_run_complete_by ON retry_run (complete_by) WHERE state IN (0, 1, 2) AND direction = 0 AND complete_by IS NOT NULL;
CREATE INDEX retry_run_ended ON retry_run (updated_at) WHERE state IN (3, 4, 5, 6);

-- What happened in a task; a line never changes.
CREATE TABLE retry_step (
    run_id   INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    -- 0 begun, 1 done, 2 failed, 3 undone
    kind     INTEGER NOT NULL,
    ord      INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    attempts INTEGER NOT NULL,
    result   TEXT,
    error    TEXT,
    due_at   INTEGER,
    at       INTEGER NOT NULL,
    fence    INTEGER NOT NULL,
    PRIMARY KEY (run_id, seq, kind)
) WITHOUT ROWID;

CREATE TABLE retry_signal (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id  INTEGER NOT NULL,
    name    TEXT    NOT NULL,
    payload TEXT    NOT NULL
);
CREATE INDEX retry_signal_run ON retry_signal (run_id, id);

CREATE TABLE retry_worker (
    id          TEXT PRIMARY KEY,
    lease_until INTEGER NOT NULL,
    lease       INTEGER NOT NULL
) WITHOUT ROWID;
