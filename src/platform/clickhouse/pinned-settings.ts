// Settings of ClickHouse that change what a statement means, at ClickHouse's own defaults. They are
// sent with every statement, because the profile of an account may have others, such as
// `join_use_nulls`: with eleven of them, 120 of 534 goldens had other rows, none, or read other
// columns.
import type { StatementSettings } from './client.js';

export const PINNED_SETTINGS = {
  aggregate_functions_null_for_empty: 0,
  // Rows are stored when an insert is answered.
  async_insert: 0,
  cast_keep_nullable: 0,
  data_type_default_nullable: 0,
  insert_null_as_default: 1,
  join_use_nulls: 0,
  prefer_column_name_to_alias: 0,
  session_timezone: 'UTC',
  transform_null_in: 0,
  union_default_mode: '',
  // A statement that exceeds a limit of the profile fails, instead of an answer from a part.
  distinct_overflow_mode: 'throw',
  group_by_overflow_mode: 'throw',
  join_overflow_mode: 'throw',
  read_overflow_mode: 'throw',
  result_overflow_mode: 'throw',
  set_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  timeout_overflow_mode: 'throw',
} as const satisfies StatementSettings;
