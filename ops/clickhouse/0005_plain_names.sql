-- Renames columns and tables: user_hash and device_hash for the 64-bit hashes of ids (0 when
-- absent), events_landing for the landing table. A column with an index cannot be renamed, so the
-- indexes are dropped and created again. The landing table is renamed first: inserts of workers
-- that still run fail from then on and are retried, and none finds a table without its view.

RENAME TABLE IF EXISTS events_inbox TO events_landing;
DROP VIEW IF EXISTS events_dedup;
CREATE MATERIALIZED VIEW IF NOT EXISTS events_dedup TO events AS
SELECT *
FROM events_landing
WHERE (project_id, event_type, time, insert_id) NOT IN (
  SELECT project_id, event_type, time, insert_id
  FROM events
  WHERE (project_id, event_type, time) IN (SELECT project_id, event_type, time FROM events_landing)
)
LIMIT 1 BY project_id, event_type, time, insert_id;
ALTER TABLE events DROP INDEX IF EXISTS bf_uid;
ALTER TABLE events DROP INDEX IF EXISTS bf_did;
ALTER TABLE events RENAME COLUMN IF EXISTS uid TO user_hash;
ALTER TABLE events RENAME COLUMN IF EXISTS did TO device_hash;
ALTER TABLE events ADD INDEX IF NOT EXISTS bf_user_hash user_hash TYPE bloom_filter(0.01) GRANULARITY 1;
ALTER TABLE events ADD INDEX IF NOT EXISTS bf_device_hash device_hash TYPE bloom_filter(0.01) GRANULARITY 1;
ALTER TABLE events MATERIALIZE INDEX bf_user_hash;
ALTER TABLE events MATERIALIZE INDEX bf_device_hash;
ALTER TABLE device_map RENAME COLUMN IF EXISTS did TO device_hash;
ALTER TABLE device_map RENAME COLUMN IF EXISTS uid TO user_hash;
ALTER TABLE profiles RENAME COLUMN IF EXISTS uid TO user_hash;
