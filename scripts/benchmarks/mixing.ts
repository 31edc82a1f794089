/** `scripts/bench mixer`. */
import { codecInfo } from '../../media/codecs/codec-info.ts'
import { loadCodecs } from '../../media/codecs/codecs.ts'
import type { Codecs } from '../../media/codecs/types.ts'
import { ThreadMixer } from '../../media/edge/thread-mixer.ts'
import { ComfortNoise } from '../../media/rtp/comfort-noise.ts'
import { headerBytes, writeRtpHeader } from '../../media/rtp/packet.ts'
import { Session } from '../../media/rtp/session.ts'
import { createSounds } from '../../media/sound/sounds.ts'
import type { AudioCodec, PcmRate } from '../../media/types.ts'

/** Members of one kind in a room. */
interface Members {
  readonly count: number
  readonly codec: AudioCodec
  /** Audio that they send: speech in turns, a quiet line, or nothing. */
  readonly sends: 'speech' | 'line' | 'nothing'
}

interface Room {
  readonly name: string
  readonly members: readonly Members[]
}

const rooms: readonly Room[] = [
  {
    name: '4 speakers, 96 Opus listeners, 200 PCMU phones',
    members: [
      { count: 4, codec: 'opus', sends: 'speech' },
      { count: 96, codec: 'opus', sends: 'nothing' },
      { count: 200, codec: 'PCMU', sends: 'line' },
    ],
  },
  {
    name: '4 speakers, 96 Opus members with open microphones',
    members: [
      { count: 4, codec: 'opus', sends: 'speech' },
      { count: 96, codec: 'opus', sends: 'line' },
    ],
  },
  {
    name: '5 browsers, 2 phones',
    members: [
      { count: 3, codec: 'opus', sends: 'speech' },
      { count: 2, codec: 'opus', sends: 'line' },
      { count: 2, codec: 'PCMU', sends: 'line' },
    ],
  },
]

const frameMs = 20
const warmUpMs = 3_000
const farAddress = '192.0.2.1'
const farPort = 4000
/** Level of a line without speech, in dBov. */
const lineDb = -62
const payloadTypes: Readonly<Record<AudioCodec, number>> = { PCMU: 0, PCMA: 8, G722: 9, L16: 97, opus: 111 }

/** Sentences of the speakers; each speaker starts at another place. */
const text =
  'Good morning, and welcome to the weekly meeting. The first point is the plan for next month. ' +
  'Three customers asked for an earlier date, and one of them wants a smaller part. Shall we decide now?'

/** Returns the payloads of a whole piece of audio. */
export const encodeAll = (
  codecs: Codecs,
  codec: AudioCodec,
  rate: PcmRate,
  samples: Int16Array,
): Uint8Array[] => {
  const encoder = codecs.encoder(codec, { ptimeMs: frameMs, ...(codec === 'opus' && { sampleRate: rate }) })
  const out = new Uint8Array(encoder.maxBytes)
  const payloads: Uint8Array[] = []
  for (let at = 0; at + encoder.frameSamples <= samples.length; at += encoder.frameSamples)
    payloads.push(out.slice(0, encoder.encode(samples, at, out, 0)))
  encoder.close()
  return payloads
}

const inputRate = (codec: AudioCodec): PcmRate => (codec === 'opus' ? 48_000 : codecInfo[codec].sampleRate)

/** Payloads of a quiet line. */
const lineOf = (codecs: Codecs, codec: AudioCodec): Uint8Array[] => {
  const rate = inputRate(codec)
  const samples = new Int16Array(rate * 4)
  new ComfortNoise(7).fill(lineDb, samples)
  return encodeAll(codecs, codec, rate, samples)
}

/** Returns a voice as Opus packets of 20 ms. */
export const speechOf = async (codecs: Codecs): Promise<Uint8Array[]> => {
  const sounds = createSounds({ voice: 'slt' })
  const { samples } = await sounds.prepare({ kind: 'speech', text, voice: 'slt' }, 48_000)
  await sounds.close()
  return encodeAll(codecs, 'opus', 48_000, samples)
}

/** One member: a session with its far end. */
class Member {
  readonly session: Session
  packets = 0
  #codec: AudioCodec
  #payloads: readonly Uint8Array[]
  #at: number
  #sequence = 0

  constructor(
    codecs: Codecs,
    now: number,
    codec: AudioCodec,
    payloads: readonly Uint8Array[],
    index: number,
  ) {
    this.#codec = codec
    this.#payloads = payloads
    this.#at = index * 131
    this.session = new Session(
      {
        anyPort: true,
        seed: { ssrc: index + 1, sequence: 1, timestamp: 1 },
        cname: 'member',
        timeouts: { startMs: Number.POSITIVE_INFINITY, mediaMs: Number.POSITIVE_INFINITY },
        codecs,
        random: () => 0.5,
      },
      {
        rtp: () => this.packets++,
        rtcp: () => {},
        event: () => {},
        played: () => {},
        wake: () => {},
      },
    )
    const payloadType = payloadTypes[codec]
    this.session.setFar(
      now,
      { codecs: [{ codec, payloadType }] },
      { address: farAddress, port: farPort, codec, payloadType, direction: 'sendrecv' },
    )
  }

