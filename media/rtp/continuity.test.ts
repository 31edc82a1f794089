import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codecFacts } from '../codecs/facts.ts'
import { sine } from '../codecs/tone.ts'
import type { AudioCodec } from '../types.ts'
import type { FrameLine } from './line.ts'
import { SpeakQueue } from './speak-queue.ts'
import { payloadTypeOf, TestVoice } from './test-codecs.ts'
import { type SentPacket, type TestLine, TestTime } from './test-line.ts'

/** A mixer, or another thread, that says a tone now and then. */
class TestMix implements FrameLine {
  readonly rate = 16_000
  talks = true
  #tone = sine(300, 20, 16_000)

  say(): void {}

  hear(): Int16Array | undefined {
    return this.talks ? this.#tone : undefined
  }

  close(): void {}
}

const codecs = ['PCMU', 'PCMA', 'G722', 'L16', 'opus'] as const
const codec = fc.constantFrom(...codecs)

const acts = [
  ...['join a', 'join c', 'mix', 'part', 'a talks', 'c talks', 'mix talks', 'ssrc'],
  ...['play', 'pause', 'resume', 'stop', 'quieter', 'speak', 'digits'],
  ...['far', 'hold', 'refresh', 'noise', 'stall'],
] as const

/** What can happen to a port: an act, with what it may need. */
const step = fc.record({
  does: fc.oneof(
    { weight: 1, arbitrary: fc.constant('pass') },
    { weight: 2, arbitrary: fc.constantFrom(...acts) },
  ),
  /** Of 20 ms. */
  frames: fc.integer({ min: 1, max: 60 }),
  rate: fc.constantFrom(8000, 16_000, 48_000),
  codec,
  ptime: fc.constantFrom(10, 20, 30, 40, 50, 60),
  digits: fc.constantFrom('1', '5#', 'w2', '*W9'),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A port with its far end, two others, a mixer and a tap, to which the steps happen. */
class Scene {
  readonly time = new TestTime()
  readonly b: TestLine
  /** When anything was done that may change who speaks. */
  readonly changes: number[] = []
  #a: TestLine
  #c: TestLine
  #talks = { a: true, c: true }
  #mix = new TestMix()
  #queue = new SpeakQueue(16_000)
  #voices: { a: TestVoice; c: TestVoice }
  #codec: AudioCodec = 'PCMU'
  #ptime = 20
  #noise = false
  #plays = 0

  constructor(first: AudioCodec, second: AudioCodec) {
    this.#a = this.time.line('192.0.2.1')
    this.b = this.time.line('198.51.100.1')
    this.#c = this.time.line('203.0.113.1')
    this.#voices = { a: new TestVoice(first, 500), c: new TestVoice(second, 700) }
    this.#a.set({ codec: first })
    this.#c.set({ codec: second })
    this.#far()
    this.b.session.talk.addQueue(this.#queue)
  }

  run(step: Step): void {
    this.changes.push(this.time.now)
    const { session } = this.b
    const { talk } = session
    const acts: Record<string, () => void> = {
      pass: () => this.#pass(step.frames),
      stall: () => this.time.stall(step.frames * 20),
      play: () => talk.play(++this.#plays, sine(400, step.frames * 11, step.rate), step.rate, 1, 0),
      pause: () => talk.pause(this.#plays),
      resume: () => talk.resume(this.#plays),
      stop: () => talk.stop(this.#plays),
      quieter: () => talk.setVolume(this.#plays, -10),
      speak: () => {
        this.#queue.write(sine(600, step.frames * 9, 16_000))
        this.#queue.mark(() => this.changes.push(this.time.now))
      },
      digits: () => session.sendDigits(step.digits, () => this.changes.push(this.time.now)),
      'join a': () => session.join(this.#a.session),
      'join c': () => session.join(this.#c.session),
      mix: () => session.connect(this.#mix),
      part: () => session.part(),
      ...this.#others(step),
    }
    acts[step.does]!()
    // A stall puts off what was to follow.
    this.changes.push(this.time.now)
  }

  #others({ codec, ptime }: Step): Record<string, () => void> {
    return {
      'a talks': () => {
        this.#talks.a = !this.#talks.a
      },
      'c talks': () => {
        this.#talks.c = !this.#talks.c
      },
      'mix talks': () => {
        this.#mix.talks = !this.#mix.talks
      },
      ssrc: () => {
        this.#a.next = { sequence: 9, timestamp: 77, ssrc: this.#a.next.ssrc + 1 }
      },
      far: () => {
        this.#codec = codec
        this.#ptime = ptime
        this.#far()
      },
      refresh: () => this.#far(),
      hold: () => this.b.set({ codec: this.#codec, direction: 'inactive' }),
      noise: () => {
        this.#noise = !this.#noise
        this.#far()
      },
    }
  }

  #far(): void {
    this.b.set({ codec: this.#codec, ptime: this.#ptime, ...(this.#noise && { comfortNoise: 13 }) })
  }

  #pass(frames: number): void {
    this.time.pass(frames * 20, () => {
      if (this.#talks.a) this.#a.say(this.#voices.a)
      if (this.#talks.c) this.#c.say(this.#voices.c)
    })
  }
}

const codecByType = new Map<number, AudioCodec>(codecs.map((each) => [payloadTypeOf(each), each]))

/** What a receiver of these packets would stumble over. */
function faults(sent: readonly SentPacket[], changes: readonly number[]): string[] {
  const found: string[] = []
  const events = sent.flatMap(({ at, payloadType }) => (payloadType === 101 ? [at] : []))
  let rate = 8
  for (let i = 1; i < sent.length; i++) {
    const [before, packet] = [sent[i - 1]!, sent[i]!]
    if (packet.sequence !== ((before.sequence + 1) & 0xffff)) found.push(`sequence at ${i}`)
    const known = codecByType.get(packet.payloadType)
    // Events and noise have the clock of an audio that need not have been heard yet.
    const now = known ? codecFacts[known].clockRate / 1000 : 48
    const event = packet.payloadType === 101
    const units = (packet.timestamp - before.timestamp) | 0
    const sameEvent = event && before.payloadType === 101 && !packet.marker
    if (sameEvent ? units !== 0 : units <= 0) found.push(`timestamp at ${i}: ${units}`)
    const passed = packet.at - before.at
    const recent = (times: readonly number[], ms: number) =>
      times.some((at) => at <= packet.at && packet.at - at <= ms)
    // Over a change of clock some of the time counts at either rate; a packet stands for up to 60 ms, and may leave up to 20 ms late; an
    // event stands for 100 ms; and what is made up for after a stall is sent at once.
    const late = recent(changes, 500) || before.payloadType === 101 ? 340 : 80
    if (units > (passed + late) * Math.max(rate, now)) found.push(`leap at ${i}: ${units} in ${passed} ms`)
    const noise = (type: number) => type === 13 || type === 101
    const gap = units > 60 * Math.max(rate, now)
    // The sound that was going on ends, or another begins, within a packet of what was done; as where a digit was sent.
    const changed = recent(changes, 130) || recent(events, 130)
    if (packet.marker && !noise(before.payloadType) && !event && !gap && !changed)
      found.push(`marker at ${i}`)
    if (packet.marker && packet.payloadType === 13) found.push(`marker on noise at ${i}`)
    rate = now
  }
  return found
}

describe('the stream that a far end gets', () => {
  it('has no gap, no repetition, no step back and no marker in the middle of talk, whatever happens to the port', () => {
    fc.assert(
      fc.property(codec, codec, fc.array(step, { minLength: 1, maxLength: 30 }), (first, second, steps) => {
        const scene = new Scene(first, second)
        const { time, b } = scene
        for (const each of steps) scene.run(each)
        time.pass(100)
        // Sounds that end by themselves are changes as well: their ends are told when they are sent.
        const ends = b.sent.flatMap(({ at, marker }, i) => (marker && i === 0 ? [at] : []))
        expect(faults(b.sent, [...scene.changes, ...scene.b.playedAt, ...ends])).toEqual([])
        b.session.close(time.now)
      }),
      { numRuns: 300, seed: 4733 },
    )
  })
})
