import type { Clock, SteadyClock, Timer } from './clock.ts'

/** One started timer; it stands in the list of its slot until it fires or is cancelled. */
class Entry implements Timer {
  /** When it is due, on the steady clock. */
  readonly at: number
  /** The first tick that is not before `at`. */
  readonly tick: number
  /** Counts up with each start: timers that are due together fire in the order of their start. */
  readonly order: number
  /** Undefined once it has fired or was cancelled. */
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

/** Length of a tick in ms. The shortest timer of SIP is T1, fifty times as long. */
const tickMs = 10
/** Slots of the wheel, a power of two: 41 s, so that timers of 64 * T1 pass under the hand once. */
const slots = 4_096

/**
 * All timers of the agent on one hashed wheel: starting and cancelling cost the same however many there are, and the system sees one
 * timer, set to the next slot that holds something; none while the wheel is empty. A timer never fires early, and less than a tick
 * late; those that are due together fire in the order of their due times, then of their start. It counts on the steady clock: setting
 * the machine's time neither ends calls nor keeps them.
 */
export class TimerWheel implements Clock {
  readonly #clock: SteadyClock
  readonly #fault: (error: unknown) => void
  readonly #heads: (Entry | undefined)[] = new Array(slots).fill(undefined)
  #running = 0
  #order = 0
  /** The last tick whose timers have fired. */
  #done: number
  #driver: Timer | undefined
  #wakesAt = 0
  /** True while timers fire: the next one is looked for afterwards, once. */
  #turning = false

  /** `fault` is told of an error that a timer's function threw; the other timers fire all the same. */
  constructor(clock: SteadyClock, fault: (error: unknown) => void) {
    this.#clock = clock
    this.#fault = fault
    this.#done = Math.floor(clock.uptime() / tickMs)
  }

  /** Timers that were started and neither fired nor were cancelled. */
  get running(): number {
    return this.#running
  }

  now(): number {
    return this.#clock.now()
  }

  after(ms: number, run: () => void): Timer {
    const now = this.#clock.uptime()
    // The hand stands still while nothing runs.
    if (this.#running === 0 && !this.#turning) this.#done = Math.floor(now / tickMs)
    const at = now + Math.max(0, ms)
    const tick = Math.max(this.#done + 1, Math.ceil(at / tickMs))
    const entry = new Entry(this, at, tick, this.#order++, run)
    this.#link(entry)
    this.#running++
    if (!this.#turning && (!this.#driver || tick < this.#wakesAt)) this.#wake(tick, now)
    return entry
  }

  /** Takes a cancelled timer out. For the timers themselves. */
  drop(entry: Entry): void {
    this.#unlink(entry)
    this.#running--
    if (this.#running > 0 || this.#turning) return
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
    this.#turning = true
    const due = this.#take(Math.floor(this.#clock.uptime() / tickMs))
    due.sort((a, b) => a.at - b.at || a.order - b.order)
    for (const entry of due) this.#fire(entry)
    this.#turning = false
    const next = this.#next()
    if (next !== undefined) this.#wake(next, this.#clock.uptime())
  }

  /** Takes what is due up to `tick` off the wheel. */
  #take(tick: number): Entry[] {
    const due: Entry[] = []
    // After a long halt one turn of the wheel meets everything.
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
    // One that fired before has cancelled it.
    if (!run) return
    entry.run = undefined
    this.#running--
    try {
      run()
    } catch (error) {
      this.#fault(error)
    }
  }

  /** The next tick whose slot holds something; undefined while the wheel is empty. */
  #next(): number | undefined {
    if (this.#running === 0) return undefined
    for (let ahead = 1; ahead <= slots; ahead++) {
      if (this.#heads[(this.#done + ahead) % slots]) return this.#done + ahead
    }
    return undefined
  }
}
