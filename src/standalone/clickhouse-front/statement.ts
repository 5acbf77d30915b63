// Tells apart the few kinds of statement that the front must treat differently. It reads the beginning and the end of the
// text only: everything between is the engine's business.

export interface InsertStatement {
  readonly kind: 'insert';
  readonly table: string;
  readonly columns: readonly string[];
  readonly format: string;
}

export interface ReadStatement {
  readonly kind: 'read';
  /** The format that the text itself asks for. */
  readonly format: string | undefined;
}

export type Statement =
  | InsertStatement
  | ReadStatement
  | {
      readonly kind: 'kill';
      readonly queryId: string;
      readonly isParameter: boolean;
      readonly sync: boolean;
      readonly format: string | undefined;
    }
  | { readonly kind: 'other' };

const INSERT =
  /^INSERT\s+INTO\s+(?:TABLE\s+)?(?<table>[^\s(]+)\s*(?:\((?<columns>[^()]*)\)\s*)?FORMAT\s+(?<format>\w+)\s*;?\s*$/i;
const KILL =
  /^KILL\s+QUERY\s+WHERE\s+query_id\s*=\s*(?:'(?<literal>[^'\\]*)'|\{\s*(?<parameter>\w+)\s*:\s*String\s*\})\s*(?<mode>SYNC|ASYNC)?\s*(?:FORMAT\s+(?<format>\w+)\s*)?;?\s*$/i;
const READ = /^(?:\(|(?:SELECT|WITH|SHOW|DESCRIBE|DESC|EXISTS|EXPLAIN)\b)/i;
const FORMAT_AT_END = /\bFORMAT\s+(?<format>\w+)\s*(?:SETTINGS\b[^']*)?;?\s*$/i;

export function parseStatement(sql: string): Statement {
  const text = withoutLeadingComments(sql);
  const insert = INSERT.exec(text)?.groups;
  if (insert?.table !== undefined && insert.format !== undefined) {
    const columns = (insert.columns ?? '').split(',').map(unquoted);
    return {
      kind: 'insert',
      table: unquoted(insert.table),
      columns: columns.filter((column) => column !== ''),
      format: insert.format,
    };
  }
  const kill = KILL.exec(text)?.groups;
  if (kill !== undefined) {
    return {
      kind: 'kill',
      queryId: kill.parameter ?? kill.literal ?? '',
      isParameter: kill.parameter !== undefined,
      sync: kill.mode?.toUpperCase() === 'SYNC',
      format: kill.format,
    };
  }
  if (READ.test(text)) return { kind: 'read', format: FORMAT_AT_END.exec(text)?.groups?.format };
  return { kind: 'other' };
}

/** True when the text has a SELECT inside another one. A match within a string literal errs on the safe side. */
export const hasSubquery = (sql: string): boolean => (sql.match(/\bSELECT\b/gi)?.length ?? 0) > 1;

const withoutLeadingComments = (sql: string): string => sql.replace(/^(?:\s+|--[^\n]*\n|\/\*[\s\S]*?\*\/)+/, '');

const unquoted = (name: string): string => name.trim().replace(/[`"]/g, '');
