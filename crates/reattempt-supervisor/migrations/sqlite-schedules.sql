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
