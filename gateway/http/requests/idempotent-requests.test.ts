import { type FastifyRequest, fastify } from 'fastify'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { accessWith } from '../../auth/testing/api-tokens.ts'
import { FakeClock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { Metrics } from '../../core/metrics.ts'
import { migrate } from '../../directory/migrations/run.ts'
import { openSqliteStore, type Store } from '../../directory/store/sqlite.ts'
import { IdempotencyRows } from '../../directory/tables/idempotency.ts'
import { useErrorBodies } from './api-family.ts'
import { basicAuth } from './basic-auth.ts'
import type { Bearer } from './bearer-auth.ts'
import { IdempotentRequests } from './idempotent-requests.ts'
import { usePrincipals } from './principal.ts'

const secret = new Uint8Array(32).fill(1)
let clock: FakeClock
let store: Store
let made: number
/** Promise that the route awaits before its response. */
let gate: Promise<void>
let failure: Error | undefined

beforeEach(async () => {
  clock = new FakeClock()
  store = openSqliteStore(':memory:')
  onTestFinished(() => store.destroy())
  await migrate(store, clock)
  made = 0
  gate = Promise.resolve()
  failure = undefined
})

const open = () => {
  const idempotency = new IdempotentRequests({ rows: new IdempotencyRows(store), secret, clock })
  const access = accessWith(
    [
      { project: 'p1', secret: 's1' },
      { project: 'p2', secret: 's2' },
    ],
    clock,
  )
  const site = fastify()
  onTestFinished(() => site.close())
  useErrorBodies(site, { log: { error: () => {} }, metrics: new Metrics() })
  usePrincipals(site)
  idempotency.use(site)
  for (const path of ['/api/tokens', '/api/others', '/api/relay/things'])
    site.post(path, { onRequest: basicAuth(access)('tokens') }, async (_request, reply) => {
      made++
      await gate
      if (failure) throw failure
      return reply.code(201).send({ token: `hush-${made}` })
    })
  const byWord = async (request: FastifyRequest) => {
    const id = /^Bearer (\w+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (id) request.bearer = { token: { id } } as Bearer
  }
  site.post('/api/bearer', { onRequest: byWord }, async () => ({ made: ++made }))
  site.post('/api/nothing', { onRequest: basicAuth(access)('tokens') }, async (_request, reply) => {
    made++
    return reply.code(204).send()
  })
  const post = (key: string | undefined, body: object = { a: 1 }, url = '/api/tokens', project = 'p1') =>
    site.inject({
      method: 'POST',
      url,
      payload: body,
      headers: {
        authorization: `Basic ${Buffer.from(`${project}:s${project.slice(1)}`).toString('base64')}`,
        ...(key !== undefined && { 'idempotency-key': key }),
      },
    })
  return { site, post, idempotency }
}

const codeOf = (reply: { json(): { errors: { code: string }[] } }) => reply.json().errors[0]?.code

it('carries a request out once, and repeats its response also after a restart', async () => {
  const { post } = open()
  const first = await post('k')
  expect([first.statusCode, first.headers['idempotent-replayed']]).toEqual([201, undefined])
  for (const { post: again } of [{ post }, open()]) {
    const second = await again('k')
    expect([second.statusCode, second.body, second.headers['idempotent-replayed']]).toEqual([
      201,
      first.body,
      'true',
    ])
    expect(second.headers['content-type']).toBe(first.headers['content-type'])
  }
  expect(made).toBe(1)
})

it('carries out requests with another key, without a key, and of another project', async () => {
  const { post } = open()
  await post('k')
  await post('l')
  await post(undefined)
  await post('k', undefined, undefined, 'p2')
  expect(made).toBe(4)
})

it('rejects a key that was used for another body or route', async () => {
  const { post } = open()
  await post('k')
  for (const other of [await post('k', { a: 2 }), await post('k', { a: 1 }, '/api/others')])
    expect([other.statusCode, codeOf(other)]).toEqual([409, 'idempotency_conflict'])
  expect(made).toBe(1)
})

it('sends simultaneous requests the same response', async () => {
  const { post, idempotency } = open()
  const { promise, resolve } = Promise.withResolvers<void>()
  gate = promise
  const asked = Array.from({ length: 20 }, () => post('k'))
  await expect.poll(() => made).toBe(1)
  expect(idempotency.size).toBe(1)
  resolve()
  const replies = await Promise.all(asked)
  expect(new Set(replies.map(({ body }) => body)).size).toBe(1)
  expect(replies.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(19)
  expect([made, idempotency.size]).toEqual([1, 0])
})

it('answers request_in_progress if another process carries it out, or has died meanwhile', async () => {
  const other = open()
  const { promise, resolve } = Promise.withResolvers<void>()
  gate = promise
  const first = other.post('k')
  await expect.poll(() => made).toBe(1)
  const reply = await open().post('k')
  expect([reply.statusCode, codeOf(reply)]).toEqual([409, 'request_in_progress'])
  resolve()
  await first
})

it('repeats a request after a response 5xx or 429, and keeps rejections', async () => {
  const { post, idempotency } = open()
  for (const code of ['internal', 'too_many_requests', 'draining'] as const) {
    failure = new TrunklineError(code)
    await post('k')
  }
  expect(made).toBe(3)
  failure = new TrunklineError('invalid_field')
  expect((await post('k')).statusCode).toBe(422)
  failure = undefined
  expect((await post('k')).statusCode).toBe(422)
  expect([made, idempotency.size]).toEqual([4, 0])
})

it('rejects a malformed key', async () => {
  const { post } = open()
  for (const key of ['', 'x'.repeat(256)]) {
    const reply = await post(key)
    expect([reply.statusCode, reply.json().errors[0].attribute]).toEqual([422, 'idempotency-key'])
  }
  expect(made).toBe(0)
})

it('expires keys after a day', async () => {
  const { post } = open()
  await post('k')
  clock.advance(24 * 3_600_000 - 1)
  await post('k')
  expect(made).toBe(1)
  clock.advance(1)
  expect((await post('k')).statusCode).toBe(201)
  expect(made).toBe(2)
  clock.advance(25 * 3_600_000)
  await post('l')
  expect(await store.selectFrom('idempotency').select('key').execute()).toEqual([{ key: 'l' }])
})

it('stores responses encrypted', async () => {
  const { post } = open()
  await post('k', { password: 'hush' })
  const rows = await store.selectFrom('idempotency').selectAll().execute()
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain('hush')
})

it('repeats a response without a body', async () => {
  const { post } = open()
  await post('k', {}, '/api/nothing')
  const again = await post('k', {}, '/api/nothing')
  expect([again.statusCode, again.body, again.headers['idempotent-replayed'], made]).toEqual([
    204,
    '',
    'true',
    1,
  ])
})

it('keeps the keys of subscriber tokens apart', async () => {
  const { site } = open()
  const post = (token: string) =>
    site.inject({
      method: 'POST',
      url: '/api/bearer',
      payload: {},
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': 'k' },
    })
  await post('one')
  expect((await post('one')).headers['idempotent-replayed']).toBe('true')
  await post('two')
  expect(made).toBe(2)
})

it('stores no response of a request without authentication', async () => {
  const { site } = open()
  const headers = { authorization: 'Anything at all', 'idempotency-key': 'k' }
  for (let i = 0; i < 2; i++) await site.inject({ method: 'POST', url: '/api/bearer', payload: {}, headers })
  expect(made).toBe(2)
  expect(await store.selectFrom('idempotency').selectAll().execute()).toEqual([])
})
