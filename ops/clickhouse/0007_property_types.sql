-- Columns ep_types, up_types and props_types: the keys of the three property maps of a row, each with
-- the type of its value, as one text. `|sname|eplan|nprice|` has the key `name` in the text map, `plan`
-- in the text map with an empty text (`|splan` is in it too), and `price` in the numeric map; a
-- boolean has `b`. In keys, `%` is `%25` and `|` is `%7C`, so that `|nprice|` is in the text if and
-- only if the numeric map has the key `price`.
--
-- Most events have one of few sets of keys. ClickHouse searches each text of a LowCardinality column
-- once per block: whether an event has a key costs a fraction of reading the keys of its maps.
--
-- Parts from before are rewritten in the background; until then ClickHouse computes the text from
-- the maps.

ALTER TABLE events ADD COLUMN IF NOT EXISTS ep_types LowCardinality(String) MATERIALIZED concat(
    arrayStringConcat(arrayMap(key -> concat('|s', replaceAll(replaceAll(key, '%', '%25'), '|', '%7C')), mapKeys(ep_str))),
    arrayStringConcat(arrayMap(key -> concat('|e', replaceAll(replaceAll(key, '%', '%25'), '|', '%7C')), arrayFilter((key, text) -> text = '', mapKeys(ep_str), mapValues(ep_str)))),
    arrayStringConcat(arrayMap(key -> concat('|n', replaceAll(replaceAll(key, '%', '%25'), '|', '%7C')), mapKeys(ep_num))),
    arrayStringConcat(arrayMap(key -> concat('|b', replaceAll(replaceAll(key, '%', '%25'), '|', '%7C')), mapKeys(ep_bool))),
    '|'
  ) CODEC(ZSTD(1));
ALTER TABLE events ADD COLUMN IF NOT EXISTS up_types LowCardinality(String) MATERIALIZED concat(
    arrayStringConcat(arrayMap(key -> concat('|s', replaceAll(replaceAll(key, '%', '%25'), '|', '%7C')), mapKeys(up_str))),
    arrayStringConcat(arrayMap(key -> concat('|e', replaceAll(replaceAll(key, '%', '%25'), '|', '%7C')), arrayFilter((key, text) -> text = '', mapKeys(up_str), mapValues(up_str)))),
    arrayStringConcat(arrayMap(key -> concat('|n', replaceAll(replaceAll(key, '%', '%25'), '|', '%7C')), mapKeys(up_num))),
    arrayStringConcat(arrayMap(key -> concat('|b', replaceAll(replaceAll(key, '%', '%25'), '|', '%7C')), mapKeys(up_bool))),
    '|'
  ) CODEC(ZSTD(1));
ALTER TABLE profiles ADD COLUMN IF NOT EXISTS props_types LowCardinality(String) MATERIALIZED concat(
    arrayStringConcat(arrayMap(key -> concat('|s', replaceAll(replaceAll(key, '%', '%25'), '|', '%7C')), mapKeys(props_str))),
    arrayStringConcat(arrayMap(key -> concat('|e', replaceAll(replaceAll(key, '%', '%25'), '|', '%7C')), arrayFilter((key, text) -> text = '', mapKeys(props_str), mapValues(props_str)))),
    arrayStringConcat(arrayMap(key -> concat('|n', replaceAll(replaceAll(key, '%', '%25'), '|', '%7C')), mapKeys(props_num))),
    arrayStringConcat(arrayMap(key -> concat('|b', replaceAll(replaceAll(key, '%', '%25'), '|', '%7C')), mapKeys(props_bool))),
    '|'
  ) CODEC(ZSTD(1));
ALTER TABLE events MATERIALIZE COLUMN ep_types;
ALTER TABLE events MATERIALIZE COLUMN up_types;
ALTER TABLE profiles MATERIALIZE COLUMN props_types;
