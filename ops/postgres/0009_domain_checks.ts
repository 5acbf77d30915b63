// Adds when the TXT record of a domain was seen and checked, and how many mails its owners got
// since it was last seen.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('domains', (table) => {
    table.timestamp('record_seen_at', { useTz: true });
    table.timestamp('checked_at', { useTz: true });
    table.smallint('notices_sent').notNullable().defaultTo(0);
  });
  // Verified domains get the full period from now on; the first check follows at once.
  await knex.raw('UPDATE domains SET record_seen_at = now() WHERE verified_at IS NOT NULL');
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('domains', (table) => {
    table.dropColumns('record_seen_at', 'checked_at', 'notices_sent');
  });
}
