import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { withVariables } from '../../../config/environment.ts'
import { SystemClock } from '../../core/clock.ts'
import { createLog } from '../../core/log.ts'
import { openEngine } from '../../directory/opening/open-engine.ts'

/** Writes a dump of a PostgreSQL store by `pg_dump`. Throws if the program is missing or fails. */
export const dumpPostgres = (url: string, file: string): Promise<void> =>
  run('pg_dump', url, ['--format=custom', '--no-owner', '--no-privileges', '--file', file])

/**
 * Restores a dump by `pg_restore` in one transaction. `isReplacing`: whether the tables of the dump replace
 * present ones. Throws if the program is missing or fails.
 */
export const restorePostgres = (url: string, file: string, isReplacing: boolean): Promise<void> => {
  const replacing = isReplacing ? ['--clean', '--if-exists'] : []
  const options = ['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges']
  return run('pg_restore', url, [...options, ...replacing, file])
}

/** Returns the version of the tables in a PostgreSQL database; undefined if it has no tables of a store. */
export const postgresVersion = async (url: string): Promise<number | undefined> => {
  const clock = new SystemClock()
  const log = createLog({ level: 'silent', pretty: false })
  const engine = await openEngine({ file: '', url, startTimeoutMs: 5_000, clock, log })
  try {
    const tables = await engine.store.introspection.getTables()
    if (!tables.some(({ name }) => name === 'schema_version')) return undefined
    const rows = await engine.store.selectFrom('schema_version').select('version').execute()
    return Math.max(0, ...rows.map(({ version }) => version))
  } finally {
    await engine.close()
  }
}

/** Runs a program of PostgreSQL. The password is in a variable, because other users see arguments. */
const run = async (program: string, url: string, options: readonly string[]): Promise<void> => {
  const address = new URL(url)
  const password = decodeURIComponent(address.password)
  address.password = ''
  const child = spawn(program, ['--no-password', '--dbname', address.href, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: withVariables(password === '' ? {} : { PGPASSWORD: password }),
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000)
  })
  const code = await once(child, 'close').then(
    ([exit]) => exit as number | null,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      throw new Error(
        `${program} is not installed. Install the client programs of PostgreSQL ` +
          '(Debian: postgresql-client), of the same version as the server or later.',
      )
    },
  )
  if (code !== 0) throw new Error(`${program} failed: ${said.trim()}`)
}
