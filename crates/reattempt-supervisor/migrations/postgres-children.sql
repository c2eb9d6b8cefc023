-- Children: tasks that a task has started. An older release ends them, too, so a trigger wakes their
-- parents.
ALTER TABLE retry_run
    ADD COLUMN parent BIGINT,
    -- How many children must end before a waiting task goes on; NULL if it does not wait for children.
    ADD COLUMN awaits INTEGER;

-- The lock of the parent comes first: later signals of a task have higher numbers. Workers hear of a parent
-- that goes on as they hear of new tasks.
CREATE FUNCTION retry_child_ended() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    new_state SMALLINT;
BEGIN
    PERFORM FROM retry_run WHERE id = NEW.parent FOR NO KEY UPDATE;
    IF FOUND THEN
        INSERT INTO retry_signal (run_id, name, payload) VALUES (NEW.parent, 'reattempt:child', NEW.id);
        UPDATE retry_run SET
            awaits = awaits - 1,
            state = CASE WHEN awaits > 1 THEN 2 ELSE 0 END,
            wake_at = CASE WHEN awaits > 1 THEN wake_at ELSE NEW.updated_at END,
            updated_at = NEW.updated_at
        WHERE id = NEW.parent AND state + 0 = 2 AND awaits IS NOT NULL
        RETURNING state INTO new_state;
        IF new_state = 0 THEN
            PERFORM pg_notify('retry_stored', 'parent');
        END IF;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER retry_child_ended AFTER UPDATE ON retry_run FOR EACH ROW
    WHEN (NEW.parent IS NOT NULL AND NEW.state IN (3, 4, 5, 6) AND OLD.state NOT IN (3, 4, 5, 6)) EXECUTE FUNCTION retry_child_ended();
