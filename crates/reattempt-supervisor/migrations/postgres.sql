-- Tasks of reattempt-supervisor. Times are microseconds since 1970, in UTC.
CREATE SEQUENCE retry_run_id;
CREATE TABLE retry_run (
    id           BIGINT   PRIMARY KEY DEFAULT nextval('retry_run_id'),
    workflow     TEXT     NOT NULL,
    version      INTEGER  NOT NULL,
    queue        TEXT     NOT NULL,
    priority     SMALLINT NOT NULL,
    idem_key     TEXT     NOT NULL,
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
    UNIQUE (workflow, idem_key)
);
ALTER SEQUENCE retry_run_id OWNED BY retry_run.id;
CREATE INDEX retry_run_ready ON retry_run (queue, priority, wake_at, id) WHERE state IN (0, 2);
CREATE INDEX retry_run_owner ON retry_run (owner) WHERE state = 1;
CREATE INDEX retry_run_step_by ON retry_run (step_by) WHERE state = 1 AND step_by IS NOT NULL;
CREATE INDEX retry_run_complete_by ON retry_run (complete_by) WHERE state IN (0, 1, 2) AND direction = 0 AND complete_by IS NOT NULL;
CREATE INDEX retry_run_ended ON retry_run (updated_at) WHERE state IN (3, 4, 5, 6);
-- What an operator asks for is rare among what has ended.
CREATE INDEX retry_run_failed ON retry_run (state, id) WHERE state IN (4, 5, 6, 7);

-- What happened in a task; a line never changes.
CREATE TABLE retry_step (
    run_id   BIGINT   NOT NULL,
    seq      INTEGER  NOT NULL,
    -- 0 begun, 1 done, 2 failed, 3 undone
    kind     SMALLINT NOT NULL,
    ord      INTEGER  NOT NULL,
    name     TEXT     NOT NULL,
    attempts INTEGER  NOT NULL,
    result   TEXT,
    error    TEXT,
    due_at   BIGINT,
    at       BIGINT   NOT NULL,
    fence    BIGINT   NOT NULL,
    PRIMARY KEY (run_id, seq, kind)
);

CREATE TABLE retry_signal (
    id      BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    run_id  BIGINT NOT NULL,
    name    TEXT   NOT NULL,
    payload TEXT   NOT NULL
);
CREATE INDEX retry_signal_run ON retry_signal (run_id, id);

CREATE TABLE retry_worker (
    id          TEXT   PRIMARY KEY,
    lease_until BIGINT NOT NULL,
    lease       BIGINT NOT NULL
);
