/** Value with followers, who are called after each change. */
export class Cell<Value> {
  #value: Value
  readonly #followers = new Set<() => void>()

  constructor(value: Value) {
    this.#value = value
  }

  get value(): Value {
    return this.#value
  }

  set value(value: Value) {
    if (value === this.#value) return
    this.#value = value
    for (const follower of this.#followers) follower()
  }

  /** Calls `follower` after each change, until the returned function is called. */
  follow(follower: () => void): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }
}
