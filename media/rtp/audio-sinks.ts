import type { PcmRate } from '../types.ts'
import { RateAdapter } from './rate-adapter.ts'

/** Consumer of a port's audio: a recording, a tap or a detector. */
export interface AudioSink {
  /** Rate of the frames. */
  readonly rate: PcmRate
  readonly tracks: 'in' | 'out' | 'both'
  /** Whether the far end gets silence while nothing is sent; default false. */
  readonly isContinuous?: boolean
  /** Whether a short delay of the far end's audio matters more than its evenness; default false. */
  readonly isPrompt?: boolean
  /**
   * Processes 20 ms of both directions: from the far end, and to the far end. Undefined for silence, or for a
   * track that was not requested. The samples are valid during the call. `lagMs`: time by which `input`
   * passed the port's socket earlier than `output`; negative if later.
   */
  write(input: Int16Array | undefined, output: Int16Array | undefined, lagMs: number): void
  /**
   * Processes 20 ms of the far end before the audio for it is composed, so that it can change that audio in
   * the same frame. {@link write} follows with the same samples.
   */
  hear?(input: Int16Array | undefined): void
  /** Processes the 20 ms for the far end at any rate, before {@link write} and whatever its tracks. */
  sent?(output: Int16Array | undefined): void
  /** Reports a digit of the far end. */
  digit?(digit: string): void
  /** Called when the port is closing; no further calls follow. */
  close?(): void
}

interface SinkEntry {
  readonly sink: AudioSink
  readonly input: RateAdapter
  readonly output: RateAdapter
  /** Frame that {@link AudioSinks.hear} has converted for `write`; null: not yet. */
  said: Int16Array | undefined | null
}

/** Audio of the far end, decoded: the last 20 ms at a rate; undefined for silence. */
export interface HeardFrame {
  readonly frame: Int16Array | undefined
  readonly rate: PcmRate
}

/** Sinks of one port. */
export class AudioSinks {
  #places: SinkEntry[] = []

  get size(): number {
    return this.#places.length
  }

  /** Highest rate that a sink requests of the far end's even audio; 0 for none. */
  get inputRate(): PcmRate | 0 {
    return this.#wanted('out', false)
  }

  /** Highest rate that a prompt sink requests of the far end's audio; 0 for none. */
  get promptRate(): PcmRate | 0 {
    return this.#wanted('out', true)
  }

  /** Highest rate that a sink requests of the audio for the far end; 0 for none. */
  get outputRate(): PcmRate | 0 {
    return this.#wanted('in')
  }

  /** Whether a sink requires silence for the far end while nothing is sent. */
  get isContinuous(): boolean {
    for (let i = 0; i < this.#places.length; i++) if (this.#places[i]!.sink.isContinuous) return true
    return false
  }

  add(sink: AudioSink): void {
    this.#places.push({ sink, input: new RateAdapter(), output: new RateAdapter(), said: null })
  }

  /** Removes a sink; no effect if it is not present. */
  remove(sink: AudioSink): void {
    this.#places = this.#places.filter((place) => place.sink !== sink)
  }

  /**
   * Passes 20 ms of the far end to the sinks that hear it early; {@link write} must follow. `prompt`: the
   * audio for prompt sinks.
   */
  hear(even: HeardFrame, prompt: HeardFrame = even): void {
    const places = this.#places
    for (let i = 0; i < places.length; i++) {
      const place = places[i]!
      const { sink } = place
      if (sink.tracks === 'out' || !(sink.hear || sink.isPrompt)) continue
      const { frame, rate } = sink.isPrompt ? prompt : even
      place.said = place.input.convert(frame, rate, sink.rate)
      sink.hear?.(place.said)
    }
  }

  /** Passes 20 ms to all sinks; `lagMs` as for {@link AudioSink.write}. */
  write(
    input: Int16Array | undefined,
    inputRate: PcmRate,
    output: Int16Array | undefined,
    outputRate: PcmRate,
    lagMs = 0,
  ): void {
    const places = this.#places
    for (let i = 0; i < places.length; i++) {
      const place = places[i]!
      const { sink, input: from, output: to, said: early } = place
      const said =
        early !== null ? early : sink.tracks === 'out' ? undefined : from.convert(input, inputRate, sink.rate)
      place.said = null
      sink.sent?.(output)
      const heard = sink.tracks === 'in' ? undefined : to.convert(output, outputRate, sink.rate)
      sink.write(said, heard, lagMs)
    }
  }

  digit(digit: string): void {
    for (const { sink } of this.#places) sink.digit?.(digit)
  }

  /** Closes all sinks. */
  close(): void {
    const places = this.#places
    this.#places = []
    for (const { sink } of places) sink.close?.()
  }

  /** `isPrompt`: only sinks of that kind; default all. */
  #wanted(not: AudioSink['tracks'], isPrompt?: boolean): PcmRate | 0 {
    let rate: PcmRate | 0 = 0
    for (const { sink } of this.#places) {
      const isOfKind = isPrompt === undefined || isPrompt === (sink.isPrompt === true)
      if (isOfKind && sink.tracks !== not && sink.rate > rate) rate = sink.rate
    }
    return rate
  }
}
