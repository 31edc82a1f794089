import { afterEach, describe, expect, it, vi } from 'vitest'
import { dumpPostgres, restorePostgres } from './postgres-dump.ts'

afterEach(() => vi.unstubAllEnvs())

describe('without the client programs of PostgreSQL', () => {
  const url = 'postgres://trunkline:hunter2@127.0.0.1/trunkline'

  it.each([
    ['pg_dump', () => dumpPostgres(url, '/dev/null')],
    ['pg_restore', () => restorePostgres(url, '/dev/null', false)],
  ])('the error names %s and its package', async (program, run) => {
    vi.stubEnv('PATH', '/nowhere')
    await expect(run()).rejects.toThrow(
      `${program} is not installed. Install the client programs of PostgreSQL (Debian: postgresql-client)`,
    )
  })
})
