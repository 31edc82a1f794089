import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Code, catalogue } from '../../gateway/core/errors/catalogue.ts'
import { agents } from '../support/agents.ts'
import { application, scripted } from '../support/applications.ts'
import { Carrier, type IncomingOptions } from '../support/carrier.ts'
import { Gateway, type LogLine } from '../support/gateway.ts'
import { SipCaller } from '../support/sip-caller.ts'
import { SipSocket, statusOf } from '../support/sip-socket.ts'
import { headerOf } from '../support/sip-text.ts'
import { until } from '../support/until.ts'

const talk = scripted('answer', { sleep: -1 })

describe.each(agents)('calls over a limit, by $name', (agent) => {
  let gateway: Gateway

  beforeAll(async () => {
    gateway = await Gateway.start({
      agent,
      drain: '60s',
      limits: { calls: 3 },
      sip: { overload: { retryAfter: '7s', busyPercent: 100 } },
      domains: [
        application('wide.test', talk),
        { ...application('one.test', talk), maxCalls: 1 },
        { ...application('slow.test', talk), callsPerSecond: 1 },
        { ...application('source.test', talk), callsPerSecondOfSource: 1 },
      ],
    })
  })

  afterAll(() => gateway?.stop())

  const calls = (domain: string, options: Partial<IncomingOptions> = {}): Promise<Carrier> =>
    Carrier.calls(gateway, { domain, scenario: 'call', ...options })

  /**
   * Returns the only log line about a rejection with this code during `act`. Expects that it is counted once.
   */
  const rejectionBy = async (code: Code, act: () => Promise<unknown>): Promise<LogLine> => {
    const lines = () => gateway.log.filter((line) => line.code === code && line.msg !== 'call ended')
    const before = lines().length
    const counted = await gateway.metric('rejections_total', { code })
    await act()
    await until('the line of the log', lines, (found) => found.length === before + 1)
    expect(await gateway.metric('rejections_total', { code })).toBe(counted + 1)
    return lines().at(-1)!
  }

  /** Calls once, expects 503 with this Retry-After (default none), and returns the log line. */
  const refused = async (
    domain: string,
    code: Code,
    options: Partial<IncomingOptions> & { readonly retryAfter?: string } = {},
  ): Promise<LogLine> =>
    rejectionBy(code, async () => {
      const status = catalogue[code].sip
      const carrier = await calls(domain, { scenario: 'call-refused', values: { status }, ...options })
      await carrier.done()
      const [refusal = ''] = carrier.sipp.received('SIP/2.0 503')
      expect(headerOf(refusal, 'Retry-After')).toBe(options.retryAfter)
    })

  /** Places two calls at the same moment, however slow the machine. Returns their statuses, sorted. */
  const twoAtOnce = async (uri: string, address = '127.0.0.1'): Promise<number[]> => {
    const caller = await SipCaller.open(gateway.sipPort, address)
    onTestFinished(() => caller.close())
    const placed = await Promise.all([caller.call(uri), caller.call(uri)])
    for (const call of placed) if (call.status === 200) expect(await call.hangUp()).toBe(200)
    return placed.map(({ status }) => status).sort()
  }

  it('simultaneous calls to one domain over its limit are rejected', async () => {
    const first = await calls('one.test', { holdMs: 'manual' })
    await first.sipp.event('answered')
    expect(await refused('one.test', 'over_call_limit')).toMatchObject({ domainCalls: 1, domainLimit: 1 })
    await first.goesOn()
    await first.done()
    await gateway.settled()
    await (await calls('one.test')).done()
  })

  it('simultaneous calls to all domains over the limit are rejected with Retry-After', async () => {
    const holdMs = 'manual'
    const three = [await calls('wide.test', { holdMs }), await calls('wide.test', { holdMs })]
    three.push(await calls('source.test', { holdMs }))
    for (const call of three) await call.sipp.event('answered')
    expect(await refused('wide.test', 'over_call_limit', { retryAfter: '7' })).toMatchObject({
      calls: 3,
      limit: 3,
    })
    for (const call of three) await call.goesOn()
    for (const call of three) await call.done()
    await gateway.settled()
  })

  it('new calls per second to a domain over its limit are rejected, and accepted again later', async () => {
    const line = await rejectionBy('over_call_rate', async () => {
      expect(await twoAtOnce('sip:1@slow.test')).toEqual([200, 503])
    })
    expect(line).toMatchObject({ perSecond: 1 })
    await gateway.settled()
    const taken = async (): Promise<boolean> => {
      const carrier = await calls('slow.test')
      return carrier.done().then(
        () => true,
        () => false,
      )
    }
    await until('there is room', taken)
  })

  it('new calls per second from one source over the limit are rejected, and calls of other sources accepted', async () => {
    const line = await rejectionBy('over_call_rate', async () => {
      expect(await twoAtOnce('sip:1@source.test', '127.0.0.5')).toEqual([200, 503])
    })
    expect(line).toMatchObject({ source: '127.0.0.5', perSecond: 1 })
    await (await calls('source.test', { address: '127.0.0.6' })).done()
    await gateway.settled()
  })

  it('a draining gateway answers new calls and OPTIONS with 503 and Retry-After, and calls in progress continue', async () => {
    const talking = await calls('wide.test', { holdMs: 'manual' })
    await talking.sipp.event('answered')
    const socket = await SipSocket.udp(gateway.sipPort)
    const ping = () => socket.ask({ method: 'OPTIONS', uri: 'sip:wide.test' })
    expect(statusOf(await ping())).toBe(200)
    gateway.terminate()
    const answer = await until('pings are refused', ping, (text) => statusOf(text) === 503)
    expect(headerOf(answer, 'Retry-After')).toBe('7')
    const late = await calls('wide.test', { scenario: 'call-refused', values: { status: 503 } })
    await late.done()
    expect(headerOf(late.sipp.received('SIP/2.0 503')[0] ?? '', 'Retry-After')).toBe('7')
    expect(await gateway.metric('rejections_total', { code: 'draining' })).toBeGreaterThan(1)
    await talking.goesOn()
    await talking.done()
    expect(await gateway.ended()).toBe(0)
  })
})
