import type { Store } from '../store/sqlite.ts'
import type { Changed, Memory } from './memory.ts'

/**
 * Reads changes of the store into memory. Only one reading runs at a time, so that older data never replaces
 * newer data. Changes reported during a reading go into the next one.
 */
export class Refresh {
  readonly #store: Store
  readonly #memory: Pick<Memory, 'read' | 'readAll'>
  #resources = new Set<string>()
  #domains = new Set<string>()
  #carriers = false
  #projects = false
  #everything = false
  #last: Promise<void> = Promise.resolve()
  /** Next reading; changes may be added until it starts. */
  #next: Promise<void> | undefined

  constructor(store: Store, memory: Pick<Memory, 'read' | 'readAll'>) {
    this.#store = store
    this.#memory = memory
  }

  /**
   * Reads the named rows again. Resolves when memory has the content that the store had at the call, or newer
   * content.
   */
  changed({ resources = [], domains = [], carriers, projects }: Changed): Promise<void> {
    for (const id of resources) this.#resources.add(id)
    for (const id of domains) this.#domains.add(id)
    if (carriers) this.#carriers = true
    if (projects) this.#projects = true
    return this.#reading()
  }

  /** Like {@link changed}, for everything. */
  everything(): Promise<void> {
    this.#everything = true
    return this.#reading()
  }

  #reading(): Promise<void> {
    if (this.#next) return this.#next
    const next = this.#last.then(() => this.#read())
    this.#next = next
    // A failed reading must not prevent later readings.
    this.#last = next.catch(() => {})
    return next
  }

  async #read(): Promise<void> {
    const changed: Changed = {
      resources: [...this.#resources],
      domains: [...this.#domains],
      ...(this.#carriers && { carriers: true }),
      ...(this.#projects && { projects: true }),
    }
    const everything = this.#everything
    this.#forget()
    try {
      if (everything) await this.#memory.readAll(this.#store)
      else await this.#memory.read(this.#store, changed)
    } catch (error) {
      // The changes must not be lost: the next reading covers everything.
      this.#everything = true
      throw error
    }
  }

  #forget(): void {
    this.#next = undefined
    this.#resources = new Set()
    this.#domains = new Set()
    this.#carriers = false
    this.#projects = false
    this.#everything = false
  }
}
