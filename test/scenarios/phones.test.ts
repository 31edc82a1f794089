/** @schedule tones: softphones play and record sound in real time. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sine } from '../../media/codecs/tone.ts'
import { freePort } from '../../media/testing/free-ports.ts'
import { application, script, scripted } from '../support/applications.ts'
import { Baresip } from '../support/baresip.ts'
import { Carrier } from '../support/carrier.ts'
import { CertificateFolder } from '../support/certificates.ts'
import type { DeskPhone, DeskPhoneOptions } from '../support/desk-phone.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway, renegotiated } from '../support/gateway.ts'
import { Linphone } from '../support/linphone.ts'
import { isInstalled } from '../support/program.ts'
import { until } from '../support/until.ts'
import { wav } from '../support/wav.ts'

const phoneTone = 700
const carrierTone = 440
const playedTone = 1_000
const rate = 8_000
const domain = 'phones.test'
const desk = { username: 'desk', password: 'long-enough-1' }

type Transport = 'udp' | 'tcp' | 'tls'

/** Transports; over TLS the phone requires SRTP. */
const transports = [
  { transport: 'udp', srtp: undefined },
  { transport: 'tcp', srtp: undefined },
  { transport: 'tls', srtp: 'demanded' },
] as const

let gateway: Gateway
let authority: CertificateFolder
let documents: DocumentServer
/** Callee of `through.test`, set by each test. */
let through = ''
/** Port of the default carrier. */
let carrierPort: number

beforeAll(async () => {
  carrierPort = await freePort()
  documents = await DocumentServer.open()
  authority = await CertificateFolder.open()
  const sound = documents.put('/tone.wav', wav(sine(playedTone, 10_000, rate, 8_000), rate))
  documents.put('/carrier', JSON.stringify(script({ play: { url: sound } })))
  documents.put('/through', () =>
    JSON.stringify(script({ connect: { to: through, timeout: 15, answer_on_bridge: true } })),
  )
  gateway = await Gateway.start({
    sips: true,
    sip: { registrar: { domains: [domain, '127.0.0.1'] }, tls: await authority.issue(domain) },
    carriers: [{ name: 'main', targets: [`sip:127.0.0.1:${carrierPort}`], default: true }],
    endpoints: [{ ...desk, callerId: '+49301', mayDialOut: true }],
    domains: [
      application(
        'desk.test',
        scripted({ connect: { to: '/public/desk', timeout: 15, answer_on_bridge: true } }),
      ),
      application('localhost', { kind: 'script', url: documents.urlOf('/carrier') }),
      application('through.test', { kind: 'script', url: documents.urlOf('/through') }),
    ],
  })
})

afterAll(async () => {
  await gateway?.settled()
  await gateway?.stop()
  authority?.remove()
  await documents?.close()
})

const address = (transport: Transport = 'udp', host = '127.0.0.1'): string =>
  `${host}:${transport === 'tls' ? gateway.sipsPort : gateway.sipPort}`

interface Kind {
  readonly name: string
  readonly program: string
  /** Starts a phone that registers. */
  endpoint(options: DeskPhoneOptions): Promise<DeskPhone>
  /** Host that a registered phone dials. */
  home(transport: Transport): string
  /** Starts a phone that does not register. */
  alone(options: DeskPhoneOptions): Promise<DeskPhone>
}

const baresip: Kind = {
  name: 'baresip',
  program: 'baresip',
  // Baresip resolves no names, so all its hosts are addresses.
  endpoint: (options) =>
    Baresip.start({
      ...options,
      account: { registrar: address(options.transport), password: desk.password },
    }),
  home: (transport) => address(transport),
  alone: (options) => Baresip.start({ ...options, proxy: address(options.transport) }),
}

const linphone: Kind = {
  name: 'linphone',
  program: 'linphonec',
  endpoint: (options) => {
    const account = { domain, password: desk.password, registrar: address(options.transport) }
    return Linphone.start({ ...options, account, ca: authority.ca })
  },
  home: () => domain,
  alone: (options) => Linphone.start({ ...options, ca: authority.ca }),
}

const holdsAndGoesOn = async (phone: DeskPhone): Promise<void> => {
  await phone.hold(true)
  await renegotiated(gateway, { held: true })
  await phone.hold(false)
  await renegotiated(gateway, { held: false })
}

for (const kind of [baresip, linphone]) {
  const present = isInstalled(kind.program)

  describe.skipIf(!present).each(transports)(
    `${kind.name} as an endpoint over $transport`,
    ({ transport, srtp }) => {
      it('registers and is called at its address, with sound both ways', async () => {
        const phone = await kind.endpoint({ user: 'desk', transport, srtp, tone: phoneTone })
        const carrier = await Carrier.calls(gateway, {
          domain: 'desk.test',
          scenario: 'caller',
          holdMs: 'manual',
        })
        await carrier.talks('answered', carrierTone)
        await phone.connected()
        await phone.hears(carrierTone)
        await carrier.hears(phoneTone)
        await carrier.goesOn()
        await carrier.done()
        await phone.ended()
        await gateway.settled()
      })

      it('calls a number with its own caller ID, holds, resumes and hangs up', async () => {
        const phone = await kind.endpoint({ user: 'desk', transport, srtp, tone: phoneTone })
        const carrier = await Carrier.listens({ scenario: 'callee', port: carrierPort, holdMs: 300 })
        phone.dial(`sip:+4930123456@${kind.home(transport)}`)
        await carrier.talks('invited', carrierTone)
        await phone.connected()
        await phone.hears(carrierTone)
        await carrier.hears(phoneTone)
        expect(carrier.sipp.messages).toMatch(/^From: .*<sip:\+49301@/im)
        await holdsAndGoesOn(phone)
        const heard = carrier.media.packets.length
        await until(
          'the carrier receives audio again',
          () => carrier.media.packets.length,
          (packets) => packets > heard + 25,
        )
        await carrier.hears(phoneTone)
        phone.hangUp()
        await carrier.done()
        await gateway.settled()
      })
    },
  )

  describe.skipIf(!present)(`${kind.name} as a carrier`, () => {
    it.each(transports)(
      'calls a domain application over $transport, hears it, and hangs up',
      async ({ transport, srtp }) => {
        const carrier = await kind.alone({ user: 'trunk', transport, srtp, tone: carrierTone })
        const parameter = kind === linphone ? `;transport=${transport}` : ''
        carrier.dial(`sip:+15550001@${address(transport, 'localhost')}${parameter}`)
        await carrier.connected()
        await carrier.hears(playedTone)
        carrier.hangUp()
        await gateway.settled()
      },
    )

    it.each(['udp', 'tcp'] as const)(
      'is called over %s, with sound both ways, also after hold and resume',
      async (transport) => {
        const carrier = await kind.alone({ user: 'trunk', transport, tone: phoneTone })
        through = carrier.uri
        const caller = await Carrier.calls(gateway, {
          domain: 'through.test',
          scenario: 'caller',
          holdMs: 'manual',
        })
        await caller.talks('answered', carrierTone)
        await carrier.hears(carrierTone)
        await caller.hears(phoneTone)
        await holdsAndGoesOn(carrier)
        await caller.hears(phoneTone)
        await caller.goesOn()
        await caller.done()
        await carrier.ended()
        await gateway.settled()
      },
    )
  })
}
