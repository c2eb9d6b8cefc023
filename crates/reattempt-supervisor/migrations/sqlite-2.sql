-- Processes of the release before go on with these tables: they neither read nor write what is new.
-- Random bits in the keys of its steps; NULL in tasks that an older release submitted.
ALTER TABLE retry_run ADD COLUMN nonce INTEGER;
-- What happens when it has failed for good: 0 undo, 1 keep.
ALTER TABLE retry_run ADD COLUMN on_failure INTEGER NOT NULL DEFAULT 0;
-- How often a worker has died while it held the task, since the task's last outcome.
ALTER TABLE retry_run ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;
-- The ord of the newest outcome at the last failure: a newer outcome starts the count anew.
ALTER TABLE retry_run ADD COLUMN failed_ord INTEGER NOT NULL DEFAULT -1;
-- The step whose failure ended the task.
ALTER TABLE retry_run ADD COLUMN failed_seq INTEGER;
-- Claims read the tasks of one workflow and version, so that others cost nothing. The release before
-- reads retry_run_ready.
CREATE INDEX retry_run_claim ON retry_run (queue, workflow, version, priority, wake_at, id) WHERE state IN (0, 2) AND deaths < 2;
-- Tasks whose workers died again and again are claimed apart.
CREATE INDEX retry_run_suspects ON retry_run (queue, workflow, version, priority, wake_at, id) WHERE state IN (0, 2) AND deaths >= 2;
-- What waits for an operator is rare.
CREATE INDEX retry_run_parked ON retry_run (queue) WHERE state = 7;

-- A hash of the arguments; NULL in records of an older release.
ALTER TABLE retry_step ADD COLUMN args_hash TEXT;
-- The arguments, and the name of the step that undoes this one; NULL if none does.
ALTER TABLE retry_step ADD COLUMN args TEXT;
ALTER TABLE retry_step ADD COLUMN undo TEXT;

-- The release of the worker: NULL in rows of the release before.
ALTER TABLE retry_worker ADD COLUMN revision INTEGER;

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

-- Random bits of the sender, who repeats a signal of unknown outcome; NULL in those of an older release.
ALTER TABLE retry_signal ADD COLUMN nonce INTEGER;
