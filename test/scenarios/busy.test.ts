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

it('who calls a gateway that is busy is asked to come later, and is taken when it no longer is', async () => {
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
  const pinging = setInterval(() => {
    // Each a transaction of its own.
    for (let i = 0; i < 200; i++) flood.raw(ping.replace(/branch=[^;]*/, `branch=z9hG4bK${Math.random()}`))
  }, 10)
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
