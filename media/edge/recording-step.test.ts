import { describe, expect, it } from 'vitest'
import { encode } from '../codecs/g711.ts'
import { sine } from '../codecs/tone.ts'
import { startRecording } from '../record/recorder.ts'
import { MemoryFiles, readWavBytes } from '../record/testing/recording-files.ts'
import { randomFrom } from '../rtp/testing/dtmf-tones.ts'
import { type TestLine, TestTime } from '../rtp/testing/session-line.ts'
import type { FarEnd, RecordRequest } from '../types.ts'
import { RecordingSink } from './recording-sink.ts'

/** Length of a packet and a frame, and of the words of both sides, in ms. */
const packetMs = 20
const wordMs = 300
/** Time from the end of the caller's word to the reply, and from one turn to the next, in ms. */
const replyAfterMs = 100
const turnMs = 1500
/** Time from a frame to the arrival of the fastest packet, in ms. */
const phaseMs = 7

const word = sine(400, wordMs)
const wordPackets = Array.from({ length: wordMs / packetMs }, (_, n) =>
  encode('PCMU', word.subarray(n * 160, (n + 1) * 160)),
)
const silentPacket = Buffer.alloc(160, 0xff)

/** Path of the caller's packets, and behaviour of both sides. */
interface Course {
  /** Lateness of the caller's packet `n` in ms, and of a typical one around it; undefined is a loss. */
  readonly late?: (n: number) => number | undefined
  readonly typicalLate?: (n: number) => number
  /** Whether the caller sends nothing between its words. */
  readonly isSilent?: boolean
  readonly far?: Partial<FarEnd>
}

/** Returns the beginnings of the words in a track, in ms: they follow a silence of 60 ms or more. */
const wordsOf = (samples: Int16Array): number[] => {
  const words: number[] = []
  let loudAt = Number.NEGATIVE_INFINITY
  for (let i = 0; i < samples.length; i++) {
    if (Math.abs(samples[i]!) < 2000) continue
    if (i - loudAt > 60 * 8) words.push(i / 8)
    loudAt = i
  }
  return words
}

/** Call with a recording, whose path delivers each packet at its time. */
class RecordedCall {
  readonly time = new TestTime()
  readonly line: TestLine = this.time.line('192.0.2.1')
  /** Runs at each ms, before the frame. */
  each: (ms: number) => void = () => {}
  readonly files = new MemoryFiles()
  readonly #arrivals = new Map<number, (() => void)[]>()
  #ms = 0

  constructor(far: Partial<FarEnd> = {}) {
    this.line.set(far)
  }

  async record(more: Partial<RecordRequest> = {}) {
    const request: RecordRequest = { path: '/a.wav', format: 'wav', tracks: 'stereo', ...more }
    const recorder = await startRecording(request, this.files)
    const sink: RecordingSink = new RecordingSink(recorder, request, () => this.line.session.removeSink(sink))
    this.line.session.addSink(sink)
    const read = async (): Promise<readonly Int16Array[]> => {
      expect(await recorder.done).toMatchObject({ end: { kind: 'stopped' } })
      return readOf(this)
    }
    return { sink, recorder, read }
  }

  /** Sends a packet of the caller, which arrives `lateMs` later; undefined is a loss. */
  hear(payload: Uint8Array, lateMs: number | undefined): void {
    this.line.way = (packet, arrive) => {
      if (lateMs === undefined) return
      const at = this.time.now + lateMs
      this.#arrivals.set(at, [...(this.#arrivals.get(at) ?? []), () => arrive(packet)])
    }
    this.line.hear(payload)
  }

  /** Plays a sound to the caller from the next frame on. */
  say(samples: Int16Array): void {
    this.line.session.promptMixer.play(1, samples, 8000, 1, 0)
  }

