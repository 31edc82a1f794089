import { beforeEach, describe, expect, it } from 'vitest'
import { decode, encode } from '../codecs/g711.ts'
import { sine } from '../codecs/tone.ts'
import { louder, noise, prepare, speech } from '../detect/testing/detection-sounds.ts'
import { isRtcp, readRtp, rtpView, writeRtpHeader } from '../rtp/packet.ts'
import { testCodecs } from '../rtp/testing/codecs.ts'
import { randomFrom } from '../rtp/testing/dtmf-tones.ts'
import { levelDb } from '../rtp/voice-activity.ts'
import type { ItemPosition, TapEvent } from '../types.ts'
import { Engine } from './engine.ts'
import type { Report, TapAct } from './protocol.ts'
import type { OnPacket } from './sockets.ts'
import { TestClock } from './testing/test-clock.ts'

const frameSamples = 160
const [flite] = await prepare(
  speech('Thank you for calling. Our opening hours are from eight in the morning until six in the evening.'),
)

/** Packet of 20 ms that the carrier received. */
interface Received {
  readonly at: number
  readonly timestamp: number
  readonly samples: Int16Array
}

/** Carrier of one call: sends and receives PCMU packets of 20 ms. */
class Carrier {
  readonly received: Received[] = []
  #arrive: OnPacket
  #sequence = 0

  constructor(arrive: OnPacket) {
    this.#arrive = arrive
  }

  /** Sends a packet, which arrives after `delayMs`. */
  send(samples: Int16Array, clock: TestClock, delayMs: number): void {
    const packet = Buffer.alloc(12 + frameSamples)
    const sequence = this.#sequence++ & 0xffff
    const timestamp = this.#sequence * frameSamples
    writeRtpHeader(packet, 0, { payloadType: 0, marker: false, sequence, timestamp, ssrc: 99 })
    packet.set(encode('PCMU', samples), 12)
    if (delayMs === 0) this.#arrive(packet, '192.0.2.1', 4000)
    else clock.after(delayMs, () => this.#arrive(packet, '192.0.2.1', 4000))
  }

  take(at: number, packet: Buffer): void {
    const view = rtpView()
    if (isRtcp(packet) || !readRtp(packet, view)) return
    const { timestamp, start, end } = view
    this.received.push({
      at,
      timestamp,
      samples: Int16Array.from(decode('PCMU', packet.subarray(start, end))),
    })
  }

  /** Received audio from packet `from` on. */
  audio(from = 0): number[] {
    return this.received.slice(from).flatMap(({ samples }) => [...samples])
  }
}

describe('speech of a tap, as the carrier receives it', () => {
  let clock: TestClock
  let engine: Engine
  let carrier: Carrier
  let reports: Report[]
  /** Audio that the caller sends next, and the delay of its packets after the ticks. */
  let said: Int16Array
  let phaseMs: number
  /** Longest additional delay on the way. */
  let jitterMs: number
  const random = randomFrom(5)

  beforeEach(async () => {
    clock = new TestClock()
    reports = []
    said = new Int16Array(0)
    phaseMs = 5
    jitterMs = 0
    engine = new Engine({
      clock,
      codecs: testCodecs,
      random: () => 0.5,
      report: (report) => reports.push(report),
      bind: async (_address, _port, onPacket) => {
        carrier = new Carrier(onPacket)
        return {
          port: 30_000,
          send: (packet, offset, length) =>
            carrier.take(clock.now(), Buffer.from(packet.subarray(offset, offset + length))),
          close: async () => {},
        }
      },
    })
    const seed = { ssrc: 1, sequence: 0, timestamp: 0 }
    await engine.run({ op: 'open', port: 1, bind: ['127.0.0.1'], seed, cname: 'test' })
    await engine.run({
      op: 'setFar',
      port: 1,
      near: { codecs: [{ codec: 'PCMU', payloadType: 0 }] },
      far: {
        address: '192.0.2.1',
        port: 4000,
        codec: 'PCMU',
        payloadType: 0,
        direction: 'sendrecv',
        rtcpMux: true,
      },
    })
    await engine.run({ op: 'tap', port: 1, tap: 7, request: { tracks: 'in', sampleRate: 8000 } })
    return () => {
      clock.advance(jitterMs)
      engine.end()
      expect(clock.running).toBe(0)
    }
  })

  const act = (command: TapAct) => engine.run({ ...command, port: 1, tap: 7 })
  const speak = (samples: Int16Array, item: number) => act({ op: 'speak', samples, item })
  /** Lets time pass, in which the caller sends what it says, then silence. */
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 20) {
      clock.advance(phaseMs)
      const frame = new Int16Array(frameSamples)
      frame.set(said.subarray(0, frameSamples))
      said = said.subarray(Math.min(frameSamples, said.length))
      carrier.send(frame, clock, Math.round(random() * jitterMs))
      clock.advance(20 - phaseMs)
    }
  }
  const events = (): readonly TapEvent[] =>
    reports.flatMap((report) => (report.op === 'tapEvent' ? [report.event] : []))
  const positions = (): readonly ItemPosition[] | undefined =>
    reports.flatMap((report) => (report.op === 'cut' ? [report.positions] : [])).at(-1)
  /** Level of a part of a packet, in dBov. */
  const level = ({ samples }: Received, from = 0) => levelDb(samples.subarray(from))

