import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codecInfo } from '../codecs/codec-info.ts'
import { sine } from '../codecs/tone.ts'
import type { AudioCodec } from '../types.ts'
import type { FrameChannel } from './frame-channel.ts'
import { SpeechQueue } from './speech-queue.ts'
import { payloadTypeOf, TestVoice } from './testing/codecs.ts'
import { type SentPacket, type TestLine, TestTime } from './testing/session-line.ts'

/** Mixer or other thread that plays a tone occasionally. */
class TestMix implements FrameChannel {
  readonly rate = 16_000
  readonly isContinuous = true
  talks = true
  #tone = sine(300, 20, 16_000)

  write(): void {}

  read(): Int16Array | undefined {
    return this.talks ? this.#tone : undefined
  }

  close(): void {}
}

/** Network path that loses, delays and duplicates packets, each kind independently and reproducibly. */
class TestWay {
  readonly has = { loss: false, disorder: false, repetition: false }
  /** Number of affected packets. */
  troubled = 0
  #count = 0
  /** Delayed packets, with the number of packets they wait for. */
  #held: { readonly packet: Buffer; after: number }[] = []

  carry(packet: Buffer, arrive: (packet: Buffer) => void): void {
    const { loss, disorder, repetition } = this.has
    const count = this.#count++
    const late = 1 + (count % maxLate)
    for (const each of this.#held) each.after--
    const lost = loss && count % 11 < count % 4
    const held = disorder && count % 5 === 1
    // The session keeps and modifies its input.
    if (repetition && count % 3 === 0) this.#held.push({ packet: Buffer.from(packet), after: late - 1 })
    if (held) this.#held.push({ packet, after: late })
    if (lost || held || repetition) this.troubled++
    if (!lost && !held) arrive(packet)
    const due = this.#held.filter(({ after }) => after <= 0)
    this.#held = this.#held.filter(({ after }) => after > 0)
    for (const each of due) arrive(each.packet)
  }
}

/** Number of packets that may overtake one. */
const maxLate = 4

const codecs = ['PCMU', 'PCMA', 'G722', 'L16', 'opus'] as const
const codec = fc.constantFrom(...codecs)

const acts = [
  'join a',
  'join c',
  'mix',
  'part',
  'a talks',
  'c talks',
  'mix talks',
  'ssrc',
  'play',
  'pause',
  'resume',
  'stop',
  'quieter',
  'speak',
  'digits',
  'far',
  'hold',
  'refresh',
  'noise',
  'stall',
  'loss',
  'disorder',
  'repetition',
] as const

/** Events of a port, with their parameters. */
const step = fc.record({
  does: fc.oneof(
    { weight: 1, arbitrary: fc.constant('pass') },
    { weight: 2, arbitrary: fc.constantFrom(...acts) },
  ),
  /** Duration in frames of 20 ms. */
  frames: fc.integer({ min: 1, max: 60 }),
  rate: fc.constantFrom(8000, 16_000, 48_000),
  codec,
  ptime: fc.constantFrom(10, 20, 30, 40, 50, 60),
  digits: fc.constantFrom('1', '5#', 'w2', '*W9'),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A port with its far end, two others, a mixer and a tap, on which the steps act. */
class Scene {
  readonly time = new TestTime()
  readonly b: TestLine
  /** Times of actions that may change the audio source. */
  readonly changes: number[] = []
  #a: TestLine
  #c: TestLine
  #talks = { a: true, c: true }
  #mix = new TestMix()
  #ways = { a: new TestWay(), c: new TestWay() }
  #queue = new SpeechQueue(16_000)
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
    for (const [line, way] of [
      [this.#a, this.#ways.a],
      [this.#c, this.#ways.c],
    ] as const)
      line.way = (packet, arrive) => way.carry(packet, arrive)
    this.#a.set({ codec: first })
    this.#c.set({ codec: second })
    this.#far()
    this.b.session.promptMixer.addQueue(this.#queue)
  }

  /** Number of packets that did not arrive as sent. */
  get troubled(): number {
    return this.#ways.a.troubled + this.#ways.c.troubled
  }

  run(step: Step): void {
    this.changes.push(this.time.now)
    const { session } = this.b
    const { promptMixer: talk } = session
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
      part: () => session.detach(),
      ...this.#others(step),
    }
    acts[step.does]!()
    // A stall postpones what follows.
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
      loss: () => this.#trouble('loss'),
      disorder: () => this.#trouble('disorder'),
      repetition: () => this.#trouble('repetition'),
    }
  }

  #trouble(kind: keyof TestWay['has']): void {
    const { a, c } = this.#ways
    a.has[kind] = !a.has[kind]
    c.has[kind] = a.has[kind]
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

/**
 * Returns the packets by sequence number, each with its latest due time: that of the first one sent after it.
 */
function inOrder(sent: readonly SentPacket[]): SentPacket[] {
  const place = ({ sequence }: SentPacket) => ((sequence - sent[0]!.sequence) << 16) >> 16
  const ordered = [...sent].sort((one, other) => place(one) - place(other))
  let due = Number.POSITIVE_INFINITY
  return ordered
    .reduceRight<SentPacket[]>((rest, packet) => {
      due = Math.min(due, packet.at)
      rest.push({ ...packet, at: due })
      return rest
    }, [])
    .reverse()
}

/** Returns the faults that a receiver would notice, given the number of forwarded packets with trouble. */
function faults(unordered: readonly SentPacket[], changes: readonly number[], troubled: number): string[] {
  const found: string[] = []
  const sent = inOrder(unordered)
  const disordered = sent.filter(({ sequence }, i) => sequence !== unordered[i]!.sequence).length
  let missing = 0
  let begun = 0
  const events = sent.flatMap(({ at, payloadType }) => (payloadType === 101 ? [at] : []))
  let rate = 8
  for (let i = 1; i < sent.length; i++) {
    const before = sent[i - 1]!
    const packet = sent[i]!
    const ahead = (packet.sequence - before.sequence) & 0xffff
    if (ahead === 0) found.push(`sequence again at ${i}`)
    missing += ahead - 1
    const known = codecByType.get(packet.payloadType)
    // Events and noise have the clock of audio that may not have been received yet.
    const now = known ? codecInfo[known].clockRate / 1000 : 48
    const event = packet.payloadType === 101
    const units = (packet.timestamp - before.timestamp) | 0
    const sameEvent = event && before.payloadType === 101 && !packet.marker
    if (sameEvent ? units !== 0 : units <= 0) found.push(`timestamp at ${i}: ${units}`)
    // All packets of an event have the timestamp of the first.
    if (i === 1 || before.timestamp !== sent[i - 2]!.timestamp) begun = before.at
    const passed = packet.at - begun
    const recent = (times: readonly number[], ms: number) =>
      times.some((at) => at <= packet.at && packet.at - at <= ms)
    // Over a change of clock, some time counts at either rate. A packet covers up to 60 ms and may
    // leave up to 20 ms late. An event covers 100 ms. Frames caught up after a stall are sent at once.
    const late = recent(changes, 500) || before.payloadType === 101 ? 340 : 80
    if (units > (passed + late) * Math.max(rate, now)) found.push(`leap at ${i}: ${units} in ${passed} ms`)
    const noise = (type: number) => type === 13 || type === 101
    const gap = units > 60 * Math.max(rate, now)
    // Audio ends or starts within a packet of the action; likewise for a digit.
    const changed = recent(changes, 130) || recent(events, 130)
    if (packet.marker && !noise(before.payloadType) && !event && !gap && !changed)
      found.push(`marker at ${i}`)
    if (packet.marker && packet.payloadType === 13) found.push(`marker on noise at ${i}`)
    rate = now
  }
  // Each troubled packet omits at most those that overtook it.
  const most = troubled * maxLate
  if (missing > most || disordered > most) found.push(`${missing} missing, ${disordered} in disorder`)
  return found
}

/** Returns the faults of the stream after these steps. */
function check(first: AudioCodec, second: AudioCodec, steps: readonly Step[]): string[] {
  const scene = new Scene(first, second)
  const { time, b } = scene
  for (const each of steps) scene.run(each)
  time.pass(100)
  // Sounds that end by themselves are changes too: their ends are reported when sent.
  const ends = b.sent.flatMap(({ at, marker }, i) => (marker && i === 0 ? [at] : []))
  const found = faults(b.sent, [...scene.changes, ...b.playedAt, ...ends], scene.troubled)
  b.session.close(time.now)
  return found
}

describe('the stream that a far end receives', () => {
  it('has no gap but the loss on the way in, no duplicate, no step back and no marker within audio', () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 30 })
    const property = fc.property(codec, codec, steps, (first, second, all) => {
      expect(check(first, second, all)).toEqual([])
    })
    fc.assert(property, { numRuns: 300, seed: 4733 })
  })

  it('also if all packets are forwarded, with every kind of trouble', () => {
    const troubles = fc.subarray(['loss', 'disorder', 'repetition'] as const, { minLength: 1 })
    const steps = fc.array(step, { minLength: 1, maxLength: 15 })
    const property = fc.property(troubles, step, steps, (kinds, plain, rest) => {
      const begin = [...kinds, 'join a', 'pass'].map((does) => ({ ...plain, does, frames: 30 }) as Step)
      expect(check('PCMU', 'PCMA', [...begin, ...rest])).toEqual([])
    })
    fc.assert(property, { numRuns: 300, seed: 3550 })
  })
})
