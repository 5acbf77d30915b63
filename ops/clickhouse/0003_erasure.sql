-- Removes deleted data from the disk sooner: rewritten files stay for one minute instead of eight,
-- and are checked at least every half minute; of finished mutations, whose text contains hashed
-- ids, only the last is kept.

ALTER TABLE events MODIFY SETTING old_parts_lifetime = 60, finished_mutations_to_keep = 1,
  cleanup_delay_period = 10, max_cleanup_delay_period = 30, cleanup_delay_period_random_add = 5;
ALTER TABLE device_map MODIFY SETTING old_parts_lifetime = 60, finished_mutations_to_keep = 1,
  cleanup_delay_period = 10, max_cleanup_delay_period = 30, cleanup_delay_period_random_add = 5;
ALTER TABLE profiles MODIFY SETTING old_parts_lifetime = 60, finished_mutations_to_keep = 1,
  cleanup_delay_period = 10, max_cleanup_delay_period = 30, cleanup_delay_period_random_add = 5;
