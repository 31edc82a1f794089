import type { TracedMessage } from '@trunkline/sip-agent'
import { beforeEach, describe, expect, it } from 'vitest'
import { settle, setUp } from '../calls/testing/calls-fixture.ts'
import { FakeCallRows } from '../calls/testing/fake-call-rows.ts'
import { RecentRefusals } from '../sip/admission/recent-refusals.ts'
import { testCarrier } from '../sip/testing/test-carrier.ts'
import { CarrierDirectory } from '../sip/trunks/carrier-directory.ts'
import { Operator, type OperatorDeps } from './operator.ts'
import { RecentCalls, sipCallIdsOf } from './recent-calls.ts'
import type { StatusSource } from './status.ts'

const traced = (callId: string): TracedMessage => ({
  at: 1_000,
  direction: 'received',
  local: { protocol: 'udp', address: '192.0.2.1', port: 5060 },
  remote: { protocol: 'udp', address: '2001:db8::9', port: 5070 },
  callId,
  text: `OPTIONS sip:x SIP/2.0\r\nCall-ID: ${callId}\r\n\r\n`,
})

let t: ReturnType<typeof setUp>
let rows: FakeCallRows
let recent: RecentCalls
let refusals: RecentRefusals
let asked: (readonly string[])[]
let drains: (number | undefined)[]

const open = (more: Partial<OperatorDeps> = {}, status: Partial<StatusSource> = {}) =>
  new Operator({
    calls: {
      get rowsInProgress() {
        return rows.rowsInProgress
      },
      inProgress: (id) => t.calls.inProgress(id),
    },
    recent,
    refusals,
    agent: {
      trace: async (callIds) => {
        asked.push(callIds)
        return callIds.filter((id) => id !== 'nothing-kept').map(traced)
      },
      stats: () => Promise.reject(new Error('closed')),
    },
    reload: () => Promise.reject(new Error('not asked for')),
    drain: (graceMs) => drains.push(graceMs),
    clock: t.clock,
    presence: {
      directory: { resolve: () => undefined },
      browsers: () => 0,
      contacts: () => 0,
      listeners: () => 0,
    },
    status: () => ({
      startedAt: t.clock.now() - 5_000,
      now: t.clock.now(),
      reasons: [],
      isDraining: false,
      calls: { count: t.calls.count, legs: t.calls.legs, limit: 10 },
      listeners: { sip: ['udp/192.0.2.1:5060'], http: [] },
      carriers: [],
      registrations: 1,
      browsers: 2,
      subscribersOnline: 1,
      store: { name: 'SQLite', isWritable: true },
      certificates: new Map([['https', 30 * 86_400]]),
      refusals: 0,
      agent: undefined,
      ...status,
    }),
    ...more,
  })

beforeEach(() => {
  rows = new FakeCallRows()
  t = setUp({ rows })
  recent = new RecentCalls()
  refusals = new RecentRefusals()
  asked = []
  drains = []
})

/** Starts a call that goes on until it is ended. */
const talk = async () => {
  const { leg } = t.arrive(async (call) => {
    await call.answer()
    await call.sleep(1_000_000)
  })
  await settle()
  const id = rows.rowsInProgress.at(-1)?.id ?? ''
  return { leg, id }
}

describe('calls', () => {
  it('are listed with their facts', async () => {
    const { id } = await talk()
    t.clock.advance(3_000)
    expect(open().calls()).toEqual([
      expect.objectContaining({ id, project_id: 'p', state: 'in-progress', seconds: 3, handler: 'test' }),
    ])
  })

  it.each(['whole id', 'beginning'])('are hung up by their %s', async (how) => {
    const { id, leg } = await talk()
    expect(open().hangup(how === 'beginning' ? id.slice(0, 8) : id, 'normal')).toBe(id)
    await settle()
    expect(leg.isEnded).toBe(true)
    expect(open().calls()).toEqual([])
  })

  it('are not hung up by an unknown id, a short one, or an unknown reason', async () => {
    const { id } = await talk()
    expect(() => open().hangup('no-such-call', 'normal')).toThrow('No call in progress')
    expect(() => open().hangup(id.slice(0, 3), 'normal')).toThrow('No call in progress')
    expect(() => open().hangup(id, 'constructor')).toThrow('reason')
  })
})

