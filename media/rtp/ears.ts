import type { PcmRate } from '../types.ts'
import { RateAdapter } from './rate.ts'

/** Consumer of a port's audio: a recording, a tap or a detector. */
export interface Ear {
  /** Rate of the frames. */
  readonly rate: PcmRate
  readonly tracks: 'in' | 'out' | 'both'
  /**
   * Processes 20 ms of both directions: from the far end, and to the far end. Undefined for silence, or for a
   * track that was not requested. The samples are valid during the call.
   */
  hear(input: Int16Array | undefined, output: Int16Array | undefined): void
  /** Reports a digit of the far end. */
  digit?(digit: string): void
  /** The port is closing; no further calls follow. */
  close?(): void
}

interface Place {
  readonly ear: Ear
  readonly input: RateAdapter
  readonly output: RateAdapter
}

/** Sinks of one port. */
export class Ears {
  #places: Place[] = []

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

  add(ear: Ear): void {
    this.#places.push({ ear, input: new RateAdapter(), output: new RateAdapter() })
  }

  /** Removes a sink; no effect if it is not present. */
  remove(ear: Ear): void {
    this.#places = this.#places.filter((place) => place.ear !== ear)
  }

  /** Passes 20 ms to all sinks. */
  hear(
    input: Int16Array | undefined,
    inputRate: PcmRate,
    output: Int16Array | undefined,
    outputRate: PcmRate,
  ): void {
    const places = this.#places
    for (let i = 0; i < places.length; i++) {
      const { ear, input: from, output: to } = places[i]!
      const said = ear.tracks === 'out' ? undefined : from.convert(input, inputRate, ear.rate)
      const heard = ear.tracks === 'in' ? undefined : to.convert(output, outputRate, ear.rate)
      ear.hear(said, heard)
    }
  }

  digit(digit: string): void {
    for (const { ear } of this.#places) ear.digit?.(digit)
  }

  /** Closes all sinks. */
  close(): void {
    const places = this.#places
    this.#places = []
    for (const { ear } of places) ear.close?.()
  }

  #wanted(not: Ear['tracks']): PcmRate | 0 {
    let rate: PcmRate | 0 = 0
    for (const { ear } of this.#places) if (ear.tracks !== not && ear.rate > rate) rate = ear.rate
    return rate
  }
}
