import { beforeEach, describe, expect, it } from 'vitest'
import { dominant, sine } from '../codecs/tone.ts'
import { readRtp, rtpView, writeRtpHeader } from '../rtp/packet.ts'
import { decoded, payloadTypeOf, rateOf, TestVoice, testCodecs, unitsOf } from '../rtp/test-codecs.ts'
import type { AudioCodec } from '../types.ts'
import { Engine } from './engine.ts'
import type { Report } from './protocol.ts'
import type { OnPacket } from './sockets.ts'
import { TestClock } from './test-clock.ts'

const codecs = ['PCMU', 'G722', 'L16'] as const
const tones = [600, 900, 1300] as const

/** A far end on a socket that is none. */
class Far {
  readonly heard: Buffer[] = []
  readonly codec: AudioCodec
  closed = false
  #voice: TestVoice
  #arrive: OnPacket
  #sequence = 0

  constructor(codec: AudioCodec, tone: number, arrive: OnPacket) {
    this.codec = codec
    this.#voice = new TestVoice(codec, tone)
    this.#arrive = arrive
  }

  say(): void {
    const payload = this.#voice.say()
    const packet = Buffer.alloc(12 + payload.length)
    const sequence = this.#sequence++ & 0xffff
    const timestamp = (this.#sequence * unitsOf(this.codec)) >>> 0
    const payloadType = payloadTypeOf(this.codec)
    writeRtpHeader(packet, 0, { payloadType, marker: false, sequence, timestamp, ssrc: 99 })
    packet.set(payload, 12)
    this.#arrive(packet, '192.0.2.1', 4000)
  }

  /** The strongest tone of what was heard last. */
  tone(): number {
    const view = rtpView()
    const payloads = this.heard.slice(-25).flatMap((packet) => {
      if (!readRtp(packet, view) || view.payloadType !== payloadTypeOf(this.codec)) return []
      return [packet.subarray(view.start, view.end)]
    })
    return dominant(decoded(this.codec, payloads), rateOf(this.codec))
  }
}

describe('an engine with injected time and sockets', () => {
  let clock: TestClock
  let engine: Engine
  let fars: Far[]
  let reports: Report[]

  beforeEach(async () => {
    clock = new TestClock()
    fars = []
    reports = []
    engine = new Engine({
      clock,
      codecs: testCodecs,
      random: () => 0.5,
      report: (report) => reports.push(report),
      bind: async (_address, _port, onPacket) => {
        const far = new Far(codecs[fars.length]!, tones[fars.length]!, onPacket)
        fars.push(far)
        return {
          port: 30_000,
          send: (packet, offset, length) =>
            far.heard.push(Buffer.from(packet.subarray(offset, offset + length))),
          close: async () => {
            far.closed = true
          },
        }
      },
    })
    for (const [i, codec] of codecs.entries()) {
      const payloadType = payloadTypeOf(codec)
      const seed = { ssrc: i, sequence: 0, timestamp: 0 }
      await engine.run({ op: 'open', port: i + 1, bind: '127.0.0.1', seed, cname: 'test' })
      await engine.run({
        op: 'far',
        port: i + 1,
        near: { codecs: [{ codec, payloadType }] },
        far: { address: '192.0.2.1', port: 4000, codec, payloadType, direction: 'sendrecv', rtcpMux: true },
      })
    }
  })

  const talk = (ms: number, who = [0, 1, 2]) => {
    for (let passed = 0; passed < ms; passed += 20) {
      for (const i of who) fars[i]!.say()
      clock.advance(20, 3)
    }
  }
  const close = async () => {
    for (const port of [1, 2, 3]) await engine.run({ op: 'close', port, request: port })
    expect([engine.size, clock.running, fars.map(({ closed }) => closed)]).toEqual([0, 0, [true, true, true]])
  }

  it('joins ports of two codecs, plays, and has nothing left when they are closed', async () => {
    await engine.run({ op: 'join', port: 1, other: 2 })
    talk(1000)
    expect([fars[0]!.tone(), fars[1]!.tone()]).toEqual([900, 600])
    const samples = sine(440, 600)
    await engine.run({ op: 'play', port: 2, play: 5, samples, sampleRate: 8000, loop: 1, volumeDb: 0 })
    talk(540)
    expect(fars[1]!.tone()).toBe(440)
    talk(100)
    expect(reports).toContainEqual({ op: 'played', port: 2, play: 5 })
    await engine.run({ op: 'part', port: 1 })
    await close()
  })

  it('mixes, taps, and ends what is about a port or a mixer that is gone', async () => {
    await engine.run({ op: 'mixer', mixer: 9 })
    for (const port of [1, 2, 3]) await engine.run({ op: 'seat', mixer: 9, port, options: {} })
    await engine.run({ op: 'tap', port: 1, tap: 20, request: { tracks: 'in', sampleRate: 8000 } })
    talk(1000, [0, 1])
    expect(fars[2]!.heard.length).toBeGreaterThan(40)
    expect(fars[0]!.tone()).toBe(900)
    const frames = reports.flatMap((report) => (report.op === 'frame' ? [report.frame.atMs] : []))
    // The last one is due with the timer, which comes 3 ms late.
    expect(frames).toEqual(Array.from({ length: 49 }, (_, i) => i * 20))
    expect(engine.size).toBe(5)
    await engine.run({ op: 'unmix', mixer: 9 })
    await close()
    expect(reports).toContainEqual({ op: 'untapped', tap: 20 })
    await engine.run({ op: 'tap', port: 1, tap: 21, request: { tracks: 'in', sampleRate: 8000 } })
    expect(reports).toContainEqual({ op: 'untapped', tap: 21 })
    const request = { path: '/nowhere/a.wav', format: 'wav', tracks: 'in' } as const
    await engine.run({ op: 'detect', port: 1, detection: 23, request: { fax: 'CED' } })
    expect(reports).toContainEqual({ op: 'detected', detection: 23 })
    await engine.run({ op: 'record', port: 1, record: 22, request })
    expect(reports.at(-1)).toMatchObject({ op: 'recorded', record: 22, result: { kept: false } })
  })
})
