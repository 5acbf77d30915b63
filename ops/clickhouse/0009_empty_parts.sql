-- Replicas keep parts without rows. A read with select_sequential_consistency requires, in every
-- partition, a part that covers the last one written with a quorum. When the last rows of a month,
-- or the last profiles of a shard, are deleted and the empty part is removed, no replica has such a
-- part, and every read of the table fails (REPLICA_IS_NOT_IN_QUORUM).

{replicas ALTER TABLE events MODIFY SETTING remove_empty_parts = 0};

{replicas ALTER TABLE device_map MODIFY SETTING remove_empty_parts = 0};

{replicas ALTER TABLE profiles MODIFY SETTING remove_empty_parts = 0};