  it('is 20 dB lower one frame after the fade of a pause, and continues with the same word', async () => {
    await speak(flite!, 1)
    await act({ op: 'finishItem', item: 1 })
    pass(1000)
    const before = carrier.received.length
    await act({ op: 'pauseSpeech', fadeMs: 30 })
    pass(600)
    const fall = carrier.received.slice(before)
    // The second packet is silent from its middle on, and no third one follows.
    expect([fall.length, level(fall[1]!, 80)]).toEqual([2, -127])
    await act({ op: 'resumeSpeech' })
    pass(flite!.length / 8 + 100)
    expect(events().map(({ kind }) => kind)).toEqual(['item-began', 'item-ended'])
    // Except in the fade and in the rise before the same sample, the carrier has the whole speech.
    const audio = carrier.audio()
    const whole = [...decode('PCMU', encode('PCMU', flite!))]
    const start =
      audio.findIndex((_, i) => whole.slice(2000, 2400).every((sample, k) => audio[i + k] === sample)) - 2000
    const lost = before * frameSamples - start + 120
    expect(audio.slice(start, start + lost - 120)).toEqual(whole.slice(0, lost - 120))
    const rest = audio.slice((before + 2) * frameSamples + 161)
    expect(rest.slice(0, whole.length - lost - 81)).toEqual(whole.slice(lost + 81))
  })

  it('ends within one frame of a cut, whose position is that of the packets', async () => {
    for (const [item, ms] of [
      [1, 700],
      [2, 333],
    ] as const) {
      const before = carrier.received.length
      await speak(sine(440, 5000), item)
      pass(ms)
      await act({ op: 'cutSpeech', request: item })
      pass(400)
      const heard = carrier.received.slice(before).filter((packet) => level(packet) > -60).length * 20
      expect(positions()!.map((position) => position.item)).toEqual([item])
      expect(Math.abs(positions()![0]!.heardMs - heard)).toBeLessThanOrEqual(20)
      const last = carrier.received.at(-1)!
      expect(level(last, 150)).toBeLessThan(-40)
      expect(clock.now() - last.at).toBeGreaterThan(360)
    }
  })

  it('reports the first frame of an item at its time in the frames', async () => {
    pass(500)
    await speak(sine(440, 100), 4)
    pass(300)
    const first = carrier.received.find((packet) => level(packet) > -60)!
    const frames = reports.flatMap((report) => (report.op === 'frame' ? [report.frame.atMs] : []))
    const began = events()[0] as { kind: string; atMs: number }
    expect([began.kind, frames.at(-1)! - began.atMs]).toEqual([
      'item-began',
      Math.floor((clock.now() - first.at) / 20) * 20,
    ])
  })

  it.each([
    { jitter: 0, maxMs: 120 },
    { jitter: 40, maxMs: 160 },
  ])(
    'is lowered by the reflex within $maxMs ms of the first voiced packet with a jitter of $jitter ms',
    async ({ jitter, maxMs }) => {
      jitterMs = jitter
      await act({ op: 'setReflex', reflex: {} })
      pass(3000)
      for (phaseMs = 1; phaseMs < 20; phaseMs += 3) {
        await speak(noise(6000, -15), phaseMs)
        pass(1000)
        const sentAt = clock.now() + phaseMs
        said = noise(300, -20)
        pass(1000)
        const last = carrier.received.at(-1)!
        const silent = last.samples.findIndex((_, i) => level(last, i) < -40)
        expect(last.at - sentAt + silent / 8).toBeLessThanOrEqual(maxMs)
        expect(events().slice(-3)).toMatchObject([
          { kind: 'item-began' },
          { kind: 'voice-began', isFaded: true },
          { kind: 'voice-ended' },
        ])
        await act({ op: 'cutSpeech', request: 1 })
        pass(500)
      }
    },
  )

