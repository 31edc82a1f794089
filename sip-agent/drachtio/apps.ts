import type { App } from './app.ts'

/** The connected applications and which requests they want. */
export class Apps {
  readonly #apps = new Set<App>()
  readonly #next = new Map<string, number>()

  /** Connected applications that have authenticated. */
  get size(): number {
    return this.#apps.size
  }

  add(app: App): void {
    this.#apps.add(app)
  }

  remove(app: App): void {
    this.#apps.delete(app)
  }

  /** The next application that wants requests of this method (lower case), in rotation; none that has too many of them already. */
  forRequest(method: string): App | undefined {
    return this.#turn(method, (app) => !app.isBusy)
  }

  /** The next application that wants these records, in rotation. */
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
