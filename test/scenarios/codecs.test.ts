/** @schedule tones: listens for unbroken tones in each codec. */

import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../media/testing/free-ports.ts'
import type { AudioCodec } from '../../media/types.ts'
import { application, scripted } from '../support/applications.ts'
import { Baresip } from '../support/baresip.ts'
import { CodecPeer, formats } from '../support/codec-peer.ts'
import { Gateway } from '../support/gateway.ts'
import { isInstalled } from '../support/program.ts'
import { headerOf, linesOf } from '../support/sip-text.ts'
import { Sipp, type SippOptions } from '../support/sipp.ts'

const every = ['PCMU', 'PCMA', 'G722', 'opus', 'L16'] as const
const callerTone = 600
const calleeTone = 1_000

let gateway: Gateway
/** Port of the carrier. */
let farPort: number

beforeAll(async () => {
  farPort = await freePort()
  const through = scripted({ connect: { to: '+49301', timeout: 15, answer_on_bridge: true } })
  gateway = await Gateway.start({
    domains: [
      { ...application('wide.test', through), codecs: every },
      application('plain.test', through),
      {
        ...application('asks.test', scripted({ connect: { to: '+49301', codecs: 'OPUS,PCMA,G729' } })),
        codecs: every,
      },
    ],
    carriers: [
      { name: 'far', targets: [`sip:127.0.0.1:${farPort}`], default: true, codecs: every, ptime: 30 },
    ],
  })
})
afterEach(() => gateway.settled())
afterAll(() => gateway?.stop())

const start = async (options: SippOptions): Promise<Sipp> => {
  const sipp = await Sipp.start(options)
  onTestFinished(() => sipp.stop())
  return sipp
}

/** Codec of a side, and the packet lengths that it requests and sends. */
interface Side {
  readonly codec: AudioCodec
  readonly ptime?: number
}

const callee = async ({ codec, ptime = 20 }: Side) => {
  const media = await CodecPeer.open(codec, ptime, true)
  const values = { ...formats(codec, true), ptime }
  const sipp = await start({ scenario: 'callee', values, port: farPort, mediaPorts: [media.port] })
  return { media, sipp }
}

const caller = async (
  { codec, ptime = 20 }: Side,
  { domain = 'wide.test', scenario = 'call', values = {}, holdMs = 'manual' as SippOptions['holdMs'] } = {},
) => {
  const media = await CodecPeer.open(codec, ptime)
  const sipp = await start({
    scenario,
    holdMs,
    mediaPorts: [media.port],
    to: `127.0.0.1:${gateway.sipPort}`,
    values: { ...formats(codec), ptime, user: '+15550002222', domain, ...values },
  })
  return { media, sipp }
}

/** Connects both sides, and waits until each hears the other. */
const bridged = async (near: Side, far: Side) => {
  const second = await callee(far)
  const first = await caller(near)
  second.media.talks(await second.sipp.event('invited'), calleeTone)
  first.media.talks(await first.sipp.event('answered'), callerTone)
  await first.media.hears(calleeTone)
  await second.media.hears(callerTone)
  return [first, second] as const
}

/** Hangs up the first side, and waits until all sides have ended. */
const finished = async (...sides: readonly { readonly sipp: Sipp }[]): Promise<void> => {
  await sides[0]?.sipp.goOn()
  for (const { sipp } of sides) await sipp.succeeded()
  await gateway.settled()
}