  /** Receives the next packet of the far end. */
  hear(now: number): void {
    if (this.#payloads.length === 0) return
    const payload = this.#payloads[this.#at++ % this.#payloads.length]!
    const packet = Buffer.allocUnsafe(headerBytes + payload.length)
    writeRtpHeader(packet, 0, {
      payloadType: payloadTypes[this.#codec],
      marker: false,
      sequence: this.#sequence & 0xffff,
      timestamp: (this.#sequence * codecInfo[this.#codec].clockRate) / (1000 / frameMs),
      ssrc: 0xfa2,
    })
    this.#sequence++
    packet.set(payload, headerBytes)
    this.session.receive(now, packet, farAddress, farPort)
  }
}

/** CPU time of each step, in cores: receiving with decoding, mixing, and encoding with sending. */
interface Figures {
  readonly input: number
  readonly mix: number
  readonly output: number
  readonly packets: number
}

/** Runs a room in simulated time, as one thread of the edge does, without sockets. */
class RoomRun {
  #members: Member[] = []
  #mixer: ThreadMixer
  #now = 1_700_000_000_000
  #us = [0, 0, 0]

  constructor(codecs: Codecs, rate: PcmRate, room: Room, audio: (member: Members) => readonly Uint8Array[]) {
    this.#mixer = new ThreadMixer({
      rate,
      onPlayed: () => {},
      onWake: () => {},
      onSpeaker: () => {},
      onTalking: () => {},
    })
    for (const kind of room.members) {
      for (let i = 0; i < kind.count; i++) {
        const member = new Member(codecs, this.#now, kind.codec, audio(kind), this.#members.length)
        this.#members.push(member)
        const canSpeak = kind.sends !== 'nothing'
        this.#mixer.add(this.#members.length, { canSpeak }, member.session)
      }
    }
  }

  /** Returns the figures of `seconds` after the start. */
  async measure(seconds: number): Promise<Figures> {
    await this.#pass(warmUpMs)
    this.#us = [0, 0, 0]
    for (const member of this.#members) member.packets = 0
    await this.#pass(seconds * 1000)
    const [input = 0, mix = 0, output = 0] = this.#us.map((us) => us / (seconds * 1e6))
    const packets = this.#members.reduce((sum, member) => sum + member.packets, 0) / seconds
    for (const { session } of this.#members) session.close(this.#now)
    this.#mixer.close()
    return { input, mix, output, packets }
  }

  async #pass(ms: number): Promise<void> {
    for (let gone = 0; gone < ms; gone += frameMs) {
      this.#frame(gone % 100 === 0)
      // New encoders are made between frames.
      if (gone % 200 === 0) await new Promise((resolve) => setImmediate(resolve))
      this.#now += frameMs
    }
  }

  #frame(isIdleTurn: boolean): void {
    const members = this.#members
    const now = this.#now
    this.#step(0, () => {
      for (const member of members) member.hear(now)
      for (const { session } of members) if (isIdleTurn || session.isBusy) session.tick(now)
      for (const { session } of members) session.frameIn(now)
    })
    this.#step(1, () => this.#mixer.mix())
    this.#step(2, () => {
      for (const { session } of members) session.frameOut(now)
    })
  }

  #step(index: number, work: () => void): void {
    const before = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(before)
    this.#us[index]! += user + system
  }
}

const cores = (value: number) => value.toFixed(3).padStart(8)

/** Rates of the mix to measure. */
const rates: readonly PcmRate[] = [16_000, 48_000]

/**
 * Prints the CPU of rooms in one thread: medians of `rounds` runs of `seconds` simulated seconds. Sockets are
 * not included; `scripts/bench media` has their cost per packet.
 */
export const mixing = async (rounds = 5, seconds = 20): Promise<void> => {
  const codecs = await loadCodecs()
  const speech = await speechOf(codecs)
  const lines = new Map(
    (['opus', 'PCMU'] as const).map((codec) => [codec as AudioCodec, lineOf(codecs, codec)]),
  )
  const audio = ({ sends, codec }: Members): readonly Uint8Array[] =>
    sends === 'speech' ? speech : sends === 'line' ? lines.get(codec)! : []
  const all = ({ input, mix, output }: Figures) => input + mix + output
  console.log(
    'CPU of a mixer without sockets, in cores\n rate   input     mix  output     all packets/s  room',
  )
  for (const room of rooms)
    for (const rate of rates) {
      const runs: Figures[] = []
      for (let round = 0; round < rounds; round++)
        runs.push(await new RoomRun(codecs, rate, room, audio).measure(seconds))
      const middle = runs.sort((a, b) => all(a) - all(b))[Math.floor(rounds / 2)]!
      const { input, mix, output, packets } = middle
      console.log(
        `${rate} ${cores(input)}${cores(mix)}${cores(output)}${cores(all(middle))}` +
          `${String(Math.round(packets)).padStart(10)}  ${room.name}`,
      )
    }
}
