/** Timers of tests: time passes only by {@link advance}. */
export class FakeTimers {
  #now = 0
  #timers: { readonly at: number; readonly run: () => void }[] = []

  /** Number of timers that are running. */
  get pending(): number {
    return this.#timers.length
  }

  after(ms: number, run: () => void): { cancel(): void } {
    const timer = { at: this.#now + ms, run }
    this.#timers.push(timer)
    return { cancel: () => this.#remove(timer) }
  }

  /** Lets time pass, in milliseconds, and runs the timers in order, each with all that it causes. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await settle()
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)
      const [next] = due
      if (!next) break
      this.#remove(next)
      this.#now = next.at
      next.run()
      await settle()
    }
    this.#now = end
  }

  #remove(timer: { readonly at: number }): void {
    this.#timers = this.#timers.filter((of) => of !== timer)
  }
}

/** Resolves when everything that was ready to run has run. */
export const settle = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}
