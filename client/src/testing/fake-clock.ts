import type { Clock, Timer } from '../clock.ts'

/** Clock whose time changes only when a test advances it. */
export class FakeClock implements Clock {
  #now = 1_700_000_000_000
  #due: { at: number; run: () => void }[] = []

  get running(): number {
    return this.#due.length
  }

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): Timer {
    const entry = { at: this.#now + ms, run }
    this.#due.push(entry)
    return {
      cancel: () => {
        this.#due = this.#due.filter((other) => other !== entry)
      },
    }
  }

  /** Advances the time without running timers, as while the machine sleeps. */
  sleep(ms: number): void {
    this.#now += ms
    for (const entry of this.#due) entry.at += ms
  }

  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const next = this.#due.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#due = this.#due.filter((other) => other !== next)
      this.#now = next.at
      next.run()
    }
    this.#now = end
  }
}

/** Waits until every promise that can settle has settled. */
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}
