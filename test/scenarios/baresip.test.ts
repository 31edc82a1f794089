import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sine } from '../../media/codecs/tone.ts'
import { Baresip } from '../support/baresip.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway, renegotiated } from '../support/gateway.ts'
import { freePort } from '../support/ports.ts'
import { isInstalled } from '../support/program.ts'
import { until } from '../support/until.ts'
import { wav } from '../support/wav.ts'
import { application, script, scripted } from './applications.ts'

const phoneTone = 700
const carrierTone = 440
const playedTone = 1_000
const rate = 8_000
const domain = '127.0.0.1'
const desk = { username: 'desk', password: 'long-enough-1' }

type Transport = 'udp' | 'tcp' | 'tls'

let gateway: Gateway
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
      application('carrier.test', { kind: 'script', url: documents.urlOf('/carrier') }),
      application('through.test', { kind: 'script', url: documents.urlOf('/through') }),
    ],
  })
})

afterAll(async () => {
  await gateway?.settled()
  await gateway?.stop()
  await documents?.close()
})

const registrarOf = (transport: Transport): string =>
  `${domain}:${transport === 'tls' ? gateway.sipsPort : gateway.sipPort}`

/** A phone that registered over this transport; with TLS it demands SRTP. */
const phone = (transport: Transport): Promise<Baresip> => {
  const srtp = transport === 'tls' ? 'demanded' : undefined
  const account = { registrar: registrarOf(transport), password: desk.password }
  return Baresip.start({ user: 'desk', account, transport, srtp, tone: phoneTone })
}

describe.skipIf(!isInstalled('baresip')).each(['udp', 'tcp', 'tls'] as const)(
  'baresip as an endpoint over %s',
  (transport) => {
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
  },
)

describe.skipIf(!isInstalled('baresip'))('baresip as a carrier', () => {
  it.each([
    { transport: 'udp', srtp: undefined },
    { transport: 'tcp', srtp: undefined },
    { transport: 'tls', srtp: 'demanded' },
  ] as const)(
    'calls a domain application over $transport, hears it, and hangs up',
    async ({ transport, srtp }) => {
      const carrier = await Baresip.start({
        user: 'trunk',
        transport,
        srtp,
        tone: carrierTone,
        proxy: registrarOf(transport),
      })
      carrier.dial('sip:+15550001@carrier.test')
      await carrier.event('CALL_ESTABLISHED')
      await carrier.hears(playedTone)
      carrier.hangUp()
      await gateway.settled()
    },
  )

  it.each(['udp', 'tcp'] as const)(
    'is called over %s, holds and goes on, and both are heard',
    async (transport) => {
      const carrier = await Baresip.start({ user: 'trunk', transport, tone: phoneTone })
      through = carrier.uri
      const caller = await Carrier.calls(gateway, {
        domain: 'through.test',
        scenario: 'caller',
        holdMs: 4_000,
      })
      await caller.talks('answered', carrierTone)
      await carrier.hears(carrierTone)
      await caller.hears(phoneTone)
      carrier.hold(true)
      await renegotiated(gateway, { held: true })
      carrier.hold(false)
      await renegotiated(gateway, { held: false })
      await caller.hears(phoneTone)
      await caller.done()
      await carrier.event('CALL_CLOSED')
      await gateway.settled()
    },
  )
})
