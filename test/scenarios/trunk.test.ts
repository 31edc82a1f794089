import { once } from 'node:events'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sine } from '../../media/codecs/tone.ts'
import { application, script, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { CertificateFolder } from '../support/certificates.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway, renegotiated } from '../support/gateway.ts'
import { faultsOf, fromFirstSound } from '../support/hearing.ts'
import { bodyOf, Detour, keyOf, securityOf, TrunkTap } from '../support/trunk-tap.ts'
import { until } from '../support/until.ts'
import { wav } from '../support/wav.ts'

const callerTone = 440
const calleeTone = 600
const playedTone = 700

const policies = ['off', 'optional', 'required'] as const
type Policy = (typeof policies)[number]
const pairs = policies.flatMap((calling) => policies.map((called) => ({ calling, called })))
/** Source addresses of the calling carriers at the called gateway, by policy. */
const sources: Readonly<Record<Policy, string>> = {
  off: '127.0.0.2',
  optional: '127.0.0.3',
  required: '127.0.0.4',
}
const nameOf = ({ calling, called }: { calling: Policy; called: Policy }): string => `${calling}-${called}`

let authority: CertificateFolder
let stranger: CertificateFolder
let documents: DocumentServer
/** Document of the called gateway, set by each test. */
let document = ''
let played = ''
let calling: Gateway
let called: Gateway
const taps = new Map<string, TrunkTap>()
const detours: Detour[] = []

/** Certificates towards the other gateway. */
const tlsOf = (own: string, other: string): object => ({
  ca: authority.ca,
  ...authority.files(own),
  serverName: other,
})

const startCalled = (): Promise<Gateway> => {
  const tls = tlsOf('called.test', 'calling.test')
  // No call goes out through these carriers: requests within calls are sent to the Contact.
  const targets = ['sip:127.0.0.1:5061;transport=tls']
  const carrier = (name: string, srtp: Policy, source: string): object => ({
    name,
    srtp,
    targets,
    tls,
    allow: [`${source}/32`],
  })
  return Gateway.start({
    sips: true,
    sip: { tls: { ca: authority.ca, ...authority.files('called.test'), clientCertificates: 'require' } },
    carriers: [
      carrier('direct', 'required', '127.0.0.1'),
      ...policies.map((policy) => carrier(policy, policy, sources[policy])),
    ],
    domains: [application('127.0.0.1', { kind: 'script', url: documents.urlOf('/called') })],
  })
}

/** Carriers whose TLS fails, named after the fault, each with its own path to the called gateway. */
const faulty = async (): Promise<object[]> => {
  const tls = { ca: authority.ca, ...authority.files('calling.test'), serverName: 'called.test' }
  const variants = [
    { name: 'wrong-authority', tls: { ...tls, ca: stranger.ca } },
    { name: 'wrong-name', tls: { ...tls, serverName: 'somebody-else.test' } },
    { name: 'no-certificate', tls: { ca: tls.ca, serverName: tls.serverName } },
  ]
  return Promise.all(
    variants.map(async (variant, at) => {
      const detour = await Detour.open(`127.0.0.${at + 11}`, called.sipsPort)
      detours.push(detour)
      return { ...variant, srtp: 'required', targets: [detour.target] }
    }),
  )
}

const startCalling = async (): Promise<Gateway> => {
  const tls = tlsOf('calling.test', 'called.test')
  const targetOf = (port: number): string => `sip:127.0.0.1:${port};transport=tls`
  const wrong = await faulty()
  const connectTo = (to: string): object => scripted({ connect: { to, timeout: 15, answer_on_bridge: true } })
  return Gateway.start({
    sips: true,
    sip: { tls: { ca: authority.ca, ...authority.files('calling.test'), clientCertificates: 'require' } },
    carriers: [
      { name: 'direct', default: true, srtp: 'required', targets: [targetOf(called.sipsPort)], tls },
      ...pairs.map((pair) => ({
        name: nameOf(pair),
        srtp: pair.calling,
        tls,
        targets: [targetOf(taps.get(nameOf(pair))!.port)],
      })),
      ...wrong,
    ],
    domains: [
      application('number.test', connectTo('+4930123456')),
      ...pairs.map((pair) =>
        application(
          `${nameOf(pair)}.test`,
          connectTo(`sip:+4930123456@127.0.0.1:${taps.get(nameOf(pair))!.port}`),
        ),
      ),
      ...detours.map(({ target }, at) =>
        application(
          `${['wrong-authority', 'wrong-name', 'no-certificate'][at]}.test`,
          connectTo(target.replace('sip:', 'sip:+4930123456@').replace(/;.*/, '')),
        ),
      ),
    ],
  })
}

beforeAll(async () => {
  authority = await CertificateFolder.open()
  stranger = await CertificateFolder.open('stranger')
  await authority.issue('calling.test')
  await authority.issue('called.test')
  documents = await DocumentServer.open()
  documents.put('/called', () => document)
  const sound = documents.put('/tone.wav', wav(sine(playedTone, 10_000, 8000, 8000), 8000))
  played = JSON.stringify(script({ play: { url: sound } }))
  called = await startCalled()
  for (const pair of pairs)
    taps.set(
      nameOf(pair),
      await TrunkTap.open({
        to: called.sipsPort,
        from: sources[pair.called],
        certificates: authority,
        called: 'called.test',
        calling: 'calling.test',
      }),
    )
  calling = await startCalling()
})

afterAll(async () => {
  await calling?.settled()
  await called?.settled()
  await Promise.all([calling?.stop(), called?.stop()])
  await Promise.all([...taps.values(), ...detours].map((each) => each.close()))
  await documents?.close()
  authority?.remove()
  stranger?.remove()
})

const settled = async (): Promise<void> => {
  await calling.settled()
  await called.settled()
}

/** Calls over the direct trunk, from a carrier of the calling gateway to a carrier of the called one. */
const callThrough = async (): Promise<{ caller: Carrier; callee: Carrier }> => {
  const callee = await Carrier.listens({ scenario: 'callee' })
  document = JSON.stringify(script({ connect: { to: callee.uri, timeout: 15, answer_on_bridge: true } }))
  const caller = await Carrier.calls(calling, { domain: 'number.test', scenario: 'caller', holdMs: 'manual' })
  await callee.talks('invited', calleeTone)
  await caller.talks('answered', callerTone)
  return { caller, callee }
}

it('a call between two gateways over a TLS and SRTP trunk has sound both ways', async () => {
  const { caller, callee } = await callThrough()
  await callee.hears(callerTone, 600)
  await caller.hears(calleeTone, 600)
  expect(faultsOf(fromFirstSound(callee.media.packets))).toEqual([])
  expect(callee.sipp.messages).not.toContain('a=crypto')
  await caller.goesOn()
  await caller.done()
  await callee.done()
  await settled()
  const ended = called.log.findLast(({ msg }) => msg === 'call ended')
  expect(JSON.stringify(ended)).toContain('"carrier":"direct"')
})

/**
 * Audio profiles of the offer and the answer of a call. A number as answer is the status of the rejection.
 */
const verdicts: Readonly<Record<string, { readonly offered: string; readonly answered: string | number }>> = {
  'off-off': { offered: 'RTP/AVP', answered: 'RTP/AVP' },
  'off-optional': { offered: 'RTP/AVP', answered: 'RTP/AVP' },
  'off-required': { offered: 'RTP/AVP', answered: 488 },
  // The answerer may ignore keys in an RTP/AVP offer (RFC 8643).
  'optional-off': { offered: 'RTP/AVP with keys', answered: 'RTP/AVP' },
  'optional-optional': { offered: 'RTP/AVP with keys', answered: 'RTP/AVP with keys' },
  'optional-required': { offered: 'RTP/AVP with keys', answered: 'RTP/AVP with keys' },
  'required-off': { offered: 'RTP/SAVP with keys', answered: 488 },
  'required-optional': { offered: 'RTP/SAVP with keys', answered: 'RTP/SAVP with keys' },
  'required-required': { offered: 'RTP/SAVP with keys', answered: 'RTP/SAVP with keys' },
}

describe.each(pairs)('a call from a gateway with SRTP $calling to a gateway with SRTP $called', (pair) => {
  const name = nameOf(pair)
  const { offered, answered } = verdicts[name]!

  it(`has the offer ${offered} and the answer ${answered}`, async () => {
    document = played
    const tap = taps.get(name)!
    const refused = typeof answered === 'number'
    const carrier = await Carrier.calls(calling, {
      domain: `${name}.test`,
      scenario: refused ? 'caller-refused' : 'caller',
      holdMs: 'manual',
      // The script ends after its failed connect, so the caller gets the callee's status.
      ...(refused && { values: { status: answered } }),
    })
    if (!refused) {
      await carrier.talks('answered', callerTone)
      await carrier.hears(playedTone)
      await carrier.goesOn()
    }
    await carrier.done()
    // Exactly one INVITE: a rejection causes no second attempt with less security.
    expect(tap.invites.map(securityOf)).toEqual([offered])
    const [final = ''] = tap.finals
    if (refused) {
      expect(final).toMatch(/^SIP\/2\.0 488 /)
      expect(await called.refusal('srtp_mismatch')).toMatchObject({ status: 488 })
    } else expect(securityOf(final)).toBe(answered)
    await settled()
  })
})

it('a session refresh and a hold keep the SRTP keys, and sound continues both ways', async () => {
  const callee = await Carrier.listens({ scenario: 'callee-hangs-up', holdMs: 'manual' })
  document = JSON.stringify(script({ connect: { to: callee.uri, timeout: 15, answer_on_bridge: true } }))
  const caller = await Carrier.calls(calling, {
    domain: 'required-required.test',
    scenario: 'caller-released',
  })
  await callee.talks('invited', calleeTone)
  await caller.talks('answered', callerTone)
  await caller.hears(calleeTone)
  const tap = taps.get('required-required')!
  const offer = bodyOf(tap.invites.at(-1)!)
  const answer = tap.finals.at(-1)!
  const refreshed = await tap.reinvites(offer)
  expect(bodyOf(refreshed)).toBe(bodyOf(answer))
  const changed = (version: number, direction: string): string =>
    offer.replace(/^(o=\S+ \S+) \d+/m, `$1 ${version}`).replace('a=sendrecv', `a=${direction}`)
  const held = await tap.reinvites(changed(101, 'sendonly'))
  expect([keyOf(held), /^a=recvonly\r$/m.test(held)]).toEqual([keyOf(answer), true])
  await renegotiated(called, { held: true })
  const before = caller.media.packets.length
  const resumed = await tap.reinvites(changed(102, 'sendrecv'))
  expect([keyOf(resumed), securityOf(resumed)]).toEqual([keyOf(answer), 'RTP/SAVP with keys'])
  await until(
    'the caller hears the callee again',
    () => caller.media.packets.length,
    (packets) => packets > before + 25,
  )
  await caller.hears(calleeTone)
  await callee.hears(callerTone)
  await callee.goesOn()
  await caller.done()
  await callee.done()
  await settled()
})

describe.each([
  { name: 'wrong-authority', what: 'of an unknown authority', problem: /self-signed certificate/ },
  {
    name: 'wrong-name',
    what: 'for another name',
    problem: /the certificate is for called\.test.*not for somebody-else\.test/,
  },
  { name: 'no-certificate', what: 'that is missing', problem: /certificate required/ },
])('a TLS trunk with a certificate $what', ({ name, problem }) => {
  it('carries no call, and the log has the reason', async () => {
    const carrier = await Carrier.calls(calling, {
      domain: `${name}.test`,
      scenario: 'caller-refused',
      values: { status: 500 },
    })
    await carrier.done()
    await settled()
    const ended = calling.log.findLast(({ msg }) => msg === 'call ended')
    expect(ended?.legs).toMatchObject([
      { role: 'caller' },
      { role: 'callee', carrier: name, code: 'unreachable', detail: expect.stringMatching(problem) },
    ])
    expect(calling.log).toContainEqual(
      expect.objectContaining({ level: 40, problem: expect.stringMatching(problem) }),
    )
  })
})

it('SIGHUP renews the certificates of both gateways, and a call in progress continues', async () => {
  const { caller, callee } = await callThrough()
  await callee.hears(callerTone)
  const before = await shownBy(called)
  await authority.issue('called.test')
  await authority.issue('calling.test')
  for (const gateway of [called, calling]) {
    process.kill(gateway.pid, 'SIGHUP')
    await until('the certificates are reloaded', () =>
      gateway.log.some(({ msg }) => msg === 'certificates reloaded'),
    )
  }
  expect(await shownBy(called)).not.toBe(before)
  const heard = callee.media.packets.length
  await until(
    'another second of audio has arrived',
    () => callee.media.packets.length,
    (packets) => packets > heard + 50,
  )
  await callee.hears(callerTone)
  await caller.hears(calleeTone)
  await caller.goesOn()
  await caller.done()
  await callee.done()
  await settled()
})

/** Returns the fingerprint of the certificate that a gateway presents. The client presents one too. */
const shownBy = async (gateway: Gateway): Promise<string> => {
  const socket = connect({
    port: gateway.sipsPort,
    host: '127.0.0.1',
    servername: 'called.test',
    ca: authority.pem,
    ...authority.shown('calling.test'),
  })
  await once(socket, 'secureConnect')
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}
