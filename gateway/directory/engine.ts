import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { openPostgres } from './postgres/postgres.ts'
import { openSqliteStore, type Store, type Write } from './sqlite.ts'

/**
 * Change of the store by another gateway: a row of a kind, by its id; `anything` if notifications were
 * missed.
 */
export type News = { readonly kind: string; readonly id: string } | 'anything'

/** Connections to a database server. */
export interface ConnectionUse {
  readonly open: number
  readonly idle: number
  /** Number of queries that wait for a connection. */
  readonly waiting: number
}

/** The database of the store. */
export interface Engine {
  readonly store: Store
  /** Name for people; without a password. */
  readonly name: string
  /** Excludes other gateways that change the schema or declarations, until the end of the transaction. */
  lock(write: Write): Promise<void>
  /** Starts notifications about changes of other gateways. Resolves when no change can be missed any more. */
  listen(onNews: (news: News) => void): Promise<void>
  /** Returns undefined for a database without connections. */
  connections(): ConnectionUse | undefined
  /** Closes the database. Idempotent. */
  close(): Promise<void>
}

/** Options of {@link openEngine}. */
export interface EngineOptions {
  /** The SQLite file, or `:memory:`, if {@link url} is absent. */
  readonly file: string
  /** URL of a PostgreSQL database. */
  readonly url?: string
  /** Maximum number of connections to PostgreSQL; default 10. */
  readonly connections?: number
  /** Maximum wait for PostgreSQL at start; default 30 s. */
  readonly startTimeoutMs?: number
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly log: Pick<Log, 'info' | 'error'>
}

/** Opens the database. Rejects with an error that names it if it cannot be opened, or reached in time. */
export const openEngine = async (options: EngineOptions): Promise<Engine> => {
  const { file, url, connections = 10, startTimeoutMs = 30_000, clock, log } = options
  if (url !== undefined) return openPostgres({ url, connections, startTimeoutMs, clock, log })
  const store = openSqliteStore(file, sqliteLog(file, options))
  let closed = false
  return {
    store,
    name: file,
    // A file has one gateway.
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

/** Minimum time between two log lines about a store that cannot be written, in milliseconds. */
const logEveryMs = 60_000

/** Logs at most one line per minute while the file refuses changes, and one when it accepts them again. */
const sqliteLog = (file: string, { clock, log }: Pick<EngineOptions, 'clock' | 'log'>) => {
  let loggedAt = Number.NEGATIVE_INFINITY
  let isToldRefusing = false
  return (fault: unknown): void => {
    if (fault === undefined) {
      if (isToldRefusing) log.info({ event: 'store.available', file }, 'store written again')
      isToldRefusing = false
    } else if (clock.now() - loggedAt >= logEveryMs) {
      loggedAt = clock.now()
      isToldRefusing = true
      log.error({ event: 'store.unavailable', file, err: fault }, 'store cannot be written')
    }
  }
}
