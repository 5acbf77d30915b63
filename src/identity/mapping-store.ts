// Device mappings in PostgreSQL, the source of truth: the mapping with the largest sequence number
// counts. Callers hold the lock of the user's profile (store.ts).
import type { Transaction } from '../platform/postgres/client.js';

export interface DeviceMapping {
  readonly projectId: string;
  readonly deviceId: string;
  readonly userId: string;
  readonly seq: number;
}

/**
 * Adds mappings (idempotent), except those of imports that are superseded already, and deletes
 * superseded ones below the low watermark. Those that a waiting erasure has yet to read stay, also
 * when Redis has lost its pending number.
 */
export async function saveMappings(
  trx: Transaction,
  mappings: readonly DeviceMapping[],
  watermark: number,
): Promise<void> {
  if (mappings.length === 0) return;
  const json = JSON.stringify(
    mappings.map(({ projectId, deviceId, userId, seq }) => ({
      project_id: projectId,
      device_id: deviceId,
      user_id: userId,
      seq,
    })),
  );
  await trx.raw(
    `WITH added AS (
       INSERT INTO device_mappings (project_id, device_id, seq, user_id)
       SELECT project_id, device_id, seq, user_id
       FROM jsonb_to_recordset(?::jsonb) AS m(project_id uuid, device_id text, seq bigint, user_id text)
       WHERE NOT EXISTS (
         SELECT FROM device_mappings n
         WHERE n.project_id = m.project_id AND n.device_id = m.device_id AND n.seq > m.seq AND n.seq < ?
       )
       ON CONFLICT DO NOTHING
       RETURNING project_id, device_id
     )
     INSERT INTO identity_outbox (project_id, kind, key) SELECT DISTINCT project_id, 'mapping', device_id FROM added`,
    [json, watermark],
  );
  // SKIP LOCKED: rows that another transaction is deleting are left to it, to avoid deadlocks.
  await trx.raw(
    `DELETE FROM device_mappings WHERE (project_id, device_id, seq) IN (
       SELECT m.project_id, m.device_id, m.seq
       FROM device_mappings m JOIN (
         SELECT d.project_id, d.device_id, max(d.seq) AS seq
         FROM device_mappings d JOIN (
           SELECT DISTINCT project_id, device_id FROM jsonb_to_recordset(?::jsonb) AS k(project_id uuid, device_id text)
         ) touched USING (project_id, device_id)
         WHERE d.seq < least(?, (SELECT min(erased_through_seq) FROM erasure_requests WHERE status = 'requested'))
         GROUP BY d.project_id, d.device_id
       ) newest ON m.project_id = newest.project_id AND m.device_id = newest.device_id AND m.seq < newest.seq
       FOR UPDATE OF m SKIP LOCKED
     )`,
    [json, watermark],
  );
}
