import type { Clock, Timer } from './clock.ts'
import type { LevelMeter } from './levels.ts'
import type { CallLevels } from './media-types.ts'

const intervalMs = 100

/** Stream to measure. */
export interface LevelSource {
  readonly local: MediaStream | undefined
  readonly remote: MediaStream
}

interface Measured {
  readonly track: MediaStreamTrack
  /** Undefined if the browser cannot measure the stream. */
  readonly meter: LevelMeter | undefined
}

/** Reports the audio levels of a call ten times a second, between {@link start} and {@link stop}. */
export class LevelWatch {
  readonly #clock: Clock
  readonly #createMeter: (stream: MediaStream) => LevelMeter
  readonly #source: LevelSource
  readonly #report: (levels: CallLevels) => void
  #timer: Timer | undefined
  #local: Measured | undefined
  #remote: Measured | undefined

  constructor(
    clock: Clock,
    createMeter: (stream: MediaStream) => LevelMeter,
    source: LevelSource,
    report: (levels: CallLevels) => void,
  ) {
    this.#clock = clock
    this.#createMeter = createMeter
    this.#source = source
    this.#report = report
  }

  /** Idempotent. */
  start(): void {
    this.#timer ??= this.#clock.after(intervalMs, () => this.#tick())
  }

  /** Idempotent. */
  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#local?.meter?.close()
    this.#remote?.meter?.close()
    this.#local = this.#remote = undefined
  }

  #tick(): void {
    this.#timer = undefined
    this.start()
    this.#local = this.#measured(this.#local, this.#source.local)
    this.#remote = this.#measured(this.#remote, this.#source.remote)
    this.#report({ local: this.#local?.meter?.level() ?? 0, remote: this.#remote?.meter?.level() ?? 0 })
  }

  // A new microphone is a new track, and a meter reads only the tracks that existed when it was created.
  #measured(present: Measured | undefined, stream: MediaStream | undefined): Measured | undefined {
    const track = stream?.getAudioTracks()[0]
    if (track === present?.track) return present
    present?.meter?.close()
    return track && stream ? { track, meter: this.#meter(stream) } : undefined
  }

  #meter(stream: MediaStream): LevelMeter | undefined {
    try {
      return this.#createMeter(stream)
    } catch {
      return undefined
    }
  }
}
