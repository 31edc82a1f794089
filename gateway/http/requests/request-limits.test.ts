import { fastify } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { accessWith } from '../../auth/testing/api-tokens.ts'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import { useErrorBodies } from './api-family.ts'
import { basicAuth } from './basic-auth.ts'
import { usePrincipals } from './principal.ts'
import { RequestLimits, useRequestLimits } from './request-limits.ts'

const clock = new FakeClock()
const requireProject = basicAuth(
  accessWith(
    [
      { project: 'p1', secret: 'first' },
      { project: 'p1', secret: 'second' },
    ],
    clock,
  ),
)('resources')

const open = async (rates = new RequestLimits(clock, { perToken: 2, perAddress: 4 })) => {
  const site = fastify()
  onTestFinished(() => site.close())
  useErrorBodies(site, { log: { error: () => {} }, metrics: new Metrics() })
  usePrincipals(site)
  await useRequestLimits(site, rates)
  for (const path of ['/api/things', '/api/relay/things', '/2010-04-01/things', '/subscriber/devices'])
    site.get(path, { onRequest: requireProject }, async () => ({}))
  site.get('/healthz', async () => ({}))
  return async (path = '/api/things', secret = 'first', remoteAddress = '192.0.2.1') =>
    site.inject({
      url: path,
      remoteAddress,
      headers: { authorization: `Basic ${Buffer.from(`p1:${secret}`).toString('base64')}` },
    })
}

it('sends the remaining requests, rejects more with Retry-After, and resets after a minute', async () => {
  const get = await open()
  expect((await get()).headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1' })
  clock.advance(20_000)
  expect((await get()).headers).toMatchObject({ 'ratelimit-remaining': '0', 'ratelimit-reset': '40' })
  const refused = await get()
  expect(refused.statusCode).toBe(429)
  expect(refused.headers).toMatchObject({ 'retry-after': '40', 'ratelimit-remaining': '0' })
  expect(refused.json().errors[0]).toMatchObject({ type: 'rate_limit_error', code: 'too_many_requests' })
  clock.advance(40_000)
  expect((await get()).statusCode).toBe(200)
})

it('counts each token alone, and all tokens of a network together', async () => {
  const get = await open()
  await get()
  await get()
  expect((await get()).statusCode).toBe(429)
  expect((await get('/api/things', 'second')).statusCode).toBe(200)
  // The fifth request of this network, with any token.
  expect((await get('/api/things', 'second')).statusCode).toBe(429)
  expect((await get('/api/things', 'second', '192.0.2.2')).statusCode).toBe(200)
})

it('counts requests with wrong credentials for the network', async () => {
  const get = await open()
  for (let i = 0; i < 4; i++) expect((await get('/api/things', `wrong ${i}`)).statusCode).toBe(401)
  expect((await get()).statusCode).toBe(429)
})

it('answers in the form of the family', async () => {
  const get = await open(new RequestLimits(clock, { perToken: 0, perAddress: 9 }))
  expect((await get('/api/relay/things')).json()).toMatchObject({ errors: [{ status: '429' }] })
  expect((await get('/2010-04-01/things')).json()).toMatchObject({ code: 20429, status: 429 })
})

it('counts requests of the SDK outside /api', async () => {
  const get = await open(new RequestLimits(clock, { perToken: 1, perAddress: 9 }))
  expect((await get('/subscriber/devices')).statusCode).toBe(200)
  expect((await get('/subscriber/devices')).statusCode).toBe(429)
})

it('does not count requests outside the API', async () => {
  const get = await open(new RequestLimits(clock, { perToken: 0, perAddress: 0 }))
  expect((await get('/healthz')).statusCode).toBe(200)
})

it('applies to all listeners together', async () => {
  const rates = new RequestLimits(clock, { perToken: 1, perAddress: 9 })
  const one = await open(rates)
  const other = await open(rates)
  expect((await one()).statusCode).toBe(200)
  expect((await other()).statusCode).toBe(429)
})

it('remembers a limited number of keys', () => {
  const rates = new RequestLimits(clock, { perToken: 1, perAddress: 1 })
  for (let i = 0; i < 30_000; i++) rates.count(`address ${i}`)
  expect(rates.size).toBe(20_000)
  expect(rates.count('address 29999').current).toBe(2)
  expect(rates.count('address 0').current).toBe(1)
})
