-- Children: tasks that a task has started. An older release ends them, too, so the trigger of retry_run wakes
-- their parents.
ALTER TABLE retry_run
    ADD COLUMN parent BIGINT,
    -- How many children must end before a waiting task goes on; NULL if it does not wait for children.
    ADD COLUMN awaits INTEGER;

-- Tells the parent of a child that has ended. The lock of the parent comes first: later signals of a task have
-- higher numbers. Workers hear of a parent that goes on as they hear of new tasks.
CREATE FUNCTION retry_end_child(child retry_run) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    new_state SMALLINT;
BEGIN
    PERFORM FROM retry_run WHERE id = child.parent FOR NO KEY UPDATE;
    IF FOUND THEN
        INSERT INTO retry_signal (run_id, name, payload) VALUES (child.parent, 'reattempt:child', child.id);
        UPDATE retry_run SET
            awaits = awaits - 1,
            state = CASE WHEN awaits > 1 THEN 2 ELSE 0 END,
            wake_at = CASE WHEN awaits > 1 THEN wake_at ELSE child.updated_at END,
            updated_at = child.updated_at
        WHERE id = child.parent AND state + 0 = 2 AND awaits IS NOT NULL
        RETURNING state INTO new_state;
        IF new_state = 0 THEN
            PERFORM pg_notify('retry_stored', 'parent');
        END IF;
    END IF;
END $$;
