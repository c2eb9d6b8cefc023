-- Tasks that continue as new.
ALTER TABLE retry_run
    -- How often the task has done so, and when it last did.
    ADD COLUMN generation   INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN continued_at BIGINT;
