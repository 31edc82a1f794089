import type { SipResponse } from '@trunkline/sip-agent/message'
import { afterEach, describe, expect, it } from 'vitest'
import type { CarrierConfig } from '../../../config/types.ts'
import { SystemClock } from '../../core/clock.ts'
import { digestSecret } from '../../directory/model/digest-secret.ts'
import { Registrations } from '../registrar/registrations.ts'
import { answerTo, refusedCall, type Setting, startAdmission } from '../testing/admission-rig.ts'
import { carrierSdp, rejected, testApp } from '../testing/bench.ts'
import type { Carrier } from '../testing/carrier.ts'

let carrier: Carrier
const offences: string[] = []
afterEach(async () => {
  offences.length = 0
  await carrier.close()
})

const begin = async (setting: Setting) => {
  carrier = await startAdmission({
    ...setting,
    parts: { recordOffense: (source) => offences.push(source), ...setting.parts },
  })
}
const refused = (uri: string, status: number, extra?: Record<string, string>) =>
  refusedCall(carrier, uri, status, extra)
/** Response as an untrusted source sees it, without the parts that differ from call to call. */
const shown = ({ status, reason, headers, body }: SipResponse) => ({
  line: `${status} ${reason}`,
  headers: headers
    .list()
    .filter(({ key }) => !['via', 'from', 'to', 'call-id', 'cseq'].includes(key))
    .map(
      ({ name, value }) =>
        `${name}: ${value.replace(/nonce="[^"]*"/, 'nonce').replace(/realm="[^"]*"/, 'realm')}`,
    ),
  body: body.toString(),
})

describe('an untrusted source', () => {
  const allow = ['192.0.2.0/24']
  const closed = [
    testApp({ allow }),
    testApp({ id: 'app-2', domain: 'bare.example', allow, handler: undefined }),
  ]
  const uris = ['sip:1@demo.example', 'sip:2@DEMO.example:5070', 'sip:1@bare.example', 'sip:1@none.example']

  it('gets the same rejection for every host', async () => {
    await begin({ apps: closed })
    const seen = []
    for (const uri of uris) seen.push(shown(await refused(uri, 403)))
    expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBe(1)
    expect(await rejected(carrier.bench.metrics, 'source_not_allowed')).toBe(4)
    expect(carrier.bench.arrivals).toEqual([])
  })

  it('gets the same challenge for every host, and the same response to a wrong password', async () => {
    await begin({ apps: closed, registrar: ['pbx.example'] })
    const all = [...uris, 'sip:1@pbx.example']
    const seen: string[] = []
    for (const uri of all) {
      const first = await refused(uri, 401)
      const Authorization = answerTo(first, uri, 'desk', 'guess')
      seen.push(JSON.stringify([shown(first), shown(await refused(uri, 401, { Authorization }))]))
    }
    expect(new Set(seen).size).toBe(1)
    // Each guess came from an address that had been given its nonce.
    expect(offences).toEqual(all.map(() => '127.0.0.1'))
  })

  it('gets the same challenge for a REGISTER at every host', async () => {
    const clock = new SystemClock()
    const limits = { minExpiresMs: 1, maxExpiresMs: 1, contacts: 1 }
    await begin({
      registrar: ['pbx.example'],
      parts: {
        registrar: {
          clock,
          config: { domains: ['pbx.example'], keepAliveMs: 0, ...limits },
          registrations: new Registrations({ limits, clock }),
        },
      },
    })
    const { peer } = carrier
    const seen = []
    for (const uri of ['sip:pbx.example', 'sip:none.example']) {
      peer.send('REGISTER', peer.call(uri))
      seen.push(shown(await peer.response(401, 'REGISTER')))
    }
    expect(seen[0]).toEqual(seen[1])
  })

  it('gets the same response to OPTIONS and other methods for every host', async () => {
    await begin({ apps: closed })
    const { peer } = carrier
    const seen = []
    for (const uri of uris) {
      for (const [method, status] of [
        ['OPTIONS', 200],
        ['MESSAGE', 405],
        ['SUBSCRIBE', 405],
        ['REGISTER', 405],
      ] as const) {
        peer.send(method, peer.call(uri))
        seen.push([uri, method, JSON.stringify(shown(await peer.response(status, method)))])
      }
    }
    for (const method of ['OPTIONS', 'MESSAGE', 'SUBSCRIBE', 'REGISTER'])
      expect(new Set(seen.filter((each) => each[1] === method).map((each) => each[2])).size).toBe(1)
  })
})

