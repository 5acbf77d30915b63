-- Tables `events` and `device_map`, the landing table of inserts, and the view that de-duplicates.
--
-- `events` is read without FINAL, because duplicates are dropped at insert. Every insert goes to
-- `events_inbox` (engine Null: it stores nothing), and the materialized view `events_dedup` passes
-- only rows whose key is not stored yet, the first of each key within the block. This is exact as
-- long as one insert at a time runs per project, which the worker ensures
-- (src/ingest/insert/ingest-partition.ts). ReplacingMergeTree is the backstop.

CREATE TABLE IF NOT EXISTS events (
  project_id UUID CODEC(ZSTD(1)),
  event_type LowCardinality(String) CODEC(ZSTD(1)),
  time DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
  insert_id String CODEC(ZSTD(1)),
  user_id String CODEC(ZSTD(1)),
  device_id String CODEC(ZSTD(1)),
  session_id String CODEC(ZSTD(1)),
  -- Hashes of the ids, 0 when absent: joins and distinct counts on UInt64 are several times cheaper
  -- than on text.
  uid UInt64 MATERIALIZED if(user_id = '', 0, sipHash64(user_id)) CODEC(ZSTD(1)),
  did UInt64 MATERIALIZED if(device_id = '', 0, sipHash64(device_id)) CODEC(ZSTD(1)),

  url String CODEC(ZSTD(1)),
  path String CODEC(ZSTD(1)),
  path_clean String CODEC(ZSTD(1)),
  hostname LowCardinality(String) CODEC(ZSTD(1)),
  title String CODEC(ZSTD(1)),
  referrer String CODEC(ZSTD(1)),
  referrer_domain LowCardinality(String) CODEC(ZSTD(1)),

  browser LowCardinality(String) CODEC(ZSTD(1)),
  browser_version LowCardinality(String) CODEC(ZSTD(1)),
  os LowCardinality(String) CODEC(ZSTD(1)),
  os_version LowCardinality(String) CODEC(ZSTD(1)),
  platform LowCardinality(String) CODEC(ZSTD(1)),
  device_type LowCardinality(String) CODEC(ZSTD(1)),

  geo_country LowCardinality(String) CODEC(ZSTD(1)),
  geo_region LowCardinality(String) CODEC(ZSTD(1)),
  geo_region_code LowCardinality(String) CODEC(ZSTD(1)),
  geo_city LowCardinality(String) CODEC(ZSTD(1)),
  geo_continent LowCardinality(String) CODEC(ZSTD(1)),
  geo_timezone LowCardinality(String) CODEC(ZSTD(1)),
  geo_metro_code LowCardinality(String) CODEC(ZSTD(1)),
  geo_postal_code LowCardinality(String) CODEC(ZSTD(1)),
  -- NaN when unknown, because (0, 0) is a valid place.
  geo_latitude Float64 CODEC(ZSTD(1)),
  geo_longitude Float64 CODEC(ZSTD(1)),

  ip String CODEC(ZSTD(1)),
  ua LowCardinality(String) CODEC(ZSTD(1)),
  library LowCardinality(String) CODEC(ZSTD(1)),
  ingest_origin LowCardinality(String) CODEC(ZSTD(1)),

  -- Columns of session fields, copied from event properties so that no property map is read for
  -- them.
  utm_source LowCardinality(String) CODEC(ZSTD(1)),
  utm_medium LowCardinality(String) CODEC(ZSTD(1)),
  utm_campaign LowCardinality(String) CODEC(ZSTD(1)),
  utm_term LowCardinality(String) CODEC(ZSTD(1)),
  utm_content LowCardinality(String) CODEC(ZSTD(1)),
  gclid String CODEC(ZSTD(1)),
  fbclid String CODEC(ZSTD(1)),
  language LowCardinality(String) CODEC(ZSTD(1)),
  timezone LowCardinality(String) CODEC(ZSTD(1)),

  -- Property maps of event properties (ep_) and user properties (up_). A key is in one map of a
  -- row, with one exception: a numeric text is in the numeric map as well, so that sums and
  -- comparisons read only that map.
  ep_str Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  ep_num Map(LowCardinality(String), Float64) CODEC(ZSTD(1)),
  ep_bool Map(LowCardinality(String), Bool) CODEC(ZSTD(1)),
  ep_null Array(LowCardinality(String)) CODEC(ZSTD(1)),
  up_str Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  up_num Map(LowCardinality(String), Float64) CODEC(ZSTD(1)),
  up_bool Map(LowCardinality(String), Bool) CODEC(ZSTD(1)),
  up_null Array(LowCardinality(String)) CODEC(ZSTD(1)),

  received_at DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),

  INDEX bf_uid uid TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX bf_did did TYPE bloom_filter(0.01) GRANULARITY 1,
  -- Counts by hour without reading the rows: 11x faster for a month of daily counts at 0.01 bytes per event.
  PROJECTION p_hour (
    SELECT project_id, event_type, toStartOfHour(time), count()
    GROUP BY project_id, event_type, toStartOfHour(time)
  )
)
ENGINE = {ReplacingMergeTree events}
PARTITION BY toYYYYMM(time)
PRIMARY KEY (project_id, event_type, time)
ORDER BY (project_id, event_type, time, insert_id)
SETTINGS deduplicate_merge_projection_mode = 'rebuild', lightweight_mutation_projection_mode = 'rebuild';