it('an ambiguous beginning of an id names no call', () => {
  for (const id of ['abcd-1', 'abcd-2'])
    rows.began({ id, projectId: 'p', direction: 'inbound', type: 'sip', from: 'a', to: 'b', createdAt: 0 })
  expect(() => open().hangup('abcd', 'normal')).toThrow('Several calls')
})

describe('a trace', () => {
  it('has the messages of every INVITE of a call in progress', async () => {
    const { id, leg } = await talk()
    leg.note({ sipCallId: 'sip-2', formerSipCallIds: ['sip-1'] })
    const body = await open().trace(id.slice(0, 8))
    expect(asked).toEqual([['sip-1', 'sip-2']])
    expect(body.call?.id).toBe(id)
    expect(body.messages[0]).toEqual({
      at: '1970-01-01T00:00:01.000Z',
      direction: 'received',
      transport: 'udp',
      local: '192.0.2.1:5060',
      remote: '[2001:db8::9]:5070',
      sip_call_id: 'sip-1',
      text: expect.stringContaining('OPTIONS'),
    })
  })

  it('is found after the end of the call', async () => {
    const { id, leg } = await talk()
    leg.note({ sipCallId: 'sip-1' })
    recent.add({
      id: id as never,
      info: { from: 'a', to: 'b' } as never,
      caller: leg,
      cdrLegs: [{ leg, role: 'caller' }],
      omittedLegs: 0,
    })
    open().hangup(id, 'normal')
    await settle()
    expect((await open().trace(id)).sip_call_ids).toEqual(['sip-1'])
  })

  it('is found by a SIP Call-ID, as rejected requests have no call', async () => {
    expect(await open().trace('c-1@host')).toMatchObject({ call: null, sip_call_ids: ['c-1@host'] })
    await expect(open().trace('nothing-kept')).rejects.toMatchObject({ code: 'unknown_call' })
  })

  it('is not available from a drachtio-server', async () => {
    await expect(open({ agent: undefined }).trace('x')).rejects.toMatchObject({ code: 'trace_unavailable' })
  })
})

/** Adds an ended call. `kind`: that of the leg of its caller. */
const end = (id: string, kind = 'sip') => {
  const state = { kind: 'ended', cause: { code: 'busy' } }
  const leg = { kind, direction: 'inbound', facts: {}, times: { startedAt: 1_000, endedAt: 3_000 }, state }
  recent.add({ id, info: { from: 'a', to: 'b' }, caller: leg, cdrLegs: [{ leg, role: 'caller' }] } as never)
}

it('ended calls are kept up to a limit', () => {
  for (let at = 0; at < 2_500; at++) end(`c-${at}`)
  expect([recent.size, recent.all[0]?.id]).toEqual([2_000, 'c-500'])
  expect(sipCallIdsOf([{ facts: {} }])).toEqual([])
})

it('ended calls are answered to a request with the number of the last known one', async () => {
  const { requests } = open()
  for (const id of ['c-1', 'c-2', 'c-3']) end(id)
  // A branch to an address is a part of its call.
  end('c-4', 'local')
  expect(await requests.calls?.({})).toEqual({ calls: [], ended: [], last_ended: 4 })
  expect(await requests.calls?.({ ended_after: 2 })).toEqual({
    calls: [],
    ended: [
      {
        id: 'c-3',
        from: 'a',
        to: 'b',
        started_at: '1970-01-01T00:00:01.000Z',
        answered_at: null,
        ended_at: '1970-01-01T00:00:03.000Z',
        code: 'busy',
      },
    ],
    last_ended: 4,
  })
  await expect(requests.calls?.({ ended_after: 'c-2' })).rejects.toThrow('ended_after')
})

