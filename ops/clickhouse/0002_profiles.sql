-- Projection of user profiles for queries. PostgreSQL is the source of truth; the row with the
-- largest version wins, and one with `deleted` set hides the user. Read with FINAL, which applies
-- both.
--
-- Properties are in property maps like those of events: a numeric text is in props_str and
-- props_num. They include all properties of the profile, also `email`.

CREATE TABLE IF NOT EXISTS profiles (
  project_id UUID CODEC(ZSTD(1)),
  user_id String CODEC(ZSTD(1)),
  -- The same hash as `uid` of events, by which profiles are joined.
  uid UInt64 MATERIALIZED sipHash64(user_id) CODEC(ZSTD(1)),
  email String CODEC(ZSTD(1)),
  email_domain LowCardinality(String) CODEC(ZSTD(1)),
  first_seen DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
  last_seen DateTime64(3, 'UTC') CODEC(Delta(8), ZSTD(1)),
  props_str Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  props_num Map(LowCardinality(String), Float64) CODEC(ZSTD(1)),
  props_bool Map(LowCardinality(String), Bool) CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  deleted UInt8 DEFAULT 0 CODEC(ZSTD(1))
)
ENGINE = {ReplacingMergeTree profiles version, deleted}
ORDER BY (project_id, user_id);