CREATE TABLE IF NOT EXISTS events_inbox (
  project_id UUID,
  event_type LowCardinality(String),
  time DateTime64(3, 'UTC'),
  insert_id String,
  user_id String,
  device_id String,
  session_id String,
  url String,
  path String,
  path_clean String,
  hostname LowCardinality(String),
  title String,
  referrer String,
  referrer_domain LowCardinality(String),
  browser LowCardinality(String),
  browser_version LowCardinality(String),
  os LowCardinality(String),
  os_version LowCardinality(String),
  platform LowCardinality(String),
  device_type LowCardinality(String),
  geo_country LowCardinality(String),
  geo_region LowCardinality(String),
  geo_region_code LowCardinality(String),
  geo_city LowCardinality(String),
  geo_continent LowCardinality(String),
  geo_timezone LowCardinality(String),
  geo_metro_code LowCardinality(String),
  geo_postal_code LowCardinality(String),
  geo_latitude Float64,
  geo_longitude Float64,
  ip String,
  ua LowCardinality(String),
  library LowCardinality(String),
  ingest_origin LowCardinality(String),
  utm_source LowCardinality(String),
  utm_medium LowCardinality(String),
  utm_campaign LowCardinality(String),
  utm_term LowCardinality(String),
  utm_content LowCardinality(String),
  gclid String,
  fbclid String,
  language LowCardinality(String),
  timezone LowCardinality(String),
  ep_str Map(LowCardinality(String), String),
  ep_num Map(LowCardinality(String), Float64),
  ep_bool Map(LowCardinality(String), Bool),
  ep_null Array(LowCardinality(String)),
  up_str Map(LowCardinality(String), String),
  up_num Map(LowCardinality(String), Float64),
  up_bool Map(LowCardinality(String), Bool),
  up_null Array(LowCardinality(String)),
  received_at DateTime64(3, 'UTC')
) ENGINE = Null;

-- The inner IN uses the primary-key columns only: with insert_id in it the lookup is 1.7x slower.
CREATE MATERIALIZED VIEW IF NOT EXISTS events_dedup TO events AS
SELECT *
FROM events_inbox
WHERE (project_id, event_type, time, insert_id) NOT IN (
  SELECT project_id, event_type, time, insert_id
  FROM events
  WHERE (project_id, event_type, time) IN (SELECT project_id, event_type, time FROM events_inbox)
)
LIMIT 1 BY project_id, event_type, time, insert_id;

-- Projection of PostgreSQL's device mappings, for stitching at query time: the latest updated_at of
-- a device wins.
CREATE TABLE IF NOT EXISTS device_map (
  project_id UUID,
  device_id String,
  user_id String,
  updated_at DateTime64(6, 'UTC'),
  did UInt64 MATERIALIZED sipHash64(device_id),
  uid UInt64 MATERIALIZED sipHash64(user_id)
)
ENGINE = {ReplacingMergeTree device_map updated_at}
ORDER BY (project_id, device_id);
