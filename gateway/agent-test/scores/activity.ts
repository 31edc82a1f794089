import { levelDb } from '../../../media/rtp/voice-activity.ts'

/** Sample rate of all recordings of a test. */
export const rate = 8000
/** Length of a frame, in ms: the resolution of all scores. */
export const frameMs = 10
const frameSamples = (rate * frameMs) / 1000

/** Part of a call, in ms from its answer. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** Levels of a recording, in frames of 10 ms, and the spans with sound. */
export class Activity {
  readonly levels: Float64Array
  readonly #silenceDb: number

  /** `samples` at 8 kHz. Frames up to `silenceDb` (dBov) are silent. */
  constructor(samples: Int16Array, silenceDb: number) {
    const count = Math.floor(samples.length / frameSamples)
    this.#silenceDb = silenceDb
    this.levels = Float64Array.from({ length: count }, (_, frame) =>
      levelDb(samples.subarray(frame * frameSamples, (frame + 1) * frameSamples)),
    )
  }

  /** Duration of the recording, in ms. */
  get ms(): number {
    return this.levels.length * frameMs
  }

  /** Level in dBov up to which a frame is silent. */
  get silenceDb(): number {
    return this.#silenceDb
  }

  /** Returns the spans with sound. Pauses shorter than `joinMs` are part of a span. */
  spans(joinMs: number): readonly Span[] {
    const found: { fromMs: number; toMs: number }[] = []
    for (const [frame, db] of this.levels.entries()) {
      if (db <= this.#silenceDb) continue
      const last = found.at(-1)
      const fromMs = frame * frameMs
      if (last && fromMs - last.toMs < joinMs) last.toMs = fromMs + frameMs
      else found.push({ fromMs, toMs: fromMs + frameMs })
    }
    return found
  }

  /** Returns the time with sound within a span, in ms. */
  loudMs({ fromMs, toMs }: Span): number {
    return this.#within(fromMs, toMs).filter((db) => db > this.#silenceDb).length * frameMs
  }

  /** Returns the median level of the frames with sound within a span, in dBov; undefined without sound. */
  level({ fromMs, toMs }: Span): number | undefined {
    const loud = this.#within(fromMs, toMs).filter((db) => db > this.#silenceDb)
    return loud.sort()[loud.length >> 1]
  }

  /**
   * Returns the begin of the first run of `forMs` at most as loud as `db`, from a time on. The silence after
   * the end of the recording counts. Undefined if no run begins before `untilMs`.
   */
  quietFrom(fromMs: number, db: number, forMs: number, untilMs: number): number | undefined {
    const first = Math.ceil(fromMs / frameMs)
    let run = 0
    for (let frame = first; frame * frameMs < untilMs + forMs; frame++) {
      run = (this.levels[frame] ?? Number.NEGATIVE_INFINITY) <= db ? run + frameMs : 0
      if (run < forMs) continue
      const beginMs = frame * frameMs + frameMs - run
      return beginMs < untilMs ? beginMs : undefined
    }
    return undefined
  }

  /** Returns the first time from `fromMs` on with a level above `db`; undefined if all is silent. */
  louderFrom(fromMs: number, db: number): number | undefined {
    for (let frame = Math.ceil(fromMs / frameMs); frame < this.levels.length; frame++)
      if (this.levels[frame]! > db) return frame * frameMs
    return undefined
  }

  #within(fromMs: number, toMs: number): Float64Array {
    return this.levels.subarray(Math.max(0, Math.floor(fromMs / frameMs)), Math.ceil(toMs / frameMs))
  }
}

/** Returns the part of samples that has sound above a level, in ms; undefined if all is silent. */
export const soundIn = (samples: Int16Array, db: number): Span | undefined =>
  new Activity(samples, db).spans(Number.POSITIVE_INFINITY)[0]
