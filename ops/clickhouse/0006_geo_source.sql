-- Column geo_source: whether the geography of an event comes from a database or from headers of the
-- proxy. Empty when unknown, as in all rows that were stored before.
--
-- The target of the view gets the column before its source: the view passes all columns by name.

ALTER TABLE events ADD COLUMN IF NOT EXISTS geo_source LowCardinality(String) CODEC(ZSTD(1)) AFTER geo_longitude;
ALTER TABLE events_landing ADD COLUMN IF NOT EXISTS geo_source LowCardinality(String) AFTER geo_longitude;
