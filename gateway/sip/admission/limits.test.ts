import { afterEach, describe, expect, it } from 'vitest'
import type { Referral } from '../../calls/leg/referral.ts'
import { SystemClock } from '../../core/clock.ts'
import type { SipEndpoint } from '../../directory/model/callers.ts'
import { digestSecret } from '../../directory/model/digest-secret.ts'
import { answerTo, refusedCall, type Setting, startAdmission } from '../testing/admission-rig.ts'
import { rejected, testApp } from '../testing/bench.ts'
import type { Carrier } from '../testing/carrier.ts'
import { ownerOf } from '../testing/dialog-rig.ts'

let carrier: Carrier
afterEach(() => carrier.close())

const begin = async (setting: Setting) => {
  carrier = await startAdmission(setting)
}
const refused = (uri: string, status: number, extra?: Record<string, string>) =>
  refusedCall(carrier, uri, status, extra)

/** Returns a clock whose time stands still, so that rates do not refill. */
const stopped = () => Object.assign(new SystemClock(), { now: () => 1_700_000_000_000 })

describe('a new call', () => {
  it.each([
    [
      'the gateway',
      { parts: { overload: { busyPercent: 85, callsPerSecond: 1, retryAfterMs: 4_500 } } },
      '5',
    ],
    // A Retry-After would keep a carrier from sending calls to other applications, too (RFC 3261 section
    // 21.5.4).
    ['the application', { apps: [testApp({ callsPerSecond: 1 })] }, undefined],
    ['one source', { apps: [testApp({ callsPerSecondOfSource: 1 })] }, undefined],
  ])('is limited by the rate of %s', async (_what, setting: Setting, retryAfter) => {
    await begin({ ...setting, parts: { ...setting.parts, clock: stopped() } })
    carrier.invite()
    await carrier.bench.arrival()
    const fast = await refused('sip:1@demo.example', 503)
    expect(fast.headers.first('retry-after')).toBe(retryAfter)
    expect(await rejected(carrier.bench.metrics, 'over_call_rate')).toBe(1)
    expect(carrier.bench.arrivals).toHaveLength(1)
  })

  it('is limited by the load, which does not affect calls in progress', async () => {
    let busyPercent = 0
    const overload = { busyPercent: 85, callsPerSecond: 500, retryAfterMs: 10_000 }
    await begin({ parts: { overload, busyPercent: () => busyPercent } })
    const { call, to } = await carrier.answered()
    busyPercent = 85
    expect((await refused('sip:1@demo.example', 503)).headers.first('retry-after')).toBe('10')
    expect(await rejected(carrier.bench.metrics, 'overloaded')).toBe(1)
    const { peer } = carrier
    peer.send('OPTIONS', peer.call('sip:demo.example'))
    await peer.response(200, 'OPTIONS')
    call.seq++
    peer.send('BYE', call, { to })
    await peer.response(200, 'BYE')
  })
})

describe('the simultaneous calls of one source', () => {
  it('have their own limit at a domain, until one of the calls ends', async () => {
    await begin({ apps: [testApp({ maxCallsOfSource: 1 })] })
    const { call, to } = await carrier.answered()
    const full = await refused('sip:1@demo.example', 503)
    expect(full.headers.first('retry-after')).toBeUndefined()
    const line = carrier.bench.logged.find(({ code }) => code === 'over_call_limit')
    expect(line).toMatchObject({ sourceCalls: 1, sourceLimit: 1 })
    expect(line).not.toHaveProperty('hasRoomForOthers')
    call.seq++
    carrier.peer.send('BYE', call, { to })
    await carrier.peer.response(200, 'BYE')
    await carrier.nothingLeft()
    await carrier.answered()
  })
})

