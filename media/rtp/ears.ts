import type { PcmRate } from '../types.ts'
import { RateAdapter } from './rate.ts'

/** Somebody who listens to a port: a recording, a tap, a detector of digits. */
export interface Ear {
  /** What it takes. */
  readonly rate: PcmRate
  readonly tracks: 'in' | 'out' | 'both'
  /** 20 ms of what the far end says and of what it hears, each undefined for silence or where it was not asked for. Valid during the call. */
  hear(input: Int16Array | undefined, output: Int16Array | undefined): void
  /** The far end has pressed a key. */
  digit?(digit: string): void
  /** The port is being closed; nothing more comes. */
  close?(): void
}

interface Place {
  readonly ear: Ear
  readonly input: RateAdapter
  readonly output: RateAdapter
}

/** All who listen to one port. */
export class Ears {
  #places: Place[] = []

  get size(): number {
    return this.#places.length
  }

  /** Highest rate that is wanted of what the far end says; 0 where nobody wants it. */
  get inputRate(): PcmRate | 0 {
    return this.#wanted('out')
  }

  /** The same of what it hears. */
  get outputRate(): PcmRate | 0 {
    return this.#wanted('in')
  }

  add(ear: Ear): void {
    this.#places.push({ ear, input: new RateAdapter(), output: new RateAdapter() })
  }

  /** Nothing for one that does not listen. */
  remove(ear: Ear): void {
    this.#places = this.#places.filter((place) => place.ear !== ear)
  }

  /** Gives 20 ms to all. */
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

  /** Tells all that it is over. */
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
