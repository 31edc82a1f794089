import type { Extras, ExtrasDeps } from './extras.ts'

/** Loads the code of the {@link Extras} once. A failed load is tried again at the next request. */
export class ExtrasLoader {
  readonly #deps: ExtrasDeps
  readonly #life: AbortSignal
  #loading: Promise<Extras | undefined> | undefined
  #loaded: Extras | undefined

  /** `life` ends the session, and closes the extras. */
  constructor(deps: ExtrasDeps, life: AbortSignal) {
    this.#deps = deps
    this.#life = life
    life.addEventListener('abort', () => this.#loaded?.close())
  }

  /** Undefined until they are loaded. */
  get loaded(): Extras | undefined {
    return this.#loaded
  }

  /** Resolves with undefined if the gateway cannot be reached or the session has ended. */
  load(): Promise<Extras | undefined> {
    this.#loading ??= this.#open().catch(() => {
      this.#loading = undefined
      return undefined
    })
    return this.#loading
  }

  async #open(): Promise<Extras | undefined> {
    const { Extras } = await import('./extras.ts')
    if (this.#life.aborted) return undefined
    this.#loaded = new Extras(this.#deps, this.#life)
    this.#deps.changed()
    return this.#loaded
  }
}
