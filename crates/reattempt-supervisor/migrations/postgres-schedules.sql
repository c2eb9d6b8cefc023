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
