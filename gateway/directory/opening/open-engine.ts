import type { Engine, EngineOptions } from '../store/engine.ts'
import { openSqliteStore } from '../store/sqlite.ts'

/**
 * Opens the database. If it cannot be opened, or is not reached in time, rejects with an error that names the
 * database.
 */
export const openEngine = async (options: EngineOptions): Promise<Engine> => {
  const { file, url, connections = 10, startTimeoutMs = 30_000, clock, log } = options
  if (url !== undefined) {
    // A gateway with SQLite starts without the PostgreSQL client.
    const { openPostgres } = await import('../postgres/postgres.ts')
    return openPostgres({ url, connections, startTimeoutMs, clock, log })
  }
  const store = openSqliteStore(file, sqliteLog(file, options))
  let closed = false
  return {
    store,
    name: file,
    // No lock is needed: a SQLite file belongs to one gateway.
    lock: async () => {},
    listen: async () => {},
    connections: () => undefined,
    close: async () => {
      if (closed) return
      closed = true
      await store.destroy()
    },
  }
}

/** Minimum time between two log lines about a store that cannot be written, in ms. */
const logEveryMs = 60_000

/**
 * Logs at most one line per minute while the file cannot be written, and one line when it can be written
 * again.
 */
const sqliteLog = (file: string, { clock, log }: Pick<EngineOptions, 'clock' | 'log'>) => {
  let loggedAt = Number.NEGATIVE_INFINITY
  let isRefusing = false
  return (fault: unknown): void => {
    if (fault === undefined) {
      if (isRefusing) log.info({ event: 'store.available', file }, 'store writable again')
      isRefusing = false
    } else if (clock.now() - loggedAt >= logEveryMs) {
      loggedAt = clock.now()
      isRefusing = true
      log.error({ event: 'store.unavailable', file, err: fault }, 'store cannot be written')
    }
  }
}