describe('a SIP endpoint', () => {
  const desk: SipEndpoint = {
    id: 'endpoint-1',
    projectId: 'project-1',
    username: 'desk',
    address: '/public/desk',
    displayName: 'Desk',
    callerId: '100',
    mayDialOut: false,
    handler: undefined,
    secrets: new Map([['pbx.example', digestSecret('desk', 'pbx.example', 'secret')]]),
  }

  it('cannot exceed its simultaneous calls, until one of them ends', async () => {
    await begin({
      registrar: ['pbx.example'],
      parts: {
        directory: {
          domainApp: () => undefined,
          endpointByName: () => ({ ...desk, maxCalls: 1 }),
          resolve: (to) => ({ kind: 'endpoint', endpointId: 'a', address: to }),
        },
      },
    })
    const uri = 'sip:ann@pbx.example'
    const signedIn = async () => ({
      Authorization: answerTo(await refused(uri, 401), uri, 'desk', 'secret'),
    })
    carrier.invite({ to: uri, extra: await signedIn() })
    const { arrival } = await carrier.bench.arrival()
    const full = await refused(uri, 503, await signedIn())
    expect(full.headers.first('retry-after')).toBeUndefined()
    expect(carrier.bench.logged.find(({ code }) => code === 'over_call_limit')).toMatchObject({
      endpoint: 'desk',
      endpointCalls: 1,
      endpointLimit: 1,
    })
    arrival.leg.end({ code: 'declined' })
    await carrier.peer.response(603)
    await carrier.nothingLeft()
    carrier.invite({ to: uri, extra: await signedIn() })
    await carrier.bench.arrival()
  })

  it('cannot exceed its limits by transfers, nor its calls per second', async () => {
    let limits: Partial<SipEndpoint> = { maxCalls: 2 }
    await begin({
      registrar: ['pbx.example'],
      parts: {
        clock: stopped(),
        directory: {
          domainApp: () => undefined,
          endpointByName: () => ({ ...desk, ...limits }),
          resolve: (to) => ({ kind: 'endpoint', endpointId: 'a', address: to }),
        },
      },
    })
    const uri = 'sip:ann@pbx.example'
    const { peer, bench } = carrier
    const extra = { 'Refer-To': `<${uri}>`, 'Refer-Sub': 'false' }
    /** Places a call, and returns a function that sends REFERs in the call. */
    const talking = async () => {
      const Authorization = answerTo(await refused(uri, 401), uri, 'desk', 'secret')
      const { call, to, arrival } = await carrier.answered({ to: uri, extra: { Authorization } })
      const referrals: Referral[] = []
      const legReferred = (_leg: unknown, referral: Referral) => referrals.push(referral) > 0
      arrival.leg.own({ ...ownerOf([]), legReferred })
      const refer = async (status: number) => {
        call.seq++
        peer.send('REFER', call, { to, extra })
        await peer.response(status, 'REFER')
      }
      return { refer, referrals, arrival }
    }
    const { refer, referrals, arrival } = await talking()
    await refer(202)
    await refer(503)
    expect(await rejected(bench.metrics, 'over_call_limit')).toBe(1)
    referrals[0]?.over?.()
    await refer(202)
    expect(referrals).toHaveLength(2)
    arrival.leg.end({ code: 'normal' })
    referrals[1]?.over?.()
    // The INVITE and one transfer use up the limit of two calls per second.
    limits = { callsPerSecond: 2 }
    const fast = await talking()
    await fast.refer(202)
    await fast.refer(503)
    expect(await rejected(bench.metrics, 'over_call_rate')).toBe(1)
  })

  it('calls as itself after authentication, whatever its From header is', async () => {
    await begin({
      registrar: ['pbx.example'],
      parts: {
        directory: {
          domainApp: () => undefined,
          endpointByName: (name) => (name === 'desk' ? desk : undefined),
          resolve: (to) =>
            to === '/public/ann' ? { kind: 'endpoint', endpointId: 'a', address: to } : undefined,
        },
      },
    })
    const uri = 'sip:ann@pbx.example'
    const Authorization = answerTo(await refused(uri, 401), uri, 'desk', 'secret')
    carrier.invite({ to: uri, extra: { Authorization } })
    const { arrival } = await carrier.bench.arrival()
    expect(arrival).toMatchObject({
      endpointId: 'endpoint-1',
      plan: { kind: 'dial', to: '/public/ann' },
      leg: { from: { uri: '/public/desk', user: '100', name: 'Desk' } },
    })
  })
})

describe('untrusted sources', () => {
  const strangers = {
    maxCallsOfSource: 2,
    callsPerSecondOfSource: 100,
    maxUnconfirmedCalls: 100,
    reservedPercent: 30,
  }
  const open = testApp({ id: 'open', domain: 'open.example' })
  const other = testApp({ id: 'other', domain: 'other.example' })

  it('share one limit over all domains, released at the end of a call', async () => {
    await begin({ apps: [open, other], parts: { untrusted: strangers } })
    const first = await carrier.answered({ to: 'sip:1@open.example' })
    await carrier.answered({ to: 'sip:1@other.example' })
    await refused('sip:1@open.example', 503)
    expect(await rejected(carrier.bench.metrics, 'over_source_limit')).toBe(1)
    expect(carrier.bench.logged.find(({ code }) => code === 'over_source_limit')).toMatchObject({
      sourceCalls: 2,
      sourceLimit: 2,
      source: '127.0.0.1',
    })
    first.call.seq++
    carrier.peer.send('BYE', first.call, { to: first.to })
    await carrier.peer.response(200, 'BYE')
    await carrier.answered({ to: 'sip:1@open.example' })
  })

  it('leave the reserved share of calls to known networks', async () => {
    const known = testApp({ id: 'known', domain: 'known.example', allow: ['127.0.0.1'] })
    await begin({ apps: [known], parts: { untrusted: strangers, maxCalls: 4 } })
    for (let i = 0; i < 4; i++) await carrier.answered({ to: 'sip:1@known.example' })
    await refused('sip:1@known.example', 503)
    expect(await rejected(carrier.bench.metrics, 'over_call_limit')).toBe(1)
    await carrier.close()
    await begin({ apps: [open], parts: { untrusted: { ...strangers, maxCallsOfSource: 9 }, maxCalls: 4 } })
    for (let i = 0; i < 3; i++) await carrier.answered({ to: 'sip:1@open.example' })
    await refused('sip:1@open.example', 503)
    expect(await rejected(carrier.bench.metrics, 'over_stranger_share')).toBe(1)
  })

  it('are counted as unconfirmed until they send an ACK', async () => {
    await begin({ apps: [open], parts: { untrusted: { ...strangers, maxUnconfirmedCalls: 1 } } })
    carrier.invite({ to: 'sip:1@open.example' })
    await carrier.bench.arrival()
    await refused('sip:1@open.example', 503)
    expect(await rejected(carrier.bench.metrics, 'over_unconfirmed_limit')).toBe(1)
  })
})
