import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Carrier } from '../support/carrier.ts'
import { CertificateFolder } from '../support/certificates.ts'
import { Gateway } from '../support/gateway.ts'
import { Linphone } from '../support/linphone.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'
import { application, scripted } from './applications.ts'

const phoneTone = 700
const carrierTone = 440
const domain = 'phones.test'
const desk = { username: 'desk', password: 'long-enough-1' }

let gateway: Gateway
let authority: CertificateFolder
/** Where the default carrier takes calls. */
let carrierPort: number

beforeAll(async () => {
  carrierPort = await freePort()
  authority = await CertificateFolder.open()
  gateway = await Gateway.start({
    sips: true,
    sip: { registrar: { domains: [domain] }, tls: await authority.issue(domain) },
    carriers: [{ name: 'main', targets: [`sip:127.0.0.1:${carrierPort}`], default: true }],
    endpoints: [{ ...desk, callerId: '+49301', mayDialOut: true }],
    domains: [
      application(
        'desk.test',
        scripted({ connect: { to: '/public/desk', timeout: 15, answer_on_bridge: true } }),
      ),
      application('127.0.0.1', scripted({ play: { url: 'say:Hello and welcome to this line.' } })),
    ],
  })
})

afterAll(async () => {
  await gateway?.settled()
  await gateway?.stop()
  authority?.remove()
})

/** A phone that registered over this transport. */
const phone = async (transport: 'udp' | 'tcp' | 'tls', srtp?: 'demanded'): Promise<Linphone> => {
  const port = transport === 'tls' ? gateway.sipsPort : gateway.sipPort
  const account = { domain, password: desk.password, registrar: `127.0.0.1:${port}` }
  return Linphone.start({ user: 'desk', account, transport, srtp, ca: authority.ca, tone: phoneTone })
}

describe.each([
  { transport: 'udp', srtp: undefined },
  { transport: 'tcp', srtp: undefined },
  { transport: 'tls', srtp: 'demanded' },
] as const)('linphone as an endpoint over $transport', ({ transport, srtp }) => {
  it('registers, is rung at its address, and both are heard', async () => {
    const opened = await phone(transport, srtp)
    const carrier = await Carrier.calls(gateway, { domain: 'desk.test', scenario: 'caller', holdMs: 3_000 })
    await carrier.talks('answered', carrierTone)
    await opened.hears(carrierTone)
    await carrier.hears(phoneTone)
    await carrier.done()
    await opened.says(/^Call \d+ with .* ended/)
    await gateway.settled()
  })

  it('calls out as what it is, holds and goes on, and hangs up', async () => {
    const opened = await phone(transport, srtp)
    const carrier = await Carrier.listens({ scenario: 'callee', port: carrierPort, holdMs: 300 })
    opened.dial(`sip:+4930123456@${domain}`)
    await carrier.talks('invited', carrierTone)
    await opened.says(/^Call \d+ with .* connected/)
    await opened.hears(carrierTone)
    await carrier.hears(phoneTone)
    expect(carrier.sipp.messages).toMatch(/^From: .*<sip:\+49301@/im)
    opened.hold(true)
    await opened.says(/is now paused/)
    opened.hold(false)
    const heard = carrier.media.packets.length
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
