import { Kysely, PostgresDialect, sql } from 'kysely'
import { DatabaseError, type Pool } from 'pg'
import type { Engine, EngineOptions, News } from '../store/engine.ts'
import type { Tables } from '../store/schema.ts'
import { Listener } from './listener.ts'
import { guardedPool, openPool } from './pool.ts'
import { watchChanges } from './triggers.ts'

/** Wait between two attempts to reach the server at start, in ms. */
const againMs = 500
/** Key of the advisory lock, the same for all gateways: the bytes of `trnk`. */
const lockKey = 0x74726e6b

/** Faults that a retry cannot fix: wrong user, password or database (classes 28 and 3D). */
const lasting = /^(28|3D)/

/** Connects to PostgreSQL. Rejects with an error that names the database if it cannot be reached in time. */
export const openPostgres = async (
  options: Required<Pick<EngineOptions, 'url' | 'connections' | 'startTimeoutMs' | 'clock' | 'log'>>,
): Promise<Engine> => {
  const { url, connections, clock, log } = options
  const { pool, isOwn } = openPool(url, connections)
  const name = publicUrl(url)
  try {
    await reached(pool, name, options)
  } catch (error) {
    await pool.end()
    throw error
  }
  let onNews: (news: News) => void = () => {}
  const guarded = guardedPool(pool, () => onNews('anything'))
  const store = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: guarded }) })
  let listener: Listener | undefined
  let closed = false
  return {
    store,
    name,
    lock,
    listen: async (to) => {
      onNews = to
      await store.transaction().execute(async (write) => {
        await lock(write)
        await watchChanges(write)
      })
      listener = new Listener({ url, clock, log, isOwn, onNews })
      await listener.open()
    },
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: async () => {
      if (closed) return
      closed = true
      await listener?.close()
      await store.destroy()
    },
  }
}

const lock: Engine['lock'] = async (write) => {
  await sql`select pg_advisory_xact_lock(${lockKey})`.execute(write)
}

/** Resolves when the server responds. */
const reached = async (
  pool: Pool,
  name: string,
  { startTimeoutMs, clock, log }: Pick<EngineOptions, 'clock' | 'log'> & { readonly startTimeoutMs: number },
): Promise<void> => {
  const until = clock.now() + startTimeoutMs
  for (let tries = 0; ; tries++) {
    try {
      await pool.query('select 1')
      return
    } catch (error) {
      const reason = reasonOf(error)
      const hopeless = error instanceof DatabaseError && lasting.test(error.code ?? '')
      if (hopeless) throw new Error(`The database ${name} cannot be used: ${reason}`, { cause: error })
      if (clock.now() + againMs > until) {
        const waited = `${Math.round(startTimeoutMs / 1000)} s`
        throw new Error(`The database ${name} could not be reached within ${waited}: ${reason}`, {
          cause: error,
        })
      }
      if (tries === 0)
        log.error({ event: 'database.unreachable', database: name, reason }, 'database not reachable yet')
      await new Promise<void>((resolve) => clock.after(againMs, resolve))
    }
  }
}

/** Returns the reason of an error. If several addresses were tried, returns the reason of the first. */
const reasonOf = (error: unknown): string => {
  const [first] = error instanceof AggregateError ? error.errors : [error]
  return first instanceof Error ? first.message : String(first)
}

/** Returns the URL without secret parts. */
const publicUrl = (url: string): string => {
  const { protocol, host, pathname, searchParams } = new URL(url)
  return `${protocol}//${host || (searchParams.get('host') ?? '')}${pathname}`
}
