/** Paths of audio: more calls than rested ports, far ends that echo, and both IP families. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sine } from '../../media/codecs/tone.ts'
import { freePort } from '../../media/testing/free-ports.ts'
import { application, loopback, script, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { fetchWav, recordingOf, toneMs } from '../support/recorded.ts'
import { RtpPeer } from '../support/rtp-peer.ts'
import { Sipp } from '../support/sipp.ts'
import { wav } from '../support/wav.ts'

const tone = 440

let gateway: Gateway
let documents: DocumentServer
/** Ports of the carrier `moved`: over IPv6 first, then over IPv4. */
let ports: [number, number]

beforeAll(async () => {
  documents = await DocumentServer.open()
  const url = documents.put('/tone.wav', wav(sine(tone, 1_000, 8_000, 8_000), 8_000))
  ports = [await freePort(), await freePort()]
  gateway = await Gateway.start({
    ipv6: true,
    rtpPorts: 16,
    carriers: [{ name: 'moved', targets: [`sip:[::1]:${ports[0]}`, `sip:127.0.0.1:${ports[1]}`] }],
    domains: [
      application('short.test', scripted('answer', 'hangup')),
      {
        ...application('bridged.test', { kind: 'script', url: documents.urlOf('/connect') }),
        allow: [...loopback, '::1'],
      },
      application('recorded.test', scripted({ record_call: { stereo: true } }, { play: { url } }, 'hangup')),
    ],
  })
})

afterAll(async () => {
  await gateway?.stop()
  await documents?.close()
})

it('the gateway takes more calls within 30 s than its range has pairs of RTP ports, by reusing ports', async () => {
  const media = await RtpPeer.open()
  const calls = 20
  const sipp = await Sipp.start({
    scenario: 'caller-released',
    to: `127.0.0.1:${gateway.sipPort}`,
    values: { domain: 'short.test', user: '1', payloads: '0', codecs: 'a=rtpmap:0 PCMU/8000' },
    mediaPorts: Array<number>(calls).fill(media.port),
    rate: 15,
    // Half of the range: calls of a busy machine last longer.
    simultaneous: 4,
    trace: false,
  })
  await sipp.succeeded()
  media.close()
  expect(await gateway.metric('rtp_ports_total')).toBe(8)
  expect(await gateway.metric('rtp_ports_reused_total')).toBe(calls - 8)
  expect(await gateway.metric('calls_ended_total', { direction: 'inbound', cause: 'normal' })).toBe(calls)
  await gateway.settled()
  expect(await gateway.metric('rtp_ports_quarantined')).toBe(8)
})

describe('a carrier that echoes its audio', () => {
  /** Connects two carriers; the one that `echoes` names sends all its audio back. */
  const bridged = async (echoes: 'caller' | 'callee'): Promise<readonly [Carrier, Carrier]> => {
    const callee = await Carrier.listens({ scenario: 'callee' })
    documents.put('/connect', JSON.stringify(script({ connect: { to: callee.uri } })))
    callee.media.echoes = echoes === 'callee'
    const caller = await Carrier.calls(gateway, {
      domain: 'bridged.test',
      scenario: 'call',
      holdMs: 'manual',
    })
    caller.media.echoes = echoes === 'caller'
    await caller.sipp.event('answered')
    return [caller, callee]
  }

  it('is heard by the caller, who receives its own tone back', async () => {
    const [caller, callee] = await bridged('callee')
    await caller.talks('answered', tone)
    await caller.hears(tone)
    await caller.goesOn()
    await Promise.all([caller.done(), callee.done()])
    await gateway.settled()
  })

  it('is heard by the callee, who receives its own tone back', async () => {
    const [caller, callee] = await bridged('caller')
    await callee.talks('invited', tone)
    await callee.hears(tone)
    await caller.goesOn()
    await Promise.all([caller.done(), callee.done()])
    await gateway.settled()
  })

  it('causes no packet storm with a second echoing carrier', async () => {
    const [caller, callee] = await bridged('caller')
    callee.media.echoes = true
    callee.media.send(await callee.sipp.event('invited'), tone)
    await new Promise((resolve) => setTimeout(resolve, 600))
    callee.media.pause()
    const before = callee.media.packets.length
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(callee.media.packets.length - before).toBeLessThan(400)
    await caller.goesOn()
    await Promise.all([caller.done(), callee.done()])
    await gateway.settled()
  })

  it('is recorded with its echo', async () => {
    const carrier = await Carrier.calls(gateway, { domain: 'recorded.test', scenario: 'caller-released' })
    carrier.media.echoes = true
    await carrier.done()
    const { url } = await recordingOf(gateway, carrier)
    const { channels } = await fetchWav(url)
    for (const channel of channels) expect(toneMs(channel, tone)).toBeGreaterThan(700)
    await gateway.settled()
  })
})

describe('a call over IPv4 and IPv6', () => {
  const v6 = { address: '::1', mediaAddress: '::1' }
  const calleeTone = 600

  /** Returns the connection line of the first description that a carrier received. */
  const connectionLineOf = ({ sipp }: Carrier): string | undefined => {
    const message = sipp.received('INVITE')[0] ?? sipp.received('SIP/2.0 200')[0] ?? ''
    return /^c=IN (.*)$/m.exec(message)?.[1]
  }

  it.each([
    ['IPv4', 'IPv6', {}, v6, 'IP4 127.0.0.1', 'IP6 ::1'],
    ['IPv6', 'IPv4', v6, {}, 'IP6 ::1', 'IP4 127.0.0.1'],
  ] as const)(
    'bridges a caller over %s with a callee over %s',
    async (...[, , from, to, inAnswer, inOffer]) => {
      const callee = await Carrier.listens({ scenario: 'callee', codec: 'PCMA', ...to })
      documents.put('/connect', JSON.stringify(script({ connect: { to: callee.uri } })))
      const caller = await Carrier.calls(gateway, {
        domain: 'bridged.test',
        scenario: 'call',
        holdMs: 'manual',
        ...from,
      })
      await caller.talks('answered', tone)
      await callee.talks('invited', calleeTone)
      await Promise.all([caller.hears(calleeTone), callee.hears(tone)])
      expect([connectionLineOf(caller), connectionLineOf(callee)]).toEqual([inAnswer, inOffer])
      await caller.goesOn()
      await Promise.all([caller.done(), callee.done()])
      await gateway.settled()
    },
  )

  it('fails over from a carrier’s IPv6 target to its IPv4 target', async () => {
    const refusing = await Carrier.listens({
      scenario: 'callee-refuses',
      values: { status: 503 },
      port: ports[0],
      ...v6,
    })
    const callee = await Carrier.listens({ scenario: 'callee', port: ports[1] })
    documents.put('/connect', JSON.stringify(script({ connect: { to: `sip:1@[::1]:${ports[0]}` } })))
    const caller = await Carrier.calls(gateway, {
      domain: 'bridged.test',
      scenario: 'call',
      holdMs: 'manual',
    })
    await caller.talks('answered', tone)
    await callee.hears(tone)
    expect([connectionLineOf(refusing), connectionLineOf(callee)]).toEqual(['IP6 ::1', 'IP4 127.0.0.1'])
    await caller.goesOn()
    await Promise.all([caller.done(), callee.done(), refusing.done()])
    await gateway.settled()
  })
})
