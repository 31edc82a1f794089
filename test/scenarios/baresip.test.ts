import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Baresip } from '../support/baresip.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway } from '../support/gateway.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'
import { application, scripted } from './applications.ts'

const phoneTone = 700
const carrierTone = 440
const domain = '127.0.0.1'
const desk = { username: 'desk', password: 'long-enough-1' }

type Transport = 'udp' | 'tcp' | 'tls'

let gateway: Gateway
let carrierPort: number

beforeAll(async () => {
  carrierPort = await freePort()
  gateway = await Gateway.start({
    sips: true,
    sip: { registrar: { domains: [domain] } },
    carriers: [{ name: 'main', targets: [`sip:127.0.0.1:${carrierPort}`], default: true }],
    endpoints: [{ ...desk, callerId: '+49301', mayDialOut: true }],
    domains: [
      application(
        'desk.test',
        scripted({ connect: { to: '/public/desk', timeout: 15, answer_on_bridge: true } }),
      ),
    ],
  })
})

afterAll(async () => {
  await gateway?.settled({ transactions: true })
  await gateway?.stop()
})

const registrarOf = (transport: Transport): string =>
  `${domain}:${transport === 'tls' ? gateway.sipsPort : gateway.sipPort}`

/** A phone that registered over this transport. */
const phone = (transport: Transport): Promise<Baresip> => {
  const account = { registrar: registrarOf(transport), password: desk.password }
  return Baresip.start({ user: 'desk', account, transport, tone: phoneTone })
}

describe.each(['udp', 'tcp', 'tls'] as const)('baresip as an endpoint over %s', (transport) => {
  it('registers, is rung at its address, and both are heard', async () => {
    const opened = await phone(transport)
    const carrier = await Carrier.calls(gateway, { domain: 'desk.test', scenario: 'caller', holdMs: 3_000 })
    await opened.event('CALL_ESTABLISHED')
    await carrier.talks('answered', carrierTone)
    await opened.hears(carrierTone)
    await carrier.hears(phoneTone)
    await carrier.done()
    await opened.event('CALL_CLOSED')
    await gateway.settled()
  })

  it('calls out as what it is, holds and goes on, and hangs up', async () => {
    const opened = await phone(transport)
    const carrier = await Carrier.listens({ scenario: 'callee', port: carrierPort, holdMs: 300 })
    opened.dial(`sip:+4930123456@${registrarOf(transport)}`)
    await carrier.talks('invited', carrierTone)
    await opened.event('CALL_ESTABLISHED')
    await opened.hears(carrierTone)
    await carrier.hears(phoneTone)
    expect(carrier.sipp.messages).toMatch(/^From: .*<sip:\+49301@/im)
    opened.hold(true)
    const heard = carrier.media.packets.length
    opened.hold(false)
    await until(
      'the carrier is talked to again',
      () => carrier.media.packets.length,
      (packets) => packets > heard + 25,
    )
    await carrier.hears(phoneTone)
    opened.hangUp()
    await carrier.done()
    await gateway.settled()
  })
})
