/** Number of ids that are remembered. */
const maxIds = 1_000

/** Function calls of a session: each is reported once, and its result sent once. */
export class OpenCalls {
  readonly #known = new Set<string>()
  readonly #open = new Set<string>()

  /** Opens a call. Returns false for one that is known. */
  open(id: string): boolean {
    if (id === '' || this.#known.has(id)) return false
    if (this.#known.size >= maxIds) this.#known.clear()
    this.#known.add(id)
    this.#open.add(id)
    return true
  }

  /** Closes a call. Returns false if it is not open. */
  close(id: string): boolean {
    return this.#open.delete(id)
  }
}
