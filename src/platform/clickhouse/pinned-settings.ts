// Settings of ClickHouse that change what a statement means or how its answer is written, at
// ClickHouse's own defaults. They are sent with every statement, because the profile of an account
// may have others: with `compatibility = '22.8'` alone, as operators set it for an update, 151 of
// the 534 goldens had other rows or failed.
import type { StatementSettings } from './client.js';

export const PINNED_SETTINGS = {
  aggregate_functions_null_for_empty: 0,
  any_join_distinct_right_table_keys: 0,
  apply_deleted_mask: 1,
  // Rows are stored when an insert is answered.
  async_insert: 0,
  cast_keep_nullable: 0,
  // Of an older version: its defaults count until this one is sent.
  compatibility: '',
  data_type_default_nullable: 0,
  date_time_64_output_format_cut_trailing_zeros_align_to_groups_of_thousands: 0,
  date_time_input_format: 'best_effort',
  date_time_output_format: 'simple',
  enable_analyzer: 1,
  empty_result_for_aggregation_by_empty_set: 0,
  enable_global_with_statement: 1,
  // Erasures delete rows by it.
  enable_lightweight_delete: 1,
  enable_named_columns_in_function_tuple: 0,
  final: 0,
  force_aggregation_in_order: 0,
  // Erasures and moves of projects read events without a range of time.
  force_index_by_date: 0,
  group_by_use_nulls: 0,
  input_format_native_decode_types_in_binary_format: 0,
  insert_null_as_default: 1,
  join_any_take_last_row: 0,
  join_use_nulls: 0,
  // Rows of any statement, also of those that are inserted.
  limit: '0',
  offset: '0',
  output_format_json_array_of_rows: 0,
  output_format_json_map_as_array_of_tuples: 0,
  output_format_json_quote_64bit_floats: 0,
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_denormals: 0,
  output_format_native_encode_types_in_binary_format: 0,
  prefer_column_name_to_alias: 0,
  // The view of inserts would drop no row that is stored already.
  rewrite_in_to_join: 0,
  session_timezone: 'UTC',
  transform_null_in: 0,
  union_default_mode: '',
  use_query_cache: 0,
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
