import type { MediaClock, MediaTimer } from '../clock.ts'

/** Interval of ticks for busy ports, in ms: short enough to send telephone-events every 50 ms. */
const tickMs = 10
/** Number of ticks per frame: 20 ms. */
const ticksPerFrame = 2
/** Number of ticks between two ticks of idle ports: 100 ms. */
const ticksPerIdleTick = 10
/**
 * Maximum number of late frames that are made up for after a stall. After a longer stall only one frame is
 * made, which avoids a burst.
 */
const maxFramesBehind = 10

/** Port that receives ticks and frames. */
export interface Ticked {
  /** Whether ticks are needed every 10 ms. */
  readonly isBusy: boolean
  /** Whether frames are needed. */
  readonly isFramed: boolean
  tick(now: number): void
  /** First step of a frame: incoming audio. */
  frameIn(now: number): void
  /** Last step of a frame: outgoing audio. */
  frameOut(now: number): void
}

/** Processes frames between the incoming and the outgoing step. */
export interface Mixing {
  readonly isFramed: boolean
  mix(now: number): void
}

/**
 * One timer for all ports of a thread. Ticks lie on a fixed grid, so lateness does not accumulate; missed
 * ticks are skipped and the ports catch up. Ports with nothing to send are ticked ten times a second. Every
 * second tick is a frame; late frames are made up for unless the thread stalled for long.
 */
export class Ticker {
  #clock: MediaClock
  #all = new Set<Ticked>()
  #busy = new Set<Ticked>()
  #framed = new Set<Ticked>()
  #mixers = new Set<Mixing>()
  #mixing = new Set<Mixing>()
  #origin: number
  #last = 0
  /** Number of the last frame that was made or skipped. */
  #frame = 0
  #timer: MediaTimer | undefined
  /** Number of the tick that the timer waits for. */
  #next = 0

  constructor(clock: MediaClock) {
    this.#clock = clock
    this.#origin = clock.now()
  }

  add(ticked: Ticked): void {
    this.#all.add(ticked)
    this.wake(ticked)
    this.#schedule()
  }

  remove(ticked: Ticked): void {
    this.#all.delete(ticked)
    this.#busy.delete(ticked)
    this.#framed.delete(ticked)
    this.#rest()
  }

  addMixer(mixer: Mixing): void {
    this.#mixers.add(mixer)
  }

  removeMixer(mixer: Mixing): void {
    this.#mixers.delete(mixer)
    this.#mixing.delete(mixer)
    this.#rest()
  }

  /** Must be called after anything that may have made `ticked` busy or framed. */
  wake(ticked: Ticked): void {
    if (!this.#all.has(ticked)) return
    const { isBusy: busy, isFramed: framed } = ticked
    if (busy) this.#busy.add(ticked)
    if (framed) {
      this.#beginFrames()
      this.#framed.add(ticked)
    }
    if (busy || framed) this.#schedule()
  }

  /** Must be called after anything that may have made `mixer` framed. */
  wakeMixer(mixer: Mixing): void {
    if (!this.#mixers.has(mixer) || !mixer.isFramed) return
    this.#beginFrames()
    this.#mixing.add(mixer)
    this.#schedule()
  }

  #beginFrames(): void {
    if (this.#framed.size + this.#mixing.size > 0) return
    this.#frame = Math.floor(this.#tickAt(this.#clock.now()) / ticksPerFrame)
  }

  #rest(): void {
    if (this.#all.size + this.#mixing.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #tickAt(now: number): number {
    return Math.floor((now - this.#origin) / tickMs)
  }

  #schedule(): void {
    if (this.#all.size + this.#mixing.size === 0) return
    const now = this.#clock.now()
    const current = this.#tickAt(now)
    const after = (every: number) => (Math.floor(current / every) + 1) * every
    const frames = this.#framed.size + this.#mixing.size > 0
    const next = after(this.#busy.size > 0 ? 1 : frames ? ticksPerFrame : ticksPerIdleTick)
    if (this.#timer && this.#next <= next) return
    this.#timer?.cancel()
    this.#next = next
    this.#timer = this.#clock.after(Math.ceil(this.#origin + next * tickMs - now), () => {
      this.#timer = undefined
      this.#run()
      this.#schedule()
    })
  }

  #run(): void {
    const now = this.#clock.now()
    const current = this.#tickAt(now)
    const idleTurn = Math.floor(current / ticksPerIdleTick)
    const isIdleTurn = idleTurn !== this.#last
    this.#last = idleTurn
    for (const ticked of isIdleTurn ? this.#all : this.#busy) ticked.tick(now)
    this.#frames(now, Math.floor(current / ticksPerFrame))
    for (const ticked of isIdleTurn ? this.#all : this.#busy) {
      if (ticked.isBusy) this.#busy.add(ticked)
      else this.#busy.delete(ticked)
    }
  }

  #frames(now: number, current: number): void {
    if (this.#framed.size + this.#mixing.size === 0) return
    const behind = current - this.#frame
    this.#frame = current
    const due = behind > maxFramesBehind ? 1 : behind
    for (let i = 0; i < due; i++) {
      for (const framed of this.#framed) framed.frameIn(now)
      for (const mixer of this.#mixing) mixer.mix(now)
      for (const framed of this.#framed) framed.frameOut(now)
    }
    for (const framed of this.#framed) {
      // A frame may have queued a packet for the next tick.
      if (framed.isBusy) this.#busy.add(framed)
      if (!framed.isFramed) this.#framed.delete(framed)
    }
    for (const mixer of this.#mixing) if (!mixer.isFramed) this.#mixing.delete(mixer)
  }
}