  it('is not lowered by its own echo, but reports a voice when nothing is said', async () => {
    await act({ op: 'setReflex', reflex: {} })
    await speak(flite!, 1)
    await act({ op: 'finishItem', item: 1 })
    const begins = carrier.received.length
    for (let i = 0; i < flite!.length / frameSamples; i++) {
      const echoed = carrier.received.slice(begins).at(-8)
      said = echoed ? louder(echoed.samples, -20) : new Int16Array(frameSamples)
      pass(20)
    }
    pass(200)
    expect(events().map(({ kind }) => kind)).toEqual(['item-began', 'item-ended'])
    pass(600)
    said = noise(200, -25)
    pass(800)
    expect(
      events()
        .slice(2)
        .map(({ kind }) => kind),
    ).toEqual(['voice-began', 'voice-ended'])
    await act({ op: 'setReflex' })
    said = noise(200, -25)
    pass(800)
    expect(events()).toHaveLength(4)
  })

  it('is not lowered while that is not allowed', async () => {
    await act({ op: 'allowFade', isAllowed: false })
    await act({ op: 'setReflex', reflex: {} })
    await speak(sine(440, 2000), 1)
    pass(500)
    said = noise(300, -20)
    pass(700)
    expect(events().find(({ kind }) => kind === 'voice-began')).toMatchObject({ isFaded: false })
    expect(clock.now() - carrier.received.at(-1)!.at).toBeLessThan(40)
  })

  it('has packets of silence around it and in a pause, if that is requested', async () => {
    pass(500)
    const opening = carrier.received.length
    const request = { tracks: 'in', sampleRate: 8000, isContinuous: true } as const
    await engine.run({ op: 'tap', port: 1, tap: 8, request })
    pass(200)
    await speak(sine(440, 400), 1)
    pass(200)
    await act({ op: 'pauseSpeech' })
    pass(200)
    await act({ op: 'resumeSpeech' })
    pass(600)
    await engine.run({ op: 'closeTap', port: 1, tap: 8 })
    const packets = carrier.received.slice(opening)
    expect(packets.length).toBe(60)
    expect(packets.slice(1).every(({ at }, i) => at - packets[i]!.at === 20)).toBe(true)
    expect(packets.slice(1).every(({ timestamp }, i) => timestamp - packets[i]!.timestamp === 160)).toBe(true)
    // A second of silence follows all joined audio.
    pass(1100)
    const end = carrier.received.length
    pass(1000)
    expect(carrier.received.length).toBe(end)
  })

  it('has a background, which moves and ends with its tap and keeps no item open', async () => {
    pass(500)
    const before = carrier.received.length
    const samples = sine(440, 5000).map((sample) => sample / 10)
    await act({ op: 'background', sound: { samples, sampleRate: 8000, volumeDb: 0 } })
    pass(300)
    await speak(sine(1000, 200), 3)
    await act({ op: 'finishItem', item: 3 })
    pass(500)
    expect(events().map(({ kind }) => kind)).toEqual(['item-began', 'item-ended'])
    const packets = carrier.received.slice(before + 1)
    expect(packets.length).toBeGreaterThan(37)
    expect(packets.every((packet) => level(packet) > -45)).toBe(true)
    expect(packets.slice(1).every(({ timestamp }, i) => timestamp - packets[i]!.timestamp === 160)).toBe(true)
    await engine.run({ op: 'move', port: 1, listener: 7 })
    pass(100)
    expect(level(carrier.received.at(-1)!)).toBeGreaterThan(-45)
    await act({ op: 'background' })
    pass(100)
    const end = carrier.received.length
    pass(1000)
    expect(carrier.received.length).toBe(end)
  })

  it('is as loud as its tap wants', async () => {
    const request = { tracks: 'in', sampleRate: 8000, speechDb: -12 } as const
    await engine.run({ op: 'tap', port: 1, tap: 8, request })
    await engine.run({ op: 'speak', samples: sine(440, 1000), port: 1, tap: 8 })
    pass(500)
    expect(level(carrier.received.at(-1)!)).toBeCloseTo(levelDb(sine(440, 20)) - 12, 0)
  })

  it('is answered for a tap that is closed', async () => {
    await act({ op: 'closeTap' })
    await act({ op: 'cutSpeech', request: 3 })
    expect(reports.at(-1)).toEqual({ op: 'cut', tap: 7, request: 3, positions: [] })
  })
})
