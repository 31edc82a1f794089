import { MixerCore } from '../mix/mixer.ts'
import { MIX_RATE, type Seat, type SeatOptions } from '../mix/seat.ts'
import { type Ear, Ears } from '../rtp/ears.ts'
import type { FrameLine } from '../rtp/line.ts'
import type { Session } from '../rtp/session.ts'
import { type PlayedListener, Talk } from '../rtp/talk.ts'
import type { FrameLink } from './frame-link.ts'
import type { PortNumber } from './protocol.ts'
import type { Mixing } from './ticker.ts'

/** Input of a mixer as a session's channel. */
class SeatLine implements FrameLine {
  readonly rate = MIX_RATE
  #seat: Seat
  #leave: () => void

  constructor(seat: Seat, leave: () => void) {
    this.#seat = seat
    this.#leave = leave
  }

  say(frame: Int16Array | undefined): void {
    this.#seat.put(frame)
  }

  hear(): Int16Array | undefined {
    return this.#seat.output
  }

  close(): void {
    this.#leave()
  }
}

/** Mixer inside a media thread, with inputs from this thread and others. */
export class MixRoom implements Mixing {
  /** Audio played to all inputs. {@link wake} must be called after adding to it. */
  readonly talk: Talk
  #core = new MixerCore()
  #leaves = new Map<PortNumber, () => void>()
  #links = new Map<PortNumber, { readonly seat: Seat; readonly link: FrameLink }>()
  #ears = new Ears()
  #wake: (room: MixRoom) => void
  #onSpeaker: (port: PortNumber | undefined) => void
  #speaker: PortNumber | undefined

  /**
   * `onWake` is called when {@link isFramed} may have become true; `onSpeaker` when the active speaker
   * changes, with undefined for none.
   */
  constructor(
    onPlayed: PlayedListener,
    onWake: (room: MixRoom) => void,
    onSpeaker: (port: PortNumber | undefined) => void,
  ) {
    this.talk = new Talk(onPlayed)
    this.#wake = onWake
    this.#onSpeaker = onSpeaker
  }

  /** Whether the mixer needs frames. */
  get framed(): boolean {
    return this.#core.size > 0 || this.talk.waiting || this.#ears.size > 0
  }

  /** Adds a session of this thread, which leaves its partner or former mixer. */
  seat(port: PortNumber, options: SeatOptions, session: Session): void {
    this.unseat(port)
    const line = new SeatLine(this.#core.add(port, options), () => this.#forget(port))
    this.#leaves.set(port, () => session.part(line))
    session.connect(line)
    this.wake()
  }

  /** Adds a port of another thread. */
  seatLink(port: PortNumber, options: SeatOptions, link: FrameLink): void {
    this.unseat(port)
    this.#links.set(port, { seat: this.#core.add(port, options), link })
    this.#leaves.set(port, () => {
      link.close()
      this.#forget(port)
    })
    this.wake()
  }

  change(port: PortNumber, options: SeatOptions): void {
    this.#core.change(port, options)
  }

  /** Removes an input; no effect for a port without one. */
  unseat(port: PortNumber): void {
    this.#leaves.get(port)?.()
  }

  /** Adds a sink, whose input is the sum of all inputs. */
  listen(ear: Ear): void {
    this.#ears.add(ear)
    this.wake()
  }

  unlisten(ear: Ear): void {
    this.#ears.remove(ear)
  }

  wake(): void {
    this.#wake(this)
  }

  mix(): void {
    for (const { seat, link } of this.#links.values()) seat.put(link.hear())
    this.#core.prompt(this.talk.compose(MIX_RATE) ? this.talk.frame : undefined)
    this.#core.mix()
    for (const { seat, link } of this.#links.values()) link.say(seat.output)
    this.#ears.hear(this.#core.total, MIX_RATE, undefined, MIX_RATE)
    this.talk.finish()
    const { active } = this.#core.speakers
    if (active === this.#speaker) return
    this.#speaker = active
    this.#onSpeaker(active)
  }

  /** Removes all inputs. */
  close(): void {
    for (const leave of [...this.#leaves.values()]) leave()
    this.#ears.close()
    this.talk.clear()
  }

  #forget(port: PortNumber): void {
    this.#core.remove(port)
    this.#links.delete(port)
    this.#leaves.delete(port)
  }
}
