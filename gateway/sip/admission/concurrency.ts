/** Counts items in progress by key. */
export class Concurrency {
  #counts = new Map<string, number>()

  /** Keys with a count above zero. */
  get size(): number {
    return this.#counts.size
  }

  count(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  /** Counts one more item. Returns the idempotent function that ends this count. */
  acquire(key: string): () => void {
    this.#counts.set(key, this.count(key) + 1)
    let held = true
    return () => {
      if (held) this.#release(key)
      held = false
    }
  }

  #release(key: string): void {
    const left = this.count(key) - 1
    if (left > 0) this.#counts.set(key, left)
    else this.#counts.delete(key)
  }
}
