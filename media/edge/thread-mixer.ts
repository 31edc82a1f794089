import { MixerCore } from '../mix/mixer.ts'
import { type InputOptions, type MixerInput, mixRate } from '../mix/mixer-input.ts'
import { type AudioSink, AudioSinks } from '../rtp/audio-sinks.ts'
import type { FrameChannel } from '../rtp/frame-channel.ts'
import { type PlayedListener, PromptMixer } from '../rtp/prompt-mixer.ts'
import type { Session } from '../rtp/session.ts'
import type { FrameLink } from './frame-link.ts'
import type { PortNumber } from './protocol.ts'
import type { Mixing } from './ticker.ts'

/** Input of a mixer as a session's channel. */
class MixerInputChannel implements FrameChannel {
  readonly rate = mixRate
  #input: MixerInput
  #leave: () => void

  constructor(input: MixerInput, leave: () => void) {
    this.#input = input
    this.#leave = leave
  }

  write(frame: Int16Array | undefined): void {
    this.#input.put(frame)
  }

  read(): Int16Array | undefined {
    return this.#input.output
  }

  close(): void {
    this.#leave()
  }
}

/** Mixer inside a media thread, with inputs from this thread and others. */
export class ThreadMixer implements Mixing {
  /** Audio played to all inputs. {@link wake} must be called after adding to it. */
  readonly promptMixer: PromptMixer
  #core = new MixerCore()
  #leaves = new Map<PortNumber, () => void>()
  #links = new Map<PortNumber, { readonly input: MixerInput; readonly link: FrameLink }>()
  #sinks = new AudioSinks()
  #wake: (mixer: ThreadMixer) => void
  #onSpeaker: (port: PortNumber | undefined) => void
  #speaker: PortNumber | undefined

  /**
   * `onWake` is called when {@link isFramed} may have become true; `onSpeaker` when the active speaker
   * changes, with undefined for none.
   */
  constructor(
    onPlayed: PlayedListener,
    onWake: (mixer: ThreadMixer) => void,
    onSpeaker: (port: PortNumber | undefined) => void,
  ) {
    this.promptMixer = new PromptMixer(onPlayed)
    this.#wake = onWake
    this.#onSpeaker = onSpeaker
  }

  /** Whether the mixer needs frames. */
  get isFramed(): boolean {
    return this.#core.size > 0 || this.promptMixer.isWaiting || this.#sinks.size > 0
  }

  /** Adds a session of this thread, which leaves its partner or former mixer. */
  add(port: PortNumber, options: InputOptions, session: Session): void {
    this.remove(port)
    const channel = new MixerInputChannel(this.#core.add(port, options), () => this.#forget(port))
    this.#leaves.set(port, () => session.detach(channel))
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

  wake(): void {
    this.#wake(this)
  }

  mix(): void {
    for (const { input, link } of this.#links.values()) input.put(link.read())
    this.#core.prompt(this.promptMixer.compose(mixRate) ? this.promptMixer.frame : undefined)
    this.#core.mix()
    for (const { input, link } of this.#links.values()) link.write(input.output)
    this.#sinks.write(this.#core.total, mixRate, undefined, mixRate)
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
    this.promptMixer.clear()
  }

  #forget(port: PortNumber): void {
    this.#core.remove(port)
    this.#links.delete(port)
    this.#leaves.delete(port)
  }
}
