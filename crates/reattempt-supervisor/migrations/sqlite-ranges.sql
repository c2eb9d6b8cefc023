-- Conditions without lists: SQLite builds a table for each list of more than two numbers, whenever a task
-- changes. A release before reads retry_run_complete_by and retry_run_ended.
CREATE INDEX retry_run_limited ON retry_run (complete_by) WHERE complete_by IS NOT NULL AND state < 3 AND direction = 0;
CREATE INDEX retry_run_finished ON retry_run (updated_at) WHERE state BETWEEN 3 AND 6;
-- Tasks that are kept for their keys.
CREATE INDEX retry_run_pruned ON retry_run (updated_at) WHERE state = 8;
