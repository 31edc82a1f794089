import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { decode, encode, type G711 } from '../../../media/codecs/g711.ts'
import { headerBytes, isRtcp, readRtp, rtpView, writeRtpHeader } from '../../../media/rtp/packet.ts'
import { TelephoneEventSender } from '../../../media/rtp/telephone-event-sender.ts'
import type { SteadyClock, Timer } from '../../core/clock.ts'
import type { LineChange } from '../scenario/scenario.ts'
import type { Span } from '../scores/activity.ts'
import { AgentVoice, CallerAudio, frameSamples, packetMs } from './line-audio.ts'
import { lostPackets, type ReceivedAudio, receivedTrack } from './received-track.ts'

/** Interval at which due packets are looked for, in ms. */
const timerMs = 4

/** Audio of an answered call. */
export interface FarAudio {
  readonly host: string
  readonly port: number
  readonly law: G711
  /** Payload type of telephone events; undefined if the far side takes none. */
  readonly eventType?: number
}

/** Sound of both sides of a call at 8 kHz, from its answer. */
export interface LineRecording {
  readonly caller: Int16Array
  readonly agent: Int16Array
  readonly echoes: readonly Span[]
  /** Packets of the agent that arrived, and that did not. */
  readonly received: number
  readonly lost: number
  /** Maximum delay of a packet of the caller behind its time, in ms: the accuracy of the measurement. */
  readonly lateMs: number
}

/** Options of {@link CallLine.open}. */
export interface CallLineOptions {
  /** Local address, which the far side sends to. */
  readonly address: string
  /** Level in dBov up to which the agent is silent. */
  readonly silenceDb: number
  /** Seed of noise and losses. */
  readonly seed: number
  readonly clock: SteadyClock
}

/** RTP of one caller: sends a packet every 20 ms, and keeps the agent's packets. */
export class CallLine {
  readonly voice: AgentVoice
  readonly #socket: Socket
  readonly #clock: SteadyClock
  readonly #audio: CallerAudio
  readonly #keys = new TelephoneEventSender()
  readonly #view = rtpView()
  readonly #received: ReceivedAudio[] = []
  #waiting: (() => void)[] = []
  #far: FarAudio | undefined
  #beganAt = 0
  #timer: Timer | undefined
  #sequence = Math.floor(Math.random() * 65_536)
  readonly #firstTimestamp = Math.floor(Math.random() * 2 ** 32)
  readonly #ssrc = Math.floor(Math.random() * 2 ** 32)
  #keyTimestamp = 0
  #lateMs = 0
  #isEnded = false

  private constructor(socket: Socket, { silenceDb, seed, clock }: CallLineOptions) {
    this.#clock = clock
    this.voice = new AgentVoice(silenceDb)
    this.#socket = socket
    this.#audio = new CallerAudio(seed)
    socket.on('message', (packet) => this.#receive(packet))
    // Sending to a port that was closed is an error of the socket on some systems.
    socket.on('error', () => {})
  }

  /** Opens an even port. Rejects with an Error of Node. */
  static async open(options: CallLineOptions): Promise<CallLine> {
    for (;;) {
      const socket = createSocket({
        type: options.address.includes(':') ? 'udp6' : 'udp4',
        recvBufferSize: 2 ** 19,
      })
      socket.bind(0, options.address)
      await once(socket, 'listening')
      if (socket.address().port % 2 === 0) return new CallLine(socket, options)
      socket.close()
    }
  }

  /** Local port. */
  get port(): number {
    return this.#socket.address().port
  }

  /** Time since the answer, in ms, as the packets of the caller count it. */
  get ms(): number {
    return this.#audio.ms
  }

  /** Whether the line was ended. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Whether keys can be sent. */
  get hasKeys(): boolean {
    return this.#far?.eventType !== undefined
  }

  /** Begins at the answer: from now on, the caller sends. */
  start(far: FarAudio): void {
    this.#far = far
    this.#beganAt = this.#clock.uptime()
    this.#tick()
  }

  /** Resolves after the next frame, or at the end of the line. */
  frame(): Promise<void> {
    if (this.#isEnded) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    return promise
  }

  /** Makes a sound at 8 kHz. Resolves with its place when it has ended, or at the end of the line. */
  async say(samples: Int16Array): Promise<Span> {
    const fromMs = this.ms
    let span: Span | undefined
    void this.#audio.say(samples).then((place) => {
      span = place
    })
    while (!span && !this.#isEnded) await this.frame()
    return span ?? { fromMs, toMs: this.ms }
  }

  /** Presses keys. Resolves with their place when they have ended, or at the end of the line. */
  async press(digits: string): Promise<Span> {
    const fromMs = this.ms
    let isDone = false
    this.#keys.add(digits, () => {
      isDone = true
    })
    while (!isDone && !this.#isEnded) await this.frame()
    return { fromMs, toMs: this.ms }
  }

  /** Changes noise, echo or losses from now on. */
  change(change: LineChange): void {
    this.#audio.change(change)
  }

  /** Ends the line. Idempotent. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#timer?.cancel()
    this.#keys.clear()
    this.#socket.close()
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Returns the sound of both sides so far. */
  recording(): LineRecording {
    const { caller, echoes } = this.#audio.recording()
    return {
      caller,
      echoes,
      agent: receivedTrack(this.#received, this.ms),
      received: this.#received.length,
      lost: lostPackets(this.#received),
      lateMs: this.#lateMs,
    }
  }

  #tick(): void {
    const elapsed = this.#clock.uptime() - this.#beganAt
    // A frame leaves when the time that it covers is over, as that of a telephone does.
    while (this.ms + packetMs <= elapsed) {
      this.#lateMs = Math.max(this.#lateMs, elapsed - this.ms - packetMs)
      this.#sendFrame()
    }
    if (!this.#isEnded) this.#timer = this.#clock.after(timerMs, () => this.#tick())
  }

  #sendFrame(): void {
    const timestamp = (this.#firstTimestamp + (this.ms / packetMs) * frameSamples) >>> 0
    const { ms } = this
    const { samples, isLost } = this.#audio.next(this.#received)
    const far = this.#far
    if (far?.eventType !== undefined)
      this.#keys.tick(ms, ({ payload, isFirst }) => {
        if (isFirst) this.#keyTimestamp = timestamp
        this.#send(payload, far.eventType!, this.#keyTimestamp, isFirst, isLost)
      })
    if (far && !this.#keys.isKeyDown)
      this.#send(encode(far.law, samples), typeOf(far.law), timestamp, false, isLost)
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #send(payload: Uint8Array, payloadType: number, timestamp: number, marker: boolean, isLost: boolean): void {
    const packet = Buffer.alloc(headerBytes + payload.length)
    const sequence = this.#sequence
    writeRtpHeader(packet, 0, { payloadType, marker, sequence, timestamp, ssrc: this.#ssrc })
    packet.set(payload, headerBytes)
    this.#sequence = (this.#sequence + 1) & 0xffff
    if (!isLost && this.#far) this.#socket.send(packet, this.#far.port, this.#far.host)
  }

  #receive(packet: Buffer): void {
    const view = this.#view
    const far = this.#far
    if (!far || isRtcp(packet) || !readRtp(packet, view) || view.payloadType !== typeOf(far.law)) return
    const atMs = this.#clock.uptime() - this.#beganAt
    const samples = decode(far.law, packet.subarray(view.start, view.end))
    const { ssrc, sequence, timestamp } = view
    this.#received.push({ atMs, ssrc, sequence, timestamp, samples })
    this.voice.hear(atMs, samples)
  }
}

const typeOf = (law: G711): number => (law === 'PCMU' ? 0 : 8)
