import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Store, Write } from './sqlite.ts'

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
  /** Name for logs and errors, without a password. */
  readonly name: string
  /** Excludes other gateways that change the schema or declarations, until the end of the transaction. */
  lock(write: Write): Promise<void>
  /** Starts notifications about changes of other gateways. Resolves when no change can be missed any more. */
  listen(onNews: (news: News) => void): Promise<void>
  /** Returns the use of the connection pool; undefined for SQLite, which has none. */
  connections(): ConnectionUse | undefined
  /** Closes the database. Idempotent. */
  close(): Promise<void>
}

/** Options of `openEngine`. */
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
