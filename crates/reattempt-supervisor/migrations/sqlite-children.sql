-- Children: tasks that a task has started. An older release ends them, too, so a trigger tells their
-- parents.
ALTER TABLE retry_run ADD COLUMN parent INTEGER;
-- How many children must end before a waiting task goes on; NULL if it does not wait for children.
ALTER TABLE retry_run ADD COLUMN awaits INTEGER;

CREATE TRIGGER retry_child_ended AFTER UPDATE OF state ON retry_run
WHEN NEW.parent IS NOT NULL AND NEW.state BETWEEN 3 AND 6 AND OLD.state NOT BETWEEN 3 AND 6
BEGIN
    INSERT INTO retry_signal (run_id, name, payload) SELECT id, 'reattempt:child', NEW.id FROM retry_run WHERE id = NEW.parent;
    UPDATE retry_run SET
        awaits = awaits - 1,
        state = CASE WHEN awaits > 1 THEN 2 ELSE 0 END,
        wake_at = CASE WHEN awaits > 1 THEN wake_at ELSE NEW.updated_at END,
        updated_at = NEW.updated_at
    WHERE id = NEW.parent AND state = 2 AND awaits IS NOT NULL;
END;
