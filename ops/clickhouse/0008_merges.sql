-- Merges of `events` take more parts of one size at a time: a row is rewritten about half as often
-- between its insert and a part that is rarely merged again. Merging was the larger part of what
-- ClickHouse spends on an event. There are more parts for a while, which queries of the last
-- minutes read.
--
-- The setting is of the table, and each replica applies it to its own choice of merges.

ALTER TABLE events MODIFY SETTING merge_selector_base = 8;
