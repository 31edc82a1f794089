import { LOWEST_DB } from '../rtp/level.ts'
import type { Seat } from './seat.ts'

/** Who speaks, and how loud. */
export interface Speaker {
  readonly id: number
  /** Smoothed over 200 ms, in dBov. */
  readonly levelDb: number
}

/** Share of a new frame in the smoothed level: 200 ms. */
const SHARE = 0.1
/** Where the smoothed level of somebody silent goes, in dBov. */
const SILENT_DB = -90
/** Smoothed, whoever is louder than this speaks, in dBov. */
const SPEAKS_DB = -60
/** Somebody else has to be louder than the active speaker by this, */
const LOUDER_DB = 6
/** for so many frames: 0.5 s, so that a cough changes nothing. */
const LOUDER_FRAMES = 25
/** So many frames after the last word of all there is no active speaker any more: 2 s. */
const KEPT_FRAMES = 100

/**
 * Finds the active speaker of a mixer. It stays the same while it speaks, unless somebody else is louder by 6 dB for half a second; once
 * it is silent whoever speaks takes its place, and it keeps it for 2 s while nobody does. Whisperers are not told of.
 */
export class Speakers {
  #seats: readonly Seat[]
  #active: Seat | undefined
  #rival: Seat | undefined
  #rivalFrames = 0
  #silentFrames = 0

  /** `seats` is the mixer's own list. */
  constructor(seats: readonly Seat[]) {
    this.#seats = seats
  }

  /** Id of the active speaker; undefined when nobody has spoken for 2 s. */
  get active(): number | undefined {
    return this.#active?.id
  }

  /** At most `max` of those that speak, the loudest first. */
  loudest(max: number): Speaker[] {
    return this.#seats
      .filter((seat) => seat.loudnessDb > SPEAKS_DB)
      .sort((a, b) => b.loudnessDb - a.loudnessDb)
      .slice(0, max)
      .map(({ id, loudnessDb }) => ({ id, levelDb: loudnessDb }))
  }

  /** Forgets somebody who left. */
  forget(seat: Seat): void {
    if (this.#active === seat) this.#active = undefined
    if (this.#rival === seat) this.#rival = undefined
  }

  /** Takes the levels of one frame. For the mixer. */
  update(): void {
    const loudest = this.#measure()
    const active = this.#active
    if (!loudest) {
      this.#silentFrames++
      if (this.#silentFrames >= KEPT_FRAMES) this.#active = undefined
      return
    }
    this.#silentFrames = 0
    if (!active || active.loudnessDb <= SPEAKS_DB) this.#choose(loudest)
    else if (loudest === active || loudest.loudnessDb < active.loudnessDb + LOUDER_DB) this.#rival = undefined
    else if (loudest !== this.#rival) {
      this.#rival = loudest
      this.#rivalFrames = 1
    } else {
      this.#rivalFrames++
      if (this.#rivalFrames >= LOUDER_FRAMES) this.#choose(loudest)
    }
  }

  #choose(seat: Seat): void {
    this.#active = seat
    this.#rival = undefined
  }

  /** Smooths all levels; gives the loudest of those that speak. */
  #measure(): Seat | undefined {
    let loudest: Seat | undefined
    let most = SPEAKS_DB
    for (let i = 0; i < this.#seats.length; i++) {
      const seat = this.#seats[i]!
      const level = seat.whispers ? SILENT_DB : Math.max(SILENT_DB, seat.levelDb)
      const before = seat.loudnessDb === LOWEST_DB ? SILENT_DB : seat.loudnessDb
      seat.loudnessDb = before + (level - before) * SHARE
      if (seat.loudnessDb <= most) continue
      most = seat.loudnessDb
      loudest = seat
    }
    return loudest
  }
}
