/** Listens to events by name. `Events` maps each name to its payload. */
export class Emitter<Events extends object> {
  #listeners = new Map<keyof Events, Set<(payload: never) => void>>()
  #failed: (error: unknown) => void

  /** `failed` is told of a listener that throws; the others are called all the same. */
  constructor(failed: (error: unknown) => void = () => {}) {
    this.#failed = failed
  }

  /** Calls `listener` on every `name` from now on. Adding the same function twice adds it once. */
  on<Name extends keyof Events>(name: Name, listener: (payload: Events[Name]) => void): void {
    const set = this.#listeners.get(name) ?? new Set()
    set.add(listener)
    this.#listeners.set(name, set)
  }

  /** Removes one listener, or every listener of `name` when none is given. */
  off<Name extends keyof Events>(name: Name, listener?: (payload: Events[Name]) => void): void {
    if (!listener) this.#listeners.delete(name)
    else this.#listeners.get(name)?.delete(listener)
  }

  /** Calls the listeners in the order of their adding. */
  emit<Name extends keyof Events>(name: Name, payload: Events[Name]): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
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
