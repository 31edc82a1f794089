/** Object that must be freed. */
interface Handle {
  free(): void
}

/** Pool of ready handles, for handles that are created asynchronously but needed synchronously. */
export class Spares<H extends Handle> {
  #make: () => Promise<H>
  #count: number
  #ready: H[] = []

  /**
   * `make` creates a handle. It is called once for each spare and for each {@link take}, and must not wait
   * for network or timers.
   */
  constructor(make: () => Promise<H>, count: number) {
    this.#make = make
    this.#count = count
  }

  /** Creates the spares. Rejects if `make` does. */
  async fill(): Promise<void> {
    while (this.#ready.length < this.#count) this.#ready.push(await this.#make())
  }

  /**
   * Passes a handle to `use`, which owns it. Synchronous if a spare is ready; else before the next turn of
   * the event loop. Spares run out only if many are taken in one turn of the event loop.
   */
  take(use: (handle: H) => void): void {
    const spare = this.#ready.pop()
    if (spare) use(spare)
    this.#make().then(
      (handle) => {
        if (!spare) use(handle)
        else if (this.#ready.length < this.#count) this.#ready.push(handle)
        else handle.free()
      },
      // Creation fails only if memory is exhausted: the stream then stays silent, and the next `take`
      // retries.
      () => {},
    )
  }
}
