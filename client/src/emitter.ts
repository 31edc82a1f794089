/** Listens to events by name. `Events` maps each name to its payload. */
export class Emitter<Events extends object> {
  #listeners = new Map<keyof Events, Map<(payload: never) => void, { readonly once: boolean }>>()
  #failed: (error: unknown) => void

  /** `failed` is told of a listener that throws; the others are called all the same. */
  constructor(failed: (error: unknown) => void = () => {}) {
    this.#failed = failed
  }

  /** Calls `listener` on every `name` from now on, or on the next one alone. Adding the same function twice adds it once. */
  on<Name extends keyof Events>(name: Name, listener: (payload: Events[Name]) => void, once = false): void {
    const listeners = this.#listeners.get(name) ?? new Map()
    listeners.set(listener, { once })
    this.#listeners.set(name, listeners)
  }

  /** Removes one listener, or every listener of `name` when none is given. */
  off<Name extends keyof Events>(name: Name, listener?: (payload: Events[Name]) => void): void {
    if (!listener) this.#listeners.delete(name)
    else this.#listeners.get(name)?.delete(listener)
  }

  /** Whether anybody listens to `name`. */
  has(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0
  }

  /** Calls the listeners in the order of their adding. */
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
