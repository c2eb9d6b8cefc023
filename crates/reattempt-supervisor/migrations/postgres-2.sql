-- Processes of the release before go on with these tables: they neither read nor write what is new.
ALTER TABLE retry_run
    -- Random bits in the keys of its steps; NULL in tasks that an older release submitted.
    ADD COLUMN nonce      BIGINT,
    -- What happens when it has failed for good: 0 undo, 1 keep.
    ADD COLUMN on_failure SMALLINT NOT NULL DEFAULT 0,
    -- How often a worker has died while it held the task, since the task's last outcome.
    ADD COLUMN deaths     INTEGER  NOT NULL DEFAULT 0,
    -- The ord of the newest outcome at the last failure: a newer outcome starts the count anew.
    ADD COLUMN failed_ord INTEGER  NOT NULL DEFAULT -1,
    -- The step whose failure ended the task.
    ADD COLUMN failed_seq INTEGER;

ALTER TABLE retry_step
    -- A hash of the arguments; NULL in records of an older release.
    ADD COLUMN args_hash TEXT,
    -- The arguments, and the name of the step that undoes this one; NULL if none does.
    ADD COLUMN args      TEXT,
    ADD COLUMN undo      TEXT;

-- The release of the worker: NULL in rows of the release before.
ALTER TABLE retry_worker ADD COLUMN revision INTEGER;

-- Random bits of the sender, who repeats a signal of unknown outcome; NULL in those of an older release.
ALTER TABLE retry_signal ADD COLUMN nonce BIGINT;

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

-- The connections that write. What a given-up connection sends late has an old epoch and fails.
CREATE TABLE retry_writer (
    id    TEXT   PRIMARY KEY,
    epoch BIGINT NOT NULL,
    at    BIGINT NOT NULL
);

-- Fails unless this is the epoch of the writer. If it is, nobody can raise it before the end of this
-- transaction: who raises it takes the same advisory lock alone. 1919251570 is "retr". A row lock would
-- write the row.
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
