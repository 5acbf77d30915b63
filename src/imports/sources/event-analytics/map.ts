// Maps lines of the exports of this service. README.md beside this file has the mapping.
import { readAgent } from '../../../ingest/enrich/agent.js';
import { readGeography } from '../../../ingest/enrich/geography.js';
import { type JsonObject, objectOf, textOf } from '../../../platform/json-object.js';
import { RecordIds } from '../../record-ids.js';
import type { Id, ImportedEvent, Mapped, Mapper } from '../../source.js';
import { idOf, timeOf } from '../../values.js';

export function createMapper(): Mapper<JsonObject> {
  const ids = new RecordIds('ea');
  return (record, file) => {
    const type = textOf(record.event_type);
    if (type !== undefined) {
      const insertId = textOf(record.insert_id) ?? ids.ofOccurrence(record, file);
      return [{ kind: 'event', event: toEvent(record, type, insertId) }];
    }
    const user = idOf(record.user_id);
    return user === undefined
      ? [{ kind: 'skip', reason: 'neither an event nor an identify call' }]
      : toIdentity(record, user);
  };
}

const toEvent = (record: JsonObject, type: string, insertId: string): ImportedEvent => ({
  event_type: type,
  timeMs: timeOf(record.time),
  insert_id: insertId,
  user_id: idOf(record.user_id),
  device_id: idOf(record.device_id),
  session_id: idOf(record.session_id),
  event_properties: { ...objectOf(record.event_properties) },
  user_properties: objectOf(record.user_properties),
  ip: textOf(record.ip),
  user_agent: textOf(record.user_agent),
  agent: readAgent(objectOf(record.agent)),
  // Also of an event without a place: an address alone would be looked up again.
  geo: readGeography(objectOf(record.geo)),
  origin: record.origin === 'client' || record.origin === 'server' ? record.origin : undefined,
});

function toIdentity(record: JsonObject, user: Id): Mapped[] {
  const device = idOf(record.device_id);
  const timeMs = timeOf(record.time) ?? 0;
  return [
    ...(device === undefined ? [] : [{ kind: 'link', device, user, timeMs } as const]),
    ...('user_properties' in record
      ? [{ kind: 'profile', user, timeMs, properties: objectOf(record.user_properties) } as const]
      : []),
  ];
}
