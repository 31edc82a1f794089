/** @schedule alone: measures delay and gaps of sound, which other work on the machine adds to. */

import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { estimateMos } from '../../media/rtp/mos.ts'
import { freePort } from '../../media/testing/free-ports.ts'
import type { PortStats } from '../../media/types.ts'
import { BadNetwork } from '../support/bad-network.ts'
import { Browser, microphoneRate } from '../support/browser.ts'
import { CodecPeer, formats } from '../support/codec-peer.ts'
import { Gateway } from '../support/gateway.ts'
import { hears, recordedIn } from '../support/page-audio.ts'
import { Sipp } from '../support/sipp.ts'
import { Softphone } from '../support/softphone.ts'
import { heldShare, lateness, SwingingVoice, swingingTone } from '../support/swinging-tone.ts'
import { until } from '../support/until.ts'
import { WebRtcRelay } from '../support/webrtc-relay.ts'

/** Tones whose period is no fraction of a packet, so that a missing or misplaced packet makes a jump. */
const pageTone = 1_015
const carrierTone = 635
/** Loss and jitter of each direction between page and gateway, and from the carrier to the gateway. */
const badness = { loss: 0.05, jitterMs: 30 }
const codecs = ['opus', 'G722', 'PCMU'] as const

/** Length of a measurement on both sides at the same time. */
const seconds = 6
/** Minimum share of windows that hold the tone: 0.97 or more with loss concealment, about 0.9 without. */
const mostlyHeld = 0.96
/**
 * Maximum drift in ms. A healthy jitter buffer grows and shrinks by some ten ms; a buffer that only grows
 * exceeds this within seconds.
 */
const driftMs = 80

let browser: Browser
let gateway: Gateway
/** Port of the carrier. */
let farPort: number

beforeAll(async () => {
  farPort = await freePort()
  const browsing = Browser.start(swingingTone(pageTone, 60, microphoneRate))
  gateway = await Gateway.start({
    carriers: [{ name: 'far', targets: [`sip:127.0.0.1:${farPort}`], default: true, codecs }],
  })
  // The sound lasts longer than a test, because its repetition may cause a gap.
  browser = await browsing
})

afterAll(async () => {
  await gateway?.settled()
  await browser?.stop()
  await gateway?.stop()
})

/**
 * Calls the carrier, which has this codec alone, from the page. The page uses Opus, the carrier's first codec
 * in the configuration.
 */
const talk = async (codec: (typeof codecs)[number]) => {
  const relay = await WebRtcRelay.open(gateway.webrtcPort, { ...badness, seed: 1 })
  const fromCarrier = new BadNetwork({ ...badness, seed: 3 })
  const phone = await Softphone.open(browser, gateway, { relay: relay.port })
  onTestFinished(() => phone.close())
  const media = await CodecPeer.open(codec, 20, true)
  media.over(fromCarrier)
  const values = formats(codec, true)
  const sipp = await Sipp.start({
    scenario: 'callee',
    values,
    port: farPort,
    mediaPorts: [media.port],
    // The callee must not end the call during the measurements.
    timeoutMs: 80_000,
  })
  onTestFinished(() => sipp.stop())
  await phone.dial(`sip:+49301@127.0.0.1:${farPort}`)
  media.talks(await sipp.event('invited'), new SwingingVoice(codec, carrierTone))
  await phone.talking()
  await hears(phone.page, carrierTone)
  await media.hears(pageTone)
  return { relay, fromCarrier, phone, media, sipp }
}

type Talk = Awaited<ReturnType<typeof talk>>

/** Waits for about two seconds of packets: this process forwards them, and stops during its analysis. */
const calm = async ({ fromCarrier }: Talk): Promise<void> => {
  const before = fromCarrier.taken
  await until('packets come at their pace', () => fromCarrier.taken >= before + 100)
}

/** Measures both sides in the next seconds. */
const heard = async (talking: Talk) => {
  await calm(talking)
  const { media, phone } = talking
  const [carrier, page] = await Promise.all([media.listens(seconds * 1000), recordedIn(phone.page, seconds)])
  return {
    held: [heldShare(carrier.sound, pageTone), heldShare(page, carrierTone)],
    driftMs: [lateness(carrier.sound), carrier.drift, lateness(page)],
    missing: carrier.missing,
  }
}

/** The leg's audio in the record of the call that ended last. */
const audioOf = (kind: 'browser' | 'sip'): PortStats => {
  const record = gateway.log.findLast(({ msg }) => msg === 'call ended')
  const legs = record?.legs as readonly { readonly kind: string; readonly audio: PortStats }[]
  return legs.find((leg) => leg.kind === kind)!.audio
}

it.each(codecs)(
  'a browser with Opus and a carrier with %s hear each other without a gap over networks that lose and delay packets',
  async (codec) => {
    const talking = await talk(codec)
    // A stall of the machine makes the delay jump once; a real drift fails every attempt.
    const { missing } = await until(
      'both tones are held, and none is delayed more and more',
      () => heard(talking),
      ({ held, driftMs: drifts }) =>
        held.every((share) => share >= mostlyHeld) && drifts.every((drift) => drift < driftMs),
      40_000,
    )
    // Only transcoding conceals losses; a relayed codec still has the gaps of the network.
    expect(missing > 0).toBe(codec === 'opus')
    await calm(talking)
    const { relay, fromCarrier, phone, sipp } = talking
    expect(await phone.state()).toBe('active')
    await phone.hangUp()
    await sipp.succeeded()
    await phone.idle()
    await gateway.settled()
    expect(gateway.log.findLast(({ msg }) => msg === 'call ended')).toMatchObject({
      code: 'normal',
      legs: [
        { kind: 'browser', codec: 'opus' },
        { kind: 'sip', codec },
      ],
    })
    for (const [audio, network, spoken] of [
      [audioOf('browser'), relay.toGateway, 'opus'],
      [audioOf('sip'), fromCarrier, codec],
    ] as const) {
      // Some packets of a page are not audio. Losses at the end leave no gap, and the last packets are still
      // in flight.
      expect(network.lost).toBeGreaterThan(10)
      expect(audio.lost).toBeGreaterThan(0.6 * network.lost)
      expect(audio.lost).toBeLessThanOrEqual(network.lost + 4)
      // Delays between 0 and 60 ms differ by 20 ms on average between two packets. The machine adds its own
      // jitter.
      expect(audio.jitterMs).toBeGreaterThan(12)
      expect(audio.jitterMs).toBeLessThan(80)
      // A clean call has 4.2 or more, and no call has less than 1. Delays of the machine lower the value.
      expect(audio.mos).toBeGreaterThan(1.2)
      // At most the score that the loss alone gives.
      expect(audio.mos).toBeLessThanOrEqual(estimateMos({ ...audio, codec: spoken, bufferMs: 0 }))
      expect(audio.mos).toBeLessThan(4)
    }
  },
  // A busy machine needs several attempts until no process stalls for six seconds.
  240_000,
)
