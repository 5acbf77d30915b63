// Parses a dashboard document to which a card, an alert or a report was added.
import { PublicError } from '../platform/errors.js';
import { type DashboardContext, type ParsedDashboard, parseDashboard } from './parse-dashboard.js';
import { SOURCE_BYTES_MAX } from './schema.js';

export type ChangedText = ParsedDashboard & { readonly sourceYaml: string };

export function parseChanged(text: string, added: 'card' | 'alert' | 'report', context: DashboardContext): ChangedText {
  if (Buffer.byteLength(text) > SOURCE_BYTES_MAX) {
    throw new PublicError('too_large', `with the ${added}, the document is longer than ${SOURCE_BYTES_MAX} bytes`);
  }
  return { ...parseDashboard(text, context), sourceYaml: text };
}
