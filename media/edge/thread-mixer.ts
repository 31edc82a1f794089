import type { Codecs } from '../codecs/types.ts'
import { MixerCore, type TalkListener } from '../mix/mixer.ts'
import type { InputOptions, MixerInput } from '../mix/mixer-input.ts'
import { type AudioSink, AudioSinks } from '../rtp/audio-sinks.ts'
import type { FrameChannel } from '../rtp/frame-channel.ts'
import { type PlayedListener, PromptMixer } from '../rtp/prompt-mixer.ts'
import type { Session } from '../rtp/session.ts'
import { SharedAudio } from '../rtp/shared-audio.ts'
import type { PcmRate } from '../types.ts'
import type { FrameLink } from './frame-link.ts'
import { MixEncoder } from './mix-encoder.ts'
import type { PortNumber } from './protocol.ts'
import type { Mixing } from './ticker.ts'

/** Duration of a frame: the audio of a packet is at least that old, in ms. */
const frameMs = 20
/** Delay of the jitter buffers without a known one, in ms. */
const defaultBufferMs = 40

/** Input of a mixer as a session's channel. */
class MixerInputChannel implements FrameChannel {
  readonly rate: PcmRate
  readonly isContinuous = true
  #input: MixerInput
  #total: SharedAudio
  #leave: () => void

  /** `total` is the mix of all inputs. */
  constructor(input: MixerInput, total: SharedAudio, leave: () => void) {
    this.rate = total.rate
    this.#input = input
    this.#total = total
    this.#leave = leave
  }

  get shared(): SharedAudio | undefined {
    return this.#input.hearsTotal ? this.#total : undefined
  }

  write(frame: Int16Array | undefined, rate: PcmRate): void {
    this.#input.put(frame, rate)
  }

  read(): Int16Array | undefined {
    return this.#input.output
  }

  close(): void {
    this.#leave()
  }
}

/** Listeners and options of a {@link ThreadMixer}. */
export interface ThreadMixerOptions {
  /** Rate of the mix; default 16 kHz. */
  readonly rate?: PcmRate
  readonly onPlayed: PlayedListener
  /** Called when {@link ThreadMixer.isFramed} may have become true. */
  readonly onWake: (mixer: ThreadMixer) => void
  /** Called when the active speaker changes, with undefined for none. */
  readonly onSpeaker: (port: PortNumber | undefined) => void
  /** Called when a port begins or ends to talk, and when it leaves while it talks. */
  readonly onTalking: TalkListener
}

/** Mixer inside a media thread, with inputs from this thread and others. */
export class ThreadMixer implements Mixing {
  /** Audio played to all inputs. {@link wake} must be called after adding to it. */
  readonly promptMixer: PromptMixer
  #core: MixerCore
  #total: SharedAudio
  #leaves = new Map<PortNumber, () => void>()
  #links = new Map<PortNumber, { readonly input: MixerInput; readonly link: FrameLink }>()
  #sinks = new AudioSinks()
  #encoder: MixEncoder | undefined
  readonly #sessions = new Map<PortNumber, Pick<Session, 'bufferMs'>>()
  #wake: (mixer: ThreadMixer) => void
  #onSpeaker: (port: PortNumber | undefined) => void
  #speaker: PortNumber | undefined

  constructor({ rate, onPlayed, onWake, onSpeaker, onTalking }: ThreadMixerOptions) {
    this.promptMixer = new PromptMixer(onPlayed)
    this.#core = new MixerCore({ ...(rate && { rate }), onTalking })
    this.#total = new SharedAudio(this.#core.rate)
    this.#wake = onWake
    this.#onSpeaker = onSpeaker
  }

  /** Whether the mixer needs frames. */
  get isFramed(): boolean {
    return (
      this.#core.size > 0 || this.promptMixer.isWaiting || this.#sinks.size > 0 || this.#encoder !== undefined
    )
  }

  /** Adds a session of this thread, which leaves its partner or former mixer. */
  add(port: PortNumber, options: InputOptions, session: Session): void {
    this.remove(port)
    const input = this.#core.add(port, options)
    const channel = new MixerInputChannel(input, this.#total, () => this.#forget(port))
    this.#leaves.set(port, () => session.detach(channel))
    this.#sessions.set(port, session)
    session.connect(channel)
    this.wake()
  }

  /** Adds a port of another thread. */
  addLink(port: PortNumber, options: InputOptions, link: FrameLink): void {
    this.remove(port)
    this.#links.set(port, { input: this.#core.add(port, options), link })
    this.#leaves.set(port, () => {
      link.close()
      this.#forget(port)
    })
    this.wake()
  }

  change(port: PortNumber, options: InputOptions): void {
    this.#core.change(port, options)
  }

  /** Removes an input; no effect for a port without one. */
  remove(port: PortNumber): void {
    this.#leaves.get(port)?.()
  }

  /** Adds a sink, whose input is the sum of all inputs. */
  addSink(sink: AudioSink): void {
    this.#sinks.add(sink)
    this.wake()
  }

  removeSink(sink: AudioSink): void {
    this.#sinks.remove(sink)
  }

  /**
   * Passes the sum of all inputs as Opus for files to `onPacket`, one packet per frame; undefined ends that.
   * The packet is a copy. `delayMs`: time since its audio arrived.
   */
  encode(codecs: Codecs, onPacket: ((packet: Uint8Array, delayMs: number) => void) | undefined): void {
    this.#encoder?.close()
    this.#encoder =
      onPacket &&
      new MixEncoder(codecs, this.#total.rate, (packet) => onPacket(packet, this.#bufferMs + frameMs))
    this.wake()
  }

  /** Delay of the jitter buffer of the active speaker, or the mean one. */
  get #bufferMs(): number {
    const speaker = this.#sessions.get(this.#speaker ?? 0)
    const sessions = speaker ? [speaker] : [...this.#sessions.values()]
    const known = sessions.map(({ bufferMs }) => bufferMs).filter((ms) => ms > 0)
    return known.length === 0 ? defaultBufferMs : known.reduce((sum, ms) => sum + ms, 0) / known.length
  }

  wake(): void {
    this.#wake(this)
  }

  mix(): void {
    for (const { input, link } of this.#links.values()) input.put(link.read())
    const { rate } = this.#core
    this.#core.prompt(this.promptMixer.compose(rate) ? this.promptMixer.frame : undefined)
    this.#core.mix()
    this.#total.next(this.#core.total)
    this.#encoder?.encode(this.#total.frame)
    for (const { input, link } of this.#links.values()) link.write(input.output, rate)
    this.#sinks.write(this.#core.total, rate, undefined, rate)
    this.promptMixer.finish()
    const { active } = this.#core.speakers
    if (active === this.#speaker) return
    this.#speaker = active
    this.#onSpeaker(active)
  }

  /** Removes all inputs. */
  close(): void {
    for (const leave of [...this.#leaves.values()]) leave()
    this.#sinks.close()
    this.#encoder?.close()
    this.#encoder = undefined
    this.#total.close()
    this.promptMixer.clear()
  }

  #forget(port: PortNumber): void {
    this.#core.remove(port)
    this.#links.delete(port)
    this.#sessions.delete(port)
    this.#leaves.delete(port)
    if (this.#leaves.size === 0) this.#total.close()
  }
}
