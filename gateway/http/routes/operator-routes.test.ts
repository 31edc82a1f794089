import pino from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { Metrics } from '../../core/metrics.ts'
import type { ReloadRequest, ReloadResult } from '../../reload/config-reload.ts'
import { newSite } from '../http-site.ts'
import { type OperatorDeps, operatorRoutes, reloadPath } from './operator-routes.ts'

const secret = 'the-secret-of-the-operator-of-this-gateway'
const clock = new FakeClock()

let site: ReturnType<typeof newSite>
let token: string | undefined
let outcome: ReloadResult['outcome']
let requests: ReloadRequest[]

beforeEach(() => {
  token = secret
  outcome = 'applied'
  requests = []
  site = newSite({ metrics: new Metrics(), clock, log: pino({ level: 'silent' }) })
  const reload = async (request: ReloadRequest): Promise<ReloadResult> => {
    requests.push(request)
    const fault = {
      severity: 'error' as const,
      code: 'wrong-format',
      length: 1,
      file: 'x.yaml',
      line: 3,
      column: 1,
      path: 'drain',
      message: 'is wrong',
    }
    const lists = { applied: [], restart: [], warnings: [], faults: outcome === 'invalid' ? [fault] : [] }
    return { ...lists, outcome, file: 'x.yaml', dryRun: request.dryRun ?? false }
  }
  const operator: OperatorDeps['operator'] = {
    reload,
    status: () => Promise.reject(new Error('not asked for')),
    calls: () => [],
    refusals: () => [
      { at: '2026-01-01T00:00:00.000Z', code: 'unknown_domain', status: 404, source: '192.0.2.7' },
    ],
    hangup: (call, reason) => {
      if (call !== 'c-1') throw new TrunklineError('unknown_call')
      return `${call} ${reason}`
    },
    trace: async (id) => ({ call: null, sip_call_ids: [id], messages: [] }),
  }
  operatorRoutes(site, { token: () => token, operator, clock })
})
afterEach(() => site.close())

const post = (authorization: string | undefined, payload?: object, remoteAddress = '192.0.2.1') =>
  site.inject({
    method: 'POST',
    url: reloadPath,
    remoteAddress,
    headers: { ...(authorization && { authorization }) },
    ...(payload && { payload }),
  })

it('a reload needs the operator’s token, and no body', async () => {
  const answer = await post(`Bearer ${secret}`, { dry_run: true })
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toMatchObject({ result: 'applied', dry_run: true })
  expect((await post(`Bearer ${secret}`)).statusCode).toBe(200)
  expect(requests).toEqual([
    { dryRun: true, by: 'api' },
    { dryRun: false, by: 'api' },
  ])
})

it('a rejected configuration gets 422 with the places of the faults', async () => {
  outcome = 'invalid'
  const answer = await post(`Bearer ${secret}`)
  expect(answer.statusCode).toBe(422)
  expect(answer.json().faults).toEqual([{ line: 3, column: 1, key: 'drain', message: 'is wrong' }])
  outcome = 'failed'
  expect((await post(`Bearer ${secret}`)).statusCode).toBe(422)
})

it('query parameters are rejected, so that a dry run requested in the query does not reload', async () => {
  const answer = await site.inject({
    method: 'POST',
    url: `${reloadPath}?dry_run=true`,
    headers: { authorization: `Bearer ${secret}` },
  })
  expect(answer.statusCode).toBe(422)
  expect(requests).toEqual([])
})

it.each([
  ['no token', undefined],
  ['another token', 'Bearer another'],
  ['the beginning of the token', `Bearer ${secret.slice(0, -1)}`],
  ['a project', `Basic ${Buffer.from(`default:${secret}`).toString('base64')}`],
])('a request with %s gets 401', async (_what, authorization) => {
  expect((await post(authorization)).statusCode).toBe(401)
  expect(requests).toEqual([])
})

it('a network that guesses tokens is blocked, except with the right token', async () => {
  for (let i = 0; i < 30; i++) expect((await post('Bearer wrong')).statusCode).toBe(401)
  const refused = await post('Bearer wrong')
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '60'])
  expect((await post('Bearer wrong', undefined, '198.51.100.1')).statusCode).toBe(401)
  expect((await post(`Bearer ${secret}`)).statusCode).toBe(200)
})

it('the route does not exist without a configured operator token', async () => {
  token = undefined
  expect((await post(`Bearer ${secret}`)).statusCode).toBe(404)
  expect((await post('Bearer undefined')).statusCode).toBe(404)
})

it('unknown fields are rejected', async () => {
  expect((await post(`Bearer ${secret}`, { dry_run: 'yes' })).statusCode).toBe(422)
  expect((await post(`Bearer ${secret}`, { file: '/etc/passwd' })).statusCode).toBe(422)
  expect(requests).toEqual([])
})

it('calls, traces and rejections need the operator’s token', async () => {
  const get = (path: string, authorization?: string) =>
    site.inject({ url: `/api/operator/${path}`, headers: { ...(authorization && { authorization }) } })
  for (const path of ['status', 'calls', 'refusals', 'calls/c-1/trace'])
    expect((await get(path)).statusCode).toBe(401)
  const bearer = `Bearer ${secret}`
  expect((await get('calls', bearer)).json()).toEqual({ data: [] })
  expect((await get('refusals', bearer)).json().data).toMatchObject([{ code: 'unknown_domain' }])
  expect((await get('calls/c-1/trace', bearer)).json()).toMatchObject({ sip_call_ids: ['c-1'] })
})

it('a call is hung up with a reason', async () => {
  const hangUp = (id: string, payload?: object) =>
    site.inject({
      method: 'POST',
      url: `/api/operator/calls/${id}/hangup`,
      headers: { authorization: `Bearer ${secret}` },
      ...(payload && { payload }),
    })
  expect((await hangUp('c-1')).json()).toEqual({ hung_up: 'c-1 normal' })
  expect((await hangUp('c-1', { reason: 'busy' })).json()).toEqual({ hung_up: 'c-1 busy' })
  expect((await hangUp('c-1', { reason: 'bored' })).statusCode).toBe(422)
  expect((await hangUp('c-2')).statusCode).toBe(404)
})
