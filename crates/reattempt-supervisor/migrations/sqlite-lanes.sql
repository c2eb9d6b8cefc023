-- Lanes: the tasks of a lane run one at a time, also if processes of a release before run them. A task that
-- waits for its turn wakes up at 9223372036854775806, so no worker claims it. A task enters its lane when it
-- is stored, or continues after its end, and has the turn until it has ended.
ALTER TABLE retry_run ADD COLUMN lane TEXT;
-- When a task that waits for its turn would wake up otherwise; NULL if it does not wait for it.
ALTER TABLE retry_run ADD COLUMN turn_at INTEGER;
CREATE INDEX retry_run_turn ON retry_run (lane, turn_at, id) WHERE turn_at IS NOT NULL;

-- The task that has the turn in each lane.
CREATE TABLE retry_lane (
    lane   TEXT    PRIMARY KEY,
    run_id INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER retry_lane_entered AFTER INSERT ON retry_run WHEN NEW.lane IS NOT NULL
BEGIN
    UPDATE retry_run SET turn_at = wake_at, wake_at = 9223372036854775806 WHERE id = NEW.id;
END;
CREATE TRIGGER retry_lane_entered_again AFTER UPDATE OF state ON retry_run
WHEN NEW.lane IS NOT NULL AND NEW.state = 0 AND NEW.turn_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM retry_lane WHERE lane = NEW.lane AND run_id = NEW.id)
BEGIN
    UPDATE retry_run SET turn_at = wake_at, wake_at = 9223372036854775806 WHERE id = NEW.id;
END;

CREATE TRIGGER retry_lane_asked AFTER UPDATE OF turn_at ON retry_run
WHEN NEW.turn_at IS NOT NULL AND OLD.turn_at IS NULL
BEGIN
    -- A task that sleeps and has not started lets one pass that wakes up earlier.
    UPDATE retry_run SET turn_at = wake_at, wake_at = 9223372036854775806
    WHERE id = (SELECT run_id FROM retry_lane WHERE lane = NEW.lane)
        AND turn_at IS NULL AND state = 0 AND fence = 0 AND wake_at > max(NEW.turn_at, NEW.updated_at);
    DELETE FROM retry_lane WHERE lane = NEW.lane AND EXISTS (SELECT 1 FROM retry_run WHERE id = run_id AND turn_at IS NOT NULL);
    INSERT INTO retry_lane (lane, run_id)
    SELECT NEW.lane, NEW.id WHERE NOT EXISTS (SELECT 1 FROM retry_lane WHERE lane = NEW.lane);
    UPDATE retry_run SET wake_at = turn_at, turn_at = NULL
    WHERE id = NEW.id AND turn_at IS NOT NULL AND EXISTS (SELECT 1 FROM retry_lane WHERE lane = NEW.lane AND run_id = NEW.id);
END;

-- The next one has its turn at this time, so that a lane with many old tasks goes before no other lane.
CREATE TRIGGER retry_lane_passed AFTER DELETE ON retry_lane
BEGIN
    INSERT INTO retry_lane (lane, run_id)
    SELECT lane, id FROM retry_run WHERE lane = OLD.lane AND turn_at IS NOT NULL ORDER BY turn_at, id LIMIT 1;
    UPDATE retry_run SET
        wake_at = max(turn_at, coalesce((SELECT updated_at FROM retry_run WHERE id = OLD.run_id), 0)),
        turn_at = NULL
    WHERE id = (SELECT run_id FROM retry_lane WHERE lane = OLD.lane) AND turn_at IS NOT NULL;
END;

-- A parked task keeps its turn.
CREATE TRIGGER retry_lane_left AFTER UPDATE OF state ON retry_run WHEN NEW.lane IS NOT NULL AND NEW.state > 2
BEGIN
    UPDATE retry_run SET turn_at = NULL WHERE id = NEW.id AND turn_at IS NOT NULL;
    DELETE FROM retry_lane WHERE lane = NEW.lane AND run_id = NEW.id AND NEW.state <> 7;
END;
CREATE TRIGGER retry_lane_deleted AFTER DELETE ON retry_run WHEN OLD.lane IS NOT NULL
BEGIN
    DELETE FROM retry_lane WHERE lane = OLD.lane AND run_id = OLD.id;
END;

-- Somebody has changed a task that waits. One that has never started and is late has nothing to undo, and does
-- not wait.
CREATE TRIGGER retry_lane_changed AFTER UPDATE OF wake_at ON retry_run
WHEN NEW.turn_at IS NOT NULL AND NEW.state = 0 AND NEW.wake_at <> 9223372036854775806
BEGIN
    UPDATE retry_run SET
        lane = CASE WHEN direction = 0 OR fence > 1 THEN lane END,
        turn_at = CASE WHEN direction = 0 OR fence > 1 THEN wake_at END,
        wake_at = CASE WHEN direction = 0 OR fence > 1 THEN 9223372036854775806 ELSE wake_at END
    WHERE id = NEW.id;
END;
