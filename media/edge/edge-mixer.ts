import { MessageChannel } from 'node:worker_threads'
import type { InputOptions } from '../mix/mixer-input.ts'
import type {
  MediaPort,
  Mixer,
  MixerInputOptions,
  PcmRate,
  Playback,
  PlayRequest,
  Recording,
  RecordRequest,
  Talk,
} from '../types.ts'
import { Playbacks } from './playbacks.ts'
import { EdgePort } from './port.ts'
import type { PortNumber } from './protocol.ts'
import { noRecording } from './recordings.ts'
import type { ThreadSlot } from './thread-slots.ts'

/** Operations of the edge that a mixer needs. */
export interface MixerHost {
  /** Returns the thread of an open port of this edge. */
  slotOf(port: EdgePort): ThreadSlot | undefined
  /** Returns the thread with the fewest ports. */
  anySlot(): ThreadSlot
  /** Removes a port from its mixer. */
  leave(port: EdgePort): void
  onClosed(mixer: EdgeMixer): void
}

/** Main-thread handle of a mixer. The mixer runs in the thread of its first port. */
export class EdgeMixer implements Mixer {
  readonly id: string
  readonly number: PortNumber
  readonly closed: Promise<void>
  readonly #onClosed: () => void
  readonly #rate: PcmRate
  #host: MixerHost
  #slot: ThreadSlot | undefined
  #members = new Map<EdgePort, ThreadSlot>()
  #playbacks: Playbacks
  #onSpeaker: (port: MediaPort | undefined) => void = () => {}
  #talking = new Map<EdgePort, Talk>()
  #onTalking: (port: MediaPort, talk: Talk) => void = () => {}
  readonly #packetListeners = new Set<(packet: Uint8Array, delayMs: number) => void>()
  #isClosed = false

  /** `rate` of the mix, in Hz. */
  constructor(number: PortNumber, rate: PcmRate, host: MixerHost) {
    this.number = number
    this.#rate = rate
    this.id = `mixer-${number}`
    this.#host = host
    const { promise, resolve } = Promise.withResolvers<void>()
    this.closed = promise
    this.#onClosed = resolve
    this.#playbacks = new Playbacks(number, (command) => this.#home().thread.send(command))
  }

  get size(): number {
    return this.#members.size
  }

  /** Thread of the mixer; undefined before first use. */
  get slot(): ThreadSlot | undefined {
    return this.#slot
  }

  add(port: MediaPort, member: MixerInputOptions = {}): void {
    if (this.#isClosed || !(port instanceof EdgePort)) return
    const slot = this.#host.slotOf(port)
    if (!slot) return
    if (port.mixer === this) {
      this.change(port, member)
      return
    }
    this.#host.leave(port)
    this.#members.set(port, slot)
    port.mixer = this
    const home = this.#home(slot)
    const input = {
      op: 'addInput',
      mixer: this.number,
      port: port.number,
      options: inputOptions(member),
    } as const
    if (slot === home) {
      home.thread.send(input)
      return
    }
    const { port1, port2 } = new MessageChannel()
    const options = { rate: this.#rate, isContinuous: true }
    home.thread.send({ ...input, link: { port: port1, options } }, [port1])
    slot.thread.send({ op: 'link', port: port.number, link: port2, options }, [port2])
  }

  change(port: MediaPort, member: MixerInputOptions): void {
    if (!(port instanceof EdgePort) || port.mixer !== this) return
    const options = inputOptions(member)
    this.#home().thread.send({ op: 'changeInput', mixer: this.number, port: port.number, options })
  }

  remove(port: MediaPort): void {
    if (!(port instanceof EdgePort) || port.mixer !== this) return
    this.forget(port)
    this.#home().thread.send({ op: 'removeInput', mixer: this.number, port: port.number })
  }

  play(request: PlayRequest): Playback {
    return this.#playbacks.play(request)
  }

  record(request: RecordRequest): Recording {
    if (this.#isClosed) return noRecording()
    return this.#home().recordings.start(this.number, { ...request, tracks: 'in' })
  }

  onPacket(listener: (packet: Uint8Array, delayMs: number) => void): () => void {
    this.#packetListeners.add(listener)
    if (this.#packetListeners.size === 1) this.#setEncoded(true)
    return () => {
      if (this.#packetListeners.delete(listener) && this.#packetListeners.size === 0) this.#setEncoded(false)
    }
  }

  /** Processes a packet of the mix from the thread. */
  encoded(packet: Uint8Array, delayMs: number): void {
    for (const listener of [...this.#packetListeners]) listener(packet, delayMs)
  }

  #setEncoded(isOn: boolean): void {
    // Without a thread, the first port chooses it.
    if (!this.#isClosed) this.#slot?.thread.send({ op: 'encodeMix', mixer: this.number, isOn })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#slot?.thread.send({ op: 'closeMixer', mixer: this.number })
    this.die()
  }

  /** Processes the thread's report that a sound has finished. */
  played(play: number): void {
    this.#playbacks.played(play)
  }

  onSpeaker(listener: (port: MediaPort | undefined) => void): void {
    this.#onSpeaker = listener
  }

  /** Processes the thread's report of the active speaker. */
  setSpeaker(number: PortNumber | undefined): void {
    const speaker = number === undefined ? undefined : this.#member(number)
    // The port may have left since.
    if (speaker || number === undefined) this.#onSpeaker(speaker)
  }

  onTalking(listener: (port: MediaPort, talk: Talk) => void): void {
    this.#onTalking = listener
  }

  /** Processes the thread's report that a port begins or ends to talk. */
  setTalking(number: PortNumber, talk: Talk): void {
    const port = this.#member(number)
    if (!port || talk === (this.#talking.get(port) ?? 'silent')) return
    if (talk === 'silent') this.#talking.delete(port)
    else this.#talking.set(port, talk)
    this.#onTalking(port, talk)
  }

  /** Removes a port that was joined elsewhere or closed. */
  forget(port: EdgePort): void {
    port.mixer = undefined
    this.#members.delete(port)
    if (this.#talking.delete(port)) this.#onTalking(port, 'silent')
  }

  /** Ends the mixer after it was closed or its thread died. */
  die(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const port of [...this.#members.keys()]) this.forget(port)
    this.#playbacks.close()
    this.#host.onClosed(this)
    this.#onClosed()
  }

  #member(number: PortNumber): EdgePort | undefined {
    for (const port of this.#members.keys()) if (port.number === number) return port
    return undefined
  }

  #home(wanted?: ThreadSlot): ThreadSlot {
    if (this.#slot) return this.#slot
    this.#slot = wanted ?? this.#host.anySlot()
    this.#slot.thread.send({ op: 'openMixer', mixer: this.number, rate: this.#rate })
    if (this.#packetListeners.size > 0) this.#setEncoded(true)
    return this.#slot
  }
}

function inputOptions({
  canSpeak: talks,
  canHear: hears,
  audibleTo: onlyFor,
  inaudibleTo: notFor,
  isVoice,
  volumeDb,
}: MixerInputOptions): InputOptions {
  return {
    ...(talks !== undefined && { canSpeak: talks }),
    ...(hears !== undefined && { canHear: hears }),
    ...(volumeDb !== undefined && { volumeDb }),
    ...(isVoice !== undefined && { isVoice }),
    ...(onlyFor && { audibleTo: numbersOf(onlyFor) }),
    ...(notFor && { inaudibleTo: numbersOf(notFor) }),
  }
}

const numbersOf = (ports: readonly MediaPort[]): readonly PortNumber[] =>
  ports.flatMap((port) => (port instanceof EdgePort ? [port.number] : []))
