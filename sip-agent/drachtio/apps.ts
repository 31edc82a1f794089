import type { App } from './app.ts'

/** Connected applications and the methods that they route. */
export class Apps {
  readonly #apps = new Set<App>()
  readonly #next = new Map<string, number>()

  /** Number of authenticated applications. */
  get size(): number {
    return this.#apps.size
  }

  add(app: App): void {
    this.#apps.add(app)
  }

  remove(app: App): void {
    this.#apps.delete(app)
  }

  /** Returns the next application, in rotation, that routes this method (lower case) and is not busy. */
  forRequest(method: string): App | undefined {
    return this.#turn(method, (app) => !app.isBusy)
  }

  /** Returns the next application, in rotation, that routes these records. */
  choose(verb: string): App | undefined {
    return this.#turn(verb, () => true)
  }

  #turn(verb: string, fits: (app: App) => boolean): App | undefined {
    const willing = [...this.#apps].filter((app) => app.isOpen && app.routes.has(verb) && fits(app))
    if (willing.length === 0) return undefined
    const turn = (this.#next.get(verb) ?? 0) % willing.length
    this.#next.set(verb, turn + 1)
    return willing[turn]
  }
}
