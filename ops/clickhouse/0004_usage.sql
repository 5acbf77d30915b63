-- Usage counts events by the day they were received, of all types and times: this index skips the parts of the table that
-- hold other days.
ALTER TABLE events ADD INDEX IF NOT EXISTS mm_received_at received_at TYPE minmax GRANULARITY 1;
