/** Keys that the caller presses one after another. Times are uptimes in ms. */
export class KeyInput {
  #keys = ''
  #lastAt = 0
  #isTerminated = false

  /** Keys so far, without a terminator. */
  get keys(): string {
    return this.#keys
  }

  /** Whether keys were pressed that are no turn yet. */
  get isPending(): boolean {
    return this.#keys !== '' || this.#isTerminated
  }

  /** Adds a key. A terminator ends the input at once; alone, it is an input itself. */
  add(key: string, terminators: string, now: number): void {
    this.#lastAt = now
    if (this.#isTerminated) this.#isTerminated = false
    const isTerminator = terminators.includes(key)
    if (!isTerminator || this.#keys === '') this.#keys += key
    this.#isTerminated = isTerminator
  }

  /** Time at which the input is complete. */
  dueAt(keyMs: number): number {
    return this.#isTerminated ? this.#lastAt : this.#lastAt + keyMs
  }

  /** Returns the keys, and begins anew. */
  take(): string {
    const keys = this.#keys
    this.clear()
    return keys
  }

  clear(): void {
    this.#keys = ''
    this.#isTerminated = false
  }
}
