import type { Clock, SteadyClock, Timer } from './clock.ts'

/** Running timer. It is in the list of its slot until it fires or is cancelled. */
class Entry implements Timer {
  /** Due time on the steady clock. */
  readonly at: number
  /** The first tick that is not before `at`. */
  readonly tick: number
  /** Counter of starts: timers with the same due time fire in the order of their start. */
  readonly order: number
  /** Undefined after it fired or was cancelled. */
  run: (() => void) | undefined
  previous: Entry | undefined
  next: Entry | undefined
  readonly #wheel: TimerWheel

  constructor(wheel: TimerWheel, at: number, tick: number, order: number, run: () => void) {
    this.#wheel = wheel
    this.at = at
    this.tick = tick
    this.order = order
    this.run = run
  }

  cancel(): void {
    if (!this.run) return
    this.run = undefined
    this.#wheel.drop(this)
  }
}

/** Length of a tick in ms; the shortest timer of SIP, T1, is fifty ticks. */
const tickMs = 10
/** Number of slots, a power of two. One turn of the wheel takes 41 s, longer than a timer of 64 * T1. */
const slots = 4_096

/**
 * All timers of the agent on one hashed wheel. The cost of start and cancel does not depend on their number.
 * The system sees one timer at most, set to the next occupied slot. A timer never fires early, and less than
 * a tick late. Timers fire in the order of their due times, then of their start. The wheel uses the steady
 * clock: a change of the machine's time neither ends nor prolongs calls.
 */
export class TimerWheel implements Clock {
  readonly #clock: SteadyClock
  readonly #fault: (error: unknown) => void
  readonly #heads: (Entry | undefined)[] = new Array(slots).fill(undefined)
  #running = 0
  #order = 0
  /** The latest tick whose timers have fired. */
  #done: number
  #driver: Timer | undefined
  #wakesAt = 0
  /** Whether timers are firing: the next wake-up is set once afterwards. */
  #isTurning = false

  /** `fault` receives errors of timer functions; the other timers still fire. */
  constructor(clock: SteadyClock, fault: (error: unknown) => void) {
    this.#clock = clock
    this.#fault = fault
    this.#done = Math.floor(clock.uptime() / tickMs)
  }

  /** Number of timers that have neither fired nor been cancelled. */
  get running(): number {
    return this.#running
  }

  now(): number {
    return this.#clock.now()
  }

  after(ms: number, run: () => void): Timer {
    const now = this.#clock.uptime()
    // Without running timers the wheel does not advance, so it catches up first.
    if (this.#running === 0 && !this.#isTurning) this.#done = Math.floor(now / tickMs)
    const at = now + Math.max(0, ms)
    const tick = Math.max(this.#done + 1, Math.ceil(at / tickMs))
    const entry = new Entry(this, at, tick, this.#order++, run)
    this.#link(entry)
    this.#running++
    if (!this.#isTurning && (!this.#driver || tick < this.#wakesAt)) this.#wake(tick, now)
    return entry
  }

  /** Removes a cancelled timer. Called by the timers themselves. */
  drop(entry: Entry): void {
    this.#unlink(entry)
    this.#running--
    if (this.#running > 0 || this.#isTurning) return
    this.#driver?.cancel()
    this.#driver = undefined
  }

  #link(entry: Entry): void {
    const slot = entry.tick % slots
    const head = this.#heads[slot]
    entry.next = head
    if (head) head.previous = entry
    this.#heads[slot] = entry
  }

  #unlink(entry: Entry): void {
    const { previous, next } = entry
    if (previous) previous.next = next
    else if (this.#heads[entry.tick % slots] === entry) this.#heads[entry.tick % slots] = next
    if (next) next.previous = previous
    entry.previous = undefined
    entry.next = undefined
  }

  #wake(tick: number, now: number): void {
    this.#driver?.cancel()
    this.#wakesAt = tick
    this.#driver = this.#clock.after(Math.max(0, Math.ceil(tick * tickMs - now)), () => this.#turn())
  }

  #turn(): void {
    this.#driver = undefined
    this.#isTurning = true
    const due = this.#take(Math.floor(this.#clock.uptime() / tickMs))
    due.sort((a, b) => a.at - b.at || a.order - b.order)
    for (const entry of due) this.#fire(entry)
    this.#isTurning = false
    const next = this.#next()
    if (next !== undefined) this.#wake(next, this.#clock.uptime())
  }

  /** Removes the timers that are due up to `tick`. */
  #take(tick: number): Entry[] {
    const due: Entry[] = []
    // After a long pause one turn of the wheel is enough to find all due timers.
    const from = Math.max(this.#done + 1, tick - slots + 1)
    for (let each = from; each <= tick; each++) {
      for (let entry = this.#heads[each % slots]; entry; ) {
        const { next } = entry
        if (entry.tick <= tick) {
          this.#unlink(entry)
          due.push(entry)
        }
        entry = next
      }
    }
    this.#done = Math.max(this.#done, tick)
    return due
  }

  #fire(entry: Entry): void {
    const { run } = entry
    // The timer may have been cancelled by one that fired in the same turn.
    if (!run) return
    entry.run = undefined
    this.#running--
    try {
      run()
    } catch (error) {
      this.#fault(error)
    }
  }

  /** Returns the next tick with an occupied slot; undefined while the wheel is empty. */
  #next(): number | undefined {
    if (this.#running === 0) return undefined
    for (let ahead = 1; ahead <= slots; ahead++) {
      if (this.#heads[(this.#done + ahead) % slots]) return this.#done + ahead
    }
    return undefined
  }
}