describe('a challenge', () => {
  const challenge = digestSecret('trunk', 'demo.example', 'secret')

  it.each(['SHA-256', 'MD5'])('admits a caller with a correct answer by %s', async (algorithm) => {
    await begin({ apps: [testApp({ challenge })], parts: { challenges: ['MD5', 'SHA-256'] } })
    const uri = 'sip:1@demo.example'
    const first = await refused(uri, 401)
    // Each challenge has its own header field (RFC 8760 section 2.3).
    expect(first.headers.all('www-authenticate')).toHaveLength(2)
    const Authorization = answerTo(first, uri, 'trunk', 'secret', algorithm)
    carrier.invite({ to: uri, extra: { Authorization } })
    const { arrival } = await carrier.bench.arrival()
    arrival.leg.end({ code: 'declined' })
    await carrier.peer.response(603)
    // A challenge does not count as a rejection.
    expect(await rejected(carrier.bench.metrics, 'unauthorized')).toBe(0)
  })

  it('cannot be answered twice with the same answer', async () => {
    await begin({ apps: [testApp({ challenge, handler: undefined })] })
    const uri = 'sip:1@demo.example'
    const Authorization = answerTo(await refused(uri, 401), uri, 'trunk', 'secret')
    await refused(uri, 480, { Authorization })
    const again = await refused(uri, 401, { Authorization })
    expect(again.headers.first('www-authenticate')).toContain('stale=true')
    expect(offences).toEqual([])
  })

  it('logs a wrong password without the password', async () => {
    await begin({ apps: [testApp({ challenge })] })
    const uri = 'sip:1@demo.example'
    const Authorization = answerTo(await refused(uri, 401), uri, 'trunk', 'guess')
    await refused(uri, 401, { Authorization })
    const lines = carrier.bench.logged.filter(({ code }) => code === 'unauthorized')
    expect(lines).toMatchObject([
      { status: 401, source: '127.0.0.1', domain: 'demo.example', answer: 'wrong' },
    ])
    expect(JSON.stringify(carrier.bench.logged)).not.toContain('guess')
    expect(offences).toEqual(['127.0.0.1'])
  })
})

describe('a carrier', () => {
  const acme: CarrierConfig = {
    name: 'acme',
    targets: ['sip:gw.acme.example'],
    allow: ['127.0.0.0/8'],
    maxCalls: 1,
    default: false,
    srtp: 'off',
    srtpSuites: [],
    srtpWithoutTls: false,
    lateOffer: false,
    symmetric: 'strict',
    inbandDigits: false,
    codecs: ['PCMU'],
    ptime: 20,
    comfortNoise: false,
    identity: { from: 'caller', header: 'none' },
    number: { prefix: '', plus: 'keep' },
    failover: { statuses: [], noProgressMs: 8_000 },
    tls: { verify: true, alpn: [] },
  }

  it('is recorded for calls from its network, and its limit applies', async () => {
    await begin({ carriers: [acme] })
    const { call, to, arrival } = await carrier.answered()
    expect(arrival.carrier).toBe('acme')
    const full = await refused('sip:1@demo.example', 503)
    expect(full.headers.first('retry-after')).toBe('10')
    expect(carrier.bench.logged.find(({ code }) => code === 'over_call_limit')).toMatchObject({
      carrier: 'acme',
      carrierCalls: 1,
      carrierLimit: 1,
    })
    call.seq++
    carrier.peer.send('BYE', call, { to })
    await carrier.peer.response(200, 'BYE')
    await carrier.nothingLeft()
    await carrier.answered()
  })

  it('gets 404 for an unknown host', async () => {
    await begin({ carriers: [acme] })
    await refused('sip:1@none.example', 404)
  })
})

it('a tag in a display name is not the tag of a dialog', async () => {
  await begin({})
  const { peer, bench } = carrier
  const uri = 'sip:1@demo.example'
  peer.send('INVITE', peer.call(uri), { to: `"a;tag=b" <${uri}>`, body: carrierSdp() })
  await bench.arrival()
  peer.send('INVITE', peer.call(uri), { to: `<${uri}>;tag=b`, body: carrierSdp() })
  await peer.response(481)
})
