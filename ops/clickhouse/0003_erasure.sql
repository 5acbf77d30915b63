-- What is deleted leaves the disk soon: files that were rewritten stay for one minute instead of eight, and are looked for
-- every half minute at least; of finished mutations, whose text names (hashed) ids, only the last is kept.

ALTER TABLE events MODIFY SETTING old_parts_lifetime = 60, finished_mutations_to_keep = 1,
  cleanup_delay_period = 10, max_cleanup_delay_period = 30, cleanup_delay_period_random_add = 5;
ALTER TABLE device_map MODIFY SETTING old_parts_lifetime = 60, finished_mutations_to_keep = 1,
  cleanup_delay_period = 10, max_cleanup_delay_period = 30, cleanup_delay_period_random_add = 5;
ALTER TABLE profiles MODIFY SETTING old_parts_lifetime = 60, finished_mutations_to_keep = 1,
  cleanup_delay_period = 10, max_cleanup_delay_period = 30, cleanup_delay_period_random_add = 5;