describe('rejections', () => {
  const add = (source: string, at = 0) =>
    refusals.add({ at, code: 'unknown_domain', status: 404, facts: { source, domain: 'x.example' } })

  it('are listed with their facts, the latest first', () => {
    add('192.0.2.1', 1_000)
    refusals.add({
      at: 2_000,
      code: 'internal',
      status: 500,
      facts: { source: 'b', err: new Error('broken') },
    })
    expect(open().refusals()).toEqual([
      { at: '1970-01-01T00:00:02.000Z', code: 'internal', status: 500, source: 'b', err: 'broken' },
      {
        at: '1970-01-01T00:00:01.000Z',
        code: 'unknown_domain',
        status: 404,
        source: '192.0.2.1',
        domain: 'x.example',
      },
    ])
  })

  it('of one source do not replace those of others', () => {
    add('192.0.2.1')
    for (let at = 0; at < 1_000; at++) add('192.0.2.66', at)
    expect(refusals.size).toBe(21)
    expect(refusals.latest[0]?.at).toBe(999)
    expect(refusals.latest.at(-1)?.facts.source).toBe('192.0.2.1')
  })

  it('of many sources are kept up to a limit', () => {
    for (let at = 0; at < 1_000; at++) add(`host-${at}`, at)
    expect([refusals.size, refusals.latest.at(-1)?.at]).toEqual([500, 500])
  })
})

describe('the status', () => {
  const config = testCarrier({ name: 'acme', targets: ['sip:a.example', 'sip:b.example'] })
  const carriers = () => new CarrierDirectory([config], t.clock).all
  const rules = { down: 1, up: 1 }

  it('is healthy, and has the counts', async () => {
    expect(await open().status()).toMatchObject({
      health: 'healthy',
      problems: [],
      uptime_seconds: 5,
      state: 'running',
      calls: { in_progress: 0, limit: 10 },
      certificates: [{ name: 'https', expires_in_days: 30 }],
      bans: null,
    })
  })

  it('shows a carrier without pings as unknown, which is no problem', async () => {
    const status = await open({}, { carriers: carriers() }).status()
    expect(status.carriers).toMatchObject([
      {
        name: 'acme',
        state: 'unknown',
        registration: null,
        targets: [{ state: 'unknown', last_ping: null }, {}],
      },
    ])
    expect(status.health).toBe('healthy')
  })

  it('shows a carrier as up while one target answers, and as down when none does', async () => {
    const all = carriers()
    const [first, second] = all[0]?.targets ?? []
    second?.recordPing(true, rules, { at: 1_000, status: 200 })
    first?.recordPing(false, rules, { at: 2_000, problem: 'no answer' })
    expect((await open({}, { carriers: all }).status()).carriers).toMatchObject([
      {
        state: 'up',
        targets: [
          {
            state: 'down',
            since: '1970-01-01T00:00:02.000Z',
            last_ping: { status: null, problem: 'no answer' },
          },
          { state: 'up', last_ping: { status: 200 } },
        ],
      },
    ])
    second?.recordPing(false, rules, { at: 3_000, status: 503 })
    expect(await open({}, { carriers: all }).status()).toMatchObject({
      health: 'degraded',
      problems: ['carrier acme is down'],
    })
  })

  it.each([
    ['a reason for not accepting calls', { reasons: ['draining'], isDraining: true }, 'draining'],
    [
      'a store that cannot be written',
      { store: { name: 'x', isWritable: false } },
      'the store cannot be written',
    ],
    [
      'a certificate near its end',
      { certificates: new Map([['sip', 86_400]]) },
      'certificate sip expires in 1 day',
    ],
    ['an expired certificate', { certificates: new Map([['sip', -1]]) }, 'certificate sip has expired'],
  ])('is degraded by %s', async (_what, status, problem) => {
    expect(await open({}, status).status()).toMatchObject({ health: 'degraded', problems: [problem] })
  })

  it('does without the number of bans if the agent is lost', async () => {
    const agent = { stats: () => Promise.reject(new Error('closed')) }
    expect((await open({}, { agent }).status()).bans).toBeNull()
  })
})

describe('the requests of the control socket', () => {
  it('check their fields', async () => {
    const { requests } = open()
    await expect(requests.reload?.({ dry_run: 'yes', file: 'x' })).rejects.toThrow('dry_run')
    await expect(requests.hangup?.({ call: 7 })).rejects.toThrow('invalid')
    await expect(requests.trace?.({})).rejects.toThrow('invalid')
    for (const timeout of [-1, 1.5, '30s', Number.NaN])
      await expect(requests.drain?.({ timeout_ms: timeout })).rejects.toThrow('timeout_ms')
    expect(drains).toEqual([])
  })

  it('drain with the given time, or the configured one', async () => {
    const { requests } = open()
    expect(await requests.drain?.({})).toEqual({ calls: 0 })
    await requests.drain?.({ timeout_ms: 7_000 })
    expect(drains).toEqual([undefined, 7_000])
  })
})
