/** Object that must be freed. */
interface Handle {
  free(): void
}

/** Pool of ready handles, for handles that are created asynchronously but needed synchronously. */
export class Spares<H extends Handle> {
  #make: () => Promise<H>
  #count: number
  #ready: H[] = []

  /** `make` is called once for each spare and each {@link take}; it must settle without outside events. */
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
   * the event loop. Spares only run out if many are taken in one turn.
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
      // Fails only without memory: the stream stays silent, and the next take retries.
      () => {},
    )
  }
}