  async pass(ms: number): Promise<void> {
    for (const end = this.#ms + ms; this.#ms < end; this.#ms++, this.time.now++) {
      this.each(this.#ms)
      for (const arrive of this.#arrivals.get(this.time.now) ?? []) arrive()
      if (this.#ms % 10 === 0) this.line.session.tick(this.time.now)
      if (this.#ms % packetMs === 0) this.time.frame()
      // The recorder may write after each second.
      if (this.#ms % 1000 === 0) await new Promise(setImmediate)
    }
  }
}

/** Returns the tracks of a complete recording. */
const readOf = ({ files }: RecordedCall): readonly Int16Array[] =>
  readWavBytes(files.files.get('/a.wav')!).channels

/**
 * Records `turns` of a caller's word and its reply. Returns the times of the replies in the file, and at the
 * socket, relative to the words.
 */
const converse = async (course: Course, turns = 12, more: Partial<RecordRequest> = {}) => {
  const { late = () => 0, typicalLate = (n: number) => late(n) ?? 0, isSilent = false, far } = course
  const call = new RecordedCall(far)
  const { sink, read } = await call.record(more)
  const said: number[] = []
  call.each = (ms) => {
    const n = Math.floor(ms / packetMs)
    const inTurn = ms % turnMs
    if (ms % packetMs === phaseMs) {
      const payload = wordPackets[Math.floor(inTurn / packetMs) - 25]
      if (payload || !isSilent) call.hear(payload ?? silentPacket, late(n))
      else call.line.next.timestamp += 160
      if (payload === wordPackets[0]) said.push(call.time.now + typicalLate(n))
    }
    if (said.length > 0 && call.time.now === Math.round(said.at(-1)! + wordMs + replyAfterMs)) call.say(word)
  }
  await call.pass(turns * turnMs)
  sink.control('stop')
  await call.pass(300)
  const channels = await read()
  const { sent } = call.line
  // Only the replies are sent, apart from the opening.
  const spoken = sent.filter(({ payload }) => payload.some((byte) => byte !== 0xff))
  const replies = spoken.filter(({ at }, i) => i === 0 || at - spoken[i - 1]!.at > 200)
  return { channels, atSocket: replies.map(({ at }, i) => at - said[i]!) }
}

const courses: Readonly<Record<string, Course>> = {
  'a quiet line': {},
  'a deep jitter buffer': { late: (n) => (n * 37) % 150, typicalLate: () => 75 },
  'a buffer that becomes deep': {
    late: (n) => (n < 300 ? 0 : (n * 37) % 120),
    typicalLate: (n) => (n < 300 ? 0 : 60),
  },
  'a buffer that becomes shallow': {
    late: (n) => (n > 300 ? 0 : (n * 37) % 120),
    typicalLate: (n) => (n > 300 ? 0 : 60),
  },
  'a path that becomes longer': { late: (n) => (n < 380 ? 0 : 110) },
  'a caller who is silent between words': {
    isSilent: true,
    late: (n) => (n < 300 ? 0 : (n * 7) % 60),
    typicalLate: (n) => (n < 300 ? 0 : 30),
  },
  loss: { late: (n) => (n % 9 === 4 ? undefined : (n * 7) % 30), typicalLate: () => 15 },
  'long packets to the caller': { far: { ptime: 60 } },
}

/** Sound without a period, so that a removed or repeated part shows. */
const noise = (ms: number): Int16Array<SharedArrayBuffer> => {
  const random = randomFrom(3)
  const samples = new Int16Array(new SharedArrayBuffer(ms * 16))
  for (let i = 0; i < samples.length; i++) samples[i] = Math.round(12_000 * (random() - 0.5))
  return samples
}

/** Returns shared memory with these samples. */
const shared = (samples: Int16Array): SharedArrayBuffer => {
  const copy = new Int16Array(new SharedArrayBuffer(samples.byteLength))
  copy.set(samples)
  return copy.buffer
}

/** Offset of `part` in `whole`; -1 if it is not there as it is. */
const offsetOf = (whole: Int16Array, part: Int16Array): number =>
  Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).indexOf(
    Buffer.from(part.buffer, part.byteOffset, part.byteLength),
  ) / 2

describe('both sides of a recording are in step', () => {
  it.each(Object.entries(courses))('over %s', async (_, course) => {
    const { channels, atSocket } = await converse(course)
    const [words, replies] = channels.map(wordsOf) as [number[], number[]]
    expect([words.length, replies.length, atSocket.length]).toEqual([12, 12, 12])
    const errors = replies.map((at, i) => Math.abs(at - words[i]! - atSocket[i]!))
    expect(Math.max(...errors)).toBeLessThanOrEqual(40)
  })

  it('mixed', async () => {
    const { channels, atSocket } = await converse(courses['a deep jitter buffer']!, 6, { tracks: 'both' })
    const sounds = wordsOf(channels[0]!)
    expect([channels.length, sounds.length]).toEqual([1, 12])
    const errors = atSocket.map((after, i) => Math.abs(sounds[2 * i + 1]! - sounds[2 * i]! - after))
    expect(Math.max(...errors)).toBeLessThanOrEqual(40)
  })

  it('while packets are forwarded between two ports of different depths', async () => {
    const call = new RecordedCall()
    const other = call.time.line('192.0.2.2', 0x77)
    other.set()
    call.line.session.join(other.session)
    const { sink, read } = await call.record()
    const said: number[] = []
    call.each = (ms) => {
      if (ms % packetMs !== phaseMs) return
      const n = Math.floor(ms / packetMs)
      const at = n % 75
      call.hear(wordPackets[at - 25] ?? silentPacket, (n * 37) % 120)
      other.hear(wordPackets[at - 45] ?? silentPacket)
      if (at === 25) said.push(call.time.now + 60)
    }
    await call.pass(9000)
    sink.control('stop')
    const [words, answers] = (await read()).map(wordsOf) as [number[], number[]]
    expect([words.length, answers.length]).toEqual([6, 6])
    // Twenty packets later, and at once.
    const errors = answers.map((at, i) => Math.abs(at - words[i]! - (20 * packetMs - 60)))
    expect(Math.max(...errors)).toBeLessThanOrEqual(40)
  })
})

describe('a recording of both sides', () => {
  const tone = sine(200, 1000)
  const tonePackets = Array.from({ length: 50 }, (_, n) =>
    encode('PCMU', tone.subarray(n * 160, (n + 1) * 160)),
  )

  it.each([
    ['the caller', 0],
    ['the agent', 1],
  ] as const)('has no click in the sound of %s when the depth changes', async (_, channel) => {
    const call = new RecordedCall()
    const { sink, read } = await call.record()
    const sound = sine(200, 9000)
    call.each = (ms) => {
      const n = Math.floor(ms / packetMs)
      const late = n > 150 && n < 300 ? ((n - 150) * 3) % 100 : 0
      if (ms % packetMs === phaseMs) call.hear(channel === 0 ? tonePackets[n % 50]! : silentPacket, late)
      if (ms === 500 && channel === 1) call.say(new Int16Array(shared(sound)))
    }
    await call.pass(9000)
    sink.control('stop')
    const channels = await read()
    // After the beginning, the steepest part of the tone rises by 1257 per ms.
    const samples = channels[channel]!.subarray(8000)
    const steps = samples.subarray(1).map((sample, i) => Math.abs(sample - samples[i]!))
    expect(Math.max(...samples)).toBeGreaterThan(4000)
    expect(Math.max(...steps)).toBeLessThan(2000)
  })

  it.each(['stop', 'close'] as const)('is complete at its end (%s)', async (how) => {
    const call = new RecordedCall()
    const { sink, read } = await call.record()
    call.each = (ms) => {
      const n = Math.floor(ms / packetMs)
      if (ms % packetMs === phaseMs) call.hear(wordPackets[n - 85] ?? silentPacket, 0)
      if (ms === 1500) call.say(noise(500))
    }
    await call.pass(2000)
    if (how === 'stop') sink.control('stop')
    else call.line.session.close(call.time.now)
    const [words, replies] = await read()
    const waited = offsetOf(replies!, noise(500)) / 8 - 1500
    expect(waited).toBeGreaterThan(0)
    expect(waited).toBeLessThan(100)
    expect(replies!.length / 8 - 2000).toBeGreaterThanOrEqual(waited)
    expect(replies!.length / 8 - 2000 - waited).toBeLessThan(packetMs)
    expect(Math.abs(wordsOf(words!)[0]! - waited - 1707)).toBeLessThanOrEqual(40)
  })

  it.each(['skip', 'silence'] as const)('is complete up to a pause (%s)', async (how) => {
    const call = new RecordedCall()
    const { sink, read } = await call.record()
    const sound = noise(3000)
    call.each = (ms) => {
      if (ms % packetMs === phaseMs) call.hear(wordPackets[0]!, 0)
      if (ms === 0) call.say(sound)
    }
    await call.pass(1000)
    sink.control(how)
    sink.control(how)
    await call.pass(1000)
    sink.control('resume')
    sink.control('resume')
    await call.pass(1000)
    sink.control('stop')
    const [, replies] = await read()
    const waited = replies!.findIndex((sample) => sample !== 0)
    expect(waited).toBeGreaterThan(0)
    expect(waited).toBeLessThan(100 * 8)
    expect(replies!.subarray(waited, 8000 + waited)).toEqual(sound.subarray(0, 8000))
    const frame = packetMs * 8
    const inFrames = (samples: number) => Math.ceil(samples / frame) * frame
    const second = how === 'skip' ? inFrames(8000 + waited) : 16_000
    expect(replies!.subarray(8000 + waited, second).every((sample) => sample === 0)).toBe(true)
    // The track waits again after the pause, perhaps for a slightly different time.
    const late = 16_000 - offsetOf(sound, replies!.slice(second, second + 800))
    expect(Math.abs(late - waited)).toBeLessThan(frame)
    expect(replies!.subarray(second, second + 8000 + late)).toEqual(sound.subarray(16_000 - late))
    expect(replies!.length).toBe(second + inFrames(8000 + late))
  })

  it('ends by the silence of the caller as soon as it is heard', async () => {
    const ends: number[] = []
    for (const tracks of ['in', 'stereo'] as const) {
      const call = new RecordedCall()
      const { recorder } = await call.record({ tracks, endSilenceMs: 500 })
      let endsAt = 0
      call.each = (ms) => {
        const n = Math.floor(ms / packetMs)
        if (ms % packetMs === phaseMs) call.hear(wordPackets[n % 50] ?? silentPacket, 0)
        if (recorder.hasEnded && endsAt === 0) endsAt = ms
      }
      await call.pass(3000)
      ends.push(endsAt)
    }
    expect(ends[0]).toBeGreaterThan(0)
    expect(ends[1]).toBe(ends[0])
  })

  it('has the words before a digit that ends it', async () => {
    const call = new RecordedCall()
    const { sink, recorder } = await call.record({ terminators: '#' })
    call.each = (ms) => {
      if (ms % packetMs === phaseMs) call.hear(wordPackets[0]!, 0)
    }
    await call.pass(1000)
    sink.digit('1')
    await call.pass(500)
    call.say(noise(500))
    await call.pass(500)
    sink.digit('#')
    expect(await recorder.done).toMatchObject({ end: { kind: 'terminator', digit: '#' } })
    const [words, replies] = readOf(call)
    expect(words!.length).toBeGreaterThan(2000 * 8)
    expect(offsetOf(replies!, noise(500))).toBeGreaterThan(1500 * 8)
  })

  it('has the words to a caller who falls silent', async () => {
    const call = new RecordedCall()
    const { recorder } = await call.record({ endSilenceMs: 500 })
    let endsAt = 0
    call.each = (ms) => {
      const n = Math.floor(ms / packetMs)
      if (ms % packetMs === phaseMs) call.hear(wordPackets[n] ?? silentPacket, 0)
      if (ms === 300) call.say(noise(1200))
      if (recorder.hasEnded && endsAt === 0) endsAt = ms
    }
    await call.pass(1500)
    expect(await recorder.done).toMatchObject({ end: { kind: 'silence' } })
    const [, replies] = readOf(call)
    const heard = noise(1200).subarray(0, (Math.floor(endsAt / packetMs) * packetMs - 300) * 8)
    expect(offsetOf(replies!, heard)).toBeGreaterThan(300 * 8)
  })

  it('is no longer than wanted', async () => {
    const call = new RecordedCall()
    const { sink, recorder } = await call.record({ maxMs: 1000 })
    call.each = (ms) => {
      if (ms % packetMs === phaseMs) call.hear(wordPackets[0]!, 0)
    }
    await call.pass(600)
    for (const how of ['skip', 'silence'] as const) {
      sink.control(how)
      await call.pass(200)
      sink.control('resume')
    }
    await call.pass(400)
    expect(await recorder.done).toMatchObject({ end: { kind: 'limit' }, durationMs: 1000 })
  })

  it.each(['skip', 'silence'] as const)(
    'is no longer than wanted with many short pauses (%s)',
    async (how) => {
      const call = new RecordedCall()
      const { sink, recorder } = await call.record({ maxMs: 3000 })
      call.each = (ms) => {
        if (ms % packetMs === phaseMs) call.hear(wordPackets[0]!, 0)
      }
      for (let pauses = 0; pauses < 40; pauses++) {
        await call.pass(60)
        sink.control(how)
        await call.pass(20)
        sink.control('resume')
      }
      await call.pass(3000)
      expect(await recorder.done).toMatchObject({ end: { kind: 'limit' }, durationMs: 3000 })
    },
  )

  it('is no longer than wanted if it ends or pauses shortly before', async () => {
    const ends = { pause: { kind: 'limit' }, digit: { kind: 'terminator', digit: '#' } } as const
    for (const how of ['pause', 'digit'] as const) {
      const call = new RecordedCall()
      const { sink, recorder } = await call.record({ maxMs: 1000, terminators: '#' })
      call.each = (ms) => {
        if (ms % packetMs === phaseMs) call.hear(wordPackets[0]!, 0)
      }
      await call.pass(980)
      if (how === 'pause') sink.control('silence')
      else sink.digit('#')
      expect(recorder.hasEnded).toBe(true)
      expect(await recorder.done).toMatchObject({ end: ends[how], durationMs: 1000 })
    }
  })
})
