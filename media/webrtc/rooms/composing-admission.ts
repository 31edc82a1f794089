import type { Timers } from '../../clock.ts'

/** Load of the composers above which a new room is not composed. */
const maxStartLoad = 0.8
/** Load above which the largest room stops being composed, and the time for which it lasts, in s. */
const maxLoad = 0.95
const overloadS = 3
/** Load below which a room is composed again, and the time for which it lasts, in s. */
const freeLoad = 0.6
const freeS = 30
const checkMs = 1000

/** A room that may be composed. */
export interface ComposingRoom {
  /** Number of sources in the composed picture; 0 while it is not composed. */
  readonly tiles: number
  /** Load of the process that composes the picture, as a share of a core; 0 while it is not composed. */
  readonly load: number
  /** Called when the room may be composed again, or no longer. `reason`: one line. */
  setAdmitted(isAdmitted: boolean, reason: string): void
}

/** Collaborators of a {@link ComposingAdmission}. */
export interface ComposingAdmissionDeps {
  /** Returns the load of the process that would compose the next picture, as a share of a core. */
  readonly load: () => number
  readonly clock: Timers
}

const percent = (load: number): string => `composer load ${Math.round(load * 100)} %`

/**
 * Decides which rooms are composed, by the load of the composers. Above 80 % of the least busy process, a
 * new room is not. Above 95 % of any process for 3 s, its room with the most tiles no longer is. Below 60 %
 * of the least busy process for 30 s, one room is composed again: the one that waits longest.
 */
export class ComposingAdmission {
  readonly #deps: ComposingAdmissionDeps
  readonly #admitted = new Set<ComposingRoom>()
  readonly #waiting = new Set<ComposingRoom>()
  #overS = 0
  #freeS = 0
  #isChecking = false

  constructor(deps: ComposingAdmissionDeps) {
    this.#deps = deps
  }

  /** Number of rooms that are composed at present. */
  get composed(): number {
    return [...this.#admitted].filter(({ tiles }) => tiles > 0).length
  }

  /** Adds a room. Returns the reason if it may not be composed yet, else undefined. */
  join(room: ComposingRoom): string | undefined {
    const load = this.#deps.load()
    const isAdmitted = load <= maxStartLoad
    if (isAdmitted) this.#admitted.add(room)
    else this.#waiting.add(room)
    this.#plan()
    return isAdmitted ? undefined : percent(load)
  }

  /** Removes a room. No effect if unknown. */
  leave(room: ComposingRoom): void {
    this.#admitted.delete(room)
    this.#waiting.delete(room)
  }

  #plan(): void {
    if (this.#isChecking) return
    this.#isChecking = true
    this.#deps.clock.after(checkMs, () => {
      this.#isChecking = false
      if (this.#admitted.size + this.#waiting.size === 0) return
      this.#plan()
      this.#check()
    })
  }

  #check(): void {
    const load = this.#deps.load()
    const overloaded = [...this.#admitted].filter((room) => room.tiles > 0 && room.load > maxLoad)
    this.#overS = overloaded.length > 0 ? this.#overS + 1 : 0
    this.#freeS = load < freeLoad ? this.#freeS + 1 : 0
    if (this.#overS >= overloadS) this.#dismiss(overloaded)
    if (this.#freeS >= freeS) this.#readmit(load)
  }

  #dismiss(overloaded: readonly ComposingRoom[]): void {
    const [largest] = overloaded.toSorted((a, b) => b.tiles - a.tiles)
    if (!largest) return
    this.#overS = 0
    this.#admitted.delete(largest)
    this.#waiting.add(largest)
    largest.setAdmitted(false, percent(largest.load))
  }

  #readmit(load: number): void {
    const [first] = this.#waiting
    if (!first) return
    this.#freeS = 0
    this.#waiting.delete(first)
    this.#admitted.add(first)
    first.setAdmitted(true, percent(load))
  }
}
