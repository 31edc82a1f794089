import type { PostgresPool, PostgresPoolClient } from 'kysely'
import { type ClientConfig, DatabaseError, Pool, type PoolClient, types } from 'pg'
import { TrunklineError } from '../../core/errors/catalogue.ts'

/** Maximum wait for a connection, and for the answer to a query, in ms. */
const connectMs = 3_000
const queryMs = 15_000

/**
 * Type ids of int8 and numeric. The columns of these types are counts, sums and times, which all fit a
 * number.
 */
const numbers = new Set([20, 1700])

/** Returns the options of a connection; counts of the server arrive as numbers. */
export const clientConfig = (url: string): ClientConfig => ({
  connectionString: url,
  application_name: 'trunkline',
  connectionTimeoutMillis: connectMs,
  query_timeout: queryMs,
  keepAlive: true,
  types: {
    getTypeParser: ((oid: number, format: 'text') =>
      numbers.has(oid) ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
  },
})

/** Opens connections to the server on demand. A broken connection fails only its own query. */
export const openPool = (url: string, connections: number): OwnPool => {
  const own = new Set<number>()
  const pool = new Pool({ ...clientConfig(url), max: connections, idleTimeoutMillis: 60_000 })
  // The pool replaces a connection that breaks while idle; while it is used, its query rejects.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    own.add(processIdOf(client))
    client.on('error', () => {})
  })
  pool.on('remove', (client) => own.delete(processIdOf(client)))
  return { pool, isOwn: (processId) => own.has(processId) }
}

/** Connection pool of this gateway, with a check for its own server processes. */
export interface OwnPool {
  readonly pool: Pool
  readonly isOwn: (processId: number) => boolean
}

/** Returns the id of the server process, which the driver's types do not declare. */
const processIdOf = (client: object): number =>
  'processID' in client && typeof client.processID === 'number' ? client.processID : 0

/**
 * Returns the pool for Kysely. Errors of an unavailable server become `store_unavailable`. `onDoubt` is
 * called if the answer to a change was lost, so that its effect is unknown.
 */
export const guardedPool = (
  pool: Pick<Pool, 'connect' | 'end' | 'options'>,
  onDoubt: () => void,
): PostgresPool => ({
  connect: async () => guarded(await pool.connect().catch(refuse), onDoubt),
  end: () => pool.end(),
  options: pool.options,
})

const guarded = (client: PoolClient, onDoubt: () => void): PostgresPoolClient => {
  // After a missing response, the connection may still run the query, perhaps within a transaction, and must
  // not be reused.
  let owing = false
  const query = (sql: unknown, parameters?: unknown) =>
    client.query(sql as string, parameters as unknown[]).catch((error: unknown) => {
      if (!(error instanceof DatabaseError)) {
        owing = true
        if (!/^(select|begin|rollback)/i.test(String(sql))) onDoubt()
      }
      return refuse(error)
    })
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: (destroy = false) => client.release(destroy || owing),
  }
}

/**
 * Classes of SQLSTATE for faults of the server, not of the query: connection, resources, operator, system.
 */
const serverFaults = /^(08|53|57P|58)/
/** Codes for a character that text cannot hold, and a number that a column cannot hold. */
const badValues = new Set(['22021', '22P05', '22003'])

const refuse = (error: unknown): never => {
  if (!(error instanceof DatabaseError) || serverFaults.test(error.code ?? ''))
    throw new TrunklineError('store_unavailable', undefined, {}, error)
  if (badValues.has(error.code ?? ''))
    throw new TrunklineError('invalid_field', 'A value cannot be stored.', {}, error)
  throw error
}
