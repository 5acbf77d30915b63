// The engine's own configuration, for a machine that it shares with everything else: the defaults of a server allow caches
// of several gigabytes and hundreds of threads. There is nothing to switch off about system logs: the library has none.

const MEBIBYTE = 1024 * 1024;

export function engineConfiguration(options: { readonly memoryBytes: number }): string {
  const settings: Readonly<Record<string, number>> = {
    max_server_memory_usage: options.memoryBytes,
    mark_cache_size: 64 * MEBIBYTE,
    primary_index_cache_size: 64 * MEBIBYTE,
    index_mark_cache_size: 16 * MEBIBYTE,
    vector_similarity_index_cache_size: 0,
    text_index_tokens_cache_size: 0,
    text_index_header_cache_size: 0,
    text_index_postings_cache_size: 0,
    parquet_metadata_cache_size: 0,
    iceberg_metadata_files_cache_size: 0,
    compiled_expression_cache_size: 16 * MEBIBYTE,
    query_condition_cache_size: 16 * MEBIBYTE,
    max_thread_pool_size: 500,
    max_io_thread_pool_size: 8,
    background_pool_size: 2,
    background_schedule_pool_size: 2,
  };
  const lines = Object.entries(settings).map(([name, value]) => `  <${name}>${value}</${name}>`);
  return `<clickhouse>\n${lines.join('\n')}\n</clickhouse>\n`;
}
