-- What an application calls in a transaction of its own. Both take one text, a JSON object of the
-- library, so that every driver can call them.

-- Fails unless this is the database of the store.
CREATE FUNCTION retry_check_database(store TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM retry_meta WHERE key = 'salt' AND value = store::bigint;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the transaction is not in the database of the store' USING ERRCODE = 'RS003';
    END IF;
    RETURN 'ok';
END $$;

-- Stores a task, unless its workflow has a task with the same key. Returns the task as a JSON object, with
-- the version and the arguments of one that was there before.
CREATE FUNCTION retry_submit(task TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
    given JSON := task;
    stamp BIGINT := extract(epoch FROM now()) * 1000000;
    submitted JSON;
BEGIN
    PERFORM retry_check_database(given ->> 'store');
    INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, complete_by, fence, failures,
        max_failures, cancel_asked, input, headers, created_at, updated_at, on_failure, nonce)
    VALUES (given ->> 'workflow', (given ->> 'version')::int, given ->> 'queue', (given ->> 'priority')::smallint, given ->> 'key', 0, 0,
        stamp + (given ->> 'delay')::bigint, stamp + (given ->> 'complete_in')::bigint, 0, 0, (given ->> 'max_failures')::int, false,
        given ->> 'input', given ->> 'headers', stamp, stamp, (given ->> 'on_failure')::smallint,
        CASE WHEN NOT EXISTS (SELECT FROM retry_meta WHERE key = 'old_seen' AND value > stamp - 86400000000) THEN (given ->> 'nonce')::bigint END)
    ON CONFLICT (workflow, idem_key) DO NOTHING
    RETURNING json_build_object('id', id, 'is_new', true) INTO submitted;
    IF submitted IS NULL THEN
        SELECT json_build_object('id', id, 'is_new', false, 'version', version, 'input', input) INTO submitted
        FROM retry_run WHERE workflow = given ->> 'workflow' AND idem_key = given ->> 'key';
    END IF;
    IF submitted IS NULL THEN
        RAISE EXCEPTION 'another transaction has stored a task with this key, and this one cannot see it' USING ERRCODE = '40001';
    END IF;
    RETURN submitted;
END $$;

-- Records a step, as the last statement before COMMIT. From here on nobody can claim the task before the
-- end of this transaction, so it must end soon.
CREATE FUNCTION retry_record(ticket TEXT) RETURNS TEXT LANGUAGE plpgsql AS $$
DECLARE
    given JSON := ticket;
    writer BIGINT;
BEGIN
    PERFORM retry_check_database(given ->> 'store');
    -- Deferred checks of the application may wait for others; nobody should wait for the task meanwhile.
    SET CONSTRAINTS ALL IMMEDIATE;
    PERFORM FROM retry_run WHERE id = (given ->> 'task')::bigint AND fence = (given ->> 'fence')::bigint AND state = 1 FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another worker may hold the task' USING ERRCODE = 'RS001';
    END IF;
    INSERT INTO retry_step (run_id, seq, kind, ord, name, attempts, result, at, fence, args_hash, args, undo)
    SELECT (given ->> 'task')::bigint, (given ->> 'seq')::int, (given ->> 'kind')::smallint, (given ->> 'ord')::int, given ->> 'name',
        (given ->> 'attempts')::int, given ->> 'result', (given ->> 'at')::bigint, (given ->> 'fence')::bigint, given ->> 'args_hash',
        given ->> 'args', given ->> 'undo'
    -- A step that has failed is not done later.
    WHERE NOT EXISTS (SELECT FROM retry_step WHERE run_id = (given ->> 'task')::bigint AND seq = (given ->> 'seq')::int AND kind = 2)
    ON CONFLICT (run_id, seq, kind) DO NOTHING
    RETURNING xmin::text::bigint INTO writer;
    IF writer IS NULL THEN
        RAISE EXCEPTION 'another transaction has recorded the step' USING ERRCODE = 'RS004';
    END IF;
    IF writer <> txid_current() % 4294967296 THEN
        RAISE EXCEPTION 'the transaction is nested in another one; record the step in the outer one' USING ERRCODE = 'RS005';
    END IF;
    DELETE FROM retry_running WHERE run_id = (given ->> 'task')::bigint AND seq = (given ->> 'seq')::int;
    PERFORM set_config('statement_timeout', '2s', true), set_config('idle_in_transaction_session_timeout', '2s', true);
    RETURN 'ok';
END $$;
