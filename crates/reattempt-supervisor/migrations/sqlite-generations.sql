-- Tasks that continue as new: how often the task has done so, and when it last did.
ALTER TABLE retry_run ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE retry_run ADD COLUMN continued_at INTEGER;
