import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { dominant, sine } from '../codecs/tone.ts'
import { readWavFile } from '../record/testing/recording-files.ts'
import { isRtcp, readRtp, rtpView, writeRtpHeader } from '../rtp/packet.ts'
import { decoded, payloadTypeOf, rateOf, TestVoice, testCodecs, unitsOf } from '../rtp/testing/codecs.ts'
import type { AudioCodec, RecordRequest } from '../types.ts'
import { Engine } from './engine.ts'
import type { RecordingControl, Report } from './protocol.ts'
import type { OnPacket } from './sockets.ts'
import { TestClock } from './testing/test-clock.ts'

const codecs = ['PCMU', 'G722', 'L16'] as const
const tones = [600, 900, 1300] as const

/** Far end on a fake socket. */
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

  /** Returns the strongest tone received recently. */
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
        const each = fars.length % codecs.length
        const far = new Far(codecs[each]!, tones[each]!, onPacket)
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
      await engine.run({ op: 'open', port: i + 1, bind: ['127.0.0.1'], seed, cname: 'test' })
      await engine.run({
        op: 'setFar',
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

  it('joins ports of two codecs, plays, and keeps nothing after they are closed', async () => {
    await engine.run({ op: 'join', port: 1, other: 2 })
    talk(1000)
    expect([fars[0]!.tone(), fars[1]!.tone()]).toEqual([900, 600])
    const samples = sine(440, 600)
    await engine.run({ op: 'play', port: 2, play: 5, samples, sampleRate: 8000, loop: 1, volumeDb: 0 })
    talk(540)
    expect(fars[1]!.tone()).toBe(440)
    talk(100)
    expect(reports).toContainEqual({ op: 'played', port: 2, play: 5 })
    await engine.run({ op: 'detach', port: 1 })
    await close()
  })

  it('reports the encoded packets of all mixers of a tick together, each in order, until they are closed', async () => {
    for (const mixer of [8, 9]) {
      await engine.run({ op: 'openMixer', mixer, rate: 48_000 })
      await engine.run({ op: 'encodeMix', mixer, isOn: true })
    }
    const batches = () => reports.flatMap((report) => (report.op === 'encodedMixes' ? [report.packets] : []))
    /** Packets that arrive while the time passes at once. */
    const passed = async (ms: number): Promise<number[][]> => {
      const known = batches().length
      clock.advance(ms)
      await Promise.resolve()
      return batches()
        .slice(known)
        .map((packets) => packets.map(({ mixer }) => mixer))
    }
    expect(await passed(20)).toEqual([[8, 9]])
    expect(await passed(60)).toEqual([[8, 9, 8, 9, 8, 9]])
    await engine.run({ op: 'closeMixer', mixer: 8 })
    expect(await passed(20)).toEqual([[9]])
    await engine.run({ op: 'encodeMix', mixer: 9, isOn: false })
    expect(await passed(20)).toEqual([])
    await engine.run({ op: 'closeMixer', mixer: 9 })
    await close()
  })

  it('mixes, taps, and ignores commands for closed ports and mixers', async () => {
    await engine.run({ op: 'openMixer', mixer: 9, rate: 16_000 })
    for (const port of [1, 2, 3]) await engine.run({ op: 'addInput', mixer: 9, port, options: {} })
    await engine.run({ op: 'tap', port: 1, tap: 20, request: { tracks: 'in', sampleRate: 8000 } })
    talk(1000, [0, 1])
    expect(fars[2]!.heard.length).toBeGreaterThan(40)
    expect(fars[0]!.tone()).toBe(900)
    const frames = reports.flatMap((report) => (report.op === 'frame' ? [report.frame.atMs] : []))
    // The last packet is due with the timer, which fires 3 ms late.
    expect(frames).toEqual(Array.from({ length: 49 }, (_, i) => i * 20))
    expect(engine.size).toBe(5)
    await engine.run({ op: 'closeMixer', mixer: 9 })
    await close()
    expect(reports).toContainEqual({ op: 'tapClosed', tap: 20 })
    await engine.run({ op: 'tap', port: 1, tap: 21, request: { tracks: 'in', sampleRate: 8000 } })
    expect(reports).toContainEqual({ op: 'tapClosed', tap: 21 })
    const request = { path: '/nowhere/a.wav', format: 'wav', tracks: 'in' } as const
    await engine.run({ op: 'detect', port: 1, detection: 23, request: { fax: 'CED' } })
    expect(reports).toContainEqual({ op: 'detectionEnded', detection: 23 })
    await engine.run({ op: 'record', port: 1, record: 22, request })
    expect(reports.at(-1)).toMatchObject({ op: 'recorded', record: 22, result: { hasFile: false } })
  })

  it('closes everything open or being opened when its thread ends', async () => {
    await engine.run({ op: 'openMixer', mixer: 9, rate: 16_000 })
    await engine.run({ op: 'addInput', mixer: 9, port: 1, options: {} })
    const seed = { ssrc: 4, sequence: 0, timestamp: 0 }
    const opening = engine.run({ op: 'open', port: 4, bind: ['127.0.0.1'], seed, cname: 'test' })
    engine.end()
    await opening
    expect([engine.size, clock.running, fars.map(({ closed }) => closed)]).toEqual([
      0,
      0,
      [true, true, true, true],
    ])
    expect(reports).not.toContainEqual(expect.objectContaining({ op: 'opened', port: 4 }))
  })

  describe('moving to another port', () => {
    let path: string
    let recorded: Promise<void>

    beforeEach(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'moving-'))
      path = join(folder, 'a.wav')
      return () => rm(folder, { recursive: true })
    })

    /** Starts recording the first port, and waits until the recorder is ready. */
    const record = async (more: Partial<RecordRequest> = {}) => {
      const request: RecordRequest = { path, format: 'wav', tracks: 'stereo', ...more }
      recorded = engine.run({ op: 'record', port: 1, record: 30, request })
      for (let i = 0; i < 10; i++) await Promise.resolve()
    }
    const act = (port: number, act: RecordingControl) =>
      engine.run({ op: 'recording', port, record: 30, act })
    /** Transfers the first far end away: the second one is the caller from now on. */
    const transfer = () => engine.run({ op: 'move', port: 2, listener: 30 })
    const leaves = async () => {
      await engine.run({ op: 'join', port: 2, other: 3 })
      await engine.run({ op: 'close', port: 1, request: 1 })
    }
    /** Stops the recording and returns the file's samples. */
    const sides = async () => {
      await act(2, 'stop')
      await recorded
      await close()
      return (await readWavFile(path)).channels as [Int16Array, Int16Array]
    }
    const tone = (samples: Int16Array, fromMs: number, toMs: number) =>
      dominant(samples.subarray(fromMs * 8, toMs * 8))

    /** Returns the duration of silence from there on, in steps of 20 ms. */
    const silent = (samples: Int16Array, fromMs: number): number[] => {
      const found: number[] = []
      for (let ms = fromMs; ms + 20 <= samples.length / 8; ms += 20)
        if (samples.subarray(ms * 8, ms * 8 + 160).every((sample) => Math.abs(sample) < 500)) found.push(ms)
      return found
    }

    it('a recording continues in its file without a gap', async () => {
      await engine.run({ op: 'join', port: 1, other: 2 })
      await record()
      talk(1000)
      await transfer()
      talk(200)
      await leaves()
      talk(1000)
      const [left, right] = await sides()
      // The audio to the far end waits 60 ms for that of the far end, and follows at the end.
      expect(left.length / 8).toBe(2240)
      // A new partner takes a moment; the move itself is inaudible.
      expect([silent(left, 200), silent(right, 200)]).toEqual([[2180, 2200, 2220], [1240]])
      expect([tone(left, 500, 1000), tone(right, 500, 1000)]).toEqual([600, 900])
      expect([tone(left, 1060, 1200), tone(right, 1060, 1200)]).toEqual([900, 600])
      expect([tone(left, 1700, 2100), tone(right, 1700, 2100)]).toEqual([900, 1300])
    })

    it('a paused recording stays paused, and can be resumed', async () => {
      await record()
      talk(500)
      await act(1, 'skip')
      await transfer()
      await leaves()
      talk(1000)
      await act(2, 'resume')
      talk(500)
      const [left] = await sides()
      // The audio to the caller waits for 40 to 60 ms; its rest is recorded before the pause and at the end.
      expect([left.length / 8, tone(left, 200, 480), tone(left, 600, 960)]).toEqual([1100, 600, 900])
    })

    it.each(['the beep ends', 'the port is closed'])(
      'a recording while its beep plays: it begins when %s',
      async (how) => {
        await record({ beep: true })
        talk(100)
        await transfer()
        if (how === 'the beep ends') talk(300, [])
        await leaves()
        talk(1000)
        const [left, right] = await sides()
        expect([tone(left, 200, 900), tone(right, 500, 900)]).toEqual([900, 1300])
        expect(fars[1]!.tone()).toBe(1300)
      },
    )

    it('a recording that has not started ends with the port that it was moved to', async () => {
      await record({ beep: true })
      await transfer()
      await engine.run({ op: 'close', port: 2, request: 2 })
      talk(1000, [0])
      await recorded
      expect(reports.at(-1)).toMatchObject({
        op: 'recorded',
        result: { end: { kind: 'stopped' }, hasFile: false },
      })
      await close()
    })

    it('a tap keeps its queued speech', async () => {
      await engine.run({ op: 'tap', port: 1, tap: 20, request: { tracks: 'in', sampleRate: 8000 } })
      talk(500)
      const sent = () => fars[0]!.heard.filter((packet) => !isRtcp(packet)).length
      const before = sent()
      await engine.run({ op: 'speak', port: 1, tap: 20, samples: sine(440, 600) })
      await engine.run({ op: 'spoken', port: 1, tap: 20, request: 7 })
      await engine.run({ op: 'move', port: 2, listener: 20 })
      await engine.run({ op: 'close', port: 1, request: 1 })
      talk(640)
      expect([sent(), fars[1]!.tone()]).toEqual([before, 440])
      expect(reports).toContainEqual({ op: 'spoken', tap: 20, request: 7 })
      const frames = reports.flatMap((report) => (report.op === 'frame' ? [report.frame] : []))
      expect(frames.map(({ atMs }) => atMs)).toEqual(frames.map((_, i) => i * 20))
      expect(frames.length).toBe(56)
      const heard = frames.slice(-20).flatMap(({ samples }) => [...samples])
      expect(dominant(Int16Array.from(heard))).toBe(900)
      await engine.run({ op: 'closeTap', port: 2, tap: 20 })
      expect(reports.at(-1)).toEqual({ op: 'tapClosed', tap: 20 })
      await close()
    })
  })
})
