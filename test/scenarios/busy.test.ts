/** @schedule alone: the gateway measures how busy the machine is. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { embedded } from '../support/agents.ts'
import { application, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway } from '../support/gateway.ts'
import { SipSocket } from '../support/sip-socket.ts'
import { headerOf } from '../support/sip-text.ts'
import { until } from '../support/until.ts'

let gateway: Gateway

beforeAll(async () => {
  gateway = await Gateway.start({
    agent: embedded,
    sip: { overload: { busyPercent: 70 }, shield: { knownPacketsPerSecond: 1_000_000 } },
    domains: [application('talk.test', scripted({ hangup: { reason: 'busy' } }))],
  })
})

afterAll(() => gateway?.stop())

it('an overloaded gateway rejects calls with 503 and Retry-After, and accepts calls when the load has fallen', async () => {
  // The handler rejects each admitted call with 486, so that no call remains.
  const gets = async (status: number): Promise<Carrier | undefined> => {
    const values = { status }
    const carrier = await Carrier.calls(gateway, { domain: 'talk.test', scenario: 'call-refused', values })
    return carrier.done().then(
      () => carrier,
      () => undefined,
    )
  }
  // Over TCP, which leaves no transaction behind. Over UDP the SIP agent would soon reach its limit of
  // transactions (RFC 3261).
  const flood = await SipSocket.stream(gateway.sipPort, 'TCP')
  const ping = flood.text({ method: 'OPTIONS', uri: 'sip:talk.test' })
  let sent = 0
  let answered = 0
  let read = 0
  // A fixed number of requests is pending: the agent stays busy, and below its limit of transactions.
  const maxPending = 500
  const pinging = setInterval(() => {
    for (; read < flood.answers.length; read++) answered += flood.answers[read]!.split('SIP/2.0 ').length - 1
    // Each request has its own transaction and Call-ID: equal requests are cheap to reject as merged (482,
    // RFC 3261 section 8.2.2.2).
    for (; sent - answered < maxPending; sent++) {
      const unique = ping.replace(/branch=[^;]*/, `branch=z9hG4bK-${sent}`)
      flood.raw(unique.replace(/^(Call-ID: ).*$/m, `$1${sent}`))
    }
  }, 2)
  const load = () => gateway.metric('load_percent')
  const refused = await until('it is busy', load, (percent) => percent >= 70)
    .then(() => until('a call is refused', () => gets(503)))
    .finally(() => {
      clearInterval(pinging)
      flood.close()
    })
  expect(headerOf(refused?.sipp.received('SIP/2.0 503')[0] ?? '', 'Retry-After')).toBe('10')
  expect(await gateway.refusal('overloaded')).toMatchObject({ limit: 70, source: '127.0.0.1' })
  await until('a call is taken', () => gets(486))
  await gateway.settled()
})