describe('a call between two carriers', () => {
  it.each([
    ['PCMU', 'G722'],
    ['G722', 'PCMA'],
    ['G722', 'opus'],
    ['opus', 'PCMU'],
    ['PCMA', 'opus'],
    ['L16', 'G722'],
  ] as const)('with %s and %s has sound both ways', async (near, far) => {
    const sides = await bridged({ codec: near }, { codec: far })
    await finished(...sides)
    const record = gateway.log.findLast(({ msg }) => msg === 'call ended')
    expect(record).toMatchObject({ legs: [{ codec: near }, { codec: far }] })
  })

  it.each(['G722', 'opus'] as const)(
    'with %s on both sides relays the packets without decoding',
    async (codec) => {
      const sides = await bridged({ codec }, { codec })
      const [first, second] = sides
      await first.media.hearsTheVery(second.media)
      await second.media.hearsTheVery(first.media)
      const [invite = ''] = second.sipp.received('INVITE')
      expect(linesOf(invite, 'a=rtpmap')[0]).toContain(codec)
      expect(linesOf(invite, 'a=ptime')).toEqual(['a=ptime:30'])
      await finished(...sides)
    },
  )

  it.each([10, 30, 40, 60])(
    'sends packets of %i ms to the side that requests them, and of 20 ms to the other side',
    async (ptime) => {
      const sides = await bridged({ codec: 'PCMU', ptime }, { codec: 'G722' })
      expect(sides.map(({ media }) => media.lastBytes)).toEqual([ptime * 8, 160])
      await finished(...sides)
    },
  )
})

it('the caller changes the codec during a call, and both sides still hear each other', async () => {
  const second = await callee({ codec: 'G722' })
  const { payloads: newPayloads, codecs: newCodecs } = formats('opus')
  const first = await caller(
    { codec: 'PCMU' },
    { scenario: 'call-modifies', values: { newPayloads, newCodecs } },
  )
  second.media.talks(await second.sipp.event('invited'), calleeTone)
  first.media.talks(await first.sipp.event('answered'), callerTone)
  await first.media.hears(calleeTone)
  await second.media.hears(callerTone)
  await first.sipp.goOn()
  await first.sipp.event('modified')
  first.media.become('opus', 800)
  await first.media.hears(calleeTone)
  await second.media.hears(800)
  await first.sipp.goOn()
  await first.sipp.event('back')
  await first.media.hears(calleeTone)
  await second.media.hears(800)
  await finished(first, second)
})

describe.skipIf(!isInstalled('baresip'))('a baresip phone', () => {
  it.each(['G722/16000/1', 'opus/48000/2'] as const)(
    'with %s and a carrier with PCMA hear each other',
    async (codec) => {
      const second = await callee({ codec: 'PCMA' })
      const phone = await Baresip.start({
        user: 'ann',
        tone: 700,
        codec,
        proxy: `127.0.0.1:${gateway.sipPort}`,
      })
      phone.dial('sip:desk@wide.test')
      second.media.talks(await second.sipp.event('invited'), calleeTone)
      await phone.connected()
      await phone.hears(calleeTone)
      await second.media.hears(700)
      phone.hangUp()
      await second.sipp.succeeded()
      await gateway.settled()
      const record = gateway.log.findLast(({ msg }) => msg === 'call ended')
      expect(record).toMatchObject({ legs: [{ codec: codec.split('/')[0] }, { codec: 'PCMA' }] })
    },
  )
})

it('a caller without a permitted codec is rejected with 488 and the list of permitted codecs', async () => {
  const { sipp } = await caller(
    { codec: 'G722' },
    { domain: 'plain.test', scenario: 'call-refused', values: { status: 488 } },
  )
  await sipp.succeeded()
  const [refusal = ''] = sipp.received('SIP/2.0 488')
  expect(headerOf(refusal, 'Warning')).toMatch(/Offered: G722\/8000\. Permitted here: PCMU, PCMA\./)
})

it('the codecs of a document’s connect are offered to the carrier as far as the carrier permits them', async () => {
  const { sipp } = await callee({ codec: 'PCMA' })
  const first = await caller({ codec: 'PCMA' }, { domain: 'asks.test' })
  await sipp.event('invited')
  const [invite = ''] = sipp.received('INVITE')
  expect(linesOf(invite, 'm=audio')[0]).toMatch(/RTP\/AVP 8 111 101 110$/)
  // The document answers the caller before the carrier answers.
  await sipp.event('confirmed')
  await finished(first, { sipp })
})
