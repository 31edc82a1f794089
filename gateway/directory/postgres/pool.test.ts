import { DatabaseError, type Pool } from 'pg'
import { beforeEach, expect, it } from 'vitest'
import { guardedPool } from './pool.ts'

/** Outcome of each query; success without one. */
let failures: Error[]
let doubts: number
/** Whether each connection that was given back was closed. */
let closed: unknown[]

beforeEach(() => {
  failures = []
  doubts = 0
  closed = []
})

const query = async (sql: string): Promise<unknown> => {
  const client = await connect()
  return (client.query as (sql: string, parameters: unknown[]) => Promise<unknown>)(sql, [])
}

const connect = async () => {
  const connection = {
    query: async () => {
      const failure = failures.shift()
      if (failure) throw failure
      return { rows: [] }
    },
    release: (close?: boolean) => closed.push(close),
  }
  const pool = { connect: async () => connection, end: async () => {}, options: {} }
  return guardedPool(pool as unknown as Pool, () => void doubts++).connect()
}
const lost = () => new Error('Connection terminated unexpectedly')

it.each(['commit', 'update x set y = $1', 'insert into x values ($1)', 'delete from x'])(
  'is in doubt where the answer to %s was lost: it may have been made',
  async (sql) => {
    await query(sql)
    expect(doubts).toBe(0)
    failures.push(lost())
    await expect(query(sql)).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(doubts).toBe(1)
  },
)

it.each(['select 1', 'begin', 'rollback'])('is not in doubt of %s', async (sql) => {
  failures.push(lost())
  await expect(query(sql)).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(doubts).toBe(0)
})

it('is not in doubt where the server has said no', async () => {
  const refused = Object.assign(new DatabaseError('duplicate key', 1, 'error'), { code: '23505' })
  failures.push(refused)
  await expect(query('insert into x values ($1)')).rejects.toBe(refused)
  expect(doubts).toBe(0)
})

it('does not reuse a connection that owes an answer, or whose transaction could not be rolled back', async () => {
  const refused = Object.assign(new DatabaseError('duplicate key', 1, 'error'), { code: '23505' })
  for (const failure of [undefined, refused, new Error('Query read timeout')]) {
    if (failure) failures.push(failure)
    const client = await connect()
    await (client.query as (sql: string, parameters: unknown[]) => Promise<unknown>)('select 1', []).catch(
      () => {},
    )
    client.release()
  }
  const client = await connect()
  client.release(true)
  expect(closed).toEqual([false, false, true, true])
})
