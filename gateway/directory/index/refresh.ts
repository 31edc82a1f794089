import type { Store } from '../sqlite.ts'
import type { Changed, Memory } from './memory.ts'

/**
 * Reads into memory what changed in the store: one reading at a time, each of all that was named since the one before began. So nothing
 * that is older than what memory has ever takes its place.
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
  /** The reading that has not begun, to which more may be added. */
  #next: Promise<void> | undefined

  constructor(store: Store, memory: Pick<Memory, 'read' | 'readAll'>) {
    this.#store = store
    this.#memory = memory
  }

  /** Resolves when memory has what the store had at this moment, or something newer. */
  changed({ resources = [], domains = [], carriers, projects }: Changed): Promise<void> {
    for (const id of resources) this.#resources.add(id)
    for (const id of domains) this.#domains.add(id)
    if (carriers) this.#carriers = true
    if (projects) this.#projects = true
    return this.#reading()
  }

  /** As {@link changed}, of everything. */
  everything(): Promise<void> {
    this.#everything = true
    return this.#reading()
  }

  #reading(): Promise<void> {
    if (this.#next) return this.#next
    const next = this.#last.then(() => this.#read())
    this.#next = next
    // One that failed must not keep the later ones from reading.
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
      // What was to be read must not be forgotten: the next reading makes up for it.
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
