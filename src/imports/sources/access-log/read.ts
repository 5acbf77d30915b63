// Source `access-log`: lines of Apache or nginx in the common or combined format.
import type { InputFile } from '../../input/input-files.js';
import { type Line, readLines } from '../../input/line-reader.js';
import { defineSource, type ReadRecord } from '../../source.js';
import { type AccessLogLine, tryParseAccessLogLine } from './line.js';
import { createMapper } from './map.js';

export interface LogRecord {
  readonly text: string;
  readonly line: AccessLogLine;
}

export const accessLog = defineSource<LogRecord>({
  name: 'access-log',
  about: 'access logs of Apache or nginx (combined or common format), as page views',
  read: async function* (file: InputFile) {
    for await (const line of readLines(file.open())) {
      if (line.text.trim() !== '') yield toRecord(line);
    }
  },
  createMapper,
});

function toRecord(line: Line): ReadRecord<LogRecord> {
  const { number, text } = line;
  const parsed = line.isCut ? undefined : tryParseAccessLogLine(text);
  if (parsed === undefined) return { line: number, problem: 'not a line of the common or combined log format' };
  // The server may still be writing this line. Importing the complete line later would create
  // another event.
  if (!line.isTerminated && !parsed.isComplete) return { line: number, problem: 'the last line is not complete' };
  return { line: number, value: { text, line: parsed } };
}
