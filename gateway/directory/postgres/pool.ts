import type { PostgresPool, PostgresPoolClient } from 'kysely'
import { type ClientConfig, DatabaseError, Pool, type PoolClient, types } from 'pg'
import { TrunklineError } from '../../core/errors/catalogue.ts'

/** Longest wait for a connection, and for the answer to a query. */
const connectMs = 3_000
const queryMs = 15_000

/** int8 and numeric: counts, sums and times, all of which a number holds. */
const numbers = new Set([20, 1700])

/** How to connect; what the server counts comes as numbers. */
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

/**
 * Connections to the server, opened as they are needed. A connection that breaks costs the query that is on
 * it, and nothing else.
 */
export const openPool = (url: string, connections: number): OwnPool => {
  const own = new Set<number>()
  const pool = new Pool({ ...clientConfig(url), max: connections, idleTimeoutMillis: 60_000 })
  // One that breaks while nobody uses it is replaced by the pool; while somebody uses it, their query
  // rejects.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    own.add(processIdOf(client))
    client.on('error', () => {})
  })
  pool.on('remove', (client) => own.delete(processIdOf(client)))
  return { pool, isOwn: (processId) => own.has(processId) }
}

/** Connections, and whether a process of the server is at the end of one of them. */
export interface OwnPool {
  readonly pool: Pool
  readonly isOwn: (processId: number) => boolean
}

/** The driver knows it, and its types do not. */
const processIdOf = (client: object): number =>
  'processID' in client && typeof client.processID === 'number' ? client.processID : 0

/**
 * The pool as Kysely takes it; errors of a server that is away are `store_unavailable`. `onDoubt`: a change
 * may have been made or not, as its answer was lost.
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
  // One that owes an answer is busy with the question still, and may be in the middle of a transaction:
  // nobody else is to get it.
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
 * Classes of SQLSTATE that say that the server, not the query, is at fault: connection, resources, operator,
 * system.
 */
const serverFaults = /^(08|53|57P|58)/
/** A character that text cannot have, and a number that a column cannot. */
const badValues = new Set(['22021', '22P05', '22003'])

const refuse = (error: unknown): never => {
  if (!(error instanceof DatabaseError) || serverFaults.test(error.code ?? ''))
    throw new TrunklineError('store_unavailable', undefined, {}, error)
  if (badValues.has(error.code ?? ''))
    throw new TrunklineError('invalid_field', 'It holds what cannot be kept.', {}, error)
  throw error
}
