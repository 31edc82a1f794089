/** What has to be freed. */
interface Handle {
  free(): void
}

/** Keeps a few handles ready, as they can only be made asynchronously, and are wanted at once. */
export class Spares<H extends Handle> {
  #make: () => Promise<H>
  #count: number
  #ready: H[] = []

  /** `make` is called once for each spare and each {@link take}, and has to settle without waiting for anything outside. */
  constructor(make: () => Promise<H>, count: number) {
    this.#make = make
    this.#count = count
  }

  /** Makes the spares. Rejects where `make` does. */
  async fill(): Promise<void> {
    while (this.#ready.length < this.#count) this.#ready.push(await this.#make())
  }

  /**
   * Gives a handle to `use`, which owns it: at once where one is ready, and that is always so unless many are taken in one turn of the
   * event loop; else before the next turn.
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
      // Only without memory; the stream then stays silent, and the next take tries anew.
      () => {},
    )
  }
}
