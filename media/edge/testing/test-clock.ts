import type { MediaClock, MediaTimer } from '../../clock.ts'

/** Clock that only advances by {@link advance}. */
export class TestClock implements MediaClock {
  #now = 1_700_000_000_000
  #timers = new Set<{ readonly at: number; readonly run: () => void }>()

  get running(): number {
    return this.#timers.size
  }

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): MediaTimer {
    const timer = { at: this.#now + ms, run }
    this.#timers.add(timer)
    return { cancel: () => this.#timers.delete(timer) }
  }

  /** Advances by `ms`; with `late`, every timer fires that much after its time. */
  advance(ms: number, late = 0): void {
    const end = this.#now + ms
    for (;;) {
      const next = [...this.#timers].sort((a, b) => a.at - b.at)[0]
      if (!next || next.at + late > end) break
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at + late)
      next.run()
    }
    this.#now = end
  }
}
