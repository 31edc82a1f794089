import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { openPostgres } from './postgres/postgres.ts'
import { openSqliteStore, type Store, type Write } from './sqlite.ts'

/** What somebody else has changed in the store: rows of a kind, by their ids; or anything, while nobody could hear of it. */
export type News = { readonly kind: string; readonly id: string } | 'anything'

/** Connections to a database server. */
export interface ConnectionUse {
  readonly open: number
  readonly idle: number
  /** Queries that wait for one. */
  readonly waiting: number
}

/** The database under the store. */
export interface Engine {
  readonly store: Store
  /** What it is, for people; without a password. */
  readonly name: string
  /** Holds off other gateways that change the schema or what the file declares, to the end of the transaction. */
  lock(write: Write): Promise<void>
  /** Begins to tell of what other gateways change. Resolves when nothing can be missed from now on. */
  listen(onNews: (news: News) => void): Promise<void>
  /** Undefined where there are none. */
  connections(): ConnectionUse | undefined
  /** Idempotent. */
  close(): Promise<void>
}

/** What an engine is opened with. */
export interface EngineOptions {
  /** The SQLite file, or `:memory:`, where there is no {@link url}. */
  readonly file: string
  /** A PostgreSQL database. */
  readonly url?: string
  /** To PostgreSQL, at once; default 10. */
  readonly connections?: number
  /** Longest wait for PostgreSQL; default 30 s. */
  readonly startTimeoutMs?: number
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly log: Pick<Log, 'info' | 'error'>
}

/** Opens the database. Rejects with an error that names it where it cannot be opened, or be reached in time. */
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

/** Shortest time between two log lines that say that the store cannot be written, in milliseconds. */
const logEveryMs = 60_000

/** Writes one line in a minute while the file refuses changes, and one when it takes them again. */
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
