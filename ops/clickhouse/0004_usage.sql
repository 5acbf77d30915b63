-- Index for usage, which counts events by the day of receipt for all types and times: it skips the
-- parts of the table with other days.
ALTER TABLE events ADD INDEX IF NOT EXISTS mm_received_at received_at TYPE minmax GRANULARITY 1;
