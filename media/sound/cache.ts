/** LRU cache limited by a number of bytes. */
export class ByteCache<T> {
  readonly #limit: number
  readonly #sizeOf: (value: T, key: string) => number
  readonly #entries = new Map<string, T>()
  #bytes = 0

  constructor(limit: number, sizeOf: (value: T, key: string) => number) {
    this.#limit = limit
    this.#sizeOf = sizeOf
  }

  /** Number of cached bytes. */
  get bytes(): number {
    return this.#bytes
  }

  get(key: string): T | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    // A Map keeps the order of insertion.
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  /** Stores the value, unless it alone exceeds the limit. */
  set(key: string, value: T): void {
    this.#drop(key)
    const size = this.#sizeOf(value, key)
    if (size > this.#limit) return
    this.#entries.set(key, value)
    this.#bytes += size
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#limit) return
      this.#drop(oldest)
    }
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  #drop(key: string): void {
    const value = this.#entries.get(key)
    if (value === undefined) return
    this.#entries.delete(key)
    this.#bytes -= this.#sizeOf(value, key)
  }
}
