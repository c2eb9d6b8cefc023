-- Limits of queues. A process of the release before ignores them.
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
