import { sql } from 'kysely'
import type { Write } from '../store/sqlite.ts'

/** Channel of the notifications. */
export const channel = 'trunkline'

/**
 * Tables whose changes are notified: those held in memory, and messages, which must be delivered. Each entry
 * has the kind of the notification and the column of the row's id.
 */
const watched: Readonly<Record<string, readonly [kind: string, column: string, on?: 'insert']>> = {
  resource: ['resource', 'id'],
  address: ['resource', 'resource_id'],
  subscriber: ['resource', 'resource_id'],
  endpoint: ['resource', 'resource_id'],
  flow_version: ['resource', 'resource_id'],
  domain_app: ['domain', 'id'],
  project: ['project', 'id'],
  api_token: ['project', 'project_id'],
  carrier: ['carrier', 'id'],
  revoked_token: ['revoked_token', 'jti'],
  message: ['message', 'id', 'insert'],
}

/**
 * Creates triggers that notify of every change of data that gateways hold in memory, within the same
 * transaction. So no gateway misses a committed change, whichever process made it.
 */
export const watchChanges = async (write: Write): Promise<void> => {
  await sql`create or replace function trunkline_changed() returns trigger language plpgsql as ${sql.raw(`$$
    declare changed jsonb := case when tg_op = 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
    begin
      perform pg_notify('${channel}', tg_argv[0] || ':' || (changed ->> tg_argv[1]));
      return null;
    end $$`)}`.execute(write)
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where t.tgname = 'trunkline_changed' and c.relnamespace = current_schema()::regnamespace`.execute(write)
  const present = new Set(rows.map(({ name }) => name))
  for (const [table, [kind, column, on]] of Object.entries(watched)) {
    if (present.has(table)) continue
    const changes = sql.raw(on ?? 'insert or update or delete')
    await sql`create trigger trunkline_changed after ${changes} on ${sql.table(table)}
      for each row execute function trunkline_changed(${sql.lit(kind)}, ${sql.lit(column)})`.execute(write)
  }
}
