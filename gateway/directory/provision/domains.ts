import { randomUUID } from 'node:crypto'
import type { Write } from '../store/sqlite.ts'
import type { Declared, DeclaredDomain } from './declared.ts'

/**
 * Applies the domain applications of the file: removes those that left the file, and creates or updates the
 * others. The domain name identifies an application.
 */
export const provisionDomains = async (
  write: Write,
  domains: Declared['domains'],
  now: number,
): Promise<void> => {
  const rows = await write.selectFrom('domain_app').selectAll().execute()
  const existing = new Map(rows.map((row) => [row.domain, row]))
  const wanted = new Set(domains.map(({ domain }) => domain))
  for (const row of rows)
    if (row.managed_by_file === 1 && !wanted.has(row.domain))
      await write.deleteFrom('domain_app').where('id', '=', row.id).execute()
  for (const app of domains) {
    const before = existing.get(app.domain)
    const values = domainValues(app)
    if (
      before &&
      Object.entries(values).every(([key, value]) => before[key as keyof typeof values] === value)
    )
      continue
    await write
      .insertInto('domain_app')
      .values({ id: randomUUID(), domain: app.domain, created_at: now, updated_at: now, ...values })
      .onConflict((conflict) => conflict.column('domain').doUpdateSet({ ...values, updated_at: now }))
      .execute()
  }
}

/** Returns the columns that the file sets. */
export const domainValues = (app: DeclaredDomain) => ({
  project_id: app.projectId,
  name: app.domain,
  identifier: null,
  user_pattern: '*',
  ip_auth_enabled: app.allow ? 1 : 0,
  ip_auth_json: JSON.stringify(app.allow ?? []),
  encryption: 'optional' as const,
  ciphers_json: null,
  handler_json: json(app.handler),
  status_json: null,
  max_calls: app.maxCalls ?? null,
  calls_per_second: app.callsPerSecond ?? null,
  calls_per_second_of_source: app.callsPerSecondOfSource ?? null,
  max_calls_of_source: app.maxCallsOfSource ?? null,
  challenge_json: json(app.challenge),
  codecs_json: json(app.codecs),
  managed_by_file: 1,
})

const json = (value: object | undefined): string | null => (value ? JSON.stringify(value) : null)
