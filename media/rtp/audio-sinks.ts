import type { PcmRate } from '../types.ts'
import { RateAdapter } from './rate-adapter.ts'

/** Consumer of a port's audio: a recording, a tap or a detector. */
export interface AudioSink {
  /** Rate of the frames. */
  readonly rate: PcmRate
  readonly tracks: 'in' | 'out' | 'both'
  /** Whether the far end gets silence while nothing is sent; default false. */
  readonly isContinuous?: boolean
  /**
   * Processes 20 ms of both directions: from the far end, and to the far end. Undefined for silence, or for a
   * track that was not requested. The samples are valid during the call.
   */
  write(input: Int16Array | undefined, output: Int16Array | undefined): void
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

/** Sinks of one port. */
export class AudioSinks {
  #places: SinkEntry[] = []

  get size(): number {
    return this.#places.length
  }

  /** Highest rate that a sink requests of the far end's audio; 0 for none. */
  get inputRate(): PcmRate | 0 {
    return this.#wanted('out')
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

  /** Passes 20 ms of the far end to the sinks that hear it early; {@link write} must follow. */
  hear(input: Int16Array | undefined, inputRate: PcmRate): void {
    const places = this.#places
    for (let i = 0; i < places.length; i++) {
      const place = places[i]!
      const { sink } = place
      if (!sink.hear || sink.tracks === 'out') continue
      place.said = place.input.convert(input, inputRate, sink.rate)
      sink.hear(place.said)
    }
  }

  /** Passes 20 ms to all sinks. */
  write(
    input: Int16Array | undefined,
    inputRate: PcmRate,
    output: Int16Array | undefined,
    outputRate: PcmRate,
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
      sink.write(said, heard)
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

  #wanted(not: AudioSink['tracks']): PcmRate | 0 {
    let rate: PcmRate | 0 = 0
    for (const { sink } of this.#places) if (sink.tracks !== not && sink.rate > rate) rate = sink.rate
    return rate
  }
}
