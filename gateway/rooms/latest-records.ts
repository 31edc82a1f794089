/** Maximum number of ended records that are kept: the latest. */
const maxEnded = 50

/** Records by id, in order of their start. Of those that have ended, the latest are kept. */
export class LatestRecords<T> {
  readonly #hasEnded: (record: T) => boolean
  readonly #known = new Map<string, T>()

  constructor(hasEnded: (record: T) => boolean) {
    this.#hasEnded = hasEnded
  }

  get all(): readonly T[] {
    return [...this.#known.values()]
  }

  get inProgress(): readonly T[] {
    return this.all.filter((record) => !this.#hasEnded(record))
  }

  /** Returns a record; undefined if the id is unknown, or no longer kept. */
  get(id: string): T | undefined {
    return this.#known.get(id)
  }

  add(id: string, record: T): void {
    this.#known.set(id, record)
    const ended = [...this.#known].filter(([, each]) => this.#hasEnded(each))
    for (const [old] of ended.slice(0, Math.max(0, ended.length - maxEnded))) this.#known.delete(old)
  }
}
