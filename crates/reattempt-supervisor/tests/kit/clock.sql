-- A clock that stands still: sessions with `sim` before `pg_catalog` in their `search_path` find this `now`.
CREATE SCHEMA IF NOT EXISTS sim;
CREATE TABLE IF NOT EXISTS sim.clock AS SELECT 0::bigint AS micros;
CREATE OR REPLACE FUNCTION sim.now() RETURNS timestamptz STABLE LANGUAGE sql
    AS 'SELECT to_timestamp(micros / 1000000.0) FROM sim.clock';
