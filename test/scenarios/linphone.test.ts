import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sine } from '../../media/codecs/tone.ts'
import { Carrier } from '../support/carrier.ts'
import { CertificateFolder } from '../support/certificates.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway, renegotiated } from '../support/gateway.ts'
import { Linphone } from '../support/linphone.ts'
import { freePort } from '../support/ports.ts'
import { isInstalled } from '../support/program.ts'
import { until } from '../support/until.ts'
import { wav } from '../support/wav.ts'
import { application, script, scripted } from './applications.ts'

const phoneTone = 700
const carrierTone = 440
const playedTone = 1_000
const rate = 8_000
const domain = 'phones.test'
const desk = { username: 'desk', password: 'long-enough-1' }

let gateway: Gateway
let authority: CertificateFolder
let documents: DocumentServer
/** Whom `through.test` calls, set by each test. */
let through = ''
/** Where the default carrier takes calls. */
let carrierPort: number

beforeAll(async () => {
  carrierPort = await freePort()
  documents = await DocumentServer.open()
  const sound = documents.put('/tone.wav', wav(sine(playedTone, 10_000, rate, 8_000), rate))
  documents.put('/carrier', JSON.stringify(script({ play: { url: sound } })))
  documents.put('/through', () =>
    JSON.stringify(script({ connect: { to: through, timeout: 15, answer_on_bridge: true } })),
  )
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
      application('127.0.0.1', { kind: 'script', url: documents.urlOf('/carrier') }),
      application('through.test', { kind: 'script', url: documents.urlOf('/through') }),
    ],
  })
})

afterAll(async () => {
  await gateway?.settled()
  await gateway?.stop()
  await documents?.close()
  authority?.remove()
})

/** A phone that registered over this transport. */
const phone = async (transport: 'udp' | 'tcp' | 'tls', srtp?: 'demanded'): Promise<Linphone> => {
  const port = transport === 'tls' ? gateway.sipsPort : gateway.sipPort
  const account = { domain, password: desk.password, registrar: `127.0.0.1:${port}` }
  return Linphone.start({ user: 'desk', account, transport, srtp, ca: authority.ca, tone: phoneTone })
}

describe.skipIf(!isInstalled('linphonec')).each([
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
    await opened.says(/Call \d+ with .* ended/)
    await gateway.settled()
  })

  it('calls out as what it is, holds and goes on, and hangs up', async () => {
    const opened = await phone(transport, srtp)
    const carrier = await Carrier.listens({ scenario: 'callee', port: carrierPort, holdMs: 300 })
    opened.dial(`sip:+4930123456@${domain}`)
    await carrier.talks('invited', carrierTone)
    await opened.says(/Call \d+ with .* connected/)
    await opened.hears(carrierTone)
    await carrier.hears(phoneTone)
    expect(carrier.sipp.messages).toMatch(/^From: .*<sip:\+49301@/im)
    opened.hold(true)
    await opened.says(/is now paused/)
    await renegotiated(gateway, { held: true })
    opened.hold(false)
    await renegotiated(gateway, { held: false })
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

describe.skipIf(!isInstalled('linphonec'))('linphone as a carrier', () => {
  it.each([
    { transport: 'udp', srtp: undefined },
    { transport: 'tcp', srtp: undefined },
    { transport: 'tls', srtp: 'demanded' },
  ] as const)(
    'calls a domain application over $transport, hears it, and hangs up',
    async ({ transport, srtp }) => {
      const carrier = await Linphone.start({
        user: 'trunk',
        transport,
        srtp,
        ca: authority.ca,
        tone: carrierTone,
      })
      const port = transport === 'tls' ? gateway.sipsPort : gateway.sipPort
      carrier.dial(`sip:+15550001@127.0.0.1:${port};transport=${transport}`)
      await carrier.says(/Call \d+ with .* connected/)
      await carrier.hears(playedTone)
      carrier.hangUp()
      await carrier.says(/Call \d+ with .* ended/)
      await gateway.settled()
    },
  )

  it.each(['udp', 'tcp'] as const)('is called over %s, and both are heard', async (transport) => {
    const carrier = await Linphone.start({ user: 'trunk', transport, tone: phoneTone })
    through = carrier.uri
    const caller = await Carrier.calls(gateway, { domain: 'through.test', scenario: 'caller', holdMs: 3_000 })
    await caller.talks('answered', carrierTone)
    await carrier.hears(carrierTone)
    await caller.hears(phoneTone)
    await caller.done()
    await carrier.says(/Call \d+ with .* ended/)
    await gateway.settled()
  })
})
