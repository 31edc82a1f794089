/** Event emitter. `Events` maps each name to its payload. */
export class Emitter<Events extends object> {
  #listeners = new Map<keyof Events, Map<(payload: never) => void, { readonly once: boolean }>>()
  #failed: (error: unknown) => void

  /** `failed` receives the error of a listener that throws; the other listeners are still called. */
  constructor(failed: (error: unknown) => void = () => {}) {
    this.#failed = failed
  }

  /**
   * Calls `listener` on every `name`, or on the next one only. Adding the same function twice adds it once.
   */
  on<Name extends keyof Events>(name: Name, listener: (payload: Events[Name]) => void, once = false): void {
    const listeners = this.#listeners.get(name) ?? new Map()
    listeners.set(listener, { once })
    this.#listeners.set(name, listeners)
  }

  /** Removes one listener, or every listener of `name` if none is given. */
  off<Name extends keyof Events>(name: Name, listener?: (payload: Events[Name]) => void): void {
    if (!listener) this.#listeners.delete(name)
    else this.#listeners.get(name)?.delete(listener)
  }

  /** Whether `name` has a listener. */
  has(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0
  }

  /** Calls the listeners in the order in which they were added. */
  emit<Name extends keyof Events>(name: Name, payload: Events[Name]): void {
    for (const [listener, { once }] of [...(this.#listeners.get(name) ?? [])]) {
      if (once) this.#listeners.get(name)?.delete(listener)
      try {
        ;(listener as (payload: Events[Name]) => void)(payload)
      } catch (error) {
        this.#failed(error)
      }
    }
  }

  /** Removes every listener. */
  clear(): void {
    this.#listeners.clear()
  }
}
