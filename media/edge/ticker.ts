import type { MediaClock, MediaTimer } from './clock.ts'

/** The pace of busy ports, in ms. Half a packet, so that events keep their 50 ms. */
const PACE_MS = 10
/** Every how many ticks the idle ports have their turn: 100 ms. */
const IDLE_EVERY = 10

/** What is to be ticked. */
export interface Ticked {
  readonly busy: boolean
  tick(now: number): void
}

/**
 * One timer for all ports of a thread. Ticks stand on a fixed grid from the beginning, so lateness never adds up; ticks that were
 * missed are left out, and the ports make up for them. Ports with nothing to send are ticked ten times a second only.
 */
export class Ticker {
  #clock: MediaClock
  #all = new Set<Ticked>()
  #busy = new Set<Ticked>()
  #origin: number
  #last = 0
  #timer: MediaTimer | undefined
  /** Number of the tick that the timer waits for. */
  #next = 0

  constructor(clock: MediaClock) {
    this.#clock = clock
    this.#origin = clock.now()
  }

  add(ticked: Ticked): void {
    this.#all.add(ticked)
    this.#schedule()
  }

  remove(ticked: Ticked): void {
    this.#all.delete(ticked)
    this.#busy.delete(ticked)
    if (this.#all.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** To be called after anything that may have made `ticked` busy. */
  wake(ticked: Ticked): void {
    if (!ticked.busy || this.#busy.has(ticked) || !this.#all.has(ticked)) return
    this.#busy.add(ticked)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#all.size === 0) return
    const now = this.#clock.now()
    const current = Math.floor((now - this.#origin) / PACE_MS)
    const idle = (Math.floor(current / IDLE_EVERY) + 1) * IDLE_EVERY
    const next = this.#busy.size > 0 ? current + 1 : idle
    if (this.#timer && this.#next <= next) return
    this.#timer?.cancel()
    this.#next = next
    this.#timer = this.#clock.after(Math.ceil(this.#origin + next * PACE_MS - now), () => {
      this.#timer = undefined
      this.#run()
      this.#schedule()
    })
  }

  #run(): void {
    const now = this.#clock.now()
    const idleTurn = Math.floor((now - this.#origin) / (PACE_MS * IDLE_EVERY))
    const everyone = idleTurn !== this.#last
    this.#last = idleTurn
    for (const ticked of everyone ? this.#all : this.#busy) {
      ticked.tick(now)
      if (ticked.busy) this.#busy.add(ticked)
      else this.#busy.delete(ticked)
    }
  }
}
